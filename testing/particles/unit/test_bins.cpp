// SPDX-License-Identifier: BSD-3-Clause
// Values, bins and bits: a bitmap never misses a value.

#include "particles/tree/bins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

TEST(Bins, an_edge_belongs_to_the_bin_above_it)
{
  const std::vector<double> edges{ 1, 2, 4 };
  EXPECT_EQ(bat::find_bin(edges, 0.5), 0u);
  EXPECT_EQ(bat::find_bin(edges, 1.0), 1u);
  EXPECT_EQ(bat::find_bin(edges, 3.9), 2u);
  EXPECT_EQ(bat::find_bin(edges, 4.0), 3u);
  EXPECT_EQ(bat::find_bin(edges, std::numeric_limits<double>::infinity()), 3u);
}

TEST(Bins, the_fast_bit_of_a_value_is_the_bit_of_its_bin)
{
  std::mt19937_64 random(3);
  for (const std::size_t count : { 0u, 1u, 5u, 31u, 32u, 33u, 100u, 4095u })
  {
    std::vector<std::int64_t> edges;
    for (std::size_t i = 0; i != count; ++i)
    {
      edges.push_back(static_cast<std::int64_t>(3 * i));
    }
    for (int round = 0; round != 50; ++round)
    {
      auto a = static_cast<std::int64_t>(random() % (3 * count + 5)) - 2;
      auto b = static_cast<std::int64_t>(random() % (3 * count + 5)) - 2;
      if (a > b)
      {
        std::swap(a, b);
      }
      const std::uint32_t first = bat::find_bin(edges, a);
      const std::uint32_t last = bat::find_bin(edges, b);
      const bat::TreeletBits<std::int64_t> bits(edges, first, last);
      for (std::int64_t v = a; v <= b; v += 1 + (b - a) / 97)
      {
        ASSERT_EQ(bits(v), bat::bit_of_bin(bat::find_bin(edges, v), first, last)) << v;
        ASSERT_LT(bits(v), 32u);
      }
    }
  }
}

namespace
{
template <class V>
void expect_equal_bits(std::vector<V> values, std::size_t bins, bool usable)
{
  std::sort(values.begin(), values.end());
  std::vector<V> edges;
  for (std::size_t bin = 1; bin < bins; ++bin)
  {
    edges.push_back(values[values.size() * bin / bins]);
  }
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const V minimum = values.front();
  const V maximum = values.back();
  const bat::TreeletBits<V> bits(
    edges, bat::find_bin(edges, minimum), bat::find_bin(edges, maximum));
  const bat::CellBits<V> cells(bits, minimum, maximum);
  ASSERT_EQ(cells.usable(), usable);
  for (const V value : values)
  {
    ASSERT_TRUE(!usable || cells(value) == bits(value)) << value;
  }
}
}

TEST(Bins, a_table_of_cells_gives_the_same_bits)
{
  using Int = std::numeric_limits<std::int64_t>;
  constexpr std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max();
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> reals(20000);
  std::vector<std::int64_t> integers(20000);
  for (std::size_t i = 0; i != reals.size(); ++i)
  {
    reals[i] = normal(random);
    integers[i] = static_cast<std::int64_t>(random());
  }
  expect_equal_bits(reals, 32, true);
  expect_equal_bits(reals, 1000, true);
  expect_equal_bits(integers, 500, true);
  integers.insert(integers.end(), { Int::min(), Int::max() });
  expect_equal_bits(integers, 32, true);
  expect_equal_bits<std::int64_t>({ Int::max() - 1, Int::max() }, 2, true);
  expect_equal_bits<std::uint64_t>({ 0, 0, 7, 7, maximum, maximum }, 3, true);
  expect_equal_bits<double>({ -0.0, 0.0, 1.0 }, 3, true);
}

TEST(Bins, values_that_no_even_grid_tells_apart_have_no_table_of_cells)
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  expect_equal_bits<double>({ 1, 1, 2, 2, 3, 3, 1e9 }, 4, false);
  expect_equal_bits<double>({ 0, 1, 2, inf }, 4, false);
  expect_equal_bits<double>({ -huge, 0, huge }, 3, false);
  expect_equal_bits<double>({ 0, tiny }, 2, false);
  expect_equal_bits<double>({ 5, 5, 5 }, 3, false);
}
