// SPDX-License-Identifier: BSD-3-Clause
// Lists of numbers, and of ranges of numbers, in which values are looked up.
#pragma once

#include "common/numbers.hpp"
#include "particles/query/matches.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace bat::query
{
/// Numbers of the class V, compared as numbers: -0 equals +0. Copies share the numbers.
template <class V>
class ValueSet
{
public:
  using Value = V;

  /// `values` may have any order; none is NaN.
  explicit ValueSet(std::vector<V> values)
  {
    auto shared = std::make_shared<Shared>();
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    shared->values = std::move(values);
    shared->fill_filter();
    this->shared_ = std::move(shared);
  }

  /// Ascending, each once.
  [[nodiscard]] const std::vector<V>& values() const noexcept { return this->shared_->values; }

  /// False for NaN.
  [[nodiscard]] bool contains(V value) const noexcept
  {
    const std::vector<V>& all = this->shared_->values;
    const auto found = std::lower_bound(all.begin(), all.end(), value);
    return found != all.end() && *found == value;
  }

  /// Bit i is whether value(i) is one of the numbers, for i below `count`, at most kWordBits.
  template <class At>
  [[nodiscard]] std::uint64_t bits(std::size_t count, const At& value) const
  {
    // The filter excludes most values without a branch and without a search.
    const Shared& shared = *this->shared_;
    const std::uint64_t* words = shared.filter.data();
    const int shift = shared.shift;
    std::uint64_t possible = bits_where(count,
      [&](std::size_t i)
      {
        const std::uint64_t hash = Shared::hash(value(i));
        const std::uint64_t requested = Shared::bits(hash, shift);
        return (words[hash >> shift] & requested) == requested;
      });
    for (std::uint64_t rest = possible; rest != 0; rest &= rest - 1)
    {
      if (!this->contains(value(static_cast<std::size_t>(__builtin_ctzll(rest)))))
      {
        possible &= ~(rest & (~rest + 1));
      }
    }
    return possible;
  }

private:
  /// The numbers, and a Bloom filter with two bits for each number in one word.
  struct Shared
  {
    static constexpr std::size_t kBitsPerValue =
      16; // about one value in 50 is searched for in vain

    [[nodiscard]] static std::uint64_t hash(V value) noexcept
    {
      if constexpr (std::is_same_v<V, double>)
      {
        value += 0.0; // -0 and +0 are one number
      }
      return to_bits(value) * 0x9E3779B97F4A7C15;
    }
    // Below the bits that choose the word, because the lowest bits of a product depend on few bits
    // of its factor.
    [[nodiscard]] static std::uint64_t bits(std::uint64_t hash, int shift) noexcept
    {
      return std::uint64_t{ 1 } << (hash >> (shift - 6) & 63) |
        std::uint64_t{ 1 } << (hash >> (shift - 12) & 63);
    }

    void fill_filter()
    {
      std::size_t words = 2;
      while (words * 64 < this->values.size() * kBitsPerValue)
      {
        words *= 2;
        --this->shift;
      }
      this->filter.resize(words);
      for (const V value : this->values)
      {
        const std::uint64_t h = hash(value);
        this->filter[h >> this->shift] |= bits(h, this->shift);
      }
    }

    std::vector<V> values;
    std::vector<std::uint64_t> filter;
    int shift = 63; ///< leaves the number of a word of a hash
  };

  std::shared_ptr<const Shared> shared_;
};

/// Closed ranges of numbers of the class V; a value in any of them matches. Copies share them.
template <class V>
class IntervalSet
{
public:
  using Value = V;

  /// Ranges may have any order, overlap and be empty.
  explicit IntervalSet(std::vector<ClassRange<V>> ranges)
  {
    ranges.erase(std::remove_if(ranges.begin(), ranges.end(),
                   [](const ClassRange<V>& r) { return r.empty || r.lower > r.upper; }),
      ranges.end());
    std::sort(ranges.begin(), ranges.end(),
      [](const ClassRange<V>& a, const ClassRange<V>& b) { return a.lower < b.lower; });
    auto joined = std::make_shared<std::vector<ClassRange<V>>>();
    for (const ClassRange<V>& range : ranges)
    {
      if (!joined->empty() && !is_gap(joined->back().upper, range.lower))
      {
        joined->back().upper = std::max(joined->back().upper, range.upper);
        continue;
      }
      joined->push_back(range);
    }
    this->ranges_ = std::move(joined);
  }

  /// Ascending, apart from each other, none empty.
  [[nodiscard]] const std::vector<ClassRange<V>>& ranges() const noexcept { return *this->ranges_; }

  /// The first range that does not end below `value`.
  [[nodiscard]] auto first_from(V value) const noexcept
  {
    return std::partition_point(this->ranges_->begin(), this->ranges_->end(),
      [value](const ClassRange<V>& r) { return r.upper < value; });
  }

  /// False for NaN.
  [[nodiscard]] bool contains(V value) const noexcept
  {
    const auto range = this->first_from(value);
    return range != this->ranges_->end() && range->lower <= value && value <= range->upper;
  }

  /// Bit i is whether value(i) is in one of the ranges, for i below `count`, at most kWordBits.
  template <class At>
  [[nodiscard]] std::uint64_t bits(std::size_t count, const At& value) const
  {
    return bits_where(count, [&](std::size_t i) { return this->contains(value(i)); });
  }

private:
  // Returns whether numbers may exist between the end of one range and the beginning of the next.
  [[nodiscard]] static bool is_gap(V end, V begin) noexcept
  {
    if constexpr (std::is_integral_v<V>)
    {
      return end < begin && end != begin - 1;
    }
    else
    {
      return end < begin;
    }
  }

  std::shared_ptr<const std::vector<ClassRange<V>>> ranges_;
};

template <class V>
[[nodiscard]] bool is_empty(const ClassRange<V>& range) noexcept
{
  return range.empty || range.lower > range.upper;
}
template <class V>
[[nodiscard]] bool is_empty(const ValueSet<V>& set) noexcept
{
  return set.values().empty();
}
template <class V>
[[nodiscard]] bool is_empty(const IntervalSet<V>& set) noexcept
{
  return set.ranges().empty();
}

/// True if one of the numbers lies between the two, neither of which is NaN.
template <class V>
[[nodiscard]] bool meets(const ClassRange<V>& range, V minimum, V maximum) noexcept
{
  return !is_empty(range) && !(maximum < range.lower || minimum > range.upper);
}
template <class V>
[[nodiscard]] bool meets(const ValueSet<V>& set, V minimum, V maximum) noexcept
{
  const std::vector<V>& all = set.values();
  const auto found = std::lower_bound(all.begin(), all.end(), minimum);
  return found != all.end() && *found <= maximum;
}
template <class V>
[[nodiscard]] bool meets(const IntervalSet<V>& set, V minimum, V maximum) noexcept
{
  const auto range = set.first_from(minimum);
  return range != set.ranges().end() && range->lower <= maximum;
}

/// True if all numbers between the two are in the set.
template <class V>
[[nodiscard]] bool covers(const ClassRange<V>& range, V minimum, V maximum) noexcept
{
  return !is_empty(range) && range.lower <= minimum && maximum <= range.upper;
}
template <class V>
[[nodiscard]] bool covers(const ValueSet<V>& set, V minimum, V maximum) noexcept
{
  return minimum == maximum && set.contains(minimum);
}
template <class V>
[[nodiscard]] bool covers(const IntervalSet<V>& set, V minimum, V maximum) noexcept
{
  const auto range = set.first_from(minimum);
  return range != set.ranges().end() && range->lower <= minimum && maximum <= range->upper;
}
}
