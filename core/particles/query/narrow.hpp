// SPDX-License-Identifier: BSD-3-Clause
// Code shared by comparisons of positions and of keys.
#pragma once

#include "common/elements.hpp"
#include "common/numbers.hpp"
#include "particles/query/matches.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace bat::query
{
/// Converts the ends of a range to the type T of the values, so that v >= lower in T holds exactly
/// if it holds on the real line. Returns false if no value of the type is in the range.
template <class T, class V>
bool narrow(const ClassRange<V>& range, T& lower, T& upper)
{
  if constexpr (std::is_same_v<T, float>)
  {
    constexpr float inf = std::numeric_limits<float>::infinity();
    lower = static_cast<float>(range.lower);
    lower = static_cast<double>(lower) < range.lower ? std::nextafter(lower, inf) : lower;
    upper = static_cast<float>(range.upper);
    upper = static_cast<double>(upper) > range.upper ? std::nextafter(upper, -inf) : upper;
    return true;
  }
  else if constexpr (std::is_same_v<T, V>)
  {
    lower = range.lower;
    upper = range.upper;
    return true;
  }
  else
  {
    constexpr V minimum = std::numeric_limits<T>::min();
    constexpr V maximum = std::numeric_limits<T>::max();
    if (range.lower > maximum || range.upper < minimum)
    {
      return false;
    }
    lower = static_cast<T>(std::max(range.lower, minimum));
    upper = static_cast<T>(std::min(range.upper, maximum));
    return true;
  }
}

/// Calls bits(values, count) for the tuples of `components` T, up to kWordBits at a time.
template <class T, class Bits>
void match_tuples(const Elements* parts, std::size_t part_count, std::size_t components,
  Matches& matches, const Bits& bits)
{
  for (std::size_t p = 0; p != part_count; ++p)
  {
    const T* tuples = reinterpret_cast<const T*>(parts[p].first);
    for (std::size_t left = parts[p].count; left != 0;)
    {
      const std::size_t count = std::min(left, kWordBits);
      matches.keep(count, bits(tuples, count));
      tuples += count * components;
      left -= count;
    }
  }
}
}
