// Bits behind each other, from the lowest bit of each byte on.
#pragma once

#include "common/codec/words.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::codec
{
/// What bits are read from or written to may be read or written so many bytes beyond.
inline constexpr std::size_t kBitSlack = 16;

/// Into memory that has room for all bits and kBitSlack bytes.
class BitWriter
{
public:
  explicit BitWriter(std::byte* to) noexcept
    : to_(to)
  {
  }

  /// At most 64 bits; those of `word` above are 0.
  BAT_INLINE void put(std::uint64_t word, unsigned bits) noexcept
  {
    this->pending_ |= word << this->used_;
    const unsigned sum = this->used_ + bits;
    if (sum < 64)
    {
      this->used_ = sum;
      return;
    }
    store(this->to_, this->pending_);
    this->to_ += 8;
    this->pending_ = this->used_ == 0 ? 0 : word >> (64 - this->used_);
    this->used_ = sum - 64;
  }

  /// Fills the last byte with 0. Returns the end of what was written.
  [[nodiscard]] std::byte* finish() noexcept
  {
    store(this->to_, this->pending_);
    return this->to_ + (this->used_ + 7) / 8;
  }

private:
  std::byte* to_;
  std::uint64_t pending_ = 0;
  unsigned used_ = 0; ///< bits of `pending_`, below 64
};
}
