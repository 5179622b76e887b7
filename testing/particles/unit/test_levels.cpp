// SPDX-License-Identifier: BSD-3-Clause
// Levels, file positions and qualities as defined in FORMAT.md section 8.

#include "particles/format/levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace
{
// The file position of every rank, computed one by one from the definition in FORMAT.md section 8.
std::vector<std::uint64_t> all_positions(const bat::LevelTable& levels, std::uint64_t n)
{
  std::vector<std::uint64_t> positions;
  for (std::uint64_t g = 0; g != n; ++g)
  {
    bat::for_each_run(levels, g, g + 1,
      [&](std::size_t, std::uint64_t at, std::uint64_t, std::uint64_t count)
      {
        for (std::uint64_t i = 0; i != count; ++i)
        {
          positions.push_back(at + i);
        }
      });
  }
  return positions;
}
}

TEST(Levels, every_rank_has_its_own_file_position)
{
  for (const std::uint64_t n : { 0u, 1u, 2u, 15u, 16u, 17u, 18u, 100u, 999u, 4096u, 65537u })
  {
    std::vector<std::uint64_t> positions = all_positions(bat::choose_levels(n), n);
    std::sort(positions.begin(), positions.end());
    ASSERT_EQ(positions.size(), n);
    for (std::uint64_t i = 0; i != n; ++i)
    {
      ASSERT_EQ(positions[i], i);
    }
  }
}

TEST(Levels, round_qualities_end_a_level)
{
  for (const std::uint64_t n : { 1000u, 12345u, 10000000u, 4294967295u })
  {
    const bat::LevelTable levels = bat::choose_levels(n);
    for (const double q : { 0.1, 0.2, 0.3, 0.5, 0.9, 1.0, 0.05 })
    {
      EXPECT_NE(
        std::find(levels.end.begin(), levels.end.end(), bat::count_at(q, n)), levels.end.end())
        << q << " of " << n;
    }
  }
}

TEST(Levels, neighbours_differ_by_at_most_the_promised_factor)
{
  const bat::LevelTable levels = bat::choose_levels(4294967295u);
  EXPECT_LE(levels.size(), 256u);
  for (std::size_t l = 1; l != levels.size(); ++l)
  {
    ASSERT_LT(levels.end[l - 1], levels.end[l]);
    if (levels.end[l - 1] >= 32)
    {
      EXPECT_LE(static_cast<double>(levels.end[l]), 1.5 * static_cast<double>(levels.end[l - 1]));
    }
  }
}

TEST(Levels, runs_of_an_interval_are_the_positions_of_its_ranks)
{
  const std::uint64_t n = 20011;
  const bat::LevelTable levels = bat::choose_levels(n);
  const std::vector<std::uint64_t> positions = all_positions(levels, n);
  std::mt19937_64 random(5);
  for (int round = 0; round != 300; ++round)
  {
    std::uint64_t a = random() % (n + 1);
    std::uint64_t b = random() % (n + 1);
    if (a > b)
    {
      std::swap(a, b);
    }
    std::vector<std::uint64_t> expected(positions.begin() + static_cast<std::ptrdiff_t>(a),
      positions.begin() + static_cast<std::ptrdiff_t>(b));
    std::sort(expected.begin(), expected.end());
    std::vector<std::uint64_t> found;
    bat::for_each_run(levels, a, b,
      [&](std::size_t, std::uint64_t at, std::uint64_t offset, std::uint64_t count)
      {
        // The offset counts the particles of coarser levels, which come before in the file.
        const auto coarser = static_cast<std::uint64_t>(
          std::lower_bound(expected.begin(), expected.end(), at) - expected.begin());
        if (count != 0)
        {
          EXPECT_EQ(offset, coarser);
        }
        for (std::uint64_t i = 0; i != count; ++i)
        {
          found.push_back(at + i);
        }
      });
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, expected) << a << " to " << b;
  }
}

TEST(Levels, quality_rounds_up_and_never_beyond_all)
{
  EXPECT_EQ(bat::count_at(0, 10), 0u);
  EXPECT_EQ(bat::count_at(1e-12, 10), 1u);
  EXPECT_EQ(bat::count_at(0.5, 11), 6u);
  EXPECT_EQ(bat::count_at(1, 4294967295u), 4294967295u);
  EXPECT_EQ(bat::count_at(1, 0), 0u);
}
