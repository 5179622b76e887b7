// SPDX-License-Identifier: BSD-3-Clause
// Integer logarithms for estimates of lengths: an encoder's choices must not depend on the
// processor, as std::log2 may.
#pragma once

#include "codec/words.hpp"

#include <array>
#include <cstdint>

namespace bat::codec
{
inline constexpr std::uint64_t kUnitsPerBit = 256; ///< lengths are counted in parts of a bit

namespace detail
{
inline constexpr std::array<std::uint16_t, 256> kLog2Table = []
{
  std::array<std::uint16_t, 256> table{};
  for (std::uint64_t i = 0; i != table.size(); ++i)
  {
    std::uint64_t x = (256 + i) << 24; // in [1, 2), with 32 fractional bits
    std::uint64_t log = 0;
    for (int bit = 0; bit != 8; ++bit)
    {
      x = (x >> 1) * (x >> 1) >> 30;
      log = 2 * log + (x >> 33);
      x >>= x >> 33;
    }
    table[i] = static_cast<std::uint16_t>(log);
  }
  return table;
}();
}

/// Returns kUnitsPerBit * log2(x), rounded down; x is not 0.
[[nodiscard]] inline std::uint64_t fixed_log2(std::uint64_t x) noexcept
{
  const unsigned length = bit_length(x);
  const std::uint64_t top = length > 9 ? x >> (length - 9) : x << (9 - length);
  return (length - 1) * kUnitsPerBit + detail::kLog2Table[top - 256];
}

/// Returns the total length of a symbol that occurs `count` times among `total`, in parts of a bit.
[[nodiscard]] inline std::uint64_t symbols_length(std::uint64_t count, std::uint64_t total) noexcept
{
  return count == 0 ? 0 : count * (fixed_log2(total) - fixed_log2(count));
}
}
