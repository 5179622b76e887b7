// SPDX-License-Identifier: BSD-3-Clause
// The loops of particles/write/vector_loops.hpp for processors with AVX-512 (F, BW and VL). Call
// them only if processor::has_avx512().
#pragma once

#include "particles/tree/bins.hpp"
#include "particles/write/treelet_key.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace bat::write::avx512
{
constexpr std::size_t kLanes = 8; ///< numbers of 64 bits in a vector

/// Computes the keys of packed positions, numbered from 0; `count` is a multiple of kLanes. On each
/// axis the cell is (x / 2 - half_lower) * scale, limited to kTreeletCells cells.
template <class T>
void fill_keys(const T* positions, std::size_t count, const std::array<double, 3>& half_lower,
  const std::array<double, 3>& scale, TreeletKey* keys);

constexpr std::size_t kCodes = 16; ///< codes per call of coarse_codes()

/// Computes codes for the cells of a grid with 2^levels cells along each axis, as
/// MortonGrid::coarse_code(), from packed positions; `count` is a multiple of kCodes. The cell is
/// (x / 2 - half_lower) * scale, at most `max_code`, without its `dropped` lower bits; at most 6
/// bits are left.
template <class T>
void coarse_codes(const T* positions, std::size_t count, const std::array<double, 3>& half_lower,
  double scale, double max_code, int dropped, std::uint32_t* codes);

/// Moves the particles whose cell is below the pivot (or equal to it, if `or_equal`) to the front;
/// both parts keep their order. Returns their number. `room` holds count + kPartitionRoom keys.
[[nodiscard]] std::size_t partition(TreeletKey* keys, std::size_t count, std::size_t axis,
  std::int16_t pivot, bool or_equal, TreeletKey* room);

/// Moves the `left` particles with the lowest cells (among equal ones, the earlier) to the front;
/// both parts keep their order. At most kMaxComparedKeys.
void split_few(TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis);

/// Extends kLanes minima and maxima, each by every kLanes-th value that is not NaN; `count` is a
/// multiple of kLanes. Returns whether any is NaN.
template <class V>
[[nodiscard]] bool extend(const V* values, std::size_t count, V* minimum, V* maximum);

/// ORs the bit of each value that is not NaN into the bitmap of its block.
template <class V>
void mark(const V* values, const std::uint16_t* blocks, std::size_t count,
  const TreeletBits<V>& bits, std::uint32_t* bitmaps);
}
