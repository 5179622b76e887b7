// SPDX-License-Identifier: BSD-3-Clause
// Fields with one or several components.
#pragma once

#include "node.hpp"

#include <optional>
#include <vector>

namespace bat::catalyst
{
/// Leaves of a value node: the node itself, or the components of a Blueprint mcarray. Empty if one
/// of them is not a numeric array.
[[nodiscard]] std::optional<std::vector<Node>> find_components(const Node& values);

/// True if a field's association is "element", false if it is "vertex". Throws
/// Error{InvalidArgument}if it is anything else.
[[nodiscard]] bool is_of_elements(const Node& field);
}
