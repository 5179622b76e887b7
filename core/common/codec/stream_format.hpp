// SPDX-License-Identifier: BSD-3-Clause
// What streams of a frame begin with (FORMAT.md section 18).
#pragma once

#include <cstddef>
#include <cstdint>

namespace bat::codec
{
/// Of a frame: its first byte.
enum class Method : std::uint8_t
{
  Stored = 0,
  Constant = 1,
  Planes = 2,
  Streams = 3,
  Grid = 4
};

/// Of a stream: its first byte.
enum class StreamKind : std::uint8_t
{
  Words = 0,       ///< as they are
  Differences = 1, ///< of up to kMostJoint components, whose sizes are one symbol
  Heads = 2        ///< the upper bits are a symbol
};

inline constexpr std::size_t kMostJoint = 3;
inline constexpr std::size_t kSymbols = 256;

/// An entry of a dictionary of sizes: bits behind the symbol, and whether 2^bits is to be added.
inline constexpr std::uint8_t kEntryBits = 0x7F;
inline constexpr std::uint8_t kEntryAdds = 0x80;

/// Symbols of so many values are of one class, each of which has a code of its own.
inline constexpr std::size_t kBlockValues = 128;
inline constexpr std::size_t kMostClasses = 8;

/// Behind the dictionary of a stream: u32 bytes of symbols, u32 bytes of bits.
inline constexpr std::size_t kPartSizes = 8;
}
