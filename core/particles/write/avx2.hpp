// SPDX-License-Identifier: BSD-3-Clause
// The loops of particles/write/vector_loops.hpp for processors with AVX2 and BMI2. They may be
// called only if processor::has_avx2().
#pragma once

#include "particles/tree/bins.hpp"
#include "particles/write/treelet_key.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace bat::write::avx2
{
constexpr std::size_t kLanes = 4; ///< 64-bit numbers in a vector

/// See vector_loops::fill_keys(); `count` is a multiple of kLanes.
template <class T>
void fill_keys(const T* positions, std::size_t count, const std::array<double, 3>& half_lower,
  const std::array<double, 3>& scale, TreeletKey* keys);

constexpr std::size_t kCodes = 8; ///< codes that coarse_codes() computes at a time

/// See vector_loops::coarse_codes(); `count` is a multiple of kCodes.
template <class T>
void coarse_codes(const T* positions, std::size_t count, const std::array<double, 3>& half_lower,
  double scale, double max_code, int dropped, std::uint32_t* codes);

/// See write::tight_cells(), for at least kLanes keys.
[[nodiscard]] CellBox tight_cells(const TreeletKey* keys, std::size_t count);

/// See vector_loops::partition(); returns the number of keys in the first part.
[[nodiscard]] std::size_t partition(TreeletKey* keys, std::size_t count, std::size_t axis,
  std::int16_t pivot, bool or_equal, TreeletKey* room);

/// See vector_loops::split_few().
void split_few(TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis);

/// Extends vector_loops::kExtremes minima and maxima, each by every kExtremes-th value that is not
/// NaN; `count` is a multiple of kExtremes. Returns whether any value is NaN.
template <class V>
[[nodiscard]] bool extend(const V* values, std::size_t count, V* minimum, V* maximum);

/// See vector_loops::mark().
template <class V>
void mark(const V* values, const std::uint16_t* blocks, std::size_t count, const CellBits<V>& bits,
  std::uint32_t* bitmaps);
}
