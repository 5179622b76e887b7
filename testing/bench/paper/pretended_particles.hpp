// SPDX-License-Identifier: BSD-3-Clause
// Synthetic particles of simulations, for planning: their positions, and the ranks that own them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pretended
{
using Point = std::array<float, 3>;

/// Furnace of 8 x 8 x 32 m, fired from three levels of four corners: jets, swirl, turbulence,
/// deposits on the walls (after the Coal Boiler of the paper, which gained 9220 particles per
/// step). Each path through the steady gas contributes one particle per 10 steps of age. Needs
/// `step` > 0.
[[nodiscard]] std::vector<Point> boiler(std::uint64_t count, std::uint32_t step);

/// A water column of 1 x 1 x 1 in a tank of 4 x 1, `step` x 0.25 ms after its wall is removed:
/// Ritter's wave, water that ran up the far wall, and spray.
[[nodiscard]] std::vector<Point> dam(std::uint64_t count, std::uint32_t step);

/// Uniform in the unit cube.
[[nodiscard]] std::vector<Point> uniform(std::uint64_t count);

/// Ranks as a grid over the bounds of all particles, as simulations divide space.
struct RankGrid
{
  Point lower{};
  Point upper{};
  std::array<std::uint32_t, 3> size{ 1, 1, 1 };

  [[nodiscard]] std::uint32_t ranks() const
  {
    return this->size[0] * this->size[1] * this->size[2];
  }
  [[nodiscard]] std::uint32_t rank_of(const Point& point) const;
  /// Box of a rank.
  [[nodiscard]] std::array<Point, 2> box_of(std::uint32_t rank) const;
};

/// The grid of exactly `ranks` boxes that are closest to cubes; a single layer if `flat`.
[[nodiscard]] RankGrid deal_space(const std::vector<Point>& points, std::uint32_t ranks, bool flat);

/// Sorts points by rank. Returns where each rank's points begin, followed by the end.
[[nodiscard]] std::vector<std::uint64_t> sort_by_rank(
  std::vector<Point>& points, const RankGrid& grid);
}
