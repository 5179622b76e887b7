// SPDX-License-Identifier: BSD-3-Clause
// The order of samples, compared sample by sample with the definition in IDX.md.

#include "bat/idx/header.hpp"
#include "idx/format/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace bat::idx;
using format::Point;

namespace
{
Header header_of(const std::string& bits, int bits_per_block)
{
  Header header;
  header.bits = bits;
  header.bits_per_block = bits_per_block;
  return header;
}

std::uint64_t hz_of(const std::string& digits, Point p)
{
  std::uint64_t z = 0;
  for (std::size_t i = digits.size(); i-- != 0;)
  {
    auto& coordinate = p[static_cast<std::size_t>(digits[i] - '0')];
    z |= static_cast<std::uint64_t>(coordinate & 1) << (digits.size() - 1 - i);
    coordinate >>= 1;
  }
  const std::uint64_t marked = z | std::uint64_t{ 1 } << digits.size();
  return marked >> __builtin_ctzll(marked) >> 1;
}
}

TEST(IdxOrder, every_sample_is_where_its_number_says)
{
  for (const char* bits : { "V0", "V012012012", "V210021011", "V000111222", "V01010", "V222" })
  {
    const std::string digits = std::string(bits).substr(1);
    for (int b = 0; b <= static_cast<int>(digits.size()); ++b)
    {
      const Header header = header_of(bits, b);
      const format::Order order(header);
      std::map<std::uint64_t, int> seen; // hz -> times
      for (std::uint64_t block = 0; block != order.block_count(); ++block)
      {
        const format::LevelBlocks level = order.blocks_of_level(order.level_of_block(block));
        const Point place = order.place_of(level, block);
        ASSERT_EQ(order.block_at(level, place), block);
        const format::BlockOrder table(order, level);
        for (std::int64_t z = 0; z != level.counts[2]; ++z)
        {
          for (std::int64_t y = 0; y != level.counts[1]; ++y)
          {
            for (std::int64_t x = 0; x != level.counts[0]; ++x)
            {
              const Point i{ x, y, z };
              Point p;
              for (std::size_t axis = 0; axis != 3; ++axis)
              {
                p[axis] = level.origin[axis] +
                  (place[axis] * level.counts[axis] + i[axis]) * level.distance[axis];
              }
              const std::uint64_t hz = hz_of(digits, p);
              ASSERT_EQ(hz >> b, block) << bits << " " << b;
              ASSERT_EQ(hz & ((std::uint64_t{ 1 } << b) - 1), table.place(table.row(y, z), x))
                << bits << " " << b;
              ++seen[hz];
            }
          }
        }
      }
      ASSERT_EQ(seen.size(), std::size_t{ 1 } << digits.size());
    }
  }
}

TEST(IdxOrder, a_lattice_is_made_of_the_blocks_that_meet_it)
{
  std::mt19937 random(7);
  const Header header = header_of("V012021012", 3);
  const format::Order order(header);
  const auto pick = [&](int below)
  { return std::uniform_int_distribution<std::int64_t>(0, below - 1)(random); };
  for (int round = 0; round != 2000; ++round)
  {
    LogicalBox box;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      box.lower[axis] = pick(8);
      box.upper[axis] = std::min<std::int64_t>(7, box.lower[axis] + pick(8));
    }
    const int level = static_cast<int>(pick(10));
    const Lattice lattice = order.lattice(level, box);
    std::uint64_t samples = 0;
    for (int l = order.bits_per_block(); l <= std::max(level, order.bits_per_block()); ++l)
    {
      const format::LevelBlocks blocks = order.blocks_of_level(l);
      const format::BlockRange range = order.blocks_with(blocks, lattice);
      for (std::int64_t z = range.lower[2]; z <= range.upper[2]; ++z)
      {
        for (std::int64_t y = range.lower[1]; y <= range.upper[1]; ++y)
        {
          for (std::int64_t x = range.lower[0]; x <= range.upper[0]; ++x)
          {
            const format::StepsOfAxes steps = order.common(blocks, { x, y, z }, lattice);
            const std::int64_t common = steps[0].count * steps[1].count * steps[2].count;
            EXPECT_GT(common, 0); // no block is read needlessly
            samples += static_cast<std::uint64_t>(common);
          }
        }
      }
    }
    ASSERT_EQ(samples, lattice.samples());
  }
}

TEST(IdxOrder, coordinates_of_62_bits_do_not_overflow)
{
  const Header header = header_of("V" + std::string(62, '1'), 10);
  const format::Order order(header);
  const std::int64_t last = (std::int64_t{ 1 } << 62) - 1;
  const LogicalBox box{ { 0, last - 5, 0 }, { 0, last, 0 } };
  const Lattice lattice = order.lattice(62, box);
  EXPECT_EQ(lattice.samples(), 6u);
  std::uint64_t blocks = 0;
  for (int level = 10; level <= 62; ++level)
  {
    blocks += order.blocks_with(order.blocks_of_level(level), lattice).count();
  }
  EXPECT_EQ(blocks, 3u); // at levels 62, 61 and 60
  EXPECT_EQ(order.lattice(0, { { 0, 0, 0 }, { 0, last, 0 } }).samples(), 1u);
}
