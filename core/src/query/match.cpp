#include "query/match.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace bat::query
{
namespace
{
// Ends of a range in the type of the attribute: v >= lower in T exactly where it holds on the real
// line.
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
    constexpr V least = std::numeric_limits<T>::min();
    constexpr V most = std::numeric_limits<T>::max();
    if (range.lower > most || range.upper < least)
    {
      return false;
    }
    lower = static_cast<T>(std::max(range.lower, least));
    upper = static_cast<T>(std::min(range.upper, most));
    return true;
  }
}

template <class T>
void match_magnitude(const T* v, std::size_t components, const ClassRange<double>& range,
  std::vector<std::uint8_t>& match)
{
  for (std::size_t i = 0; i != match.size(); ++i)
  {
    const double m = magnitude(v + i * components, components);
    match[i] &= static_cast<std::uint8_t>((m >= range.lower) & (m <= range.upper));
  }
}
}

void append(std::vector<Span>& spans, const Span& next)
{
  if (!spans.empty() && spans.back().first + spans.back().count == next.first)
  {
    spans.back().count += next.count;
    return;
  }
  spans.push_back(next);
}

void match_box(
  ScalarType type, const std::byte* positions, const Box& box, std::vector<std::uint8_t>& matches)
{
  dispatch(type,
    [&](auto value)
    {
      using T = decltype(value);
      if constexpr (std::is_floating_point_v<T>)
      {
        T lower[3];
        T upper[3];
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          narrow<T, double>({ box.lower[axis], box.upper[axis] }, lower[axis], upper[axis]);
        }
        const T* p = reinterpret_cast<const T*>(positions);
        std::uint8_t* match = matches.data();
        for (std::size_t i = 0; i != matches.size(); ++i)
        {
          const T x = p[3 * i];
          const T y = p[3 * i + 1];
          const T z = p[3 * i + 2];
          match[i] &= static_cast<std::uint8_t>((x >= lower[0]) & (x <= upper[0]) &
            (y >= lower[1]) & (y <= upper[1]) & (z >= lower[2]) & (z <= upper[2]));
        }
      }
    });
}

void match_range(const Attribute& attribute, const std::byte* values,
  const RangeCondition& condition, std::vector<std::uint8_t>& matches)
{
  const auto components = static_cast<std::size_t>(attribute.components);
  dispatch(attribute.type,
    [&](auto value)
    {
      using T = decltype(value);
      const T* v = reinterpret_cast<const T*>(values);
      if (condition.component < 0)
      {
        match_magnitude(v, components, std::get<ClassRange<double>>(condition.range), matches);
        return;
      }
      T lower{};
      T upper{};
      if (!narrow(std::get<ClassRange<ClassOf<T>>>(condition.range), lower, upper))
      {
        std::fill(matches.begin(), matches.end(), std::uint8_t{ 0 });
        return;
      }
      v += condition.component;
      std::uint8_t* match = matches.data();
      if (components == 1)
      {
        for (std::size_t i = 0; i != matches.size(); ++i)
        {
          match[i] &= static_cast<std::uint8_t>((v[i] >= lower) & (v[i] <= upper));
        }
        return;
      }
      for (std::size_t i = 0; i != matches.size(); ++i)
      {
        const T x = v[i * components];
        match[i] &= static_cast<std::uint8_t>((x >= lower) & (x <= upper));
      }
    });
}

void append_matches(const Span& span, const std::uint8_t* match, std::vector<Span>& out)
{
  std::uint64_t i = 0;
  while (i != span.count)
  {
    std::uint64_t eight = 0;
    if (span.count - i >= 8)
    {
      std::memcpy(&eight, match + i, 8);
      if (eight == 0)
      {
        i += 8;
        continue;
      }
    }
    if (!match[i])
    {
      ++i;
      continue;
    }
    const std::uint64_t first = i;
    while (i != span.count && match[i])
    {
      ++i;
    }
    append(out, Span{ span.first + first, i - first });
  }
}
}
