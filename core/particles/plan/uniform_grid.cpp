// SPDX-License-Identifier: BSD-3-Clause
// Plans leaf files of whole ranks on a uniform grid, the paper's "Aug".

#include "particles/plan/ranks.hpp"

#include <cmath>
#include <limits>

namespace bat::plan
{
namespace
{
// Cells along each axis: as near to cubes as whole numbers allow, about `cells` of them in all.
std::array<std::uint64_t, 3> grid_of(const Extent& extent, double cells)
{
  std::array<double, 3> even{ 1, 1, 1 };
  double left = cells;
  // Starts with the shortest axis: an axis shorter than a cube's side gets one cell, and the others
  // share.
  std::array<std::size_t, 3> axes = extent.axes_by_length();
  for (std::size_t i = 3; i != 0; --i)
  {
    const std::size_t axis = axes[i - 1];
    double volume_per_axis = 0; // logarithm of the mean length of this axis and those not yet done
    bool flat = !(extent.length(axis) > 0);
    for (std::size_t j = 0; j != i && !flat; ++j)
    {
      volume_per_axis += std::log(extent.length(axes[j])) / static_cast<double>(i);
    }
    if (!flat)
    {
      const double side = volume_per_axis - std::log(left) / static_cast<double>(i);
      even[axis] = std::max(1.0, std::exp(std::log(extent.length(axis)) - side));
    }
    left /= even[axis];
  }
  // Chooses the combination of roundings up and down whose product is nearest.
  std::array<std::uint64_t, 3> best{ 1, 1, 1 };
  double nearest = std::numeric_limits<double>::infinity();
  for (unsigned rounding = 0; rounding != 8; ++rounding)
  {
    std::array<std::uint64_t, 3> grid;
    double product = 1;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const double whole = std::floor(even[axis]) + (rounding >> axis & 1u);
      grid[axis] = extent.length(axis) > 0 ? static_cast<std::uint64_t>(whole) : 1;
      product *= static_cast<double>(grid[axis]);
    }
    if (std::abs(product - cells) < nearest)
    {
      nearest = std::abs(product - cells);
      best = grid;
    }
  }
  return best;
}
}

void plan_uniform_grid(const std::vector<RankBox>& boxes, const PlanOptions& options, Plan& plan)
{
  Extent extent;
  double particles = 0;
  std::array<bool, 3> several{};
  for (const RankBox& box : boxes)
  {
    extent.add(box.all);
    particles += box.all.particles;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      several[axis] |=
        box.middle[axis] < boxes[0].middle[axis] || box.middle[axis] > boxes[0].middle[axis];
    }
  }
  // Cutting across ranks that lie side by side only would make empty cells.
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    if (!several[axis])
    {
      extent.upper[axis] = extent.lower[axis];
    }
  }
  const double files = particles * static_cast<double>(options.bytes_per_particle) /
    static_cast<double>(options.target_bytes);
  const std::array<std::uint64_t, 3> grid = grid_of(extent, std::max(1.0, std::round(files)));
  const auto cell_of = [&](const RankBox& box)
  {
    std::uint64_t cell = 0;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const auto count = static_cast<double>(grid[axis]);
      const double from = box.middle[axis] - static_cast<double>(extent.lower[axis]);
      const double step = grid[axis] > 1 ? from / extent.length(axis) * count : 0;
      cell = cell * grid[axis] + static_cast<std::uint64_t>(std::clamp(step, 0.0, count - 1));
    }
    return cell;
  };
  constexpr std::uint32_t kEmptyCell = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> leaf_of_cell(grid[0] * grid[1] * grid[2], kEmptyCell);
  for (const RankBox& box : boxes)
  {
    leaf_of_cell[cell_of(box)] = 0;
  }
  std::uint32_t leaves = 0;
  for (std::uint32_t& leaf : leaf_of_cell)
  {
    leaf = leaf == kEmptyCell ? kEmptyCell : leaves++;
  }
  plan.leaf_particles.resize(leaves);
  for (const RankBox& box : boxes)
  {
    const std::uint32_t leaf = leaf_of_cell[cell_of(box)];
    plan.leaf_of_rank[box.rank] = leaf;
    plan.leaf_particles[leaf] += box.all.particles;
  }
}
}
