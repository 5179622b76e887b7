// SPDX-License-Identifier: BSD-3-Clause
// The binary tree over the treelets of a leaf file (FORMAT.md section 9).
#pragma once

#include "bat/types.hpp"
#include "particles/format/layout.hpp"

#include <cstdint>
#include <vector>

namespace bat::write
{
/// Returns nodes in preorder over treelets in Morton order. A box with an infinite side (a treelet
/// with non-finite particles) is allowed. `bounds` is the box of the finite particles.
[[nodiscard]] std::vector<format::NodeRecord> shallow_tree(
  const std::vector<Box>& treelet_boxes, const Box& bounds);
}
