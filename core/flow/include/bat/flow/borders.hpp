// SPDX-License-Identifier: BSD-3-Clause
// Maps lines into the box of a grid with cyclic axes, for display.
#pragma once

#include "bat/brick_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::flow
{
/// A line cut into stretches, each within the box of the grid.
struct CutLine
{
  /// Where a line crosses a border it has two points: the end of one stretch and the beginning of
  /// the next.
  struct Point
  {
    std::array<double, 3> position{};
    std::uint64_t before = 0; ///< index of a point of the line
    double share = 0;         ///< share of the segment to the next point, in [0, 1)
  };
  std::vector<Point> points;
  std::vector<std::uint64_t> offsets{ 0 }; ///< first point of each stretch; last, the end
};

/// Wraps a position into the box: along cyclic axes to [origin, origin + points * spacing).
[[nodiscard]] std::array<double, 3> wrapped(
  const BrickGrid& grid, const std::array<double, 3>& position) noexcept;

/// Cuts a polyline with unwrapped positions where it crosses borders of cyclic axes. Segments that
/// cross more than a thousand borders are left out between their ends.
[[nodiscard]] CutLine cut_at_borders(
  const BrickGrid& grid, const std::vector<std::array<double, 3>>& line);
}
