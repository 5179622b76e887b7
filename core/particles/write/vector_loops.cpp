// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/vector_loops.hpp"

#include "common/processor.hpp"
#include "particles/write/avx2.hpp"

namespace bat::write::vector_loops
{
template <class T>
std::size_t fill_keys(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, const std::array<double, 3>& scale, TreeletKey* keys)
{
  if (!processor::has_avx2())
  {
    return 0;
  }
  const std::size_t done = count / avx2::kLanes * avx2::kLanes;
  avx2::fill_keys(positions, done, half_lower, scale, keys);
  return done;
}

template <class T>
std::size_t coarse_codes(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, double scale, double max_code, int dropped,
  std::uint32_t* codes)
{
  if (!processor::has_avx2())
  {
    return 0;
  }
  const std::size_t done = count / avx2::kCodes * avx2::kCodes;
  avx2::coarse_codes(positions, done, half_lower, scale, max_code, dropped, codes);
  return done;
}

std::optional<CellBox> tight_cells(const TreeletKey* keys, std::size_t count)
{
  if (count < avx2::kLanes || !processor::has_avx2())
  {
    return std::nullopt;
  }
  return avx2::tight_cells(keys, count);
}

std::optional<std::size_t> partition(TreeletKey* keys, std::size_t count, std::size_t axis,
  std::int16_t pivot, bool or_equal, TreeletKey* room)
{
  if (!processor::has_avx2())
  {
    return std::nullopt;
  }
  return avx2::partition(keys, count, axis, pivot, or_equal, room);
}

bool split_few(TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis)
{
  if (!processor::has_avx2())
  {
    return false;
  }
  avx2::split_few(keys, left, count, axis);
  return true;
}

template <class V>
std::size_t extend(const V* values, std::size_t count, std::array<V, kExtremes>& minimum,
  std::array<V, kExtremes>& maximum, bool& has_nan)
{
  static_assert(kExtremes == 2 * avx2::kLanes);
  if (!processor::has_avx2())
  {
    return 0;
  }
  const std::size_t whole = count / kExtremes * kExtremes;
  has_nan |= avx2::extend(values, whole, minimum.data(), maximum.data());
  return whole;
}

template <class V>
bool mark(const V* values, const std::uint16_t* blocks, std::size_t count, const CellBits<V>& bits,
  std::uint32_t* bitmaps)
{
  if (!processor::has_avx2())
  {
    return false;
  }
  avx2::mark(values, blocks, count, bits, bitmaps);
  return true;
}

template std::size_t fill_keys(const float*, std::size_t, const std::array<double, 3>&,
  const std::array<double, 3>&, TreeletKey*);
template std::size_t fill_keys(const double*, std::size_t, const std::array<double, 3>&,
  const std::array<double, 3>&, TreeletKey*);
template std::size_t coarse_codes(
  const float*, std::size_t, const std::array<double, 3>&, double, double, int, std::uint32_t*);
template std::size_t coarse_codes(
  const double*, std::size_t, const std::array<double, 3>&, double, double, int, std::uint32_t*);
template std::size_t extend(const double*, std::size_t, std::array<double, kExtremes>&,
  std::array<double, kExtremes>&, bool&);
template bool mark(
  const double*, const std::uint16_t*, std::size_t, const CellBits<double>&, std::uint32_t*);
template std::size_t extend(const std::int64_t*, std::size_t, std::array<std::int64_t, kExtremes>&,
  std::array<std::int64_t, kExtremes>&, bool&);
template bool mark(const std::int64_t*, const std::uint16_t*, std::size_t,
  const CellBits<std::int64_t>&, std::uint32_t*);
template std::size_t extend(const std::uint64_t*, std::size_t,
  std::array<std::uint64_t, kExtremes>&, std::array<std::uint64_t, kExtremes>&, bool&);
template bool mark(const std::uint64_t*, const std::uint16_t*, std::size_t,
  const CellBits<std::uint64_t>&, std::uint32_t*);
}
