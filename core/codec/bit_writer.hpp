// SPDX-License-Identifier: BSD-3-Clause
// Packs bits one after another, starting at the lowest bit of each byte.
#pragma once

#include "codec/words.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::codec
{
/// Packed bits are read and written up to this many bytes past their end.
inline constexpr std::size_t kBitSlack = 16;

/// Writes to memory with space for all bits and kBitSlack bytes. No branch depends on the bits.
class BitWriter
{
public:
  static constexpr unsigned kMaxPutBits = 56; ///< maximum number of bits for put()

  explicit BitWriter(std::byte* to) noexcept
    : to_(to)
  {
  }

  /// The bits of `word` above `bits` must be 0.
  BAT_INLINE void put(std::uint64_t word, unsigned bits) noexcept
  {
    this->pending_ |= word << this->used_;
    this->used_ += bits;
    store(this->to_, this->pending_);
    const unsigned whole = this->used_ >> 3;
    this->to_ += whole;
    this->pending_ >>= 8 * whole;
    this->used_ &= 7;
  }

  /// Writes up to 64 bits.
  BAT_INLINE void put_long(std::uint64_t word, unsigned bits) noexcept
  {
    const unsigned low = bits < 32 ? bits : 32;
    this->put(word & 0xFFFFFFFFu, low);
    this->put(word >> 32, bits - low);
  }

  /// Fills the last byte with 0. Returns the end of the written bytes.
  [[nodiscard]] std::byte* finish() const noexcept
  {
    return this->to_ + (this->used_ != 0 ? 1 : 0);
  }

private:
  std::byte* to_;
  std::uint64_t pending_ = 0;
  unsigned used_ = 0; ///< bits of `pending_`, below 8
};
}
