// SPDX-License-Identifier: BSD-3-Clause
// Chooses the upper bits of words that get a symbol.
#pragma once

#include "codec/size_dictionary.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// A word without its dropped bits, minus `base`, consists of a head and the `tail_bits` bits below
/// it. Frequent heads have symbols 0, 1, ...; all other words are escapes.
class HeadDictionary
{
public:
  static constexpr std::size_t kMaxHeads = kSymbols - 1;

  /// Builds a dictionary from at least one word, without dropped bits. An escape has `word_bits`
  /// bits.
  template <class U>
  void build(const std::vector<U>& words, unsigned word_bits, Share share);

  [[nodiscard]] std::uint64_t base() const noexcept { return this->base_; }
  [[nodiscard]] unsigned tail_bits() const noexcept { return this->tail_bits_; }
  [[nodiscard]] const std::vector<std::uint16_t>& heads() const noexcept { return this->heads_; }
  /// The number of counted words with each head.
  [[nodiscard]] const std::vector<std::uint32_t>& counts() const noexcept
  {
    return this->head_counts_;
  }
  /// The number of counted words that are escapes.
  [[nodiscard]] std::uint32_t escaped() const noexcept { return this->escaped_; }
  /// Returns the symbol; heads().size() for an escape.
  [[nodiscard]] std::uint8_t symbol_of(std::uint64_t head) const noexcept
  {
    return this->symbols_[head < this->symbols_.size() ? head : this->symbols_.size() - 1];
  }
  /// Works as SizeDictionary::length() does.
  [[nodiscard]] std::uint64_t length() const noexcept { return this->length_; }

private:
  /// The number of occurrences of a head. The most frequent heads come first, ties in ascending
  /// order.
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
  // Computes the length with the present heads; the first of counts_ get a symbol.
  [[nodiscard]] std::uint64_t try_heads(
    std::size_t count, unsigned tail_bits, unsigned word_bits, Share share);

  std::uint64_t base_ = 0;
  unsigned tail_bits_ = 0;
  std::uint64_t length_ = 0;
  std::uint32_t escaped_ = 0;
  std::size_t own_ = 0; ///< number of counts_ that get a symbol
  std::vector<std::uint32_t> histogram_;
  std::vector<Count> counts_;
  std::vector<std::uint16_t> heads_;
  std::vector<std::uint32_t> head_counts_;
  std::vector<std::uint8_t> symbols_; ///< symbol of each head, then of the escape
};
}
