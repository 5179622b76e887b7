// SPDX-License-Identifier: BSD-3-Clause
// Compares lines that are cut at the borders of cyclic axes with the lines they come from.
#include "bat/flow/borders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace
{
using Position = std::array<double, 3>;
using bat::flow::CutLine;

bat::BrickGrid box(std::array<bool, 3> cyclic)
{
  bat::BrickGrid grid;
  grid.points = { 8, 5, 16 };
  grid.origin = { -1, 2, 0.5 };
  grid.spacing = { 0.25, 0.4, 0.125 }; // 2 along each axis
  grid.cyclic = cyclic;
  return grid;
}

double distance(const Position& a, const Position& b)
{
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// Checks the properties of every line.
CutLine cut(const bat::BrickGrid& grid, const std::vector<Position>& line)
{
  CutLine found = bat::flow::cut_at_borders(grid, line);
  EXPECT_EQ(found.offsets.front(), 0u);
  EXPECT_EQ(found.offsets.back(), found.points.size());
  double length = 0;
  std::size_t next = 0; // point of the line
  for (std::size_t s = 0; s + 1 < found.offsets.size(); ++s)
  {
    EXPECT_LT(found.offsets[s], found.offsets[s + 1]);
    for (std::size_t i = found.offsets[s]; i != found.offsets[s + 1]; ++i)
    {
      const CutLine::Point& p = found.points[i];
      for (std::size_t a = 0; a != 3; ++a)
      {
        const double low = grid.origin[a];
        const double from = line[p.before][a];
        const double expected =
          p.share == 0 ? from : from + p.share * (line[p.before + 1][a] - from);
        const double turns = (expected - p.position[a]) / 2;
        EXPECT_NEAR(turns, grid.cyclic[a] ? std::rint(turns) : 0.0, 1e-12);
        EXPECT_TRUE(!grid.cyclic[a] || (p.position[a] >= low && p.position[a] <= low + 2));
      }
      if (p.share == 0 && p.before == next)
      {
        ++next;
      }
      EXPECT_EQ(p.before + 1, next); // in their order, each one once
      length += i == found.offsets[s] ? 0 : distance(found.points[i - 1].position, p.position);
    }
    // The next stretch begins where this one ends, on the other side.
    if (s + 2 < found.offsets.size())
    {
      const CutLine::Point& end = found.points[found.offsets[s + 1] - 1];
      const CutLine::Point& begin = found.points[found.offsets[s + 1]];
      EXPECT_GT(distance(end.position, begin.position), 1.9);
      for (std::size_t a = 0; a != 3; ++a)
      {
        const double apart = std::abs(end.position[a] - begin.position[a]);
        EXPECT_NEAR(apart, apart > 1 ? 2.0 : 0.0, 1e-12);
      }
    }
  }
  EXPECT_EQ(next, line.size());
  double whole = 0;
  for (std::size_t i = 1; i < line.size(); ++i)
  {
    whole += distance(line[i - 1], line[i]);
  }
  EXPECT_NEAR(length, whole, 1e-11 * (1 + whole));
  return found;
}

std::size_t stretches(const CutLine& line)
{
  return line.offsets.size() - 1;
}

TEST(Borders, lines_are_cut_where_they_pass_cyclic_borders)
{
  std::mt19937 random(1);
  std::normal_distribution<double> step(0.1, 1.5);
  for (int round = 0; round != 2000; ++round)
  {
    const bat::BrickGrid grid = box({ round % 2 == 0, round / 2 % 2 == 0, round / 4 % 2 == 0 });
    std::vector<Position> line{ { step(random), 2 + step(random), step(random) } };
    std::size_t passed = 0;
    for (int i = 0; i != 20; ++i)
    {
      Position next = line.back();
      for (std::size_t a = 0; a != 3; ++a)
      {
        next[a] += i % 5 == 4 ? 0 : step(random); // some particles rest
        const auto copy = [&](double x) { return std::floor((x - grid.origin[a]) / 2); };
        passed += grid.cyclic[a]
          ? static_cast<std::size_t>(std::abs(copy(next[a]) - copy(line.back()[a])))
          : 0;
      }
      line.push_back(next);
    }
    EXPECT_EQ(stretches(cut(grid, line)), 1 + passed);
  }
}

TEST(Borders, lines_begin_end_and_turn_on_borders)
{
  const bat::BrickGrid grid = box({ true, true, true });
  // From the lower and the upper border, inwards and outwards; -1 and 1 are the same place.
  EXPECT_EQ(stretches(cut(grid, { { -1, 3, 1 }, { 0, 3, 1 } })), 1u);
  EXPECT_EQ(stretches(cut(grid, { { -1, 3, 1 }, { -2, 3, 1 } })), 1u);
  EXPECT_EQ(stretches(cut(grid, { { -1, 3, 1 }, { -1, 3, 1 }, { -1.5, 3, 1 } })), 1u);
  EXPECT_EQ(stretches(cut(grid, { { 0, 3, 1 }, { 1, 3, 1 } })), 1u);
  EXPECT_EQ(stretches(cut(grid, { { 0, 3, 1 }, { 1, 3, 1 }, { 0, 3, 1 } })), 1u);
  EXPECT_EQ(stretches(cut(grid, { { 0, 3, 1 }, { 1, 3, 1 }, { 1.5, 3, 1 } })), 2u);
  // Through an edge and a corner: one border after the other, with zero length between.
  const CutLine corner = cut(grid, { { 0, 3, 1.5 }, { 2, 5, 3.5 } });
  EXPECT_EQ(corner.points.front().position, (Position{ 0, 3, 1.5 }));
  EXPECT_EQ(corner.points.back().position, (Position{ 0, 3, 1.5 }));
  // A single point, and none.
  EXPECT_EQ(cut(grid, { { 5, 3, 1 } }).points.front().position, (Position{ -1, 3, 1 }));
  EXPECT_TRUE(bat::flow::cut_at_borders(grid, {}).points.empty());
}

TEST(Borders, what_passes_too_many_has_both_ends)
{
  const bat::BrickGrid grid = box({ true, false, false });
  const CutLine line = bat::flow::cut_at_borders(grid, { { 0, 3, 1 }, { 1e9, 3, 1 } });
  EXPECT_EQ(line.points.back().position, (Position{ 0, 3, 1 }));
  EXPECT_EQ(line.points.back().before, 1u);
  EXPECT_LT(line.points.size(), 3000u);
}

TEST(Borders, positions_are_wrapped_into_the_box)
{
  const bat::BrickGrid grid = box({ true, true, false });
  EXPECT_EQ(bat::flow::wrapped(grid, { 1, 1.5, 77 }), (Position{ -1, 3.5, 77 }));
  EXPECT_EQ(bat::flow::wrapped(grid, { -1, 4, -77 }), (Position{ -1, 2, -77 }));
  const Position tiny = bat::flow::wrapped(grid, { std::nextafter(-1.0, -2.0), 3, 0 });
  EXPECT_TRUE(tiny[0] >= -1 && tiny[0] < 1) << tiny[0];
}
}
