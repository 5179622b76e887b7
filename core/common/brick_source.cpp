// SPDX-License-Identifier: BSD-3-Clause
#include "bat/brick_source.hpp"

#include <fmt/format.h>

#include <cmath>

namespace bat
{
std::string find_fault(const BrickGrid& grid)
{
  for (std::size_t a = 0; a != 3; ++a)
  {
    const char axis = "xyz"[a];
    if (grid.points[a] < 1 || grid.points[a] > BrickGrid::max_points)
    {
      return fmt::format(
        "points along {} are {}; allowed are 1 to {}", axis, grid.points[a], BrickGrid::max_points);
    }
    if (!std::isfinite(grid.origin[a]))
    {
      return fmt::format("origin along {} is {}; it must be finite", axis, grid.origin[a]);
    }
    if (!std::isfinite(grid.spacing[a]) || grid.spacing[a] <= 0)
    {
      return fmt::format(
        "spacing along {} is {}; it must be finite and above 0", axis, grid.spacing[a]);
    }
    if (grid.cyclic[a] && grid.points[a] < 2)
    {
      return fmt::format("{} is periodic with one point; at least 2 points are needed", axis);
    }
  }
  if (grid.type != ScalarType::Float32 && grid.type != ScalarType::Float64)
  {
    return fmt::format(
      "type is {}; allowed are 9 (float32) and 10 (float64)", static_cast<int>(grid.type));
  }
  if (grid.components != 2 && grid.components != 3)
  {
    return fmt::format("components are {}; allowed are 2 and 3", grid.components);
  }
  if (grid.edge < BrickGrid::min_edge || grid.edge > BrickGrid::max_edge)
  {
    return fmt::format("the brick edge is {}; allowed are {} to {}", grid.edge, BrickGrid::min_edge,
      BrickGrid::max_edge);
  }
  // The product of two brick counts fits; multiplied by the third it may not.
  const auto rows =
    static_cast<std::uint64_t>(grid.bricks(0)) * static_cast<std::uint64_t>(grid.bricks(1));
  if (rows > BrickGrid::max_bricks / static_cast<std::uint64_t>(grid.bricks(2)))
  {
    return fmt::format("{} x {} x {} bricks; at most {} are allowed", grid.bricks(0),
      grid.bricks(1), grid.bricks(2), BrickGrid::max_bricks);
  }
  return {};
}
}
