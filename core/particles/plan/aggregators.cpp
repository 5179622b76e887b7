// SPDX-License-Identifier: BSD-3-Clause
#include "particles/plan/aggregators.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace bat::plan
{
namespace
{
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Runs of ranks of equal length, each with a limited number of leaf files.
class Windows
{
public:
  Windows(std::uint32_t ranks, std::uint32_t leaves)
    : ranks_(ranks)
    , count_(std::min(ranks, leaves))
    , free_(this->count_)
  {
    for (std::uint64_t w = 0; w != this->count_; ++w)
    {
      this->free_[w] =
        static_cast<std::uint32_t>((w + 1) * leaves / this->count_ - w * leaves / this->count_);
    }
  }

  [[nodiscard]] std::uint32_t of_rank(std::uint32_t rank) const
  {
    return static_cast<std::uint32_t>(
      ((rank + std::uint64_t{ 1 }) * this->count_ - 1) / this->ranks_);
  }
  [[nodiscard]] std::uint32_t first_rank(std::uint32_t window) const
  {
    return static_cast<std::uint32_t>(
      static_cast<std::uint64_t>(window) * this->ranks_ / this->count_);
  }
  /// Takes one place in a window; returns false if none was left.
  bool take(std::uint32_t window)
  {
    const bool free = this->free_[window] != 0;
    this->free_[window] -= free;
    return free;
  }

private:
  std::uint32_t ranks_;
  std::uint32_t count_;
  std::vector<std::uint32_t> free_;
};

/// The particles of a leaf file on the ranks of one window.
struct Share
{
  double particles;
  std::uint32_t leaf;
  std::uint32_t window;
};

std::vector<std::uint32_t> find_cell_leaves(
  const std::vector<WeightedCell>& cells, const Plan& plan)
{
  std::vector<std::uint32_t> leaves(cells.size());
  tbb::parallel_for(std::size_t{ 0 }, cells.size(),
    [&](std::size_t i)
    {
      const WeightedCell& cell = cells[i];
      const auto middle = [&](std::size_t axis)
      {
        return static_cast<double>(cell.lower[axis]) * 0.5 +
          static_cast<double>(cell.upper[axis]) * 0.5;
      };
      leaves[i] = plan.mode == PlanMode::Adaptive ? plan.leaf_at(middle(0), middle(1), middle(2))
                                                  : plan.leaf_of_rank[cell.rank];
    });
  return leaves;
}

// Appends an entry, or adds to the last one if its leaf and window are the same.
void add(std::vector<Share>& shares, const Share& share)
{
  if (!shares.empty() && shares.back().leaf == share.leaf && shares.back().window == share.window)
  {
    shares.back().particles += share.particles;
  }
  else
  {
    shares.push_back(share);
  }
}

// One entry for each leaf and window, the largest first.
std::vector<Share> compute_shares(const std::vector<WeightedCell>& cells,
  const std::vector<std::uint32_t>& leaves, const Windows& windows)
{
  std::vector<Share> runs; // cells come rank by rank: most are like the one before
  for (std::size_t i = 0; i != cells.size(); ++i)
  {
    add(runs, { cells[i].particles, leaves[i], windows.of_rank(cells[i].rank) });
  }
  std::sort(runs.begin(), runs.end(),
    [](const Share& a, const Share& b)
    { return std::tie(a.leaf, a.window, a.particles) < std::tie(b.leaf, b.window, b.particles); });
  std::vector<Share> shares;
  for (const Share& run : runs)
  {
    add(shares, run);
  }
  std::sort(shares.begin(), shares.end(),
    [](const Share& a, const Share& b)
    { return std::tie(b.particles, a.leaf, a.window) < std::tie(a.particles, b.leaf, b.window); });
  return shares;
}

std::vector<std::uint32_t> choose_windows(
  const std::vector<Share>& shares, std::uint32_t leaves, Windows& windows)
{
  std::vector<std::uint32_t> chosen(leaves, kNone);
  for (const Share& share : shares)
  {
    if (chosen[share.leaf] == kNone && windows.take(share.window))
    {
      chosen[share.leaf] = share.window;
    }
  }
  std::uint32_t window = 0;
  for (std::uint32_t& local : chosen)
  {
    if (local == kNone)
    {
      while (!windows.take(window))
      {
        ++window;
      }
      local = window;
    }
  }
  return chosen;
}
}

std::vector<std::uint32_t> choose_aggregators(
  const std::vector<WeightedCell>& cells, const Plan& plan, std::uint32_t ranks)
{
  const std::vector<std::uint32_t> leaves = find_cell_leaves(cells, plan);
  Windows windows(ranks, plan.leaf_count);
  const std::vector<std::uint32_t> chosen =
    choose_windows(compute_shares(cells, leaves, windows), plan.leaf_count, windows);

  /// The window's rank with most of the leaf file, and the rank that is being added up.
  struct Best
  {
    std::uint32_t rank = 0;
    double particles = 0;
    std::uint32_t now = kNone;
    double sum = 0;
  };
  std::vector<Best> best(plan.leaf_count);
  for (std::uint32_t leaf = 0; leaf != plan.leaf_count; ++leaf)
  {
    best[leaf].rank = windows.first_rank(chosen[leaf]);
  }
  for (std::size_t i = 0; i != cells.size(); ++i)
  {
    const std::uint32_t rank = cells[i].rank;
    if (windows.of_rank(rank) != chosen[leaves[i]])
    {
      continue;
    }
    Best& b = best[leaves[i]];
    b.sum = b.now == rank ? b.sum + cells[i].particles : cells[i].particles;
    b.now = rank;
    if (b.sum > b.particles)
    {
      b.rank = rank;
      b.particles = b.sum;
    }
  }
  std::vector<std::uint32_t> aggregators;
  aggregators.reserve(plan.leaf_count);
  for (const Best& b : best)
  {
    aggregators.push_back(b.rank);
  }
  return aggregators;
}
}
