// SPDX-License-Identifier: BSD-3-Clause
// Lyapunov exponents against formulas, and against those of an analytic field.
#include "bat/flow/ftle.hpp"
#include "flow/sampled_flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace
{
using namespace bat;
using sampled_flow::Point;
using sampled_flow::Source;

constexpr double kPi = 3.14159265358979323846;

flow::Cache cache_of(const BrickGrid& grid, std::vector<double> times, const sampled_flow::Field& v)
{
  return flow::Cache(std::make_shared<Source>(grid, std::move(times), v));
}

BrickGrid cube()
{
  BrickGrid grid;
  grid.points = { 17, 17, 17 };
  grid.origin.fill(-4);
  grid.spacing.fill(0.5);
  grid.type = ScalarType::Float64;
  return grid;
}

// Shadden, Lekien and Marsden 2005, section 6.1.
Point double_gyre(const Point& p, double t)
{
  const double a = 0.25 * std::sin(kPi / 5 * t);
  const double f = a * p[0] * p[0] + (1 - 2 * a) * p[0];
  const double slope = 2 * a * p[0] + 1 - 2 * a;
  return { -0.1 * kPi * std::sin(kPi * f) * std::cos(kPi * p[1]),
    0.1 * kPi * std::cos(kPi * f) * std::sin(kPi * p[1]) * slope, 0 };
}

Point follow_formula(Point p, double length)
{
  constexpr int steps = 100;
  const double h = length / steps;
  const auto moved = [](const Point& at, const Point& v, double s) {
    return Point{ at[0] + s * v[0], at[1] + s * v[1], 0 };
  };
  for (int i = 0; i != steps; ++i)
  {
    const double t = i * h;
    const Point k1 = double_gyre(p, t);
    const Point k2 = double_gyre(moved(p, k1, h / 2), t + h / 2);
    const Point k3 = double_gyre(moved(p, k2, h / 2), t + h / 2);
    const Point k4 = double_gyre(moved(p, k3, h), t + h);
    for (std::size_t a = 0; a != 2; ++a)
    {
      p[a] += h / 6 * (k1[a] + 2 * k2[a] + 2 * k3[a] + k4[a]);
    }
  }
  return p;
}
}

TEST(Ftle, flow_that_begins_from_rest_stretches_when_it_moves)
{
  const auto cache = cache_of(cube(), { 0, 1, 2, 3 },
    [](const Point& p, double t)
    {
      const double rate = t < 2 ? 0 : 0.5; // an integral of 0.75
      return Point{ rate * p[0], -rate * p[1], 0 };
    });
  const auto grid = flow::ftle_grid({ { -1, -1, 0 }, { 1, 1, 0 } }, { 5, 5, 1 });
  const auto found = flow::ftle(cache, grid, 0, 3);
  for (std::size_t i = 0; i != grid.node_count(); ++i)
  {
    EXPECT_NEAR(found.exponents[i], 0.75 / 3, 1e-5) << i;
    EXPECT_EQ(found.end_times[i], 3);
  }
}

TEST(Ftle, stretching_flows_have_the_exponents_of_their_formulas)
{
  const Point rates{ 0.3, -0.5, 0.2 };
  const auto cache = cache_of(cube(), { 0, 1, 2 },
    [&](const Point& p, double) {
      return Point{ rates[0] * p[0], rates[1] * p[1], rates[2] * p[2] };
    });
  for (const bool backward : { false, true })
  {
    flow::FtleGrid grid;
    grid.origin.fill(-0.5);
    grid.spacing.fill(0.25);
    grid.points = grid.count = { 5, 4, 3 };
    flow::TraceOptions options;
    options.backward = backward;
    options.max_error = 1e-9;
    const auto field = flow::ftle(cache, grid, backward ? 2 : 0.25, 1.5, options);
    ASSERT_EQ(field.exponents.size(), 60u);
    const double sign = backward ? -1 : 1;
    for (std::size_t i = 0; i != 60; ++i)
    {
      EXPECT_NEAR(field.exponents[i], backward ? 0.5 : 0.3, 1e-7);
      EXPECT_EQ(field.end_times[i], backward ? 0.5 : 1.75);
      const double x = -0.5 + 0.25 * static_cast<double>(i % 5);
      EXPECT_NEAR(field.flow_map[i][0], x * std::exp(sign * rates[0] * 1.5), 1e-7);
    }
    // On slices, separation is measured in the plane only.
    grid.points = grid.count = { 5, 1, 3 };
    EXPECT_NEAR(flow::ftle(cache, grid, 1, 1, options).exponents[7], backward ? -0.2 : 0.3, 1e-7);
    grid.points = grid.count = { 1, 4, 1 };
    EXPECT_NEAR(flow::ftle(cache, grid, 1, 1, options).exponents[2], backward ? 0.5 : -0.5, 1e-7);
  }
}

TEST(Ftle, shear_that_turns_has_the_exponent_of_its_singular_value)
{
  // v = (s y, 0, 0): F = 1 + s T e_x e_y, whose largest singular value is (k + sqrt(k^2 + 4)) / 2.
  const auto cache = cache_of(cube(), { 0, 1, 2 },
    [](const Point& p, double) {
      return Point{ 0.7 * p[1], 0, 0 };
    });
  flow::FtleGrid grid;
  grid.origin.fill(-0.5);
  grid.spacing.fill(0.5);
  grid.points = grid.count = { 3, 3, 3 };
  const auto field = flow::ftle(cache, grid, 0, 2);
  const double k = 1.4;
  EXPECT_NEAR(field.exponents[13], std::log((k + std::sqrt(k * k + 4)) / 2) / 2, 1e-7);
}

TEST(Ftle, ridges_of_the_double_gyre_are_within_a_node_of_the_formula_s)
{
  BrickGrid gyre;
  gyre.points = { 161, 81, 1 };
  gyre.spacing = { 0.0125, 0.0125, 1 };
  std::vector<double> times;
  for (int i = 0; i <= 80; ++i)
  {
    times.push_back(0.125 * i);
  }
  const auto cache = cache_of(gyre, times, double_gyre);
  flow::FtleGrid grid;
  grid.points = grid.count = { 121, 61, 1 };
  grid.spacing = { 2.0 / 120, 1.0 / 60, 1 };
  const auto field = flow::ftle(cache, grid, 0, 10);

  const auto at = [&](std::int64_t x, std::int64_t y)
  { return static_cast<std::size_t>(x + grid.points[0] * y); };
  std::vector<Point> map;
  for (std::int64_t y = 0; y != grid.points[1]; ++y)
  {
    for (std::int64_t x = 0; x != grid.points[0]; ++x)
    {
      map.push_back(follow_formula(
        { static_cast<double>(x) * grid.spacing[0], static_cast<double>(y) * grid.spacing[1], 0 },
        10));
    }
  }
  std::vector<double> expected(map.size());
  for (std::int64_t y = 0; y != grid.points[1]; ++y)
  {
    for (std::int64_t x = 0; x != grid.points[0]; ++x)
    {
      const auto low = [](std::int64_t n) { return std::max<std::int64_t>(n - 1, 0); };
      const auto high = [&](std::int64_t n, std::size_t a)
      { return std::min(n + 1, grid.points[a] - 1); };
      const double dx = static_cast<double>(high(x, 0) - low(x)) * grid.spacing[0];
      const double dy = static_cast<double>(high(y, 1) - low(y)) * grid.spacing[1];
      std::array<double, 2> fx{};
      std::array<double, 2> fy{};
      for (std::size_t c = 0; c != 2; ++c)
      {
        fx[c] = (map[at(high(x, 0), y)][c] - map[at(low(x), y)][c]) / dx;
        fy[c] = (map[at(x, high(y, 1))][c] - map[at(x, low(y))][c]) / dy;
      }
      const double xx = fx[0] * fx[0] + fx[1] * fx[1];
      const double xy = fx[0] * fy[0] + fx[1] * fy[1];
      const double yy = fy[0] * fy[0] + fy[1] * fy[1];
      const double half = (xx - yy) / 2;
      expected[at(x, y)] = std::log((xx + yy) / 2 + std::sqrt(half * half + xy * xy)) / 20;
    }
  }
  std::vector<double> sorted = expected;
  std::sort(sorted.begin(), sorted.end());
  const double ridge = sorted[sorted.size() * 95 / 100];
  std::size_t nodes = 0;
  std::size_t near = 0;
  double sum = 0;
  for (std::int64_t y = 0; y != grid.points[1]; ++y)
  {
    for (std::int64_t x = 0; x != grid.points[0]; ++x)
    {
      ASSERT_EQ(field.end_times[at(x, y)], 10);
      sum += std::abs(field.exponents[at(x, y)] - expected[at(x, y)]);
      if (field.exponents[at(x, y)] < ridge)
      {
        continue;
      }
      ++nodes;
      bool found = false;
      for (std::int64_t dy = -1; dy <= 1; ++dy)
      {
        for (std::int64_t dx = -1; dx <= 1; ++dx)
        {
          const bool inside =
            x + dx >= 0 && x + dx < grid.points[0] && y + dy >= 0 && y + dy < grid.points[1];
          found = found || (inside && expected[at(x + dx, y + dy)] >= ridge);
        }
      }
      near += found ? 1 : 0;
    }
  }
  EXPECT_GT(nodes, 300u);
  EXPECT_GE(static_cast<double>(near), 0.98 * static_cast<double>(nodes));
  EXPECT_LT(sum / static_cast<double>(map.size()), 0.02 * ridge);

  // Parts are bitwise identical to the whole.
  flow::FtleGrid part = grid;
  part.first = { 40, 17, 0 };
  part.count = { 9, 8, 1 };
  const auto some = flow::ftle(cache, part, 0, 10);
  for (std::int64_t y = 0; y != 8; ++y)
  {
    for (std::int64_t x = 0; x != 9; ++x)
    {
      EXPECT_EQ(
        some.exponents[static_cast<std::size_t>(x + 9 * y)], field.exponents[at(40 + x, 17 + y)]);
    }
  }
}

TEST(Ftle, the_whole_of_any_times_may_be_asked_for)
{
  // 8.4 - 3.1 is rounded up, and 8.4 minus that is before 3.1.
  flow::FtleGrid grid;
  grid.points = grid.count = { 2, 2, 1 };
  for (int tenths = 0; tenths != 100; ++tenths)
  {
    const double first = tenths / 10.0;
    const double last = (2 * tenths + 17) / 10.0;
    const auto cache = cache_of(cube(), { first, last },
      [](const Point&, double) {
        return Point{ 0.1, 0, 0 };
      });
    for (const bool backward : { false, true })
    {
      flow::TraceOptions options;
      options.backward = backward;
      options.threads = 1;
      const auto field = flow::ftle(cache, grid, backward ? last : first, last - first, options);
      EXPECT_EQ(field.end_times[0], backward ? first : last);
      EXPECT_THROW(
        (void)flow::ftle(cache, grid, first, (last - first) * (1 + 1e-12), options), Error);
    }
  }
}

TEST(Ftle, nodes_on_the_faces_of_any_domain_have_exponents)
{
  // For some numbers of nodes, the last node of -0.37 to 2.88 is rounded beyond it.
  BrickGrid domain = cube();
  domain.points = { 12, 12, 12 };
  for (int i = 0; i != 40; ++i)
  {
    domain.origin.fill(-0.37 - 0.1 * i);
    domain.spacing.fill(3.25 / 11 + 0.01 * i);
    const auto cache = cache_of(domain, { 0, 1 },
      [](const Point&, double) {
        return Point{ 0, 0, 0 };
      });
    Box box;
    for (std::size_t a = 0; a != 3; ++a)
    {
      box.lower[a] = domain.origin[a];
      box.upper[a] = domain.origin[a] + 11 * domain.spacing[a];
    }
    const std::int64_t n = 3 + i % 20;
    const auto grid = flow::ftle_grid(box, { n, n + 1, 2 });
    for (const double exponent : flow::ftle(cache, grid, 0, 1).exponents)
    {
      ASSERT_NEAR(exponent, 0, 1e-12) << i;
    }
  }
}

TEST(Ftle, nodes_whose_particles_leave_have_no_exponent_and_what_cannot_be_is_refused)
{
  const auto cache = cache_of(cube(), { 0, 1, 2 },
    [](const Point&, double) {
      return Point{ 1, 0, 0 };
    });
  flow::FtleGrid grid;
  grid.origin = { 1.25, 0, 0 };
  grid.spacing.fill(0.5);
  grid.points = grid.count = { 6, 2, 1 };
  const auto field = flow::ftle(cache, grid, 0, 2);
  for (std::size_t i = 0; i != 12; ++i)
  {
    // Nodes up to x = 2 stay inside until the end; the last of them has a neighbour that does not.
    const std::size_t x = i % 6;
    EXPECT_EQ(std::isnan(field.exponents[i]), x >= 1) << i;
    EXPECT_NEAR(field.end_times[i], std::min(2.0, 4 - (1.25 + 0.5 * static_cast<double>(x))), 1e-6);
  }
  const auto refuses = [&](const flow::FtleGrid& g, double start, double length)
  { EXPECT_THROW((void)flow::ftle(cache, g, start, length), Error); };
  refuses(grid, 0, 0);
  refuses(grid, 0, 2.5);
  refuses(grid, -1, 1);
  refuses(grid, 0, std::nan(""));
  refuses(grid, 0, HUGE_VAL); // the last time only up to rounding
  auto wrong = grid;
  wrong.points = wrong.count = { 1, 1, 1 };
  refuses(wrong, 0, 1);
  wrong = grid;
  wrong.first = { 1, 0, 0 };
  refuses(wrong, 0, 1);
  wrong = grid;
  wrong.spacing[1] = 0;
  refuses(wrong, 0, 1);
  wrong = grid;
  wrong.points[0] = wrong.count[0] = std::numeric_limits<std::int64_t>::max();
  refuses(wrong, 0, 1);
  wrong = grid;
  wrong.count = { 0, 2, 1 };
  EXPECT_TRUE(flow::ftle(cache, wrong, 0, 1).exponents.empty());
}
