// SPDX-License-Identifier: BSD-3-Clause
// Compares the radix sort with std::stable_sort.

#include "common/radix_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace
{
// The result of std::sort for the values of value(i).
template <class V, class Value>
void expect_sorted(const std::string& what, const Value& value)
{
  for (const std::size_t count : { 0u, 1u, 2u, 2048u, 2049u, 5000u, 100000u })
  {
    std::vector<V> values(count);
    for (std::size_t i = 0; i != count; ++i)
    {
      values[i] = value(i);
    }
    std::vector<V> expected = values;
    std::sort(expected.begin(), expected.end());
    bat::radix_sort(values);
    EXPECT_EQ(values, expected) << what << ", " << count << " values";
  }
}

template <class V>
void expect_sorted_integers(const std::string& type)
{
  std::mt19937_64 random(1);
  expect_sorted<V>(type + " of all bits", [&](std::size_t) { return static_cast<V>(random()); });
  expect_sorted<V>(
    type + " below 1000", [&](std::size_t) { return static_cast<V>(random() % 1000); });
  expect_sorted<V>(type + ", all the same", [](std::size_t) { return V{ 7 }; });
  expect_sorted<V>(type + " in order", [](std::size_t i) { return static_cast<V>(i); });
  expect_sorted<V>(type + " against the order", [](std::size_t i) { return static_cast<V>(-i); });
  // One value is far away, so the lower bits of the others lie below those that are sorted first.
  expect_sorted<V>(type + ", one far away",
    [&](std::size_t i)
    { return i == 100 ? std::numeric_limits<V>::max() : static_cast<V>(random() % 100000); });
}
}

TEST(RadixSort, sorts_integers)
{
  expect_sorted_integers<std::uint32_t>("uint32");
  expect_sorted_integers<std::uint64_t>("uint64");
  expect_sorted_integers<std::int64_t>("int64");
}

TEST(RadixSort, sorts_numbers_of_both_signs_and_infinity)
{
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  expect_sorted<double>("normal", [&](std::size_t) { return normal(random); });
  expect_sorted<double>("all sizes",
    [&](std::size_t)
    { return std::ldexp(normal(random), static_cast<int>(random() % 2000) - 1000); });
  expect_sorted<double>("nearly the same",
    [&](std::size_t) { return 1 + std::ldexp(static_cast<double>(random() % 1000), -52); });
  constexpr double inf = std::numeric_limits<double>::infinity();
  expect_sorted<double>("infinity and both zeros",
    [&](std::size_t i) {
      return std::vector<double>{ inf, -inf, 0.0, -0.0, 1.0 }[i % 5];
    });
}
