// SPDX-License-Identifier: BSD-3-Clause
// Seeds throughout the domain, with caches for a part of the bricks they need: how often bricks are
// read and looked up, and bitwise identical results.
#include "bat/flow/trace.hpp"
#include "flow/cache/brick_cache.hpp"
#include "flow/sampled_flow.hpp"
#include "flow/schedule/sweep.hpp"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

namespace
{
using namespace bat;
using sampled_flow::Source;

constexpr double kTau = 6.283185307179586;

// Particles move at most a quarter of a brick per interval.
std::shared_ptr<Source> small_bricks(
  std::int64_t points, std::size_t levels, bool is_cyclic = false)
{
  BrickGrid grid;
  grid.edge = 4;
  grid.points.fill(points);
  grid.spacing.fill(kTau / static_cast<double>(points - 1));
  grid.cyclic.fill(is_cyclic);
  std::vector<double> times(levels);
  for (std::size_t i = 0; i != levels; ++i)
  {
    times[i] = 0.03 * static_cast<double>(i);
  }
  return std::make_shared<Source>(grid, times, sampled_flow::abc);
}

std::vector<flow::Seed> spread(std::size_t count, double time = 0)
{
  std::mt19937_64 random(7);
  std::vector<flow::Seed> seeds(count);
  for (flow::Seed& seed : seeds)
  {
    for (double& x : seed.position)
    {
      x = kTau * (static_cast<double>(random() >> 11) * 0x1p-53);
    }
    seed.time = time;
  }
  return seeds;
}

flow::Cache cache_of(const std::shared_ptr<const BrickSource>& source, std::size_t slots)
{
  flow::CacheOptions options;
  options.io_threads = 4;
  const std::size_t bytes = flow::Cache(source, options).bricks().slot_bytes();
  options.bytes = slots * bytes;
  return flow::Cache(source, options);
}

flow::TraceOptions one_thread(flow::Prefetch prefetch)
{
  flow::TraceOptions options;
  options.threads = 1;
  options.prefetch = prefetch;
  options.hints = flow::Hints::Off;
  return options;
}

// Two levels have 4394 bricks. Interval by interval, almost all bricks are read twice.
TEST(FlowSpread, a_cache_for_less_than_a_level_reads_bricks_little_more_than_once)
{
  const auto source = small_bricks(49, 13);
  const auto seeds = spread(8000);
  for (const auto prefetch : { flow::Prefetch::None, flow::Prefetch::Velocity })
  {
    source->reads = 0;
    const auto lines = flow::trace(cache_of(source, 1600), seeds, one_thread(prefetch));
    const flow::Statistics& s = lines.statistics;
    EXPECT_GT(s.touched, 9 * s.bricks / 10);
    EXPECT_EQ(source->reads, s.read + s.prefetched);
    // Prefetched bricks may be dropped on a loaded machine.
    const double max_reads = prefetch == flow::Prefetch::None ? 1.2 : 1.4;
    EXPECT_LE(static_cast<double>(source->reads), max_reads * static_cast<double>(s.touched));
    EXPECT_LE(s.cache_bytes, s.max_cache_bytes);
  }
}

// The same holds if particles begin at other times or run backwards, and without a useful order.
TEST(FlowSpread, what_fits_into_the_cache_is_read_once)
{
  const auto source = small_bricks(33, 9);
  auto seeds = spread(2000, source->times().back());
  for (std::size_t i = 0; i < seeds.size(); i += 3)
  {
    seeds[i].time = source->times()[4] + 0.01;
  }
  flow::TraceOptions options = one_thread(flow::Prefetch::None);
  options.backward = true;
  const auto lines = flow::trace(cache_of(source, 9 * 729 + 100), seeds, options);
  EXPECT_EQ(lines.statistics.read, lines.statistics.touched);
}

// Tracing particles takes a fraction of the time of storing bricks in memory.
TEST(FlowSpread, what_is_looked_for_grows_as_what_is_used_does)
{
  const auto source = small_bricks(33, 9);
  for (const std::size_t count : { 250, 2000, 16000 })
  {
    for (const std::size_t slots : { 250, 600, 2000 })
    {
      const flow::Cache cache = cache_of(source, slots);
      const auto lines = flow::trace(cache, spread(count), one_thread(flow::Prefetch::None));
      const flow::CacheCounts counts = cache.bricks().counts();
      EXPECT_LE(counts.looked, 12 * (counts.hits + counts.demanded))
        << count << " seeds, " << slots << " slots";
      // For each particle, few buckets use each brick of an interval.
      EXPECT_LE(counts.hits + counts.demanded, 40 * count * 8) << count << " seeds";
    }
  }
}

TEST(FlowSpread, the_same_bits_for_any_cache_threads_and_prefetching)
{
  const tbb::global_control many(tbb::global_control::max_allowed_parallelism, 4);
  for (const auto& [is_cyclic, integrator] : { std::pair{ false, flow::Integrator::CellByCell },
         std::pair{ true, flow::Integrator::CellByCell },
         std::pair{ false, flow::Integrator::RungeKutta4 } })
  {
    const auto source = small_bricks(33, 9, is_cyclic);
    auto seeds = spread(2000);
    for (std::size_t i = 0; i < seeds.size(); i += 5)
    {
      seeds[i].time = source->times()[i % 9] + 0.001;
    }
    flow::TraceOptions options = one_thread(flow::Prefetch::None);
    options.integrator = integrator;
    // A few seeds at a time do not make a sweep.
    flow::TraceOptions few = options;
    few.max_particles = 100;
    const std::uint64_t expected = flow::trace(cache_of(source, 10000), seeds, few).checksum();
    for (const std::size_t slots : { 1, 300, 20000 })
    {
      for (const int threads : { 1, 2, 4 })
      {
        options.threads = threads;
        options.prefetch = threads == 2 ? flow::Prefetch::None : flow::Prefetch::Velocity;
        options.in_step = threads == 4 && slots == 300;
        const flow::Cache cache = cache_of(source, slots);
        const auto lines = flow::trace(cache, seeds, options);
        ASSERT_EQ(lines.checksum(), expected) << slots << " slots, " << threads << " threads";
        ASSERT_LE(cache.bytes(), cache.max_bytes());
      }
    }
  }
}

// In a sweep, each brick of each interval has its own place, and rows belong to its bricks.
TEST(FlowSpread, rows_of_a_sweep_are_all_that_is_visited)
{
  BrickGrid grid;
  grid.edge = 4;
  grid.points = { 17, 37, 25 }; // 5 x 10 x 7 bricks
  flow::Sweep::Region region;
  region.lower = { 0, 1, 2 };
  region.upper = { 4, 8, 6 };
  for (const std::size_t slots : { 1, 300, 100000 })
  {
    const flow::Sweep sweep(grid, region, 200, { 3, 16 }, slots, false);
    EXPECT_EQ(sweep.axis(), 1U); // the longest
    EXPECT_TRUE(sweep.is_dense());
    std::set<std::pair<std::int32_t, std::uint64_t>> turns;
    std::set<std::uint64_t> rows;
    std::size_t visits = 0;
    for (std::int32_t n = 3; n <= 16; ++n)
    {
      for (std::int64_t z = 2; z <= 6; ++z)
      {
        for (std::int64_t y = 1; y <= 8; ++y)
        {
          for (std::int64_t x = 0; x <= 4; ++x)
          {
            const flow::Sweep::Turn turn = sweep.find_turn(n, { x, y, z });
            EXPECT_TRUE(turns.emplace(turn.window, turn.order).second);
            rows.insert(sweep.row_of(turn));
            ++visits;
            std::vector<flow::Sweep::Visit> row;
            sweep.collect_visits(sweep.row_of(turn), row);
            EXPECT_EQ(std::count_if(row.begin(), row.end(),
                        [&](const flow::Sweep::Visit& visit) {
                          return visit.interval == n &&
                            visit.place == std::array<std::int64_t, 3>{ x, y, z };
                        }),
              1);
          }
        }
      }
    }
    std::size_t in_rows = 0;
    for (const std::uint64_t number : rows)
    {
      std::vector<flow::Sweep::Visit> row;
      sweep.collect_visits(number, row);
      in_rows += row.size();
    }
    EXPECT_EQ(in_rows, visits);
  }
}
}
