// SPDX-License-Identifier: BSD-3-Clause
// The loops in which a build spends most of its time, with the best vectors that the processor
// supports. Callers have a portable loop for the values that these leave. Both give the same bits,
// so that the bytes of a file do not depend on the processor.
#pragma once

#include "particles/tree/bins.hpp"
#include "particles/write/treelet_key.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace bat::write::vector_loops
{
/// Computes the keys of packed positions, numbered from 0. On each axis the cell is (x / 2 -
/// half_lower) * scale, limited to kTreeletCells cells. Returns how many it made, starting with the
/// first.
template <class T>
[[nodiscard]] std::size_t fill_keys(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, const std::array<double, 3>& scale, TreeletKey* keys);

/// Computes codes for the cells of a grid with 2^levels cells along each axis, as
/// MortonGrid::coarse_code(), from packed positions. The cell is (x / 2 - half_lower) * scale, at
/// most `max_code`, without its `dropped` lower bits; at most 6 bits are left. Returns how many it
/// made, starting with the first.
template <class T>
[[nodiscard]] std::size_t coarse_codes(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, double scale, double max_code, int dropped,
  std::uint32_t* codes);

/// See write::tight_cells(); empty if no loop is available.
[[nodiscard]] std::optional<CellBox> tight_cells(const TreeletKey* keys, std::size_t count);

/// Moves the particles whose cell is below the pivot (or equal to it, if `or_equal`) to the front;
/// both parts keep their order. Returns their number; empty if no loop is available. `room` holds
/// count + kPartitionRoom keys.
[[nodiscard]] std::optional<std::size_t> partition(TreeletKey* keys, std::size_t count,
  std::size_t axis, std::int16_t pivot, bool or_equal, TreeletKey* room);

/// Moves the `left` particles with the lowest cells (among equal ones, the earlier) to the front;
/// both parts keep their order. At most kMaxComparedKeys. Returns false if no loop is available.
[[nodiscard]] bool split_few(
  TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis);

/// Number of minima and maxima kept by extend(), each over every kExtremes-th value.
constexpr std::size_t kExtremes = 8;

/// Extends minima and maxima by values that are not NaN, and sets `has_nan` if any is. Returns how
/// many values it read, starting with the first, a multiple of kExtremes.
template <class V>
[[nodiscard]] std::size_t extend(const V* values, std::size_t count,
  std::array<V, kExtremes>& minimum, std::array<V, kExtremes>& maximum, bool& has_nan);

/// ORs the bit of each value that is not NaN into the bitmap of its block. Returns false if no loop
/// is available.
template <class V>
[[nodiscard]] bool mark(const V* values, const std::uint16_t* blocks, std::size_t count,
  const TreeletBits<V>& bits, std::uint32_t* bitmaps);

/// Does the same for values without NaN; `bits` is usable.
template <class V>
[[nodiscard]] bool mark(const V* values, const std::uint16_t* blocks, std::size_t count,
  const CellBits<V>& bits, std::uint32_t* bitmaps);
}
