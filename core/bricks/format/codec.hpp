// SPDX-License-Identifier: BSD-3-Clause
// Encodes and decodes the stored bytes of one brick (BRICKS.md section 6).
#pragma once

#include "bat/brick_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bat::bricks::format
{
/// Keeps its scratch memory; use one per thread.
class BrickEncoder
{
public:
  enum class Encoded : std::uint8_t
  {
    Bytes,
    NoFlow, ///< nothing is stored: all values are the quiet NaN
    AtRest  ///< nothing is stored: all bits are 0
  };
  /// Replaces `stored` by the brick's stored bytes without padding, or by nothing. `values` are
  /// packed: components interleaved, x fastest. With `compress`, bricks are predicted if that is
  /// shorter than raw. `seed` is grid id + brick number.
  Encoded encode(const BrickGrid& grid, const std::array<int, 3>& points, const std::byte* values,
    bool compress, std::uint64_t seed, std::vector<std::byte>& stored);

private:
  std::vector<std::byte> planes_;
};

/// Keeps its scratch memory; use one per thread.
class BrickDecoder
{
public:
  /// Fills a brick's points from its stored bytes. Any bytes are safe. Returns a description of the
  /// fault, or an empty text.
  [[nodiscard]] std::string decode(const BrickGrid& grid, const std::array<int, 3>& points,
    const std::byte* stored, std::size_t bytes, std::uint64_t seed, BrickMemory to);

private:
  std::vector<std::byte> planes_;
  std::vector<std::byte> words_;
};

/// Fills all points with the quiet NaN.
void fill_with_nan(
  const BrickGrid& grid, const std::array<int, 3>& points, BrickMemory to) noexcept;
/// Fills all points with velocity 0.
void fill_with_zeros(
  const BrickGrid& grid, const std::array<int, 3>& points, BrickMemory to) noexcept;

/// Size of the header before a stored brick's payload, in bytes.
inline constexpr std::size_t kBrickHead = 5;
/// Maximum size of a stored brick with `raw` bytes of values.
[[nodiscard]] constexpr std::uint64_t max_stored_bytes(std::uint64_t raw) noexcept
{
  return 2 * raw + 64;
}
}
