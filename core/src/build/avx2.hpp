// The loops of build/avx512.hpp for processors with AVX2 and BMI2, with the same parameters and
// results. To be called where processor::has_avx2().
#pragma once

#include "bins.hpp"
#include "build/treelet.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace bat::build::avx2
{
constexpr std::size_t kLanes = 4; ///< numbers of 64 bits in a vector

/// As avx512::fill_keys(); `count` is a multiple of kLanes.
void fill_keys(const float* positions, std::size_t count, const std::array<double, 3>& half_lower,
  const std::array<double, 3>& scale, TreeletKey* keys);
void fill_keys(const double* positions, std::size_t count, const std::array<double, 3>& half_lower,
  const std::array<double, 3>& scale, TreeletKey* keys);

constexpr std::size_t kCodes = 8; ///< that coarse_codes() makes at a time

/// As avx512::coarse_codes(); `count` is a multiple of kCodes.
void coarse_codes(const float* positions, std::size_t count,
  const std::array<double, 3>& half_lower, double scale, double most, int dropped,
  std::uint32_t* codes);
void coarse_codes(const double* positions, std::size_t count,
  const std::array<double, 3>& half_lower, double scale, double most, int dropped,
  std::uint32_t* codes);

/// As build::tight_cells(), of at least kLanes keys.
[[nodiscard]] CellBox tight_cells(const TreeletKey* keys, std::size_t count);

/// As avx512::partition().
[[nodiscard]] std::size_t partition(TreeletKey* keys, std::size_t count, std::size_t axis,
  std::int16_t pivot, bool or_equal, TreeletKey* room);

/// As avx512::split_few().
void split_few(TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis);

/// As avx512::extend(): two vectors of minima and two of maxima.
[[nodiscard]] bool extend(
  const double* values, std::size_t count, double* minimum, double* maximum);
[[nodiscard]] bool extend(
  const std::int64_t* values, std::size_t count, std::int64_t* minimum, std::int64_t* maximum);
[[nodiscard]] bool extend(
  const std::uint64_t* values, std::size_t count, std::uint64_t* minimum, std::uint64_t* maximum);

/// ORs the bit of each value, none of which is NaN, into the bitmap of its block. `bits` is usable.
void mark(const double* values, const std::uint16_t* blocks, std::size_t count,
  const CellBits<double>& bits, std::uint32_t* bitmaps);
void mark(const std::int64_t* values, const std::uint16_t* blocks, std::size_t count,
  const CellBits<std::int64_t>& bits, std::uint32_t* bitmaps);
void mark(const std::uint64_t* values, const std::uint16_t* blocks, std::size_t count,
  const CellBits<std::uint64_t>& bits, std::uint32_t* bitmaps);
}
