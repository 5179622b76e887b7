#include "plan/borders.hpp"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace bat::plan
{
namespace
{
// What leaf files may be larger or smaller than their mean for a border: a rank that is not parted
// sends to one aggregator, or to none.
constexpr double kTolerance = 0.08;

bool is_near(double particles, std::uint32_t leaves, double mean)
{
  return std::abs(particles / leaves - mean) <= kTolerance * mean;
}
}

WholeRanks::WholeRanks(const std::vector<RankBounds>& ranks)
  : ranks_(&ranks)
{
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i != ranks.size(); ++i)
  {
    if (ranks[i].particles > 0)
    {
      all.push_back(static_cast<std::uint32_t>(i));
    }
  }
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    this->by_lower_[axis] = all;
    tbb::parallel_sort(this->by_lower_[axis],
      [&](std::uint32_t a, std::uint32_t b)
      { return std::tie(ranks[a].box.lower[axis], a) < std::tie(ranks[b].box.lower[axis], b); });
  }
}

std::optional<Border> WholeRanks::find_border(
  const std::array<std::size_t, 3>& axes, std::uint32_t leaves, double mean) const
{
  double all = 0;
  for (const std::uint32_t i : this->by_lower_[0])
  {
    all += (*this->ranks_)[i].particles;
  }
  const auto off_middle = [&](const Border& border)
  { return std::abs(2 * std::int64_t{ border.left_leaves } - std::int64_t{ leaves }); };
  std::optional<Border> best;
  for (const std::size_t axis : axes)
  {
    double left = 0;
    double reach = -std::numeric_limits<double>::infinity();
    for (const std::uint32_t i : this->by_lower_[axis])
    {
      const RankBounds& rank = (*this->ranks_)[i];
      const double split = rank.box.lower[axis];
      if (left > 0 && reach < split)
      {
        const Border border{ axis, split, left, all - left,
          static_cast<std::uint32_t>(
            std::clamp(std::round(left / mean), 1.0, static_cast<double>(leaves - 1))) };
        const bool good = is_near(left, border.left_leaves, mean) &&
          is_near(border.right, leaves - border.left_leaves, mean);
        if (good && (!best || off_middle(border) < off_middle(*best)))
        {
          best = border;
        }
      }
      left += rank.particles;
      reach = std::max(reach, rank.box.upper[axis]);
    }
  }
  return best;
}

std::pair<WholeRanks, WholeRanks> WholeRanks::divide(const Border& border) const
{
  std::pair<WholeRanks, WholeRanks> sides;
  sides.first.ranks_ = sides.second.ranks_ = this->ranks_;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    for (const std::uint32_t i : this->by_lower_[axis])
    {
      const bool left = (*this->ranks_)[i].box.lower[border.axis] < border.split;
      (left ? sides.first : sides.second).by_lower_[axis].push_back(i);
    }
  }
  return sides;
}
}
