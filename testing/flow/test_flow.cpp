// SPDX-License-Identifier: BSD-3-Clause
// Traces against brute force and formulas; bitwise identical results for any cache, threads,
// prefetching and processor; how lines end; errors.
#include "bat/flow/trace.hpp"
#include "common/processor.hpp"
#include "flow/sampled_flow.hpp"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <random>
#include <thread>

namespace
{
using namespace bat;
using sampled_flow::Point;
using sampled_flow::Source;

constexpr double kTau = 6.283185307179586;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

BrickGrid cube(std::int64_t points, double length)
{
  BrickGrid grid;
  grid.points = { points, points, points };
  grid.spacing.fill(length / static_cast<double>(points - 1));
  return grid;
}

flow::Cache cache_of(std::shared_ptr<const BrickSource> source, std::uint64_t bytes = 1u << 28)
{
  flow::CacheOptions options;
  options.bytes = bytes;
  options.io_threads = 4;
  return flow::Cache(std::move(source), options);
}

std::vector<flow::Seed> random_seeds(
  std::size_t count, const Point& lower, const Point& upper, double time, unsigned seed = 1)
{
  std::mt19937_64 random(seed);
  std::vector<flow::Seed> seeds(count);
  for (flow::Seed& s : seeds)
  {
    for (std::size_t a = 0; a != 3; ++a)
    {
      s.position[a] =
        lower[a] + (upper[a] - lower[a]) * (static_cast<double>(random() >> 11) * 0x1p-53);
    }
    s.time = time;
  }
  return seeds;
}

double distance(const Point& a, const Point& b)
{
  return std::sqrt(
    (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

std::shared_ptr<Source> abc(std::int64_t points, ScalarType type = ScalarType::Float32)
{
  BrickGrid grid = cube(points, kTau);
  grid.type = type;
  return std::make_shared<Source>(
    grid, std::vector<double>{ 0, 0.1, 0.25, 0.3, 0.5, 0.75, 1 }, sampled_flow::abc);
}

std::shared_ptr<Source> uniform(const Point& v, std::int64_t points = 11)
{
  return std::make_shared<Source>(cube(points, static_cast<double>(points - 1)),
    std::vector<double>{ 0, 1, 2, 4 }, [v](const Point&, double) { return v; });
}
}

TEST(Flow, lines_are_those_of_brute_force)
{
  // Uneven times, both directions, both types, releases and ends inside intervals.
  for (const ScalarType type : { ScalarType::Float32, ScalarType::Float64 })
  {
    for (const bool backward : { false, true })
    {
      const auto source = abc(21, type);
      const double begin = backward ? 0.9 : 0.17;
      auto seeds = random_seeds(60, { 2.5, 2.5, 2.5 }, { 3.8, 3.8, 3.8 }, begin);
      flow::TraceOptions options;
      options.backward = backward;
      options.end_time = backward ? 0.05 : 0.86;
      const auto lines = flow::trace(cache_of(source), seeds, options);
      double worst = 0;
      for (std::size_t i = 0; i != seeds.size(); ++i)
      {
        ASSERT_EQ(lines.lines[i].reason, flow::Reason::EndTime);
        ASSERT_EQ(lines.lines[i].end_time, *options.end_time);
        const Point end =
          sampled_flow::follow(*source, seeds[i].position, begin, *options.end_time, 400);
        worst = std::max(worst, distance(end, lines.lines[i].end) / source->grid().spacing[0]);
        // Release, each level between, end.
        const std::uint64_t first = lines.lines[i].first_point;
        ASSERT_EQ(lines.lines[i].points, backward ? 7u : 6u);
        ASSERT_EQ(lines.times[first], begin);
        ASSERT_EQ(lines.times[first + 2], backward ? 0.5 : 0.3);
        ASSERT_EQ(lines.positions[first + lines.lines[i].points - 1], lines.lines[i].end);
        const Point v = sampled_flow::velocity(*source, seeds[i].position, begin);
        ASSERT_LT(distance(v, lines.velocities[first]), 1e-9);
      }
      EXPECT_LT(worst, 2e-5);
    }
  }
}

// Where it begins, the curve is level, and a face is nearer than any step. The face is still found
// to full precision.
TEST(Flow, faces_that_particles_leave_for_from_rest_are_where_they_are)
{
  BrickGrid grid = cube(9, 8);
  grid.type = ScalarType::Float64;
  const auto source = std::make_shared<Source>(grid, std::vector<double>{ 0, 1 },
    [](const Point&, double t) {
      return Point{ 2 * t, 1, 0 };
    });
  flow::TraceOptions options;
  options.max_error = 1e-12;
  for (const double before : { 1e-6, 1e-7, 2e-8, 1e-8, 1e-9, 1e-10, 1e-11 })
  {
    const double x = 3 - before;
    const auto lines = flow::trace(cache_of(source), { { { x, 0.1, 1 }, 0 } }, options);
    EXPECT_NEAR(lines.lines[0].end[0], x + 1, 1e-12) << before;
    EXPECT_NEAR(lines.lines[0].end[1], 1.1, 1e-12) << before;
  }
}

TEST(Flow, cyclic_axes_are_crossed_as_often_as_may_be_and_positions_do_not_wrap)
{
  BrickGrid grid;
  grid.points = { 20, 19, 16 };
  for (std::size_t a = 0; a != 3; ++a)
  {
    grid.spacing[a] = kTau / static_cast<double>(grid.points[a]);
    grid.cyclic[a] = true;
  }
  const auto source = std::make_shared<Source>(grid, std::vector<double>{ 0, 1, 2, 3 },
    [](const Point& p, double t)
    {
      Point v = sampled_flow::abc(p, t);
      v[0] += 9;
      v[1] -= 7;
      return v;
    });
  const auto seeds = random_seeds(40, { -9, 0, 0 }, { kTau, kTau, kTau }, 0);
  const auto lines = flow::trace(cache_of(source), seeds);
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    ASSERT_EQ(lines.lines[i].reason, flow::Reason::EndTime);
    const Point end = sampled_flow::follow(*source, seeds[i].position, 0, 3, 4000);
    EXPECT_LT(distance(end, lines.lines[i].end) / grid.spacing[0], 2e-4) << i;
    EXPECT_GT(end[0], seeds[i].position[0] + 2 * kTau);
  }
}

TEST(Flow, the_same_bits_for_any_cache_threads_prefetching_and_processor)
{
  const auto source = abc(41);
  auto seeds = random_seeds(600, { 0, 0, 0 }, { kTau, kTau, kTau }, 0);
  for (std::size_t i = 0; i != seeds.size(); i += 3)
  {
    seeds[i].time = 0.3 * static_cast<double>(i % 7) / 7;
  }
  flow::TraceOptions options;
  options.threads = 1;
  options.prefetch = flow::Prefetch::None;
  options.destination = flow::Destination{ { { { 4, 4, 4 }, { 5, 5.5, 6 } } }, false };
  for (const auto integrator : { flow::Integrator::CellByCell, flow::Integrator::RungeKutta4 })
  {
    options.integrator = integrator;
    const std::uint64_t expected = flow::trace(cache_of(source), seeds, options).checksum();
    for (const std::uint64_t bytes : { std::uint64_t{ 0 }, std::uint64_t{ 1 } << 20 })
    {
      for (const int threads : { 1, 2, 4 })
      {
        for (const auto prefetch : { flow::Prefetch::None, flow::Prefetch::Velocity })
        {
          flow::TraceOptions other = options;
          other.threads = threads;
          other.prefetch = prefetch;
          other.max_particles = threads == 4 ? 170 : other.max_particles;
          const auto cache = cache_of(source, bytes);
          const auto lines = flow::trace(cache, seeds, other);
          ASSERT_EQ(lines.checksum(), expected)
            << bytes << " bytes, " << threads << " threads, prefetch "
            << static_cast<int>(prefetch);
          ASSERT_LE(cache.bytes(), cache.max_bytes());
          ASSERT_EQ(lines.statistics.cache_bytes, cache.bytes());
        }
      }
    }
    processor::allow(processor::Instructions::Portable);
    EXPECT_EQ(flow::trace(cache_of(source), seeds, options).checksum(), expected);
    processor::allow(processor::Instructions::Avx512);
    // Independently of neighbouring particles.
    const flow::Cache cache = cache_of(source);
    const auto combined = flow::trace(cache, seeds, options);
    for (std::size_t i = 0; i < seeds.size(); i += 5)
    {
      const auto alone = flow::trace(cache, { seeds[i] }, options);
      ASSERT_EQ(alone.lines[0].reason, combined.lines[i].reason) << i;
      ASSERT_EQ(alone.lines[0].end, combined.lines[i].end) << i;
      ASSERT_EQ(alone.lines[0].end_time, combined.lines[i].end_time) << i;
    }
  }
}

// For sources that forget a level when the one after the next is requested.
TEST(Flow, in_step_nobody_begins_an_interval_before_all_have_ended_the_one_before)
{
  const tbb::global_control many(tbb::global_control::max_allowed_parallelism, 4);
  const auto source = std::make_shared<Source>(cube(41, 40), std::vector<double>{ 0, 1, 2, 3, 4 },
    [](const Point& p, double) {
      return Point{ 9 * std::sin(0.3 * p[1]), 9 * std::cos(0.3 * p[0]), 0 };
    });
  std::atomic<std::size_t> highest{ 0 };
  std::atomic<int> forgotten{ 0 };
  source->before_read = [&](std::size_t level, std::uint64_t)
  {
    std::size_t maximum = highest;
    while (maximum < level && !highest.compare_exchange_weak(maximum, level))
    {
    }
    forgotten += level + 1 < highest;
  };
  const auto seeds = random_seeds(3000, { 0, 0, 0 }, { 40, 40, 40 }, 0);
  flow::TraceOptions options;
  options.in_step = true;
  options.threads = 4;
  for (int again = 0; again != 5; ++again)
  {
    highest = 0;
    (void)flow::trace(cache_of(source, 0), seeds, options);
    ASSERT_EQ(forgotten, 0) << again;
  }
}

TEST(Flow, runge_kutta_4_takes_the_steps_that_brute_force_takes)
{
  const auto source = abc(21, ScalarType::Float64);
  const auto seeds = random_seeds(60, { 2.2, 2.2, 2.2 }, { 4.1, 4.1, 4.1 }, 0);
  flow::TraceOptions options;
  options.integrator = flow::Integrator::RungeKutta4;
  options.end_time = 0.75;
  const auto lines = flow::trace(cache_of(source), seeds, options);
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    const Point end = sampled_flow::follow(*source, seeds[i].position, 0, 0.75, 2);
    ASSERT_EQ(lines.lines[i].reason, flow::Reason::EndTime);
    // The brute force's levels are a billionth of a step away.
    ASSERT_LT(distance(end, lines.lines[i].end), 1e-8) << i;
  }
}

// Steps whose slopes would be above or below the domain are walked from cell to cell. Some of these
// end exactly on a face of a brick, and the particle continues on the other side.
TEST(Flow, steps_that_are_walked_may_end_where_bricks_meet)
{
  BrickGrid grid;
  grid.points = { 41, 3, 9 };
  grid.edge = 4;
  grid.type = ScalarType::Float64;
  const double v = 34.875;
  const auto source = std::make_shared<Source>(grid, std::vector<double>{ 0, 1, 2 },
    [v](const Point&, double t) {
      return Point{ t == 0 ? v : 0, 0, t == 1 ? -12.0 : 12.0 };
    });
  std::vector<flow::Seed> seeds;
  for (int i = 1800; i != 2000; ++i)
  {
    // The particle is at 20 at the end of the first step, except for the time that each crossed
    // face takes.
    seeds.push_back({ { 20 - 0.46875 * v + i * 0x1p-50, 1, 4 }, 0 });
  }
  flow::TraceOptions options;
  options.integrator = flow::Integrator::RungeKutta4;
  options.step_share = 0.75;
  const auto lines = flow::trace(cache_of(source), seeds, options);
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    ASSERT_EQ(lines.lines[i].reason, flow::Reason::EndTime) << i;
    ASSERT_NEAR(lines.lines[i].end[0], seeds[i].position[0] + 0.5 * v, 1e-6) << i;
  }
}

TEST(Flow, a_uniform_flow_leaves_where_and_when_it_must)
{
  // Diagonally from the middle of cells, through edges and corners of cells, bricks and domain.
  for (const double sign : { 1.0, -1.0 })
  {
    for (const auto integrator : { flow::Integrator::CellByCell, flow::Integrator::RungeKutta4 })
    {
      const auto source = uniform({ 4 * sign, 4 * sign, 4 * sign });
      flow::TraceOptions options;
      options.integrator = integrator;
      const auto lines = flow::trace(cache_of(source),
        { { { 5, 5, 5 }, 0 }, { { 5.5, 5.5, 5.5 }, 0.25 }, { { 5, 2, 5 }, 0 } }, options);
      for (int i = 0; i != 2; ++i)
      {
        const flow::Line& line = lines.lines[static_cast<std::size_t>(i)];
        EXPECT_EQ(line.reason, flow::Reason::LeftDomain);
        const double wall = sign > 0 ? 10 : 0;
        const double from = i == 0 ? 5 : 5.5;
        for (const double x : line.end)
        {
          EXPECT_EQ(x, wall);
        }
        EXPECT_NEAR(line.end_time, (i == 0 ? 0 : 0.25) + std::abs(wall - from) / 4, 1e-9);
      }
      EXPECT_EQ(lines.lines[2].end[sign > 0 ? 0 : 1], sign > 0 ? 10 : 0);
    }
  }
}

TEST(Flow, seeds_on_faces_edges_and_corners_are_inside_and_slide)
{
  // Nothing moves along y; x and z are cyclic. Particles slide along walls.
  const auto source = std::make_shared<Source>(cube(17, 16), std::vector<double>{ 0, 1, 3 },
    [](const Point& p, double) {
      return Point{ 0.25 * (p[2] - 8), 0, -0.25 * (p[0] - 8) };
    });
  std::vector<flow::Seed> seeds;
  for (const double x : { 4.0, 7.5, 8.0, 12.0 })
  {
    for (const double y : { 0.0, 7.0, 8.0, 9.5, 16.0 })
    {
      for (const double z : { 6.0, 8.0, 9.0 })
      {
        seeds.push_back({ { x, y, z }, 0 });
      }
    }
  }
  const auto lines = flow::trace(cache_of(source), seeds);
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    const flow::Line& line = lines.lines[i];
    const bool centre = seeds[i].position[0] == 8 && seeds[i].position[2] == 8;
    EXPECT_EQ(line.reason, flow::Reason::EndTime) << i << (centre ? " in the centre" : "");
    EXPECT_EQ(line.end[1], seeds[i].position[1]);
    const double angle = 0.25 * 3;
    const double dx = seeds[i].position[0] - 8;
    const double dz = seeds[i].position[2] - 8;
    EXPECT_NEAR(line.end[0], 8 + std::cos(angle) * dx + std::sin(angle) * dz, 1e-5);
    EXPECT_NEAR(line.end[2], 8 - std::sin(angle) * dx + std::cos(angle) * dz, 1e-5);
  }
  // Along all walls of a domain that no particle leaves.
  const auto closed = std::make_shared<Source>(cube(9, 8), std::vector<double>{ 0, 4, 8 },
    [](const Point& p, double) {
      return Point{ p[0] * (8 - p[0]) * (4 - p[0]) / 16, p[1] * (8 - p[1]) * (4 - p[1]) / 16, 0 };
    });
  std::vector<flow::Seed> walls;
  for (const Point& p : { Point{ 0, 1, 2 }, Point{ 8, 0, 0 }, Point{ 0, 0, 0 }, Point{ 8, 8, 8 },
         Point{ 3, 8, 1 }, Point{ 4, 4, 4 }, Point{ 4, 1, 8 } })
  {
    walls.push_back({ p, 0 });
  }
  const auto slid = flow::trace(cache_of(closed), walls);
  for (std::size_t i = 0; i != walls.size(); ++i)
  {
    EXPECT_EQ(slid.lines[i].reason, flow::Reason::EndTime) << i;
    EXPECT_EQ(slid.lines[i].end_time, 8);
    for (std::size_t a = 0; a != 3; ++a)
    {
      if (walls[i].position[a] == 0 || walls[i].position[a] == 8)
      {
        EXPECT_EQ(slid.lines[i].end[a], walls[i].position[a]);
      }
    }
  }
}

TEST(Flow, lines_end_at_blanked_cells_and_walls_are_slid_along_on_demand)
{
  // No flow where x > 6: cells from x = 6 on.
  const auto source = std::make_shared<Source>(cube(11, 10), std::vector<double>{ 0, 1, 2, 8 },
    [](const Point& p, double) {
      return Point{ p[0] > 6.5 ? kNaN : 1.0, 0, 0 };
    });
  const std::vector<flow::Seed> seeds{ { { 2.5, 5, 5 }, 0 }, { { 6, 5.5, 5 }, 0 },
    { { 6.2, 5, 5 }, 0 }, { { 9, 5, 5 }, 0 } };
  const auto lines = flow::trace(cache_of(source), seeds);
  EXPECT_EQ(lines.lines[0].reason, flow::Reason::Blanked);
  EXPECT_EQ(lines.lines[0].end[0], 6);
  EXPECT_NEAR(lines.lines[0].end_time, 3.5, 1e-9);
  EXPECT_EQ(lines.lines[1].reason, flow::Reason::Blanked); // on the face of a cell with flow
  EXPECT_EQ(lines.lines[1].points, 2u);                    // release and end, at one place
  EXPECT_EQ(lines.lines[2].reason, flow::Reason::NoSeed);
  EXPECT_EQ(lines.lines[2].points, 0u);
  EXPECT_EQ(lines.lines[3].reason, flow::Reason::NoSeed);
  flow::TraceOptions options;
  options.no_slip = true;
  const auto slow = flow::trace(cache_of(source), seeds, options);
  EXPECT_EQ(slow.lines[0].reason, flow::Reason::EndTime);
  EXPECT_GT(slow.lines[0].end[0], 6.9); // nears the wall, where the velocity is 0
  EXPECT_LT(slow.lines[0].end[0], 7);
  EXPECT_EQ(slow.lines[3].reason, flow::Reason::EndTime); // rests on the wall
  EXPECT_EQ(slow.lines[3].end, seeds[3].position);
  options.terminal_speed = 1e-9;
  EXPECT_EQ(
    flow::trace(cache_of(source), seeds, options).lines[3].reason, flow::Reason::Stagnation);
}

// Also if cell indices times spacing are rounded: seeds on the last points with flow begin there,
// and lines that slide along them are cut and continue.
TEST(Flow, walls_of_blanked_cells_are_where_their_points_are)
{
  for (const double spacing : { 0.1, 0.3, 0.7 })
  {
    for (const double origin : { 0.0, 0.1, -0.7 })
    {
      for (int wall = 2; wall != 17; ++wall)
      {
        BrickGrid grid = cube(20, 19);
        grid.spacing.fill(spacing);
        grid.origin[0] = origin;
        const double place = origin + wall * spacing;
        const auto levels = [&](std::vector<double> times)
        {
          return std::make_shared<Source>(grid, std::move(times),
            [&](const Point& p, double) {
              return Point{ p[0] > place + 0.5 * spacing ? kNaN : 0, spacing, 0 };
            });
        };
        const auto source = levels({ 0, 1, 2 });
        for (const double x : { std::nextafter(place, -1e9), place })
        {
          const std::vector<flow::Seed> seeds{ { { x, spacing, spacing }, 0 } };
          const auto lines = flow::trace(cache_of(source), seeds);
          ASSERT_EQ(lines.lines[0].reason, flow::Reason::EndTime) << origin << " " << wall;
          EXPECT_EQ(flow::stop_at(cache_of(source), lines, 1.5).lines[0].end_time, 1.5);
          const auto before = flow::trace(cache_of(levels({ 0, 1 })), seeds);
          EXPECT_EQ(flow::resume(cache_of(source), before, seeds).lines[0].end_time, 2);
        }
      }
    }
  }
}

TEST(Flow, ends_of_many_kinds)
{
  const auto source = uniform({ 0.5, 0, 0 });
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<flow::Seed> seeds{ { { 1, 1, 1 }, 4 }, { { 1, 1, 1 }, 5 }, { { 1, 1, 1 }, -1 },
    { { 11, 1, 1 }, 0 }, { { kNaN, 1, 1 }, 0 }, { { 1, -infinity, 1 }, 0 }, { { 1, 1, 1 }, kNaN },
    { { 10, 10, 10 }, 1 }, { { 1, 1, 1 }, 2 } };
  const auto lines = flow::trace(cache_of(source), seeds);
  EXPECT_EQ(lines.lines[0].reason, flow::Reason::EndTime); // in the last instant
  EXPECT_EQ(lines.lines[0].points, 1u);
  EXPECT_EQ(lines.lines[0].end_time, 4);
  for (std::size_t i = 1; i != 7; ++i)
  {
    EXPECT_EQ(lines.lines[i].reason, flow::Reason::NoSeed) << i;
    EXPECT_EQ(lines.lines[i].points, 0u);
  }
  EXPECT_EQ(lines.lines[7].reason, flow::Reason::LeftDomain);
  EXPECT_NEAR(lines.lines[7].end_time, 1, 1e-9);
  EXPECT_EQ(lines.lines[8].points, 2u);
  EXPECT_NEAR(lines.lines[8].end[0], 2, 1e-12);
  EXPECT_TRUE(flow::trace(cache_of(source), {}).lines.empty());

  // A thousand cells in an interval.
  BrickGrid grid = cube(11, 10);
  grid.points[0] = 2000;
  const auto fast = std::make_shared<Source>(grid, std::vector<double>{ 0, 1 },
    [](const Point& p, double) {
      return Point{ 1000 + std::sin(p[0]), std::cos(p[0]), 0 };
    });
  const auto far = flow::trace(cache_of(fast), { { { 0.5, 5, 5 }, 0 } });
  EXPECT_EQ(far.lines[0].reason, flow::Reason::EndTime);
  EXPECT_NEAR(far.lines[0].end[0], 1000.5, 0.1);
}

namespace
{
// A uniform wind along x, with these speeds at these times.
std::shared_ptr<Source> gusts(const std::vector<double>& speeds, const std::vector<double>& times,
  ScalarType type = ScalarType::Float32)
{
  BrickGrid grid = cube(11, 10);
  grid.type = type;
  return std::make_shared<Source>(grid, times,
    [&](const Point&, double t)
    {
      const auto at = std::find(times.begin(), times.end(), t) - times.begin();
      return Point{ speeds[static_cast<std::size_t>(at)], 0, 0 };
    });
}
}

TEST(Flow, particles_at_rest_move_on_when_the_flow_does)
{
  struct Case
  {
    std::vector<double> speeds;
    std::vector<double> times;
    double moved;
  };
  const std::vector<Case> cases{
    { { 0, 0, 1, 1 }, { 0, 1, 2, 3 }, 1.5 }, // from rest
    { { 1, 0, 0, 1 }, { 0, 1, 2, 3 }, 1 },   // a pause
    { { 1, 1, 0, 0, 1, 1 }, { 0, 1, 2, 3, 4, 5 }, 3 },
    { { 1, 1, 0, 0 }, { 0, 1, 2, 3 }, 1.5 },   // comes to rest
    { { 0, 0, 0, 0 }, { 0, 1, 2, 4 }, 0 },     // never moves
    { { 0.5, 0.5, 0.5 }, { 0, 1e-12, 2 }, 1 }, // an interval without space to move in
    { { 1e-14, 1e-14, 1 }, { 0, 1, 2 }, 0.5 }, // slower than rounding
    { { 0, 0, 1, 0, 0, 0, -2, 0, 0 }, { 0, 1, 1.5, 2.5, 2.6, 4, 5, 5.25, 9 }, -0.5 },
  };
  for (const Case& one : cases)
  {
    for (const ScalarType type : { ScalarType::Float32, ScalarType::Float64 })
    {
      const auto source = gusts(one.speeds, one.times, type);
      for (const auto integrator : { flow::Integrator::CellByCell, flow::Integrator::RungeKutta4 })
      {
        for (const bool backward : { false, true })
        {
          flow::TraceOptions options;
          options.integrator = integrator;
          options.backward = backward;
          const double begin = backward ? one.times.back() : one.times.front();
          const auto lines = flow::trace(cache_of(source), { { { 4.3, 5, 5 }, begin } }, options);
          const flow::Line& line = lines.lines[0];
          EXPECT_EQ(line.reason, flow::Reason::EndTime);
          EXPECT_NEAR(line.end[0], 4.3 + (backward ? -1 : 1) * one.moved, 1e-6)
            << one.speeds[0] << one.speeds[1] << backward;
          EXPECT_EQ(line.points, one.times.size()); // resting particles have points, too
        }
      }
    }
  }
  // Next to one that moves all the time, in another brick of the same field, and in FTLE.
  const auto source = std::make_shared<Source>(cube(21, 20), std::vector<double>{ 0, 1, 2, 3 },
    [](const Point& p, double t)
    {
      const double front = t < 2 ? 6 : 21; // nothing moves ahead of it
      return p[0] <= front ? Point{ 1, 0, 0 } : Point{};
    });
  const auto lines = flow::trace(cache_of(source), { { { 2, 5, 5 }, 0 }, { { 12.5, 5, 5 }, 0 } });
  EXPECT_NEAR(lines.lines[0].end[0], 5, 1e-6);
  EXPECT_NEAR(lines.lines[1].end[0], 14, 1e-6); // half of the interval in which the front passes
  EXPECT_EQ(lines.lines[1].points, 4u);
}

TEST(Flow, a_terminal_speed_ends_lines_where_particles_are_not_faster)
{
  // Slows down over time: at 0.25 when t = 3.
  const auto slower = gusts({ 1, 0.5, 0 }, { 0, 2, 4 }, ScalarType::Float64);
  for (const auto integrator : { flow::Integrator::CellByCell, flow::Integrator::RungeKutta4 })
  {
    flow::TraceOptions options;
    options.integrator = integrator;
    options.step_share = 0.01;
    options.terminal_speed = 0.5;
    const std::vector<flow::Seed> seeds{ { { 1, 5, 5 }, 0 }, { { 1, 5, 5 }, 3 },
      { { 1, 5, 5 }, 1 } };
    auto lines = flow::trace(cache_of(slower), seeds, options);
    EXPECT_EQ(lines.lines[0].reason, flow::Reason::Stagnation);
    EXPECT_NEAR(lines.lines[0].end_time, 2, 0.03);
    EXPECT_NEAR(lines.lines[0].end[0], 1 + 1.5, 0.02);
    EXPECT_EQ(
      lines.positions[lines.lines[0].first_point + lines.lines[0].points - 1], lines.lines[0].end);
    EXPECT_EQ(lines.lines[1].reason, flow::Reason::Stagnation); // where it is released
    EXPECT_EQ(lines.lines[1].points, 1u);
    EXPECT_EQ(lines.lines[1].end_time, 3);
    options.terminal_speed = 1e-300;
    lines = flow::trace(cache_of(slower), seeds, options);
    EXPECT_EQ(lines.lines[0].reason, flow::Reason::EndTime);
    EXPECT_NEAR(lines.lines[0].end[0], 1 + 2, 1e-6);
  }
  flow::TraceOptions options;
  options.terminal_speed = 1e-300;
  const auto still =
    flow::trace(cache_of(uniform({ 0, 0, 0 })), { { { 3.5, 3, 3 }, 0.5 } }, options);
  EXPECT_EQ(still.lines[0].reason, flow::Reason::Stagnation);
  EXPECT_EQ(still.lines[0].end_time, 0.5);
  EXPECT_EQ(still.lines[0].points, 1u);
}

TEST(Flow, flow_that_is_too_fast_to_be_followed_ends_lines)
{
  // Atmospheric files contain fill values where there is no flow, and the wind blows towards them:
  // the stages of a long step overflow.
  for (const double none : { 1e12, 1e15 })
  {
    BrickGrid grid;
    grid.points = { 5, 5, 1 };
    grid.components = 2;
    const auto coast = std::make_shared<Source>(grid, std::vector<double>{ 0, 4 },
      [none](const Point& p, double)
      {
        const bool land = p[0] == 0 && p[1] == 0;
        return land ? Point{ none, none, 0 } : Point{ -1, 0, 0 };
      });
    const auto lines = flow::trace(cache_of(coast), { { { 2.5, 0.5, 0 }, 0 } });
    const flow::Line& line = lines.lines[0];
    EXPECT_EQ(line.reason, flow::Reason::TooManyCells);
    EXPECT_NEAR(line.end_time, 1.5, 1e-4);
    EXPECT_NEAR(line.end[0], 1, 1e-4);
    EXPECT_NEAR(line.end[1], 0.5, 1e-4);
  }
  // In circles within one cell, and into a point of it.
  for (const double turn : { 0.0, 1.0 })
  {
    BrickGrid grid;
    grid.points = { 2, 2, 1 };
    grid.components = 2;
    const auto cell = std::make_shared<Source>(grid, std::vector<double>{ 0, 1 },
      [turn](const Point& p, double)
      {
        const double x = 1e20 * (p[0] - 0.5);
        const double y = 1e20 * (p[1] - 0.5);
        return turn != 0 ? Point{ -y, x, 0 } : Point{ -x, -y, 0 };
      });
    const auto lines = flow::trace(cache_of(cell), { { { 0.6, 0.5, 0 }, 0 } });
    EXPECT_EQ(lines.lines[0].reason, flow::Reason::TooManyCells);
    EXPECT_EQ(lines.positions.back(), lines.lines[0].end);
  }
}

// A particle whose trace is aborted counts only its own steps: its neighbours have taken none by
// then.
TEST(Flow, particles_that_are_given_up_change_nothing_for_those_beside_them)
{
  BrickGrid grid;
  grid.points = { 4, 2, 1 };
  grid.components = 2;
  grid.type = ScalarType::Float64;
  const auto source = std::make_shared<Source>(grid, std::vector<double>{ 0, 1 },
    [](const Point& p, double) {
      return Point{ -2e6 * (p[1] - 0.5), 2e6 * (p[0] - 1.5), 0 };
    });
  // The first leaves immediately; the last takes its lane, a few steps after the others.
  const std::vector<flow::Seed> seeds{ { { 2.4, 0.5, 0 }, 0 }, { { 1.7, 0.5, 0 }, 0 },
    { { 1.6, 0.5, 0 }, 0.1 }, { { 1.8, 0.5, 0 }, 0.05 }, { { 1.65, 0.55, 0 }, 0 } };
  const auto combined = flow::trace(cache_of(source), seeds);
  const auto alone = flow::trace(cache_of(source), { seeds.back() });
  EXPECT_EQ(combined.lines[0].reason, flow::Reason::LeftDomain);
  EXPECT_EQ(alone.lines[0].reason, flow::Reason::TooManyCells);
  EXPECT_EQ(combined.lines.back().end, alone.lines[0].end);
  EXPECT_EQ(combined.lines.back().end_time, alone.lines[0].end_time);
}

TEST(Flow, all_lines_have_their_ends_as_last_points)
{
  // Holes, cyclic axes that are circled for ever, both integrators, with points on faces or not.
  BrickGrid grid = cube(17, 16);
  grid.cyclic[1] = true;
  const auto source = std::make_shared<Source>(grid, std::vector<double>{ 0, 2, 3 },
    [](const Point& p, double t)
    {
      const bool is_hole = p[0] >= 11 && p[2] >= 8;
      return is_hole ? Point{ kNaN, kNaN, kNaN } : Point{ 1, p[0] < 3 ? 2e6 : 0.2 * t, 0.5 };
    });
  const auto seeds = random_seeds(100, { 0, 0, 0 }, { 16, 16, 16 }, 0.5);
  for (const auto integrator : { flow::Integrator::CellByCell, flow::Integrator::RungeKutta4 })
  {
    for (const bool faces : { false, true })
    {
      flow::TraceOptions options;
      options.integrator = integrator;
      options.step_share = 0.3;
      options.keep_faces = faces;
      const auto lines = flow::trace(cache_of(source), seeds, options);
      std::array<int, 12> ends{};
      for (const flow::Line& line : lines.lines)
      {
        ++ends[static_cast<std::size_t>(line.reason)];
        if (line.reason == flow::Reason::NoSeed)
        {
          continue;
        }
        const std::uint64_t last = line.first_point + line.points - 1;
        ASSERT_EQ(lines.positions[last], line.end) << static_cast<int>(line.reason);
        ASSERT_EQ(lines.times[last], line.end_time) << static_cast<int>(line.reason);
        ASSERT_NEAR(lines.velocities[last][0], 1, 1e-9) << static_cast<int>(line.reason);
      }
      EXPECT_GT(ends[static_cast<std::size_t>(flow::Reason::Blanked)], 10);
      EXPECT_EQ(ends[static_cast<std::size_t>(flow::Reason::TooManyCells)] > 2,
        integrator == flow::Integrator::CellByCell);
    }
  }
}

TEST(Flow, turns_that_cannot_be_counted_end_lines)
{
  BrickGrid grid;
  grid.points = { 8, 9, 1 };
  grid.components = 2;
  grid.cyclic[0] = true;
  const auto source = std::make_shared<Source>(grid, std::vector<double>{ 0, 1, 2, 3 },
    [](const Point&, double) {
      return Point{ 6.4e9, 0, 0 };
    });
  flow::TraceOptions options;
  options.integrator = flow::Integrator::RungeKutta4;
  const auto lines = flow::trace(cache_of(source), { { { 1, 1, 0 }, 0 } }, options);
  EXPECT_EQ(lines.lines[0].reason, flow::Reason::TooManyCells);
  EXPECT_NEAR(lines.lines[0].end[0], 6.4e9 * lines.lines[0].end_time, 1e6);
  EXPECT_GT(lines.lines[0].end_time, 2);
}

TEST(Flow, planes_and_lines_of_points)
{
  BrickGrid grid;
  grid.points = { 33, 33, 1 };
  grid.origin = { -8, -8, 5 };
  grid.spacing = { 0.5, 0.5, 1 };
  for (const int components : { 2, 3 })
  {
    grid.components = components;
    const auto source = std::make_shared<Source>(grid, std::vector<double>{ 0, 1, 2 },
      [](const Point& p, double) {
        return Point{ -p[1], p[0], 7 };
      });
    const auto lines = flow::trace(cache_of(source), { { { 3, 0, 5 }, 0 }, { { 3, 0, 5.5 }, 0 } });
    EXPECT_EQ(lines.lines[0].reason, flow::Reason::EndTime);
    EXPECT_NEAR(lines.lines[0].end[0], 3 * std::cos(2), 1e-4);
    EXPECT_NEAR(lines.lines[0].end[1], 3 * std::sin(2), 1e-4);
    EXPECT_EQ(lines.lines[0].end[2], 5);
    EXPECT_EQ(lines.lines[1].reason, flow::Reason::NoSeed);
  }
  // A plane across the first axis.
  grid.points = { 1, 33, 33 };
  grid.origin = { 5, -8, -8 };
  grid.spacing = { 1, 0.5, 0.5 };
  const auto source = std::make_shared<Source>(grid, std::vector<double>{ 0, 1, 2 },
    [](const Point& p, double) {
      return Point{ 7, -p[2], p[1] };
    });
  for (const auto integrator : { flow::Integrator::CellByCell, flow::Integrator::RungeKutta4 })
  {
    flow::TraceOptions options;
    options.integrator = integrator;
    options.step_share = 0.05;
    const auto lines = flow::trace(cache_of(source), { { { 5, 3, 0 }, 0 } }, options);
    EXPECT_EQ(lines.lines[0].reason, flow::Reason::EndTime);
    EXPECT_EQ(lines.lines[0].end[0], 5);
    EXPECT_NEAR(lines.lines[0].end[1], 3 * std::cos(2), 1e-4);
    EXPECT_NEAR(lines.lines[0].end[2], 3 * std::sin(2), 1e-4);
  }
}

TEST(Flow, arrivals_are_those_of_a_look_at_every_step)
{
  const auto source = abc(21, ScalarType::Float64);
  const auto seeds = random_seeds(150, { 2, 2, 2 }, { 4, 4, 4 }, 0);
  const Box box{ { 2.9, 2.3, 2.6 }, { 3.9, 3.8, 3.8 } };
  flow::TraceOptions options;
  options.end_time = 0.7;
  options.destination = flow::Destination{ { box }, false };
  const auto lines = flow::trace(cache_of(source), seeds, options);
  options.destination->stop_on_arrival = true;
  const auto stopped = flow::trace(cache_of(source), seeds, options);
  int arrived = 0;
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    double first = kNaN;
    const auto is_in = [&](const Point& p)
    {
      return p[0] >= box.lower[0] && p[0] <= box.upper[0] && p[1] >= box.lower[1] &&
        p[1] <= box.upper[1] && p[2] >= box.lower[2] && p[2] <= box.upper[2];
    };
    if (is_in(seeds[i].position))
    {
      first = 0;
    }
    double closest = 1e9; // distance to the box, for those that barely meet or miss it
    sampled_flow::follow(*source, seeds[i].position, 0, 0.7, 300,
      [&](const Point& p, double t)
      {
        if (!(first == first) && is_in(p))
        {
          first = t;
        }
        double out = 0;
        for (std::size_t a = 0; a != 3; ++a)
        {
          out = std::max({ out, box.lower[a] - p[a], p[a] - box.upper[a] });
        }
        closest = std::min(closest, out);
      });
    const double found = lines.lines[i].arrival_time;
    if (first == first)
    {
      ++arrived;
      EXPECT_NEAR(found, first, 0.25 / 300 + 1e-5) << i;
      EXPECT_EQ(stopped.lines[i].reason, flow::Reason::Arrived);
      EXPECT_EQ(stopped.lines[i].end_time, found);
      Point grown = stopped.lines[i].end;
      for (std::size_t a = 0; a != 3; ++a)
      {
        grown[a] = std::min(std::max(grown[a], box.lower[a]), box.upper[a]);
      }
      EXPECT_LT(distance(grown, stopped.lines[i].end), 1e-8);
    }
    else if (closest > 1e-3)
    {
      EXPECT_FALSE(found == found) << i;
      EXPECT_NE(stopped.lines[i].reason, flow::Reason::Arrived);
    }
  }
  EXPECT_GT(arrived, 20);
  EXPECT_LT(arrived, 130);
}

TEST(Flow, of_several_destinations_the_first_counts)
{
  const auto source = uniform({ 1, 0, 0 });
  const Box near{ { 4, 0, 0 }, { 5, 4, 10 } };
  const Box far{ { 6, 0, 0 }, { 7, 10, 10 } };
  const Box inside{ { 4.5, 0, 0 }, { 4.75, 10, 10 } };
  const Box nowhere{ { 20, 0, 0 }, { 30, 10, 10 } };
  const std::vector<flow::Seed> seeds{ { { 3, 2, 2 }, 0 }, { { 3, 6, 2 }, 0 }, { { 8, 2, 2 }, 0 },
    { { 4.6, 2, 2 }, 1 } };
  for (const bool stops : { false, true })
  {
    for (const auto integrator : { flow::Integrator::CellByCell, flow::Integrator::RungeKutta4 })
    {
      flow::TraceOptions options;
      options.integrator = integrator;
      options.destination = flow::Destination{ { far, near, nowhere, inside }, stops };
      auto lines = flow::trace(cache_of(source), seeds, options);
      EXPECT_EQ(lines.lines[0].destination, 1);
      EXPECT_NEAR(lines.lines[0].arrival_time, 1, 1e-9);
      EXPECT_EQ(lines.lines[0].reason, stops ? flow::Reason::Arrived : flow::Reason::EndTime);
      EXPECT_EQ(lines.lines[1].destination, 3);
      EXPECT_NEAR(lines.lines[1].arrival_time, 1.5, 1e-9);
      EXPECT_EQ(lines.lines[2].destination, -1);
      EXPECT_NE(lines.lines[2].arrival_time, lines.lines[2].arrival_time);
      EXPECT_EQ(lines.lines[3].destination, 1); // in two boxes at the same time: the first of them
      EXPECT_EQ(lines.lines[3].arrival_time, 1);
      const auto cut = flow::stop_at(cache_of(source), lines, 0.5, options);
      EXPECT_EQ(cut.lines[0].destination, -1);
      options.destination->boxes = { far };
      lines = flow::trace(cache_of(source), seeds, options);
      EXPECT_EQ(lines.lines[1].destination, 0);
      EXPECT_NEAR(lines.lines[1].arrival_time, 3, 1e-9);
    }
  }
}

TEST(Flow, lines_end_at_their_greatest_age)
{
  const std::vector<double> times{ 0, 0.1, 0.25, 0.3, 0.5, 0.75, 1 };
  const auto all = abc(21);
  const auto some = std::make_shared<Source>(
    all->grid(), std::vector<double>(times.begin(), times.begin() + 5), sampled_flow::abc);
  auto seeds = random_seeds(60, { 2, 2, 2 }, { 4, 4, 4 }, 0);
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    seeds[i].time = i % 3 == 0 ? 0 : i % 3 == 1 ? 0.17 : 0.8; // the last ones end with the times
  }
  for (const auto integrator : { flow::Integrator::CellByCell, flow::Integrator::RungeKutta4 })
  {
    for (const double age : { 0.05, 0.25, 0.3, 0.45 }) // inside of intervals, and at levels
    {
      for (const bool backward : { false, true })
      {
        flow::TraceOptions options;
        options.integrator = integrator;
        options.max_age = age;
        options.backward = backward;
        options.keep_resting = true;
        const auto lines = flow::trace(cache_of(all), seeds, options);
        for (std::size_t i = 0; i != seeds.size(); ++i)
        {
          const flow::Line& line = lines.lines[i];
          const double end = backward ? seeds[i].time - age : seeds[i].time + age;
          const bool ends = backward ? end < 0 : end > 1;
          EXPECT_EQ(line.reason, ends ? flow::Reason::EndTime : flow::Reason::MaxAge) << i;
          EXPECT_EQ(line.end_time, ends ? (backward ? 0 : 1) : end);
          EXPECT_EQ(lines.times[line.first_point + line.points - 1], line.end_time);
          EXPECT_LT(distance(lines.positions[line.first_point + line.points - 1], line.end), 1e-14);
          const Point there =
            sampled_flow::follow(*all, seeds[i].position, seeds[i].time, line.end_time, 200);
          EXPECT_LT(
            distance(there, line.end), integrator == flow::Integrator::CellByCell ? 1e-5 : 1e-2);
        }
        // The same run without the limit: nothing differs before it.
        flow::TraceOptions longer = options;
        longer.max_age = 10;
        const auto whole = flow::trace(cache_of(all), seeds, longer);
        EXPECT_GT(whole.positions.size(), lines.positions.size());
        if (!backward)
        {
          const auto before = flow::trace(cache_of(some), seeds, options);
          EXPECT_EQ(
            flow::resume(cache_of(all), before, seeds, options).checksum(), lines.checksum());
        }
      }
    }
  }
}

TEST(Flow, points_on_faces_of_cells)
{
  const auto source = uniform({ 1, 0.25, 0 });
  flow::TraceOptions options;
  options.keep_faces = true;
  options.end_time = 3;
  const auto lines = flow::trace(cache_of(source), { { { 2.5, 2.5, 2.5 }, 0 } }, options);
  // x at 3, 4, 5; y at 3 after 2; levels 1 and 2; begin and end.
  std::vector<double> times(lines.times);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_EQ(lines.lines[0].points, 8u);
  EXPECT_EQ(lines.positions[1][0], 3);
}

TEST(Flow, lines_until_a_time_are_those_that_end_then)
{
  for (const bool backward : { false, true })
  {
    const auto source = abc(21);
    const flow::Cache cache = cache_of(source);
    auto seeds = random_seeds(40, { 0.5, 0.5, 0.5 }, { kTau - 0.5, 5, 5 }, 0);
    for (std::size_t i = 0; i != seeds.size(); ++i)
    {
      seeds[i].time = static_cast<double>(i % 4) * 0.2;
      seeds[i].time = backward ? 1 - seeds[i].time : seeds[i].time;
    }
    seeds.push_back({ { 9, 0, 0 }, seeds[0].time });
    flow::TraceOptions options;
    options.backward = backward;
    options.keep_faces = true;
    options.destination = flow::Destination{ { { { 2, 2, 2 }, { 3, 3, 3 } } }, false };
    const auto whole = flow::trace(cache, seeds, options);
    std::size_t continuing = 0;
    std::size_t over = 0;
    for (const double forward_time : { 0.0, 0.13, 0.3, 0.77, 1.0, 1.5 })
    {
      const double time = backward ? 1 - forward_time : forward_time;
      const auto part = flow::stop_at(cache, whole, time, options);
      auto end_then = options;
      end_then.end_time = std::min(std::max(time, 0.0), 1.0);
      const auto reference = flow::trace(cache, seeds, end_then);
      for (std::size_t i = 0; i != seeds.size(); ++i)
      {
        const flow::Line& line = part.lines[i];
        const flow::Line& other = reference.lines[i];
        const bool is_released = backward ? seeds[i].time >= time : seeds[i].time <= time;
        if (!is_released || i == 40)
        {
          EXPECT_EQ(line.points, 0u);
          EXPECT_EQ(line.reason, i == 40 ? flow::Reason::NoSeed : flow::Reason::UnderWay);
          continue;
        }
        ASSERT_GE(line.points, 1u);
        EXPECT_EQ(line.end, part.positions[line.first_point + line.points - 1]);
        EXPECT_EQ(line.end_time, part.times[line.first_point + line.points - 1]);
        EXPECT_LT(distance(line.end, other.end) / source->grid().spacing[0], 1e-4) << i;
        EXPECT_NEAR(line.end_time, other.end_time, 1e-6);
        EXPECT_EQ(line.points, other.points) << i;
        const Point velocity = part.velocities[line.first_point + line.points - 1];
        EXPECT_LT(
          distance(velocity, reference.velocities[other.first_point + other.points - 1]), 1e-3);
        const bool arrives = other.arrival_time == other.arrival_time;
        EXPECT_EQ(line.arrival_time == line.arrival_time, arrives);
        if (arrives)
        {
          EXPECT_EQ(line.arrival_time, whole.lines[i].arrival_time);
        }
        const bool continues = line.reason == flow::Reason::UnderWay;
        EXPECT_EQ(continues, line.end_time != whole.lines[i].end_time);
        ++(continues ? continuing : over);
      }
    }
    EXPECT_GT(continuing, 60u);
    EXPECT_GT(over, 60u);
    EXPECT_THROW((void)flow::stop_at(cache, whole, kNaN, options), Error);
    options.keep_points = false;
    EXPECT_THROW((void)flow::stop_at(cache, flow::trace(cache, seeds, options), 0.5), Error);
  }
}

// Between layers that nothing crosses, a line may use either of two cells. It must be cut where
// both have flow, and continues in the one whose flow ends first.
TEST(Flow, lines_on_faces_of_cells_that_end_before_are_cut_all_the_same)
{
  BrickGrid grid = cube(5, 4);
  grid.points[0] = 30;
  grid.components = 2;
  const auto source = std::make_shared<Source>(grid, std::vector<double>{ 0, 7, 14, 21 },
    [](const Point& p, double t)
    {
      const bool is_blank = p[2] >= 3 && (p[0] < 5 || p[0] > 12);
      return Point{ is_blank ? kNaN : 1, 0.002 * t, 0 };
    });
  const auto whole = flow::trace(cache_of(source), { { { 2.5, 2, 2 }, 0 } });
  ASSERT_EQ(whole.lines[0].reason, flow::Reason::EndTime);
  ASSERT_EQ(whole.lines[0].points, 4u);
  const auto part = flow::stop_at(cache_of(source), whole, 13);
  EXPECT_EQ(part.lines[0].reason, flow::Reason::UnderWay);
  EXPECT_EQ(part.lines[0].points, 3u);
  EXPECT_EQ(part.times.back(), 13);
  EXPECT_EQ(part.lines[0].end_time, 13);
  EXPECT_EQ(part.lines[0].end, part.positions.back());
  EXPECT_LT(distance(part.lines[0].end, { 15.5, 2.169, 2 }), 1e-6);
  EXPECT_LT(distance(part.velocities.back(), { 1, 0.026, 0 }), 1e-6);
}

TEST(Flow, lines_go_on_when_the_series_has_grown)
{
  const std::vector<double> times{ 0, 0.1, 0.25, 0.3, 0.5, 0.75, 1 };
  BrickGrid grid = cube(31, kTau);
  const sampled_flow::Field field = [](const Point& p, double t)
  {
    return p[0] < 0.5 ? Point{} : sampled_flow::abc(p, t); // nothing moves at the lower face of x
  };
  const auto all = std::make_shared<Source>(grid, times, field);
  const auto some =
    std::make_shared<Source>(grid, std::vector<double>(times.begin(), times.begin() + 4), field);
  auto seeds = random_seeds(400, { 0, 0, 0 }, { kTau, kTau, kTau }, 0);
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    seeds[i].time = i % 5 == 0 ? 0.17 : i % 7 == 0 ? 0.6 : i % 11 == 0 ? 0.3 : 0; // in both or one
  }
  flow::TraceOptions options;
  options.prefetch = flow::Prefetch::None;
  options.destination = flow::Destination{ { { { 4, 4, 4 }, { 5.5, 5.5, 6 } } }, false };
  for (const auto& [stops, keep, faces, rk4] : { std::array<bool, 4>{ false, true, false, false },
         { true, true, true, false }, { true, false, false, false }, { false, true, false, true } })
  {
    for (const bool rests : { true, false })
    {
      options.destination->stop_on_arrival = stops;
      options.keep_points = keep;
      options.keep_faces = faces;
      options.integrator = rk4 ? flow::Integrator::RungeKutta4 : flow::Integrator::CellByCell;
      options.step_share = 0.3;
      options.keep_resting = rests;
      options.terminal_speed = faces || rk4 ? 0 : 1e-9;
      const auto before = flow::trace(cache_of(some), seeds, options);
      const auto whole = flow::trace(cache_of(all), seeds, options);
      std::atomic<int> old_reads{ 0 };
      all->before_read = [&](std::size_t level, std::uint64_t) { old_reads += level < 3; };
      const auto more = flow::resume(cache_of(all), before, seeds, options);
      all->before_read = nullptr;
      EXPECT_EQ(old_reads, 0);
      EXPECT_LT(more.statistics.touched, whole.statistics.touched);
      if (rests)
      {
        // Resuming gives the bits of one run, whatever came before. In more than one piece, too.
        EXPECT_EQ(more.checksum(), whole.checksum());
        const auto in_between = std::make_shared<Source>(
          grid, std::vector<double>(times.begin(), times.begin() + 5), field);
        const auto twice = flow::resume(cache_of(all),
          flow::resume(cache_of(in_between), before, seeds, options), seeds, options);
        EXPECT_EQ(twice.checksum(), whole.checksum());
        // Also if kept as bytes.
        auto kept = before;
        const auto bytes = flow::bytes_of(*before.resting);
        kept.resting = flow::resting_from(bytes.data(), bytes.size(), seeds.size());
        EXPECT_EQ(flow::bytes_of(*kept.resting), bytes);
        EXPECT_EQ(flow::resume(cache_of(all), kept, seeds, options).checksum(), whole.checksum());
      }
      ASSERT_EQ(more.positions.size(), whole.positions.size());
      const double within = rk4 ? 1e-2 : 1e-5; // its steps are not chosen by their error
      int ends[3] = { 0, 0, 0 };
      for (std::size_t i = 0; i != seeds.size(); ++i)
      {
        const flow::Line& a = more.lines[i];
        const flow::Line& b = whole.lines[i];
        ASSERT_EQ(a.reason, b.reason) << i;
        ASSERT_EQ(a.points, b.points) << i;
        ASSERT_LT(distance(a.end, b.end), within) << i;
        ASSERT_NEAR(a.end_time, b.end_time, within);
        ASSERT_EQ(a.arrival_time == a.arrival_time, b.arrival_time == b.arrival_time);
        ASSERT_FALSE(std::abs(a.arrival_time - b.arrival_time) > within);
        for (std::uint64_t k = 0; k != a.points; ++k)
        {
          ASSERT_LT(distance(more.positions[a.first_point + k], whole.positions[b.first_point + k]),
            within);
          ASSERT_NEAR(more.times[a.first_point + k], whole.times[b.first_point + k], within);
        }
        ends[0] += a.reason == flow::Reason::EndTime;
        ends[1] += options.terminal_speed > 0
          ? a.reason == flow::Reason::Stagnation
          : a.reason == flow::Reason::EndTime && a.end == seeds[i].position;
        ends[2] += stops ? a.reason == flow::Reason::Arrived : a.arrival_time == a.arrival_time;
      }
      EXPECT_GT(std::min({ ends[0], ends[1], ends[2] }), 0);
      // Nothing is new, so nothing is read.
      const auto same = flow::resume(cache_of(all), whole, seeds, options);
      EXPECT_EQ(same.checksum(), whole.checksum());
      EXPECT_EQ(same.statistics.touched, 0u);
      EXPECT_THROW((void)flow::resume(cache_of(all), whole, {}, options), Error);
    }
  }
}

TEST(Flow, lines_go_on_backwards_when_the_series_has_grown)
{
  const std::vector<double> times{ 0, 0.1, 0.25, 0.3, 0.5, 0.75, 1 };
  const BrickGrid grid = cube(31, kTau);
  const auto all = std::make_shared<Source>(grid, times, sampled_flow::abc);
  const auto some = std::make_shared<Source>(
    grid, std::vector<double>(times.begin(), times.end() - 2), sampled_flow::abc);
  const auto seeds = random_seeds(60, { 1, 1, 1 }, { 5, 5, 5 }, 0.45);
  flow::TraceOptions options;
  options.backward = true;
  options.keep_resting = true;
  options.end_time = 0.25;
  const auto before = flow::trace(cache_of(some), seeds, options);
  options.end_time.reset();
  const auto whole = flow::trace(cache_of(all), seeds, options);
  for (const auto& source : { some, all })
  {
    const auto more = flow::resume(cache_of(source), before, seeds, options);
    EXPECT_EQ(more.checksum(), whole.checksum());
  }
}

// A particle released at the last known time may have no line once the flow after it is known.
TEST(Flow, lines_go_on_where_cells_become_blank)
{
  const std::vector<double> times{ 0, 0.5, 1, 1.5, 2 };
  const sampled_flow::Field field = [](const Point& p, double t)
  {
    const double dry = p[0] + 3 * t; // a shore that moves
    return dry > 7 ? Point{ kNaN, kNaN, kNaN } : sampled_flow::abc(p, t);
  };
  const BrickGrid grid = cube(17, kTau);
  const auto all = std::make_shared<Source>(grid, times, field);
  auto seeds = random_seeds(200, { 0, 0, 0 }, { kTau, kTau, kTau }, 0);
  flow::TraceOptions options;
  options.keep_resting = true;
  options.destination = flow::Destination{ { { { 0, 0, 0 }, { kTau, kTau, kTau } } }, false };
  for (std::size_t count = 2; count != times.size(); ++count)
  {
    const auto some = std::make_shared<Source>(grid,
      std::vector<double>(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count)),
      field);
    for (std::size_t i = 0; i != seeds.size(); ++i)
    {
      seeds[i].time = i % 2 == 0 ? 0 : times[count - 1];
    }
    const auto before = flow::trace(cache_of(some), seeds, options);
    const auto whole = flow::trace(cache_of(all), seeds, options);
    std::size_t lost = 0;
    for (std::size_t i = 0; i != seeds.size(); ++i)
    {
      lost += before.lines[i].reason == flow::Reason::EndTime &&
        whole.lines[i].reason == flow::Reason::NoSeed;
    }
    EXPECT_GT(lost, 0u);
    EXPECT_EQ(flow::resume(cache_of(all), before, seeds, options).checksum(), whole.checksum());
  }
}

TEST(Flow, lines_of_more_releases_go_on)
{
  const std::vector<double> times{ 0, 0.1, 0.25, 0.3, 0.5, 0.75, 1 };
  const BrickGrid grid = cube(31, kTau);
  const auto all = std::make_shared<Source>(grid, times, sampled_flow::abc);
  const auto some = std::make_shared<Source>(
    grid, std::vector<double>(times.begin(), times.begin() + 4), sampled_flow::abc);
  const auto places = random_seeds(30, { 1, 1, 1 }, { 5, 5, 5 }, 0);
  const auto released = [&](std::size_t count)
  {
    std::vector<flow::Seed> seeds;
    for (const flow::Seed& place : places)
    {
      for (std::size_t i = 0; i != count; ++i)
      {
        seeds.push_back({ place.position, times[i] });
      }
    }
    return seeds;
  };
  flow::TraceOptions options;
  options.keep_resting = true;
  const auto before = flow::trace(cache_of(some), released(4), options);
  const auto more =
    flow::resume(cache_of(all), flow::with_more_releases(before, 4, 7), released(7), options);
  EXPECT_EQ(more.checksum(), flow::trace(cache_of(all), released(7), options).checksum());
  EXPECT_THROW((void)flow::with_more_releases(before, 7, 8), Error);
  EXPECT_THROW((void)flow::with_more_releases(before, 4, 3), Error);
  EXPECT_THROW((void)flow::with_more_releases(before, 0, 3), Error);
  // Another series lacks this time.
  const auto other = std::make_shared<Source>(
    grid, std::vector<double>{ 0, 0.1, 0.25, 0.31, 0.5 }, sampled_flow::abc);
  EXPECT_THROW((void)flow::resume(cache_of(other), before, released(4), options), Error);
}

TEST(Flow, bytes_that_are_not_what_rests_are_refused)
{
  const auto source = abc(21);
  const auto seeds = random_seeds(20, { 2, 2, 2 }, { 4, 4, 4 }, 0);
  flow::TraceOptions options;
  options.keep_resting = true;
  options.end_time = 0.5;
  auto lines = flow::trace(cache_of(source), seeds, options);
  options.end_time.reset();
  const auto bytes = flow::bytes_of(*lines.resting);
  ASSERT_EQ(bytes.size(), 16u + 96u * seeds.size());
  for (std::size_t count = 0; count != bytes.size(); ++count)
  {
    if (count < 16 || count % 96 != 16)
    {
      EXPECT_THROW((void)flow::resting_from(bytes.data(), count, seeds.size()), Error) << count;
    }
  }
  EXPECT_THROW((void)flow::resting_from(bytes.data(), bytes.size(), seeds.size() - 1), Error);
  // More turns than can be counted.
  auto turned = bytes;
  const std::int32_t maximum = std::numeric_limits<std::int32_t>::max();
  std::memcpy(turned.data() + 16 + 68, &maximum, sizeof(maximum));
  EXPECT_THROW((void)flow::resting_from(turned.data(), turned.size(), seeds.size()), Error);
  // Any other corruption of them gives an error, or some lines.
  std::mt19937_64 random(2);
  int errors = 0;
  for (int n = 0; n != 400; ++n)
  {
    auto odd = bytes;
    odd[static_cast<std::size_t>(random() % odd.size())] ^= static_cast<std::byte>(1u << n % 8);
    const auto failed = attempt(
      [&]
      {
        lines.resting = flow::resting_from(odd.data(), odd.size(), seeds.size());
        (void)flow::resume(cache_of(source), lines, seeds, options);
      });
    errors += failed ? 1 : 0;
  }
  EXPECT_GT(errors, 20);
}

TEST(Flow, streak_lines_of_a_turning_wind_are_those_of_the_formula)
{
  // v = (1, t, 0) is linear in time: a particle released at time r is at (t - r, (t^2 - r^2) / 2)
  // from its seed.
  const auto source = std::make_shared<Source>(cube(17, 16), std::vector<double>{ 0, 1, 2, 4, 8 },
    [](const Point&, double t) {
      return Point{ 1, t, 0 };
    });
  const flow::Cache cache = cache_of(source);
  const std::vector<Point> places{ { 1, 1, 3 }, { 1, 12, 4 }, { 30, 0, 0 } };
  const std::vector<double> releases{ 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4 };
  std::vector<flow::Seed> seeds;
  for (const Point& place : places)
  {
    for (const double release : releases)
    {
      seeds.push_back({ place, release });
    }
  }
  const auto whole = flow::trace(cache, seeds);
  const double time = 3.25;
  const auto at = flow::stop_at(cache, whole, time);
  const auto streaks = flow::streak_lines(at, time, releases.size());
  // Particles of the second seed released before 1.60 have left through y = 16; those of the third
  // do not exist.
  ASSERT_EQ(streaks.seeds, (std::vector<std::size_t>{ 0, 1 }));
  ASSERT_EQ(streaks.offsets, (std::vector<std::uint64_t>{ 0, 7, 10 }));
  for (const std::size_t i : streaks.particles)
  {
    const double r = seeds[i].time;
    const Point p = seeds[i].position;
    const Point reference{ p[0] + time - r, p[1] + (time * time - r * r) / 2, p[2] };
    EXPECT_LT(distance(at.lines[i].end, reference), 1e-5);
  }
  EXPECT_THROW((void)flow::streak_lines(at, time, 4), Error);
  EXPECT_THROW((void)flow::streak_lines(at, time, 0), Error);
}

TEST(Flow, touches_only_what_particles_visit)
{
  const auto source = abc(61);
  const auto seeds = random_seeds(50, { 3, 3, 3 }, { 3.3, 3.3, 3.3 }, 0);
  flow::TraceOptions options;
  options.prefetch = flow::Prefetch::None;
  options.end_time = 0.3;
  const auto cache = cache_of(source);
  const auto first = flow::trace(cache, seeds, options);
  EXPECT_EQ(first.statistics.bricks, 7u * 512u);
  EXPECT_EQ(first.statistics.touched, source->reads.load());
  EXPECT_EQ(first.statistics.read, first.statistics.touched);
  EXPECT_LT(first.statistics.touched, 120u);
  const auto second = flow::trace(cache, seeds, options);
  EXPECT_EQ(second.statistics.read, 0u);
  EXPECT_EQ(second.checksum(), first.checksum());
}

TEST(Flow, bricks_may_be_more_than_32_bits_count)
{
  // Values of the formula, computed on demand.
  class Vast : public BrickSource
  {
  public:
    Vast() { this->grid_.points = { BrickGrid::max_points, 100, 100 }; }
    const BrickGrid& grid() const noexcept override { return this->grid_; }
    const std::vector<double>& times() const noexcept override { return this->times_; }
    std::string level_name(std::size_t) const override { return "vast"; }
    std::uint64_t read(std::size_t level, std::uint64_t brick, BrickMemory to) const override
    {
      const auto place = this->grid_.brick_place(brick);
      for (std::size_t z = 0; z != 8; ++z)
      {
        for (std::size_t y = 0; y != 8; ++y)
        {
          for (std::size_t x = 0; x != 8; ++x)
          {
            const std::array<float, 3> v{ level == 0 ? 3.0f : 5.0f,
              static_cast<float>(place[1] * 8 + static_cast<std::int64_t>(y)) / 100, 0 };
            std::memcpy(to.first + z * to.plane_bytes + y * to.row_bytes + 12 * x, v.data(), 12);
          }
        }
      }
      return 1;
    }

  private:
    BrickGrid grid_;
    std::vector<double> times_{ 0, 1 };
  };
  const auto source = std::make_shared<Vast>();
  ASSERT_GT(source->grid().brick_count(), std::uint64_t{ 1 } << 35);
  const double far = 0x1p31 - 100;
  const auto lines =
    flow::trace(cache_of(source), { { { far, 90, 90 }, 0 }, { { 1, 90, 90 }, 0 } });
  for (const flow::Line& line : lines.lines)
  {
    EXPECT_EQ(line.reason, flow::Reason::EndTime);
    EXPECT_NEAR(line.end[1], 90 * std::exp(0.01), 1e-6);
  }
  EXPECT_NEAR(lines.lines[0].end[0], far + 4, 1e-4);
  EXPECT_NEAR(lines.lines[1].end[0], 5, 1e-9);
}

TEST(Flow, what_cannot_be_is_refused_by_name)
{
  const auto source = uniform({ 1, 0, 0 });
  const auto refused = [&](const std::function<void(flow::TraceOptions&)>& change, const char* word)
  {
    flow::TraceOptions options;
    change(options);
    try
    {
      (void)flow::trace(cache_of(source), {}, options);
      ADD_FAILURE() << word;
    }
    catch (const Error& error)
    {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  refused([](auto& o) { o.max_error = 0; }, "max_error");
  refused([](auto& o) { o.max_error = kNaN; }, "max_error");
  refused([](auto& o) { o.end_time = 9; }, "end_time");
  refused([](auto& o) { o.terminal_speed = -1; }, "terminal_speed");
  refused([](auto& o) { o.max_particles = 0; }, "max_particles");
  refused([](auto& o) { o.max_age = 0; }, "max_age");
  refused([](auto& o) { o.max_age = kNaN; }, "max_age");
  refused(
    [](auto& o)
    {
      o.integrator = flow::Integrator::RungeKutta4;
      o.step_share = 9e-6; // its steps may be too short to finish
    },
    "1e-05 to 1");
  refused(
    [](auto& o) {
      o.destination = flow::Destination{ { { { 1, 1, 1 }, { 0, 2, 2 } } }, false };
    },
    "destination");
  const auto refused_grid = [](const std::function<void(BrickGrid&)>& change, const char* word)
  {
    BrickGrid grid = cube(5, 4);
    change(grid);
    try
    {
      (void)cache_of(std::make_shared<Source>(
        grid, std::vector<double>{}, [](const Point&, double) { return Point{}; }));
      ADD_FAILURE() << word;
    }
    catch (const Error& error)
    {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  refused_grid([](auto& g) { g.points[1] = std::int64_t{ 1 } << 31; }, "points along y");
  refused_grid([](auto& g) { g.spacing[2] = 0; }, "spacing along z");
  refused_grid([](auto& g) { g.edge = 3; }, "edge");
  refused_grid([](auto& g) { g.components = 1; }, "components");
  refused_grid([](auto& g) { g.points = { 1 << 30, 1 << 30, 1 << 30 }; }, "bricks");
  const auto none = std::make_shared<Source>(
    cube(5, 4), std::vector<double>{}, [](const Point&, double) { return Point{}; });
  EXPECT_THROW((void)cache_of(none), Error);
  const auto small = std::make_shared<Source>(
    cube(5, 4), std::vector<double>{ 1, 2 }, [](const Point&, double) { return Point{}; });
  EXPECT_EQ(cache_of(small, 1).max_bytes(), cache_of(small).min_bytes());
  EXPECT_GT(cache_of(small, 0).max_bytes(), std::uint64_t{ 511 } << 20);
  const auto back = std::make_shared<Source>(
    cube(5, 4), std::vector<double>{ 1, 1 }, [](const Point&, double) { return Point{}; });
  EXPECT_THROW((void)cache_of(back), Error);
}

// Results for two identical levels equal those with one level's bricks; also backwards, and for any
// cache.
TEST(Flow, one_level_is_a_steady_flow)
{
  const auto swirl = [](const Point& x, double) {
    return Point{ 2 - x[1], x[0] - 2, 0.1 * (x[2] - 2) };
  };
  const auto single = std::make_shared<Source>(cube(33, 4), std::vector<double>{ 1 }, swirl);
  const std::vector<flow::Seed> seeds = random_seeds(200, { 1, 1, 1 }, { 3, 3, 3 }, 1);
  for (const bool backward : { false, true })
  {
    const double end = backward ? -1.5 : 3.5;
    const std::vector<double> times = backward ? std::vector{ end, 1.0 } : std::vector{ 1.0, end };
    const auto twice = std::make_shared<Source>(cube(33, 4), times, swirl);
    flow::TraceOptions options;
    options.backward = backward;
    options.keep_faces = true;
    options.end_time = end;
    const flow::PathLines reference = flow::trace(cache_of(twice), seeds, options);
    for (const std::uint64_t bytes : { 1u, 1u << 28 })
    {
      const flow::PathLines lines = flow::trace(cache_of(single, bytes), seeds, options);
      EXPECT_EQ(lines.checksum(), reference.checksum());
      EXPECT_EQ(2 * lines.statistics.bricks, reference.statistics.bricks);
      EXPECT_LT(lines.statistics.touched, reference.statistics.touched); // only those of one level
    }
    EXPECT_GT(reference.lines[0].points, 10u);
    for (const std::optional<double> wrong :
      { std::optional<double>{}, std::optional<double>{ 1.0 }, std::optional<double>{ 2 - end } })
    {
      options.end_time = wrong;
      EXPECT_THROW((void)flow::trace(cache_of(single), seeds, options), Error);
    }
  }
}

TEST(Flow, an_error_of_a_read_is_the_run_s_and_one_of_reading_ahead_is_nobody_s)
{
  for (const int threads : { 1, 3 })
  {
    const auto source = abc(41);
    source->before_read = [](std::size_t level, std::uint64_t)
    {
      if (level == 3)
      {
        throw Error(ErrorCode::Corrupt, "level 3 is damaged");
      }
    };
    const auto cache = cache_of(source, 1 << 20);
    flow::TraceOptions options;
    options.threads = threads;
    const auto seeds = random_seeds(500, { 1, 1, 1 }, { 5, 5, 5 }, 0);
    for (int again = 0; again != 2; ++again)
    {
      try
      {
        (void)flow::trace(cache, seeds, options);
        ADD_FAILURE();
      }
      catch (const Error& error)
      {
        EXPECT_EQ(error.code(), ErrorCode::Corrupt);
        EXPECT_STREQ(error.what(), "level 3 is damaged");
      }
    }
    // It prefetches from level 3, and never goes there.
    options.end_time = 0.25;
    EXPECT_NO_THROW((void)flow::trace(cache, seeds, options));
    source->before_read = nullptr;
    options.end_time.reset();
    EXPECT_NO_THROW((void)flow::trace(cache, seeds, options));
  }
}

TEST(Flow, a_run_can_be_given_up_and_others_share_its_cache)
{
  const auto source = abc(41);
  const auto cache = cache_of(source, 1 << 20);
  const auto seeds = random_seeds(4000, { 0, 0, 0 }, { kTau, kTau, kTau }, 0);
  flow::TraceOptions options;
  double last = 0;
  options.progress = [&](double done)
  {
    EXPECT_GE(done, last);
    last = done;
    return false;
  };
  try
  {
    (void)flow::trace(cache, seeds, options);
    ADD_FAILURE();
  }
  catch (const Error& error)
  {
    EXPECT_EQ(error.code(), ErrorCode::Cancelled);
  }
  options.progress = nullptr;
  std::vector<std::uint64_t> sums(3);
  std::vector<std::thread> threads;
  for (std::uint64_t& sum : sums)
  {
    threads.emplace_back([&] { sum = flow::trace(cache, seeds, options).checksum(); });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(sums[0], flow::trace(cache_of(source), seeds, options).checksum());
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
}
