#include "bins.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

TEST(Bins, an_edge_belongs_to_the_bin_above_it)
{
  const std::vector<double> edges{ 1, 2, 4 };
  EXPECT_EQ(bat::bin_of(edges, 0.5), 0u);
  EXPECT_EQ(bat::bin_of(edges, 1.0), 1u);
  EXPECT_EQ(bat::bin_of(edges, 3.9), 2u);
  EXPECT_EQ(bat::bin_of(edges, 4.0), 3u);
  EXPECT_EQ(bat::bin_of(edges, std::numeric_limits<double>::infinity()), 3u);
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
      const std::uint32_t first = bat::bin_of(edges, a);
      const std::uint32_t last = bat::bin_of(edges, b);
      const bat::TreeletBits<std::int64_t> bits(edges, first, last);
      for (std::int64_t v = a; v <= b; v += 1 + (b - a) / 97)
      {
        ASSERT_EQ(bits(v), bat::bit_of_bin(bat::bin_of(edges, v), first, last)) << v;
        ASSERT_LT(bits(v), 32u);
      }
    }
  }
}
