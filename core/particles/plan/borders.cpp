// SPDX-License-Identifier: BSD-3-Clause
#include "particles/plan/borders.hpp"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace bat::plan
{
namespace
{
// Leaf files may differ from their mean by this share to get a border between ranks, because an
// undivided rank sends to at most one aggregator.
constexpr double kTolerance = 0.08;

// Counts the particles in the smaller part of a rank that a plane cuts.
double smaller_part(const RankBounds& rank, std::size_t axis, double split) noexcept
{
  const double below = split - rank.box.lower[axis];
  const double above = rank.box.upper[axis] - split;
  return below > 0 && above > 0 ? rank.particles * (std::min(below, above) / (below + above)) : 0;
}

bool is_near(double particles, std::uint32_t leaves, double mean)
{
  return std::abs(particles / leaves - mean) <= kTolerance * mean;
}
}

NodeRanks::NodeRanks(const std::vector<RankBounds>& ranks)
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

double NodeRanks::parted_by(std::size_t axis, double split) const noexcept
{
  double parted = 0;
  for (const std::uint32_t i : this->by_lower_[axis])
  {
    const RankBounds& rank = (*this->ranks_)[i];
    if (rank.box.lower[axis] >= split)
    {
      break;
    }
    parted += smaller_part(rank, axis, split);
  }
  for (const RankBounds& rank : this->parted_)
  {
    parted += smaller_part(rank, axis, split);
  }
  return parted;
}

std::optional<Border> NodeRanks::find_border(
  const std::array<std::size_t, 3>& axes, std::uint32_t leaves, double mean) const
{
  if (!this->are_all_whole_ || this->by_lower_[0].size() < 2)
  {
    return std::nullopt;
  }
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

std::pair<NodeRanks, NodeRanks> NodeRanks::divide(std::size_t axis, double split) const
{
  std::pair<NodeRanks, NodeRanks> sides;
  NodeRanks& left = sides.first; // a lambda of C++17 captures no structured binding
  NodeRanks& right = sides.second;
  left.ranks_ = right.ranks_ = this->ranks_;
  const auto add_larger_part = [&](RankBounds rank)
  {
    const double smaller = smaller_part(rank, axis, split);
    const bool is_left = split - rank.box.lower[axis] > rank.box.upper[axis] - split;
    double& end = is_left ? rank.box.upper[axis] : rank.box.lower[axis];
    end = smaller > 0 ? split : end;
    rank.particles -= smaller;
    (is_left ? left : right).parted_.push_back(rank);
  };
  for (std::size_t order = 0; order != 3; ++order)
  {
    for (const std::uint32_t i : this->by_lower_[order])
    {
      const RankBounds& rank = (*this->ranks_)[i];
      if (rank.box.lower[axis] >= split)
      {
        right.by_lower_[order].push_back(i);
      }
      else if (rank.box.upper[axis] < split)
      {
        left.by_lower_[order].push_back(i);
      }
      else if (order == 0)
      {
        add_larger_part(rank);
      }
    }
  }
  left.are_all_whole_ = right.are_all_whole_ =
    this->are_all_whole_ && left.parted_.empty() && right.parted_.empty();
  for (const RankBounds& rank : this->parted_)
  {
    add_larger_part(rank);
  }
  return sides;
}
}
