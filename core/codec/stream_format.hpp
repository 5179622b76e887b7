// SPDX-License-Identifier: BSD-3-Clause
// Constants of the format of models and frames (FORMAT.md section 18).
#pragma once

#include <cstddef>
#include <cstdint>

namespace bat::codec
{
/// The first byte of a frame.
enum class Method : std::uint8_t
{
  Stored = 0,
  Constant = 1,
  Planes = 2,
  Streams = 3
};

/// The first byte of a stream in the model.
enum class StreamKind : std::uint8_t
{
  Words = 0,       ///< unchanged words
  Differences = 1, ///< differences of up to kMaxJoint components, whose sizes share a symbol
  Heads = 2        ///< the upper bits are a symbol
};

inline constexpr std::size_t kMaxJoint = 3;
inline constexpr std::size_t kSymbols = 256;

/// An entry in a dictionary of sizes: the number of bits after the symbol, and whether to add
/// 2^bits.
inline constexpr std::uint8_t kEntryBits = 0x7F;
inline constexpr std::uint8_t kEntryAdds = 0x80;

/// All symbols in a block of values are of one class, which has its own dictionary and code.
inline constexpr std::size_t kBlockValues = 64;
inline constexpr std::size_t kMaxClasses = 8;

/// The number of places from which codes of symbols are read at once.
inline constexpr std::size_t kLanes = 4;
/// Maximum length of a code.
inline constexpr unsigned kMaxCodeBits = 11;

/// Number of blocks per lane; the last lane may have fewer.
[[nodiscard]] inline constexpr std::size_t blocks_in_lane(std::size_t blocks) noexcept
{
  return (blocks + kLanes - 1) / kLanes;
}

/// Returns the number of bits that distinguish this many classes.
[[nodiscard]] inline constexpr unsigned class_bits(std::size_t classes) noexcept
{
  return classes <= 1 ? 0u : classes <= 2 ? 1u : classes <= 4 ? 2u : 3u;
}
}
