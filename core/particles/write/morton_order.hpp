// SPDX-License-Identifier: BSD-3-Clause
// Divides the particles into treelets along a Morton curve that adapts to their positions.
#pragma once

#include "bat/particles.hpp"
#include "common/memory/large_array.hpp"

#include <cstdint>
#include <vector>

namespace bat::write
{
/// Consecutive entries of MortonOrder::source.
struct TreeletRange
{
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
  bool finite = true;
};

struct MortonOrder
{
  LargeArray<std::uint32_t> source;   ///< particle numbers of the caller, treelet by treelet
  std::vector<TreeletRange> treelets; ///< in Morton order; those with non-finite particles last
  Box bounds;                         ///< bounds of the particles with finite coordinates
  std::uint64_t finite_count = 0;
};

/// No treelet has more than `maximum` particles, and any two neighbours have more than `maximum`
/// together, so that the largest is less than twice the mean for any clustering: a cell of the grid
/// with too many particles gets its own grid, repeatedly if needed (the paper, section III-C1, has
/// one fixed grid).
[[nodiscard]] MortonOrder morton_order(
  const ArrayView& positions, std::uint64_t count, std::uint32_t maximum);
}
