#include "query/match.hpp"

#include "query/range_loops.hpp"

#include <algorithm>
#include <cmath>
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
struct Between
{
  T lower{};
  T upper{};

  /// Bit i is whether value(i) is between the two.
  template <class At>
  [[nodiscard]] std::uint64_t bits(std::size_t count, const At& value) const
  {
    return bits_where(count,
      [&](std::size_t i)
      {
        const T x = value(i);
        return (x >= this->lower) & (x <= this->upper);
      });
  }
};

// What tells for values of T whether they are wanted.
template <class T, class V>
Between<T> make_test(const ClassRange<V>& range)
{
  Between<T> test;
  return narrow(range, test.lower, test.upper) ? test : Between<T>{ T{ 1 }, T{ 0 } }; // none is
}

template <class T, class V>
const ValueSet<V>& make_test(const ValueSet<V>& set)
{
  return set;
}

// Calls bits(values, count) for the tuples of `components` T, up to kWordBits at a time.
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

void append(std::vector<Span>& spans, const Span& next)
{
  if (!spans.empty() && spans.back().first + spans.back().count == next.first)
  {
    spans.back().count += next.count;
    return;
  }
  spans.push_back(next);
}

void match_box(ScalarType type, const Elements* positions, std::size_t part_count, const Box& box,
  Matches& matches)
{
  dispatch(type,
    [&](auto value)
    {
      using T = decltype(value);
      if constexpr (std::is_floating_point_v<T>)
      {
        Between<T> sides[3];
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          narrow<T, double>(
            { box.lower[axis], box.upper[axis] }, sides[axis].lower, sides[axis].upper);
        }
        match_tuples<T>(positions, part_count, 3, matches,
          [&](const T* p, std::size_t count)
          {
            return bits_where(count,
              [&](std::size_t i)
              {
                const T x = p[3 * i];
                const T y = p[3 * i + 1];
                const T z = p[3 * i + 2];
                return (x >= sides[0].lower) & (x <= sides[0].upper) & (y >= sides[1].lower) &
                  (y <= sides[1].upper) & (z >= sides[2].lower) & (z <= sides[2].upper);
              });
          });
      }
    });
}

void match_key(const Attribute& attribute, const Elements* values, std::size_t part_count,
  const KeyCondition& condition, Matches& matches)
{
  const auto components = static_cast<std::size_t>(attribute.components);
  dispatch(attribute.type,
    [&](auto value)
    {
      using T = decltype(value);
      std::visit(
        [&](const auto& wanted)
        {
          using V = typename std::decay_t<decltype(wanted)>::Value;
          if (condition.component < 0)
          {
            if constexpr (std::is_same_v<V, double>)
            {
              match_tuples<T>(values, part_count, components, matches,
                [&, test = make_test<double>(wanted)](const T* tuples, std::size_t count)
                {
                  return test.bits(count,
                    [&](std::size_t i) { return magnitude(tuples + i * components, components); });
                });
            }
          }
          else if constexpr (std::is_same_v<V, ClassOf<T>>)
          {
            const auto& test = make_test<T>(wanted);
            if constexpr (std::is_same_v<decltype(test), const Between<T>&>)
            {
              if (components == 1 &&
                match_between(values, part_count, test.lower, test.upper, matches))
              {
                return;
              }
            }
            match_tuples<T>(values, part_count, components, matches,
              [&](const T* tuples, std::size_t count)
              {
                const T* own = tuples + condition.component;
                return test.bits(count, [=](std::size_t i) { return own[i * components]; });
              });
          }
        },
        condition.wanted);
    });
}

void append_matches(const Span& span, Matches& matches, std::vector<Span>& out)
{
  for (std::uint64_t begin = 0; begin < span.count; begin += kWordBits)
  {
    const auto count = static_cast<std::size_t>(std::min(span.count - begin, kWordBits));
    const std::uint64_t first = span.first + begin;
    std::uint64_t bits = matches.take(count);
    for (bool is_first = true; bits != 0; is_first = false)
    {
      const std::uint64_t after = bits + (bits & (~bits + 1)); // carries through the lowest run
      const auto run_begin = static_cast<std::uint64_t>(__builtin_ctzll(bits));
      const std::uint64_t run_end =
        after == 0 ? kWordBits : static_cast<std::uint64_t>(__builtin_ctzll(after));
      const Span run{ first + run_begin, run_end - run_begin };
      if (is_first)
      {
        append(out, run);
      }
      else
      {
        out.push_back(run);
      }
      bits &= after;
    }
  }
}
}
