// SPDX-License-Identifier: BSD-3-Clause
#include "idx/write/value_range.hpp"

#include "common/numbers.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bat::idx
{
namespace
{
constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Range = std::pair<double, double>;

Range merge(const Range& a, const Range& b)
{
  return { std::min(a.first, b.first), std::max(a.second, b.second) };
}

// Comparisons with NaN are false. Several lanes avoid waiting for each other's results.
template <class T>
Range range_without_nan(const T* values, std::size_t count)
{
  constexpr std::size_t kLanes = 16;
  T minimum[kLanes];
  T maximum[kLanes];
  std::fill_n(minimum, kLanes, std::numeric_limits<T>::max());
  std::fill_n(maximum, kLanes, std::numeric_limits<T>::lowest());
  const auto look = [&](std::size_t lane, T value)
  {
    minimum[lane] = value < minimum[lane] ? value : minimum[lane];
    maximum[lane] = value > maximum[lane] ? value : maximum[lane];
  };
  const std::size_t whole = count - count % kLanes;
  for (std::size_t i = 0; i != whole; i += kLanes)
  {
    for (std::size_t lane = 0; lane != kLanes; ++lane)
    {
      look(lane, values[i + lane]);
    }
  }
  for (std::size_t i = whole; i != count; ++i)
  {
    look(0, values[i]);
  }
  return { static_cast<double>(*std::min_element(minimum, minimum + kLanes)),
    static_cast<double>(*std::max_element(maximum, maximum + kLanes)) };
}

template <class T>
Range finite_range(const T* values, std::size_t count)
{
  Range range = range_without_nan(values, count);
  if (range.first > range.second)
  {
    return { kInfinity, -kInfinity };
  }
  if (std::isfinite(range.first) && std::isfinite(range.second))
  {
    return range;
  }
  range = { kInfinity, -kInfinity };
  for (std::size_t i = 0; i != count; ++i)
  {
    const auto value = static_cast<double>(values[i]);
    range = std::isfinite(value) ? merge(range, { value, value }) : range;
  }
  return range;
}

template <class T>
Range compute_range(const T* values, std::size_t count)
{
  return tbb::parallel_reduce(
    tbb::blocked_range<std::size_t>(0, count, 1 << 16), Range(kInfinity, -kInfinity),
    [&](const tbb::blocked_range<std::size_t>& part, const Range& range)
    { return merge(range, finite_range(values + part.begin(), part.size())); },
    merge);
}
}

std::pair<double, double> value_range(ScalarType type, const void* values, std::uint64_t count)
{
  return dispatch(type,
    [&](auto zero) { return compute_range(static_cast<const decltype(zero)*>(values), count); });
}

std::pair<double, double> value_range(ScalarType type, const void* values,
  const std::array<std::int64_t, 3>& counts, const std::array<std::int64_t, 3>& dimensions)
{
  const std::int64_t rows = counts[1] * counts[2];
  if (counts[0] == dimensions[0] && (counts[1] == dimensions[1] || counts[2] == 1))
  {
    return value_range(type, values, static_cast<std::uint64_t>(counts[0] * rows)); // no gaps
  }
  return dispatch(type,
    [&](auto zero)
    {
      const auto* first = static_cast<const decltype(zero)*>(values);
      const std::int64_t grain = std::max<std::int64_t>(1, (1 << 16) / counts[0]);
      return tbb::parallel_reduce(
        tbb::blocked_range<std::int64_t>(0, rows, static_cast<std::size_t>(grain)),
        Range(kInfinity, -kInfinity),
        [&](const tbb::blocked_range<std::int64_t>& part, Range range)
        {
          for (std::int64_t row = part.begin(); row != part.end(); ++row)
          {
            const std::int64_t at =
              (row / counts[1] * dimensions[1] + row % counts[1]) * dimensions[0];
            range = merge(range, finite_range(first + at, static_cast<std::size_t>(counts[0])));
          }
          return range;
        },
        merge);
    });
}

void set_ranges(Header& header, const std::vector<std::pair<double, double>>& ranges)
{
  for (std::size_t i = 0; i != ranges.size(); ++i)
  {
    Field& field = header.fields[i];
    if (!header.pidx && field.components == 1 && ranges[i].first <= ranges[i].second)
    {
      field.minimum = { ranges[i].first };
      field.maximum = { ranges[i].second };
    }
  }
}
}
