// SPDX-License-Identifier: BSD-3-Clause
// Records where the particles of a run go, and prefetches bricks according to earlier runs.
#include "flow/schedule/buckets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace bat::flow
{
namespace
{
constexpr std::uint64_t kHintsPerCheck = 64;
constexpr double kMinHintProbability = 0.5; // minimum chance of particles for a hint to be used
constexpr double kUnseenParticles = 1; // particles that went other ways than all that were seen
constexpr double kMaxIndependentParticles = 12; // particles that are taken to go their own ways
constexpr std::size_t kMaxExpectedPlaces = 64;  // places at a distance that hints are followed from
}

std::optional<HintNode> Buckets::find_node(
  std::int32_t interval, std::uint64_t brick) const noexcept
{
  const std::size_t before = this->frame_.level_before(interval);
  const std::size_t after = this->frame_.level_after(interval);
  return hint_node(this->options_.backward, std::min(before, after), brick);
}

// Records where the particles of a part went, to learn from it and to look ahead from there.
void Buckets::note_ways(const Bucket& from, Worker& worker) const
{
  const auto place = this->grid_.brick_place(from.at.brick);
  std::array<std::uint32_t, hint_step::kLeave> went{};
  went[hint_step::kEnds] = std::exchange(worker.lost, 0);
  worker.arrived.clear();
  for (const Moved& moved : worker.moved)
  {
    const BucketKey& key = moved.key;
    const bool is_next = key.interval != from.at.interval;
    if (!is_next && key.brick == from.at.brick)
    {
      continue; // needs other neighbours, no more
    }
    const auto found = std::find_if(worker.arrived.begin(), worker.arrived.end(),
      [&](const Place& p) { return p.brick == key.brick && p.interval == key.interval; });
    if (found != worker.arrived.end())
    {
      found->share += 1;
    }
    else
    {
      worker.arrived.push_back({ key.interval, key.brick, 1 });
    }
  }
  if (worker.learned)
  {
    const auto node = this->find_node(from.at.interval, from.at.brick);
    for (const Place& to : worker.arrived)
    {
      const auto there = this->grid_.brick_place(to.brick);
      unsigned step = 0;
      bool is_near = true;
      for (std::size_t a = 3; a-- != 0;)
      {
        std::int64_t way = there[a] - place[a];
        const std::int64_t bricks = this->grid_.bricks(a);
        if (this->grid_.cyclic[a] && std::abs(way) == bricks - 1 && bricks > 2)
        {
          way = way > 0 ? -1 : 1;
        }
        is_near = is_near && std::abs(way) <= 1;
        step = 3 * step + static_cast<unsigned>(way + 1);
      }
      step = is_near ? step : hint_step::kEnds; // for long steps of Runge-Kutta 4
      went[step + (is_near && to.interval != from.at.interval ? hint_step::kNext : 0)] +=
        static_cast<std::uint32_t>(to.share);
    }
    for (unsigned step = 0; node && step != hint_step::kLeave; ++step)
    {
      worker.learned->add(*node, step, went[step]);
    }
    for (unsigned part = 1; node && part != 8; ++part)
    {
      if ((part & ~from.at.mask) == 0)
      {
        worker.learned->add(*node, hint_step::kNeeds + part, worker.part.size());
      }
    }
  }
  if (this->hints_.graph)
  {
    for (const Place& to : worker.arrived)
    {
      this->follow_hints(to, worker);
    }
  }
}

// Collects the bricks that `place` needs if its share is large enough.
void Buckets::expect(const Place& place, const HintGraph& graph,
  std::pair<std::size_t, std::size_t> known, double total, double minimum, Worker& worker) const
{
  BucketKey key;
  key.interval = place.interval;
  key.brick = place.brick;
  const auto ask = [&](std::uint64_t brick)
  {
    for (const std::size_t level :
      { this->frame_.level_before(place.interval), this->frame_.level_after(place.interval) })
    {
      const std::uint64_t requested = this->cache_.key(level, brick);
      std::uint64_t& request = worker.hints_requested[requested * 0x9E3779B97F4A7C15u >> 54];
      if (request != requested + 1)
      {
        request = requested + 1;
        worker.hinted.push_back(requested);
      }
    }
  };
  ask(place.brick);
  const auto at = this->grid_.brick_place(place.brick);
  for (std::size_t i = known.first; i != known.second; ++i)
  {
    const unsigned step = graph.step(i);
    if (step < hint_step::kLeave || place.share * graph.counts()[i] < minimum * total)
    {
      continue;
    }
    const unsigned part = step - hint_step::kNeeds;
    std::array<std::int64_t, 3> there = at;
    bool inside = true;
    for (std::size_t a = 0; a != 3; ++a)
    {
      there[a] += part >> a & 1;
      inside = inside && (there[a] < this->grid_.bricks(a) || this->grid_.cyclic[a]);
      there[a] %= this->grid_.bricks(a);
    }
    if (inside)
    {
      ask(this->grid_.brick_number(there));
    }
  }
}

// Collects bricks that particles at a place are likely to reach, nearest first, following most of
// the particles of earlier runs. Where those took different ways, the chances become small and no
// brick is requested.
void Buckets::follow_hints(const Place& from, Worker& worker) const
{
  const HintGraph& graph = *this->hints_.graph;
  const int depth = this->hint_depth_.load();
  const auto start = this->find_node(from.interval, from.brick);
  if (depth == 0 || !start)
  {
    return;
  }
  // Particles near each other go the same way.
  const double particles = std::min(from.share, kMaxIndependentParticles);
  std::uint64_t& followed = worker.hints_followed[*start * 0x9E3779B97F4A7C15u >> 54];
  if (followed >> 4 == *start + 1 && (followed & 15) >= static_cast<std::uint64_t>(particles))
  {
    return;
  }
  followed = (*start + 1) << 4 | static_cast<std::uint64_t>(particles);
  const double minimum = 1 - std::pow(1 - kMinHintProbability, 1 / particles);
  worker.expected.assign(1, { from.interval, from.brick, 1 });
  for (int n = 0; n <= depth && !worker.expected.empty(); ++n)
  {
    worker.expected_next.clear();
    for (const Place& place : worker.expected)
    {
      const auto node = this->find_node(place.interval, place.brick);
      const auto known = node ? graph.find(*node) : std::pair<std::size_t, std::size_t>{};
      double total = 0;
      for (std::size_t i = known.first; i != known.second; ++i)
      {
        total += graph.step(i) < hint_step::kLeave ? graph.counts()[i] : 0;
      }
      if (n != 0 || total != 0)
      {
        this->expect(place, graph, known, total, minimum, worker);
      }
      if (n == depth)
      {
        continue;
      }
      const auto at = this->grid_.brick_place(place.brick);
      for (std::size_t i = known.first; i != known.second; ++i)
      {
        unsigned step = graph.step(i);
        const double share = place.share * graph.counts()[i] / (total + kUnseenParticles);
        if (step >= hint_step::kLeave || step == hint_step::kEnds || share < minimum / 4)
        {
          continue;
        }
        const bool is_next = step >= hint_step::kNext;
        step -= is_next ? hint_step::kNext : 0;
        Place to{ place.interval + is_next, 0, share };
        std::array<std::int64_t, 3> there{};
        bool inside = to.interval <= this->frame_.last_interval();
        for (std::size_t a = 0; a != 3; ++a, step /= 3)
        {
          const std::int64_t bricks = this->grid_.bricks(a);
          there[a] = at[a] + static_cast<std::int64_t>(step % 3) - 1;
          inside = inside && (this->grid_.cyclic[a] || (there[a] >= 0 && there[a] < bricks));
          there[a] = (there[a] + bricks) % bricks;
        }
        if (!inside)
        {
          continue;
        }
        to.brick = this->grid_.brick_number(there);
        const auto same = std::find_if(worker.expected_next.begin(), worker.expected_next.end(),
          [&](const Place& p) { return p.brick == to.brick && p.interval == to.interval; });
        if (same != worker.expected_next.end())
        {
          same->share += share;
        }
        else if (worker.expected_next.size() != kMaxExpectedPlaces)
        {
          worker.expected_next.push_back(to);
        }
      }
    }
    worker.expected_next.erase(
      std::remove_if(worker.expected_next.begin(), worker.expected_next.end(),
        [minimum](const Place& p) { return p.share < minimum; }),
      worker.expected_next.end());
    worker.expected.swap(worker.expected_next);
  }
}

// Requests bricks for the seeds before any velocity is known.
void Buckets::hint_from_seeds(Worker& worker)
{
  for (const auto& [key, bucket] : this->buckets_)
  {
    this->follow_hints(
      { key.interval, key.brick, static_cast<double>(bucket->particles.size()) }, worker);
    if (worker.hinted.size() > this->capacity_)
    {
      break;
    }
  }
  const std::uint64_t bricks = this->grid_.brick_count();
  std::stable_sort(worker.hinted.begin(), worker.hinted.end(),
    [&](std::uint64_t a, std::uint64_t b)
    { return this->options_.backward ? a / bricks > b / bricks : a / bricks < b / bricks; });
  worker.hinted.resize(
    this->cache_.prefetch(worker.hinted.data(), worker.hinted.size(), BrickCache::Ahead::Hints));
  this->hinted_ = std::move(worker.hinted);
}

// Hints whose bricks were not needed by their time were useless. If many are, hints are followed
// less far.
void Buckets::judge_hints()
{
  const std::int32_t now =
    this->buckets_.empty() ? this->hints_judged_to_ : this->buckets_.begin()->first.interval;
  if (now <= this->hints_judged_to_ || this->hinted_.empty())
  {
    return;
  }
  this->hints_judged_to_ = now;
  const std::uint64_t bricks = this->grid_.brick_count();
  // Counts the keys of a level whose interval all particles have passed.
  const auto passed = std::partition(this->hinted_.begin(), this->hinted_.end(),
    [&](std::uint64_t key)
    {
      const std::size_t level = static_cast<std::size_t>(key / bricks);
      return this->options_.backward ? level <= this->frame_.level_before(now)
                                     : level >= this->frame_.level_before(now);
    });
  const auto count = static_cast<std::size_t>(this->hinted_.end() - passed);
  this->hints_judged_ += count;
  this->hints_in_vain_ +=
    this->cache_.unused(this->hinted_.data() + (passed - this->hinted_.begin()), count);
  this->hinted_.erase(passed, this->hinted_.end());
  if (this->hints_judged_ >= kHintsPerCheck)
  {
    if (10 * this->hints_in_vain_ > 3 * this->hints_judged_)
    {
      this->hint_depth_ = this->hint_depth_ / 2;
    }
    this->hints_judged_ = 0;
    this->hints_in_vain_ = 0;
  }
}
}
