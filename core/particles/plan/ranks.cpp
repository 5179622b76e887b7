// SPDX-License-Identifier: BSD-3-Clause
#include "particles/plan/ranks.hpp"

#include <cmath>
#include <limits>

namespace bat::plan
{
std::vector<RankBox> rank_boxes(const std::vector<WeightedCell>& cells, std::uint32_t ranks)
{
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> place(ranks, kNone);
  for (const WeightedCell& cell : cells)
  {
    if (cell.particles > 0)
    {
      place[cell.rank] = 0;
    }
  }
  std::vector<RankBox> boxes;
  for (std::uint32_t rank = 0; rank != ranks; ++rank)
  {
    if (place[rank] != kNone)
    {
      place[rank] = static_cast<std::uint32_t>(boxes.size());
      const Extent none;
      boxes.push_back({ { none.lower, none.upper, 0 }, {}, rank });
    }
  }
  for (const WeightedCell& cell : cells)
  {
    if (cell.particles > 0)
    {
      Piece& all = boxes[place[cell.rank]].all;
      all.particles += cell.particles;
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        all.lower[axis] = std::min(all.lower[axis], cell.lower[axis]);
        all.upper[axis] = std::max(all.upper[axis], cell.upper[axis]);
      }
    }
  }
  for (RankBox& box : boxes)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      box.middle[axis] = static_cast<double>(box.all.lower[axis]) * 0.5 +
        static_cast<double>(box.all.upper[axis]) * 0.5;
    }
  }
  return boxes;
}
}
