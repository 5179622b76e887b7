// SPDX-License-Identifier: BSD-3-Clause
// The loops of particles/write/avx512.hpp for processors with AVX2 and BMI2, with the same
// parameters and results. Call them only if processor::has_avx2().
#pragma once

#include "particles/tree/bins.hpp"
#include "particles/write/treelet_key.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace bat::write::avx2
{
constexpr std::size_t kLanes = 4; ///< numbers of 64 bits in a vector

/// See avx512::fill_keys(); `count` is a multiple of kLanes.
template <class T>
void fill_keys(const T* positions, std::size_t count, const std::array<double, 3>& half_lower,
  const std::array<double, 3>& scale, TreeletKey* keys);

constexpr std::size_t kCodes = 8; ///< codes per call of coarse_codes()

/// See avx512::coarse_codes(); `count` is a multiple of kCodes.
template <class T>
void coarse_codes(const T* positions, std::size_t count, const std::array<double, 3>& half_lower,
  double scale, double max_code, int dropped, std::uint32_t* codes);

/// See write::tight_cells(), for at least kLanes keys.
[[nodiscard]] CellBox tight_cells(const TreeletKey* keys, std::size_t count);

/// See avx512::partition().
[[nodiscard]] std::size_t partition(TreeletKey* keys, std::size_t count, std::size_t axis,
  std::int16_t pivot, bool or_equal, TreeletKey* room);

/// See avx512::split_few().
void split_few(TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis);

/// See avx512::extend(): two vectors of minima and two of maxima.
template <class V>
[[nodiscard]] bool extend(const V* values, std::size_t count, V* minimum, V* maximum);

/// ORs the bit of each value, none of which is NaN, into the bitmap of its block. `bits` is usable.
template <class V>
void mark(const V* values, const std::uint16_t* blocks, std::size_t count, const CellBits<V>& bits,
  std::uint32_t* bitmaps);
}
