// SPDX-License-Identifier: BSD-3-Clause
#include "flow/hints/transitions.hpp"

#include <algorithm>
#include <limits>

namespace bat::flow
{
namespace
{
constexpr unsigned kBrickBits = 36;
constexpr unsigned kIntervalBits = 21;
}

std::optional<HintNode> hint_node(bool backward, std::size_t interval, std::uint64_t brick) noexcept
{
  if (interval >> kIntervalBits != 0 || brick >> kBrickBits != 0)
  {
    return std::nullopt;
  }
  const std::uint64_t direction = backward ? 1 : 0;
  return (direction << kIntervalBits | interval) << kBrickBits | brick;
}

std::optional<HintGraph> HintGraph::of(
  std::vector<std::uint64_t>&& transitions, std::vector<std::uint16_t>&& counts)
{
  HintGraph graph;
  graph.transitions_ = std::move(transitions);
  graph.counts_ = std::move(counts);
  bool is_sound = graph.transitions_.size() == graph.counts_.size();
  for (std::size_t i = 0; is_sound && i != graph.size(); ++i)
  {
    is_sound = graph.step(i) < hint_step::kEnd && graph.counts_[i] != 0 &&
      (i == 0 || graph.transitions_[i - 1] < graph.transitions_[i]);
  }
  return is_sound ? std::optional(std::move(graph)) : std::nullopt;
}

std::pair<std::size_t, std::size_t> HintGraph::find(HintNode node) const noexcept
{
  const auto all = this->transitions_.begin();
  const auto first = std::lower_bound(all, this->transitions_.end(), node << kStepBits);
  auto end = first;
  while (end != this->transitions_.end() && *end >> kStepBits == node)
  {
    ++end;
  }
  return { static_cast<std::size_t>(first - all), static_cast<std::size_t>(end - all) };
}

void HintGraph::append(HintNode node, std::vector<std::pair<unsigned, std::uint64_t>>& steps)
{
  std::uint64_t largest = 0;
  for (const auto& step : steps)
  {
    largest = std::max(largest, step.second);
  }
  unsigned shift = 0;
  while (largest >> shift > kMaxCount)
  {
    ++shift;
  }
  for (const auto& [step, count] : steps)
  {
    if (count >> shift != 0)
    {
      this->transitions_.push_back(node << kStepBits | step);
      this->counts_.push_back(static_cast<std::uint16_t>(count >> shift));
    }
  }
  steps.clear();
}

HintGraph HintGraph::merged(const HintGraph& more, std::size_t maximum) const
{
  HintGraph all;
  all.transitions_.reserve(this->size() + more.size());
  all.counts_.reserve(this->size() + more.size());
  std::size_t i = 0;
  std::size_t k = 0;
  std::vector<std::pair<unsigned, std::uint64_t>> steps;
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  const auto at = [](const HintGraph& graph, std::size_t n)
  { return n == graph.size() ? kNone : graph.transitions_[n]; };
  while (i != this->size() || k != more.size())
  {
    const HintNode node = std::min(at(*this, i), at(more, k)) >> kStepBits;
    for (std::uint64_t next = std::min(at(*this, i), at(more, k));
         next != kNone && next >> kStepBits == node; next = std::min(at(*this, i), at(more, k)))
    {
      std::uint64_t count = 0;
      count += at(*this, i) == next ? this->counts_[i++] : 0u;
      count += at(more, k) == next ? more.counts_[k++] : 0u;
      steps.emplace_back(static_cast<unsigned>(next & ((1u << kStepBits) - 1)), count);
    }
    all.append(node, steps);
  }
  while (all.size() > maximum)
  {
    std::size_t kept = 0;
    for (std::size_t n = 0; n != all.size(); ++n)
    {
      if (all.counts_[n] > 1)
      {
        all.transitions_[kept] = all.transitions_[n];
        all.counts_[kept++] = static_cast<std::uint16_t>(all.counts_[n] / 2);
      }
    }
    all.transitions_.resize(kept);
    all.counts_.resize(kept);
  }
  return all;
}

void HintLog::add(HintNode node, unsigned step, std::uint64_t count)
{
  if (count == 0)
  {
    return;
  }
  this->seen_.push_back({ node << kStepBits | step, count });
  if (this->seen_.size() >= this->room_)
  {
    this->gather();
    // If most transitions are distinct, merging after every one more would be slow.
    this->room_ = std::max(this->room_, 2 * this->seen_.size());
  }
}

void HintLog::gather()
{
  std::sort(this->seen_.begin(), this->seen_.end(),
    [](const Seen& a, const Seen& b) { return a.transition < b.transition; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i != this->seen_.size(); ++i)
  {
    if (kept != 0 && this->seen_[kept - 1].transition == this->seen_[i].transition)
    {
      this->seen_[kept - 1].count += this->seen_[i].count;
    }
    else
    {
      this->seen_[kept++] = this->seen_[i];
    }
  }
  this->seen_.resize(kept);
  while (this->seen_.size() > this->max_)
  {
    kept = 0;
    for (std::size_t i = 0; i != this->seen_.size(); ++i)
    {
      if (this->seen_[i].count > 1)
      {
        this->seen_[kept++] = { this->seen_[i].transition, this->seen_[i].count / 2 };
      }
    }
    this->seen_.resize(kept);
  }
}

HintGraph HintLog::take()
{
  this->gather();
  HintGraph graph;
  std::vector<std::pair<unsigned, std::uint64_t>> steps;
  for (std::size_t i = 0; i != this->seen_.size(); ++i)
  {
    const Seen& seen = this->seen_[i];
    steps.emplace_back(
      static_cast<unsigned>(seen.transition & ((1u << kStepBits) - 1)), seen.count);
    if (i + 1 == this->seen_.size() ||
      this->seen_[i + 1].transition >> kStepBits != seen.transition >> kStepBits)
    {
      graph.append(seen.transition >> kStepBits, steps);
    }
  }
  this->seen_ = {};
  return graph;
}
}
