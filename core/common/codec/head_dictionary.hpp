// SPDX-License-Identifier: BSD-3-Clause
// Which upper bits of words get a symbol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// A word without its dropped bits, less `base`, is a head and `tail_bits` bits below it. Frequent
/// heads have symbols 0, 1, ...; the symbol behind them stands for all other words, which follow
/// with `escape_bits` bits.
class HeadDictionary
{
public:
  static constexpr std::size_t kMostHeads = 255;

  /// Of at least one word.
  template <class U>
  void build(const U* words, std::size_t count, unsigned dropped);

  [[nodiscard]] std::uint64_t base() const noexcept { return this->base_; }
  [[nodiscard]] unsigned tail_bits() const noexcept { return this->tail_bits_; }
  [[nodiscard]] unsigned escape_bits() const noexcept { return this->escape_bits_; }
  [[nodiscard]] const std::vector<std::uint16_t>& heads() const noexcept { return this->heads_; }
  /// heads().size() for a head without a symbol.
  [[nodiscard]] std::uint8_t symbol_of(std::uint64_t head) const noexcept
  {
    return this->symbols_[head];
  }
  /// Estimated length of the dictionary alone, in parts of a bit (fixed_log2.hpp).
  [[nodiscard]] std::uint64_t own_length() const noexcept;
  /// As SizeDictionary::length().
  [[nodiscard]] std::uint64_t length() const noexcept { return this->length_; }

private:
  /// How often a head occurs. The most frequent ones come first, and of these the lowest.
  class Count
  {
  public:
    Count(std::uint16_t head, std::uint32_t count)
      : key_(std::uint64_t{ ~count } << 16 | head)
    {
    }
    [[nodiscard]] std::uint16_t head() const noexcept
    {
      return static_cast<std::uint16_t>(this->key_);
    }
    [[nodiscard]] std::uint32_t count() const noexcept
    {
      return ~static_cast<std::uint32_t>(this->key_ >> 16);
    }
    [[nodiscard]] bool operator<(const Count& other) const noexcept
    {
      return this->key_ < other.key_;
    }

  private:
    std::uint64_t key_;
  };

  // Halves the number of heads.
  void fold();
  [[nodiscard]] std::size_t kinds() const noexcept;
  // Length with the present heads, the most frequent of which come first in counts_, in any order.
  [[nodiscard]] std::uint64_t try_heads(std::size_t count, unsigned tail_bits);

  std::uint64_t base_ = 0;
  unsigned tail_bits_ = 0;
  unsigned escape_bits_ = 0;
  std::uint64_t length_ = 0;
  std::vector<std::uint32_t> histogram_;
  std::vector<Count> counts_;
  std::vector<std::uint16_t> heads_;
  std::vector<std::uint8_t> symbols_; ///< of each head
};
}
