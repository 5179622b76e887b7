// SPDX-License-Identifier: BSD-3-Clause
// The loops in which a build spends most of its time, with AVX2 where the processor supports it.
// Callers have a portable loop for the values that these leave. Both give the same bits, so that
// the bytes of a file do not depend on the processor. AVX-512 would save only another 4 % of a
// build.
#pragma once

#include "particles/tree/bins.hpp"
#include "particles/write/treelet_key.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace bat::write::vector_loops
{
/// Keys of packed positions, numbered from 0 on. On each axis the cell is (x / 2 - half_lower) *
/// scale, cut to kTreeletCells cells. Returns how many of the first it made.
template <class T>
[[nodiscard]] std::size_t fill_keys(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, const std::array<double, 3>& scale, TreeletKey* keys);

/// Codes of cells of a grid of 2^levels cells along each axis, as MortonGrid::coarse_code(), of
/// packed positions. The cell is (x / 2 - half_lower) * scale, at most `max_code`, without its
/// `dropped` lower bits, of which at most 6 are left. Returns how many of the first it made.
template <class T>
[[nodiscard]] std::size_t coarse_codes(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, double scale, double max_code, int dropped,
  std::uint32_t* codes);

/// As write::tight_cells(); empty if no loop is available.
[[nodiscard]] std::optional<CellBox> tight_cells(const TreeletKey* keys, std::size_t count);

/// Particles whose cell is below the pivot (or equal to it, if `or_equal`) come first, both parts
/// in their order. Returns how many they are, or nothing if it does not do it. `room` is for count
/// + kPartitionRoom keys.
[[nodiscard]] std::optional<std::size_t> partition(TreeletKey* keys, std::size_t count,
  std::size_t axis, std::int16_t pivot, bool or_equal, TreeletKey* room);

/// The `left` particles with the lowest cells, of equal ones the earlier, come first, both parts in
/// their order. At most kMaxComparedKeys. False if it does not do it.
[[nodiscard]] bool split_few(
  TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis);

/// Number of minima and maxima that extend() keeps, each of every kExtremes-th value.
constexpr std::size_t kExtremes = 8;

/// Extends minima and maxima by values that are not NaN, and sets `has_nan` if any is. Returns how
/// many of the first it read, a multiple of kExtremes.
template <class V>
[[nodiscard]] std::size_t extend(const V* values, std::size_t count,
  std::array<V, kExtremes>& minimum, std::array<V, kExtremes>& maximum, bool& has_nan);

/// ORs the bit of each value, none of which is NaN, into the bitmap of its block; `bits` is usable.
/// Returns false if it did nothing.
template <class V>
[[nodiscard]] bool mark(const V* values, const std::uint16_t* blocks, std::size_t count,
  const CellBits<V>& bits, std::uint32_t* bitmaps);
}
