#include "plan/aggregators.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace bat::plan
{
namespace
{
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// What a rank has of a leaf file.
struct Share
{
  double particles;
  std::uint32_t leaf;
  std::uint32_t rank;
};

std::vector<Share> shares_of(const std::vector<WeightedCell>& cells, const Plan& plan)
{
  std::vector<Share> shares(cells.size());
  tbb::parallel_for(std::size_t{ 0 }, cells.size(),
    [&](std::size_t i)
    {
      const WeightedCell& cell = cells[i];
      const auto middle = [&](std::size_t axis)
      {
        return static_cast<double>(cell.lower[axis]) * 0.5 +
          static_cast<double>(cell.upper[axis]) * 0.5;
      };
      const std::uint32_t leaf = plan.mode == PlanMode::Adaptive
        ? plan.leaf_at(middle(0), middle(1), middle(2))
        : plan.leaf_of_rank[cell.rank];
      shares[i] = { cell.particles, leaf, cell.rank };
    });
  tbb::parallel_sort(shares.begin(), shares.end(),
    [](const Share& a, const Share& b)
    { return std::tie(a.leaf, a.rank, a.particles) < std::tie(b.leaf, b.rank, b.particles); });
  std::size_t end = 0;
  for (const Share& share : shares)
  {
    if (end != 0 && shares[end - 1].leaf == share.leaf && shares[end - 1].rank == share.rank)
    {
      shares[end - 1].particles += share.particles;
    }
    else
    {
      shares[end++] = share;
    }
  }
  shares.resize(end);
  return shares;
}

/// Ranks [begin(w), begin(w + 1)) may take so many leaf files together.
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
  /// Whether there was room for one more.
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
}

std::vector<std::uint32_t> choose_aggregators(
  const std::vector<WeightedCell>& cells, const Plan& plan, std::uint32_t ranks)
{
  std::vector<Share> shares = shares_of(cells, plan);
  tbb::parallel_sort(shares.begin(), shares.end(),
    [](const Share& a, const Share& b)
    { return std::tie(b.particles, a.leaf, a.rank) < std::tie(a.particles, b.leaf, b.rank); });
  Windows windows(ranks, plan.leaf_count);
  std::vector<std::uint32_t> aggregators(plan.leaf_count, kNone);
  for (const Share& share : shares)
  {
    if (aggregators[share.leaf] == kNone && windows.take(windows.of_rank(share.rank)))
    {
      aggregators[share.leaf] = share.rank;
    }
  }
  std::uint32_t window = 0;
  for (std::uint32_t& aggregator : aggregators)
  {
    if (aggregator == kNone)
    {
      while (!windows.take(window))
      {
        ++window;
      }
      aggregator = windows.first_rank(window);
    }
  }
  return aggregators;
}
}
