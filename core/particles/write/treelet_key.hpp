// SPDX-License-Identifier: BSD-3-Clause
// Particles represented as words while their treelet is being ordered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bat::write
{
/// A particle while its treelet is being ordered: its TreeletGrid cell on each axis, 16 bits each,
/// x in the lowest, and above them its number in the treelet.
using TreeletKey = std::uint64_t;

[[nodiscard]] inline TreeletKey key_of_number(std::uint16_t number) noexcept
{
  return TreeletKey{ number } << 48;
}

[[nodiscard]] inline std::uint16_t number_of(TreeletKey key) noexcept
{
  return static_cast<std::uint16_t>(key >> 48);
}

/// Range of cells covered by some particles' keys.
struct CellBox
{
  std::array<std::int16_t, 3> lower;
  std::array<std::int16_t, 3> upper;
};

/// Number of cells of a treelet's box on an axis, numbered from -2^15.
inline constexpr std::int32_t kTreeletCells = 65536;

/// Number of keys after `count` that splitting may overwrite.
inline constexpr std::size_t kPartitionRoom = 8;

/// Up to this many keys are split by comparing each with all.
inline constexpr std::size_t kMaxComparedKeys = 32;
}
