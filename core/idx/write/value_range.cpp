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

template <class T>
Range range_of(const T* values, std::size_t count)
{
  return tbb::parallel_reduce(
    tbb::blocked_range<std::size_t>(0, count, 1 << 16), Range(kInfinity, -kInfinity),
    [&](const tbb::blocked_range<std::size_t>& part, Range range)
    {
      T least = std::numeric_limits<T>::max();
      T most = std::numeric_limits<T>::lowest();
      bool any = false;
      for (std::size_t i = part.begin(); i != part.end(); ++i)
      {
        const T value = values[i];
        if constexpr (std::is_floating_point_v<T>)
        {
          if (!std::isfinite(value))
          {
            continue;
          }
        }
        any = true;
        least = std::min(least, value);
        most = std::max(most, value);
      }
      return any ? merge(range, { static_cast<double>(least), static_cast<double>(most) }) : range;
    },
    merge);
}
}

std::pair<double, double> value_range(ScalarType type, const void* values, std::uint64_t count)
{
  return dispatch(
    type, [&](auto zero) { return range_of(static_cast<const decltype(zero)*>(values), count); });
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
