// SPDX-License-Identifier: BSD-3-Clause
// Sorts many numbers.
#pragma once

#include "common/numbers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace bat
{
/// Maps values to unsigned numbers in the same order.
inline std::uint64_t ordered(double value)
{
  const std::uint64_t bits = to_bits(value);
  return bits ^ (bits >> 63 ? ~std::uint64_t{ 0 } : std::uint64_t{ 1 } << 63);
}
inline std::uint64_t ordered(std::int64_t value)
{
  return to_bits(value) ^ std::uint64_t{ 1 } << 63;
}
inline std::uint64_t ordered(std::uint64_t value)
{
  return value;
}
inline std::uint64_t ordered(std::uint32_t value)
{
  return value;
}

/// Sorts numbers by the upper 33 of the differing bits, then sorts the few that share those.
/// Several times as fast as std::sort for thousands of numbers and more. No value may be NaN.
template <class V>
void radix_sort(std::vector<V>& values)
{
  constexpr std::size_t kMaxComparisonSort = 2048;
  if (values.size() <= kMaxComparisonSort)
  {
    std::sort(values.begin(), values.end());
    return;
  }
  constexpr int kDigitBits = 11;
  constexpr int kDigits = 3;
  constexpr std::size_t kBuckets = std::size_t{ 1 } << kDigitBits;
  std::uint64_t differing = 0;
  for (const V value : values)
  {
    differing |= ordered(value) ^ ordered(values.front());
  }
  int dropped_bits = 0;
  while (differing >> dropped_bits >> kDigits * kDigitBits != 0)
  {
    ++dropped_bits;
  }
  const auto bucket = [dropped_bits](V value, int digit)
  { return ordered(value) >> (dropped_bits + kDigitBits * digit) & (kBuckets - 1); };
  std::array<std::array<std::uint32_t, kBuckets>, kDigits> starts{};
  for (const V value : values)
  {
    for (int digit = 0; digit != kDigits; ++digit)
    {
      ++starts[static_cast<std::size_t>(digit)][bucket(value, digit)];
    }
  }
  std::vector<V> other(values.size());
  for (int digit = 0; digit != kDigits; ++digit)
  {
    std::array<std::uint32_t, kBuckets>& start = starts[static_cast<std::size_t>(digit)];
    if (start[bucket(values.front(), digit)] == values.size())
    {
      continue; // the same in all
    }
    std::uint32_t sum = 0;
    for (std::uint32_t& count : start)
    {
      sum += std::exchange(count, sum);
    }
    for (const V value : values)
    {
      other[start[bucket(value, digit)]++] = value;
    }
    values.swap(other);
  }
  for (auto it = values.begin(); (it = std::is_sorted_until(it, values.end())) != values.end();)
  {
    const auto other_digits = [&, here = ordered(*it)](V value)
    { return (ordered(value) ^ here) >> dropped_bits != 0; };
    const auto begin =
      std::find_if(std::make_reverse_iterator(it), values.rend(), other_digits).base();
    it = std::find_if(it, values.end(), other_digits);
    std::sort(begin, it);
  }
}
}
