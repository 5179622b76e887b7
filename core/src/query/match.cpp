#include "query/match.hpp"

#include "processor.hpp"
#include "query/avx512.hpp"

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

// Values that lie side by side.
template <class T>
struct Packed
{
  const T* values;
  [[nodiscard]] T operator()(std::size_t i) const { return this->values[i]; }
};

// Clears match[i] where value(i) is not wanted; value(i) is of T, the wanted numbers of its class
// V.
template <class T, class V, class At>
void match_values(const ClassRange<V>& range, const At& value, std::vector<std::uint8_t>& matches)
{
  T lower{};
  T upper{};
  if (!narrow(range, lower, upper))
  {
    std::fill(matches.begin(), matches.end(), std::uint8_t{ 0 });
    return;
  }
  std::uint8_t* match = matches.data();
  std::size_t i = 0;
  if constexpr (std::is_same_v<At, Packed<T>>)
  {
    if (processor::has_avx512())
    {
      i = matches.size() / avx512::kMatches * avx512::kMatches;
      avx512::match_range(value.values, i, lower, upper, match);
    }
  }
  for (; i != matches.size(); ++i)
  {
    const T x = value(i);
    match[i] &= static_cast<std::uint8_t>((x >= lower) & (x <= upper));
  }
}

template <class T, class V, class At>
void match_values(const ValueSet<V>& set, const At& value, std::vector<std::uint8_t>& matches)
{
  set.match(
    matches.size(), [&](std::size_t i) { return static_cast<V>(value(i)); }, matches.data());
}

// The bits 0 to count - 1 are the first `count`, at most 64, of `match`.
std::uint64_t bits_of(const std::uint8_t* match, std::uint64_t count)
{
  std::uint64_t bits = 0;
  std::uint64_t i = 0;
  for (; i + 8 <= count; i += 8)
  {
    std::uint64_t eight = 0;
    std::memcpy(&eight, match + i, 8);
    bits |= (eight * 0x0102040810204080u >> 56) << i; // no two products meet in a bit
  }
  for (; i != count; ++i)
  {
    bits |= std::uint64_t{ match[i] } << i;
  }
  return bits;
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

void match_key(const Attribute& attribute, const std::byte* values, const KeyCondition& condition,
  std::vector<std::uint8_t>& matches)
{
  const auto components = static_cast<std::size_t>(attribute.components);
  dispatch(attribute.type,
    [&](auto value)
    {
      using T = decltype(value);
      const T* v = reinterpret_cast<const T*>(values);
      std::visit(
        [&](const auto& wanted)
        {
          using V = typename std::decay_t<decltype(wanted)>::Value;
          if (condition.component < 0)
          {
            if constexpr (std::is_same_v<V, double>)
            {
              match_values<double>(
                wanted, [=](std::size_t i) { return magnitude(v + i * components, components); },
                matches);
            }
          }
          else if constexpr (std::is_same_v<V, ClassOf<T>>)
          {
            const T* own = v + condition.component;
            if (components == 1)
            {
              match_values<T>(wanted, Packed<T>{ own }, matches);
            }
            else
            {
              match_values<T>(
                wanted, [=](std::size_t i) { return own[i * components]; }, matches);
            }
          }
        },
        condition.wanted);
    });
}

void append_matches(const Span& span, const std::uint8_t* match, std::vector<Span>& out)
{
  const bool at_once = processor::has_avx512();
  for (std::uint64_t begin = 0; begin < span.count; begin += 64)
  {
    const std::uint64_t count = std::min<std::uint64_t>(64, span.count - begin);
    std::uint64_t bits =
      at_once ? avx512::bits_of(match + begin, count) : bits_of(match + begin, count);
    while (bits != 0)
    {
      const auto first = static_cast<std::uint64_t>(__builtin_ctzll(bits));
      const std::uint64_t after = ~(bits | ((std::uint64_t{ 1 } << first) - 1));
      const std::uint64_t end =
        after == 0 ? 64 : static_cast<std::uint64_t>(__builtin_ctzll(after));
      append(out, Span{ span.first + begin + first, end - first });
      bits = end == 64 ? 0 : bits >> end << end;
    }
  }
}
}
