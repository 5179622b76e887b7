// SPDX-License-Identifier: BSD-3-Clause
// Marks of what belongs to other ranks.
#pragma once

#include "node.hpp"

#include <cstdint>
#include <string>

namespace bat::catalyst
{
enum class Ghosts
{
  None,
  OfVtk,   ///< bits say of what kind
  OfAscent ///< 0 for what is of this rank
};

/// What marks a field of a domain is, by its name or by what the domain says of it.
[[nodiscard]] Ghosts ghosts_in(const Node& domain, const std::string& field);

/// Throws Error{InvalidArgument} naming `path`: marks of that kind are of another type.
void require_marks(const Numbers& marks, Ghosts kind, const std::string& path);

/// Whether mark `i` says that this is hidden: this rank has it, but there is nothing.
[[nodiscard]] bool is_hidden(const Numbers& marks, Ghosts kind, bool of_elements, std::uint64_t i);
/// Whether mark `i` says that this is a duplicate, or hidden.
[[nodiscard]] bool is_marked(const Numbers& marks, Ghosts kind, bool of_elements, std::uint64_t i);
}
