// A list of numbers that values are looked up in.
#pragma once

#include "numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bat::query
{
/// Numbers of the class V, compared as numbers: -0 equals +0. Copies share the numbers.
template <class V>
class ValueSet
{
public:
  using Value = V;

  /// In any order; none is NaN.
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

  /// Clears match[i] where value(i) is none of the numbers, for i below `count`.
  template <class At>
  void match(std::size_t count, const At& value, std::uint8_t* match) const
  {
    // Most values are none of them, which the filter says without a branch and without a search.
    const Shared& shared = *this->shared_;
    const std::uint64_t* words = shared.filter.data();
    const int shift = shared.shift;
    for (std::size_t i = 0; i != count; ++i)
    {
      const std::uint64_t hash = Shared::hash(value(i));
      const std::uint64_t bits = Shared::bits(hash, shift);
      match[i] &= static_cast<std::uint8_t>((words[hash >> shift] & bits) == bits);
    }
    for (std::size_t i = 0; i != count; ++i)
    {
      if (match[i])
      {
        match[i] = static_cast<std::uint8_t>(this->contains(value(i)));
      }
    }
  }

private:
  /// The numbers, and a Bloom filter of two bits for each in one word.
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
    // Below the bits that choose the word: the lowest ones of a product depend on few of its
    // factor's.
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

/// True if one of the numbers lies between the two, which are not NaN.
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
}
