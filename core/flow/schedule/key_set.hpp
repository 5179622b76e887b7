// SPDX-License-Identifier: BSD-3-Clause
// A compact set of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace bat::flow
{
/// Holds any numbers except the largest. Not thread-safe.
class KeySet
{
public:
  KeySet()
    : places_(64, kNone)
  {
  }

  void insert(std::uint64_t key)
  {
    if (2 * (this->count_ + 1) > this->places_.size())
    {
      std::vector<std::uint64_t> before(2 * this->places_.size(), kNone);
      before.swap(this->places_);
      for (const std::uint64_t k : before)
      {
        if (k != kNone)
        {
          this->places_[this->place_of(k)] = k;
        }
      }
    }
    std::uint64_t& place = this->places_[this->place_of(key)];
    this->count_ += place == kNone;
    place = key;
  }
  void insert(const KeySet& other)
  {
    for (const std::uint64_t key : other.places_)
    {
      if (key != kNone)
      {
        this->insert(key);
      }
    }
  }
  [[nodiscard]] bool contains(std::uint64_t key) const noexcept
  {
    return this->places_[this->place_of(key)] == key;
  }
  [[nodiscard]] std::size_t size() const noexcept { return this->count_; }

private:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  // Returns the place where a number is, or would be.
  [[nodiscard]] std::size_t place_of(std::uint64_t key) const noexcept
  {
    const std::size_t last = this->places_.size() - 1;
    std::size_t at = static_cast<std::size_t>((key ^ key >> 32) * 0x9E3779B97F4A7C15u >> 20) & last;
    while (this->places_[at] != kNone && this->places_[at] != key)
    {
      at = (at + 1) & last;
    }
    return at;
  }

  std::vector<std::uint64_t> places_;
  std::size_t count_ = 0;
};
}
