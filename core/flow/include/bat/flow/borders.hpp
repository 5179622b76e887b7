// SPDX-License-Identifier: BSD-3-Clause
// Lines as they are in the box of a grid with cyclic axes, for pictures.
#pragma once

#include "bat/brick_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::flow
{
/// A line in stretches, each within the box of the grid.
struct CutLine
{
  /// Where a line passes a border there are two points, at the end of a stretch and at the
  /// beginning of the next one.
  struct Point
  {
    std::array<double, 3> position{};
    std::uint64_t before = 0; ///< point of the line
    double share = 0;         ///< of the way to the next one, in [0, 1)
  };
  std::vector<Point> points;
  std::vector<std::uint64_t> offsets{ 0 }; ///< where each stretch begins in points; last, the end
};

/// The position in the box: along cyclic axes in [origin, origin + points * spacing).
[[nodiscard]] std::array<double, 3> wrapped(
  const BrickGrid& grid, const std::array<double, 3>& position) noexcept;

/// Cuts a polyline, whose positions are not wrapped, where it passes borders of cyclic axes.
/// Segments that pass more than a thousand are left out between their ends.
[[nodiscard]] CutLine cut_at_borders(
  const BrickGrid& grid, const std::vector<std::array<double, 3>>& line);
}
