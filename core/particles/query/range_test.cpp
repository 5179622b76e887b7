// SPDX-License-Identifier: BSD-3-Clause
#include "particles/query/range_test.hpp"

#include "particles/query/narrow.hpp"
#include "particles/query/range_loops.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bat::query
{
namespace
{
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

// Creates the test of whether values of type T are in the range.
template <class T, class V>
Between<T> make_test(const ClassRange<V>& range)
{
  Between<T> test;
  return narrow(range, test.lower, test.upper) ? test : Between<T>{ T{ 1 }, T{ 0 } }; // empty
}

template <class T, class V>
const ValueSet<V>& make_test(const ValueSet<V>& set)
{
  return set;
}

template <class T, class V>
const IntervalSet<V>& make_test(const IntervalSet<V>& set)
{
  return set;
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

void match_key(const Attribute& attribute, const Elements* values, std::size_t part_count,
  const KeyCondition& condition, Matches& matches)
{
  const auto components = static_cast<std::size_t>(attribute.components);
  const std::uint64_t flip = condition.negated ? ~std::uint64_t{ 0 } : 0;
  dispatch(attribute.type,
    [&](auto value)
    {
      using T = decltype(value);
      std::visit(
        [&](const auto& requested)
        {
          using V = typename std::decay_t<decltype(requested)>::Value;
          if (condition.component < 0)
          {
            if constexpr (std::is_same_v<V, double>)
            {
              match_tuples<T>(values, part_count, components, matches,
                [&, test = make_test<double>(requested)](const T* tuples, std::size_t count)
                {
                  return flip ^
                    test.bits(count,
                      [&](std::size_t i)
                      { return magnitude(tuples + i * components, components); });
                });
            }
          }
          else if constexpr (std::is_same_v<V, ClassOf<T>>)
          {
            const auto& test = make_test<T>(requested);
            if constexpr (std::is_same_v<decltype(test), const Between<T>&>)
            {
              if (components == 1 && flip == 0 &&
                match_between(values, part_count, test.lower, test.upper, matches))
              {
                return;
              }
            }
            match_tuples<T>(values, part_count, components, matches,
              [&](const T* tuples, std::size_t count)
              {
                const T* own = tuples + condition.component;
                return flip ^ test.bits(count, [=](std::size_t i) { return own[i * components]; });
              });
          }
        },
        condition.requested);
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
