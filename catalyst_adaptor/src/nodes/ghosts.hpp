// SPDX-License-Identifier: BSD-3-Clause
// Marks for items that belong to other ranks.
#pragma once

#include "node.hpp"

#include <cstdint>
#include <string>

namespace bat::catalyst
{
enum class Ghosts
{
  None,
  OfVtk,   ///< bits define the kind
  OfAscent ///< 0 for what is of this rank
};

/// The kind of a domain field's marks, by its name or by the domain's description.
[[nodiscard]] Ghosts ghosts_in(const Node& domain, const std::string& field);

/// Throws Error{InvalidArgument}, naming `path`, if marks of that kind have a different type.
void require_marks(const Numbers& marks, Ghosts kind, const std::string& path);

/// True if mark `i` means hidden: this rank has the item, but its data are not valid.
[[nodiscard]] bool is_hidden(const Numbers& marks, Ghosts kind, bool of_elements, std::uint64_t i);
/// True if mark `i` means duplicate or hidden.
[[nodiscard]] bool is_marked(const Numbers& marks, Ghosts kind, bool of_elements, std::uint64_t i);
}
