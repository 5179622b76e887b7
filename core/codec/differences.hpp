// SPDX-License-Identifier: BSD-3-Clause
// Computes the differences between words of a chunk, and the measure that classifies blocks of
// them.
#pragma once

#include "codec/words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bat::codec
{
/// Computes zigzag differences of `count` words, at least one, and their lengths in bits. Returns
/// the base of the first difference, chosen so that it is as long as the second one.
template <class U>
BAT_INLINE U fill_differences(const U* words, std::size_t count, unsigned dropped, bool floating,
  U* zigzags, std::uint8_t* lengths) noexcept
{
  const auto word_at = [&](std::size_t i)
  { return floating ? ranked(words[i], dropped) : static_cast<U>(words[i] >> dropped); };
  U before = word_at(0);
  for (std::size_t i = 1; i != count; ++i)
  {
    const U word = word_at(i);
    zigzags[i] = zigzag(static_cast<U>(word - before));
    before = word;
  }
  zigzags[0] = count > 1 ? zigzags[1] : U{ 0 };
  for (std::size_t i = 0; i != count; ++i)
  {
    lengths[i] = static_cast<std::uint8_t>(bit_length(zigzags[i]));
  }
  return static_cast<U>(word_at(0) - from_zigzag(zigzags[0]));
}

/// Returns the sum of the lengths.
[[nodiscard]] BAT_INLINE std::uint64_t compute_sum(
  const std::uint8_t* lengths, std::size_t count) noexcept
{
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    sum += lengths[i];
  }
  return sum;
}

/// Returns the sum of the words' upper bits, in the order of the numbers.
template <class U>
[[nodiscard]] BAT_INLINE std::uint64_t sum_heads(
  const U* words, std::size_t count, bool floating, unsigned shift) noexcept
{
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    const U upper = static_cast<U>(U{ 1 } << (kBits<U> - 1));
    sum += floating ? static_cast<U>(ranked(words[i], 0) ^ upper) >> shift : words[i] >> shift;
  }
  return sum;
}
}
