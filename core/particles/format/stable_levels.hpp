// SPDX-License-Identifier: BSD-3-Clause
// The levels of stable samples (FORMAT.md section 8): computed from hashes of ids, and as stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bat::format
{
/// The hash of several numbers, from 0 on, applied one after another. Each number counts as its 64
/// bits.
[[nodiscard]] inline std::uint64_t hash_next(std::uint64_t hash, std::uint64_t number) noexcept
{
  std::uint64_t z = hash + number + 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

/// Number of bytes in BLOCK_LEVELS per block.
[[nodiscard]] constexpr std::uint64_t block_levels_bytes(
  std::uint64_t block_particles, std::uint64_t levels) noexcept
{
  return (block_particles + levels - 1 + 7) / 8;
}

/// Sets the bits of a block, whose bytes are zero; the `levels` of its particles ascend.
inline void encode_block_levels(
  const std::uint8_t* levels, std::size_t particles, std::uint8_t* bytes) noexcept
{
  for (std::size_t i = 0; i != particles; ++i)
  {
    const std::size_t bit = i + levels[i];
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | 1u << bit % 8);
  }
}

/// Returns the levels of a block's particles, ascending; false if its bits do not match the numbers
/// of particles and levels.
[[nodiscard]] inline bool decode_block_levels(const std::uint8_t* bytes, std::size_t size,
  std::size_t particles, std::size_t level_count, std::uint8_t* levels) noexcept
{
  std::size_t found = 0;
  for (std::size_t at = 0; at < size; at += 8)
  {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, size - at < 8 ? size - at : 8);
    for (; word != 0; word &= word - 1)
    {
      const std::size_t bit = 8 * at + static_cast<std::size_t>(__builtin_ctzll(word));
      if (found == particles || bit - found >= level_count)
      {
        return false;
      }
      levels[found] = static_cast<std::uint8_t>(bit - found);
      ++found;
    }
  }
  return found == particles;
}
}
