// SPDX-License-Identifier: BSD-3-Clause
// Chooses the combinations of word lengths that get a symbol.
#pragma once

#include "codec/stream_format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// Lengths in bits of the words of up to kMaxJoint components of a value, 0 to 64.
using Lengths = std::array<std::uint8_t, kMaxJoint>;

/// The sampling rate: one of `among` values in a column was counted. A dictionary is worth its
/// bytes if it shortens the column as a whole.
struct Share
{
  std::uint64_t among = 1;
};

/// Counts the lengths of values and chooses at most kSymbols - 1 entries, each with the number of
/// bits that follow for each component. Values with other lengths are escapes.
class SizeDictionary
{
public:
  /// lengths[c][i] is the length of component c of value i. At least one value.
  void build(const std::array<std::vector<std::uint8_t>, kMaxJoint>& lengths,
    std::size_t components, Share share);

  [[nodiscard]] std::size_t size() const noexcept { return this->entries_.size(); }
  /// The entry of a symbol: one byte per component, as in the file.
  [[nodiscard]] const Lengths& entry(std::size_t symbol) const noexcept
  {
    return this->entries_[symbol];
  }
  /// The number of counted values with each symbol.
  [[nodiscard]] const std::vector<std::uint32_t>& counts() const noexcept
  {
    return this->entry_counts_;
  }
  /// Maps lengths to symbols. Borrows the dictionary's memory.
  struct Lookup
  {
    std::array<const std::uint32_t*, kMaxJoint> offsets; ///< by the length of each component
    const std::uint8_t* symbols;
    std::size_t places;

    /// Returns the symbol at a sum of offsets; the dictionary's size() for an escape.
    [[nodiscard]] std::uint8_t at(std::size_t place) const noexcept
    {
      return this->symbols[place < this->places ? place : this->places];
    }
  };
  [[nodiscard]] Lookup lookup() const noexcept
  {
    return { { this->offsets_[0].data(), this->offsets_[1].data(), this->offsets_[2].data() },
      this->symbols_.data(), this->symbols_.size() - 1 };
  }
  /// Estimates the length of dictionary, symbols and bits of the counted values, in parts of a bit
  /// (fixed_log2.hpp), including the values' share of the dictionary.
  [[nodiscard]] std::uint64_t length() const noexcept { return this->length_; }

private:
  struct Combination
  {
    Lengths lengths;
    std::uint32_t count;
  };
  struct Plan
  {
    std::uint64_t length = 0;
    unsigned floor = 0;
    unsigned maximum = 0;
    std::vector<Combination> own;           ///< combinations with their own entry
    std::array<std::uint32_t, 65> shared{}; ///< number without an entry, by largest length
  };

  [[nodiscard]] std::size_t place_of(const Lengths& lengths) const noexcept
  {
    return this->offsets_[0][lengths[0]] + this->offsets_[1][lengths[1]] +
      this->offsets_[2][lengths[2]];
  }
  [[nodiscard]] Lengths lengths_at(std::uint32_t place) const noexcept;
  void count(const std::array<std::vector<std::uint8_t>, kMaxJoint>& lengths);
  [[nodiscard]] Plan plan(unsigned floor, Share share);
  void number(const Plan& plan);
  [[nodiscard]] unsigned quantile(std::size_t part) const noexcept;

  std::size_t components_ = 0;
  std::size_t total_ = 0;
  std::array<std::array<std::uint32_t, 65>, kMaxJoint> offsets_{};
  Lengths min_{};                                ///< minimum length per component
  std::array<std::uint32_t, kMaxJoint> kinds_{}; ///< lengths of each component
  std::vector<std::uint32_t> places_;            ///< place_of() of each value
  std::vector<std::uint32_t> counts_;            ///< counts at place_of()
  std::vector<std::uint8_t> symbols_;            ///< symbols at place_of(), then of the escape
  std::vector<Combination> combinations_;        ///< combinations that occur
  std::vector<Lengths> entries_;
  std::vector<std::uint32_t> entry_counts_;
  std::uint64_t length_ = 0;
};
}
