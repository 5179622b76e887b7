// SPDX-License-Identifier: BSD-3-Clause
#include "particles/parallel/assignment.hpp"

#include "common/numbers.hpp"
#include "particles/plan/leaf_finder.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace bat::mpi
{
namespace
{
constexpr std::uint64_t kParticlesPerTask = 1 << 16;

// With this few leaf files, particles are picked file by file: counters that change with nearly
// every particle would be slower.
constexpr std::size_t kMaxPickedLeaves = 6;

// A run of particles that one task counts and sorts by leaf.
class Slice
{
public:
  Slice(const Numbers& leaf_of, std::uint64_t begin, std::uint64_t end)
    : leaf_of_(leaf_of.data())
    , begin_(begin)
    , end_(end)
  {
  }

  void count(std::uint32_t leaf_count)
  {
    std::vector<std::uint8_t> is_met(leaf_count, 0);
    for (std::uint64_t i = this->begin_; i != this->end_; ++i)
    {
      is_met[this->leaf_of_[i]] = 1;
    }
    for (std::uint32_t leaf = 0; leaf != leaf_count; ++leaf)
    {
      if (is_met[leaf] != 0)
      {
        this->leaves_.push_back(leaf);
      }
    }
    this->counts.assign(leaf_count, 0);
    this->places.resize(leaf_count);
    if (this->leaves_.size() <= kMaxPickedLeaves)
    {
      for (const std::uint32_t leaf : this->leaves_)
      {
        this->counts[leaf] = static_cast<std::uint64_t>(
          std::count(this->leaf_of_ + this->begin_, this->leaf_of_ + this->end_, leaf));
      }
      return;
    }
    for (std::uint64_t i = this->begin_; i != this->end_; ++i)
    {
      ++this->counts[this->leaf_of_[i]];
    }
  }

  // Writes the particle numbers leaf by leaf; those of each leaf begin at places[leaf].
  void put_in_order(std::uint32_t* order)
  {
    if (this->leaves_.size() <= kMaxPickedLeaves)
    {
      for (const std::uint32_t leaf : this->leaves_)
      {
        std::uint32_t* at = order + this->places[leaf];
        std::uint32_t* const end = at + this->counts[leaf];
        for (std::uint64_t i = this->begin_; at != end; ++i)
        {
          *at = static_cast<std::uint32_t>(i); // overwritten if it belongs to another leaf
          at += this->leaf_of_[i] == leaf;
        }
      }
      return;
    }
    for (std::uint64_t i = this->begin_; i != this->end_; ++i)
    {
      order[this->places[this->leaf_of_[i]]++] = static_cast<std::uint32_t>(i);
    }
  }

  std::vector<std::uint64_t> counts; ///< per leaf
  std::vector<std::uint64_t> places; ///< per leaf, in the order of all slices

private:
  const std::uint32_t* leaf_of_; ///< leaf of each particle
  std::uint64_t begin_;
  std::uint64_t end_;
  std::vector<std::uint32_t> leaves_; ///< leaves that occur, ascending
};
}

LeafAssignment assign_leaves(
  const RankParticles& particles, const std::optional<Box>& bounds, const Plan& plan, int rank)
{
  if (plan.mode != PlanMode::Adaptive)
  {
    return { plan.leaf_of_rank[static_cast<std::size_t>(rank)], {} };
  }
  if (plan.leaf_count <= 1)
  {
    return { 0, {} };
  }
  if (const auto leaf = bounds ? plan.find_leaf(*bounds) : std::nullopt)
  {
    return { *leaf, {} };
  }
  const plan::LeafFinder leaf_at(plan, bounds);
  LeafAssignment assignment{ 0, Numbers(particles.count()) };
  dispatch(particles.schema().positions.type,
    [&](auto value)
    {
      tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, particles.count(), kParticlesPerTask),
        [&](const auto& range)
        {
          particles.visit_positions<decltype(value)>(range.begin(), range.end(),
            [&](std::uint64_t i, const auto& p)
            {
              assignment.each[i] = leaf_at({ static_cast<double>(p[0]), static_cast<double>(p[1]),
                static_cast<double>(p[2]) });
            });
        });
    });
  return assignment;
}

LeafOrder sort_by_leaf(
  const LeafAssignment& assignment, std::uint64_t particles, std::uint32_t leaf_count)
{
  LeafOrder sorted;
  sorted.first.assign(leaf_count + std::size_t{ 1 }, 0);
  if (assignment.each.empty())
  {
    std::fill(sorted.first.begin() + assignment.leaf + 1, sorted.first.end(), particles);
    return sorted;
  }
  // There are no more slices than threads, and none is shorter than its counts, one per leaf file.
  const std::uint64_t slice_count =
    std::min(static_cast<std::uint64_t>(tbb::this_task_arena::max_concurrency()),
      1 + particles / std::max<std::uint64_t>(kParticlesPerTask, leaf_count));
  std::vector<Slice> slices;
  for (std::uint64_t s = 0; s != slice_count; ++s)
  {
    slices.emplace_back(
      assignment.each, particles * s / slice_count, particles * (s + 1) / slice_count);
  }
  tbb::parallel_for(
    std::size_t{ 0 }, slices.size(), [&](std::size_t s) { slices[s].count(leaf_count); });
  std::uint64_t before = 0;
  for (std::uint32_t leaf = 0; leaf != leaf_count; ++leaf)
  {
    for (Slice& slice : slices)
    {
      slice.places[leaf] = before;
      before += slice.counts[leaf];
    }
    sorted.first[leaf + std::size_t{ 1 }] = before;
  }
  sorted.order.resize(particles);
  tbb::parallel_for(std::size_t{ 0 }, slices.size(),
    [&](std::size_t s) { slices[s].put_in_order(sorted.order.data()); });
  return sorted;
}
}
