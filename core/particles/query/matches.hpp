// SPDX-License-Identifier: BSD-3-Clause
// Keeps a bit for each tested particle that still matches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::query
{
/// Number of particles whose bits share one word.
constexpr std::size_t kWordBits = 64;

/// The bits 0 to count - 1.
[[nodiscard]] inline std::uint64_t lowest_bits(std::size_t count) noexcept
{
  return count >= kWordBits ? ~std::uint64_t{ 0 } : (std::uint64_t{ 1 } << count) - 1;
}

/// Bit i is the result of passes(i), for i below `count`, which is at most kWordBits.
template <class Passes>
[[nodiscard]] std::uint64_t bits_where(std::size_t count, const Passes& passes)
{
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    bits |= static_cast<std::uint64_t>(passes(i)) << i;
  }
  return bits;
}

class Matches
{
public:
  /// Begins with `count` particles, which all match so far.
  void reset(std::size_t count)
  {
    this->words_.assign(count / kWordBits + 2, ~std::uint64_t{ 0 });
    this->next_ = 0;
  }

  /// Begins again with the first particle.
  void rewind() noexcept { this->next_ = 0; }

  /// Keeps those of the next `count` particles, at most kWordBits, whose bit is set.
  void keep(std::size_t count, std::uint64_t bits) noexcept
  {
    bits |= ~lowest_bits(count);
    std::uint64_t* const words = this->words_.data() + this->next_ / kWordBits;
    const std::size_t shift = this->next_ % kWordBits;
    words[0] &= bits << shift | lowest_bits(shift);
    words[1] &= bits >> 1 >> (kWordBits - 1 - shift) | ~lowest_bits(shift);
    this->next_ += count;
  }

  void skip(std::size_t count) noexcept { this->next_ += count; }

  /// Bits of the next `count` particles, at most kWordBits, that match.
  [[nodiscard]] std::uint64_t take(std::size_t count) noexcept
  {
    const std::uint64_t* const words = this->words_.data() + this->next_ / kWordBits;
    const std::size_t shift = this->next_ % kWordBits;
    this->next_ += count;
    return (words[0] >> shift | words[1] << 1 << (kWordBits - 1 - shift)) & lowest_bits(count);
  }

private:
  std::vector<std::uint64_t> words_; ///< one more than needed
  std::size_t next_ = 0;
};
}
