// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/vector_loops.hpp"

#include "common/intrinsics.hpp"
#include "common/processor.hpp"
#include "particles/write/avx2.hpp"
#include "particles/write/avx512.hpp"

namespace bat::write::vector_loops
{
namespace
{
/// Calls the AVX-512 loop, else the AVX2 loop, if it exists and the processor supports it. Returns
/// false if it called none.
template <class Avx512, class Avx2>
bool choose([[maybe_unused]] const Avx512& avx512, [[maybe_unused]] const Avx2& avx2)
{
#ifdef BAT_AVX512
  if (processor::has_avx512())
  {
    avx512();
    return true;
  }
  if (processor::has_avx2())
  {
    avx2();
    return true;
  }
#endif
  return false;
}
}

template <class T>
std::size_t fill_keys(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, const std::array<double, 3>& scale, TreeletKey* keys)
{
  std::size_t done = 0;
  choose(
    [&]
    {
      done = count / avx512::kLanes * avx512::kLanes;
      avx512::fill_keys(positions, done, half_lower, scale, keys);
    },
    [&]
    {
      done = count / avx2::kLanes * avx2::kLanes;
      avx2::fill_keys(positions, done, half_lower, scale, keys);
    });
  return done;
}

template <class T>
std::size_t coarse_codes(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, double scale, double max_code, int dropped,
  std::uint32_t* codes)
{
  std::size_t done = 0;
  choose(
    [&]
    {
      done = count / avx512::kCodes * avx512::kCodes;
      avx512::coarse_codes(positions, done, half_lower, scale, max_code, dropped, codes);
    },
    [&]
    {
      done = count / avx2::kCodes * avx2::kCodes;
      avx2::coarse_codes(positions, done, half_lower, scale, max_code, dropped, codes);
    });
  return done;
}

std::optional<CellBox> tight_cells(const TreeletKey* keys, std::size_t count)
{
  if (count < avx2::kLanes)
  {
    return std::nullopt;
  }
  CellBox box;
  const auto of_avx2 = [&] { box = avx2::tight_cells(keys, count); };
  return choose(of_avx2, of_avx2) ? std::optional(box) : std::nullopt; // the only choice
}

std::optional<std::size_t> partition(TreeletKey* keys, std::size_t count, std::size_t axis,
  std::int16_t pivot, bool or_equal, TreeletKey* room)
{
  std::size_t low = 0;
  const bool done =
    choose([&] { low = avx512::partition(keys, count, axis, pivot, or_equal, room); },
      [&] { low = avx2::partition(keys, count, axis, pivot, or_equal, room); });
  return done ? std::optional(low) : std::nullopt;
}

bool split_few(TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis)
{
  return choose([&] { avx512::split_few(keys, left, count, axis); },
    [&] { avx2::split_few(keys, left, count, axis); });
}

template <class V>
std::size_t extend(const V* values, std::size_t count, std::array<V, kExtremes>& minimum,
  std::array<V, kExtremes>& maximum, bool& has_nan)
{
  static_assert(kExtremes == avx512::kLanes && kExtremes == 2 * avx2::kLanes);
  const std::size_t whole = count / kExtremes * kExtremes;
  const bool done =
    choose([&] { has_nan |= avx512::extend(values, whole, minimum.data(), maximum.data()); },
      [&] { has_nan |= avx2::extend(values, whole, minimum.data(), maximum.data()); });
  return done ? whole : 0;
}

template <class V>
bool mark([[maybe_unused]] const V* values, [[maybe_unused]] const std::uint16_t* blocks,
  [[maybe_unused]] std::size_t count, [[maybe_unused]] const TreeletBits<V>& bits,
  [[maybe_unused]] std::uint32_t* bitmaps)
{
#ifdef BAT_AVX512
  if (processor::has_avx512())
  {
    avx512::mark(values, blocks, count, bits, bitmaps);
    return true;
  }
#endif
  return false;
}

template <class V>
bool mark(const V* values, const std::uint16_t* blocks, std::size_t count, const CellBits<V>& bits,
  std::uint32_t* bitmaps)
{
  const auto of_avx2 = [&] { avx2::mark(values, blocks, count, bits, bitmaps); };
  return choose(of_avx2, of_avx2); // the other needs no such table
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
  const double*, const std::uint16_t*, std::size_t, const TreeletBits<double>&, std::uint32_t*);
template bool mark(
  const double*, const std::uint16_t*, std::size_t, const CellBits<double>&, std::uint32_t*);
template std::size_t extend(const std::int64_t*, std::size_t, std::array<std::int64_t, kExtremes>&,
  std::array<std::int64_t, kExtremes>&, bool&);
template bool mark(const std::int64_t*, const std::uint16_t*, std::size_t,
  const TreeletBits<std::int64_t>&, std::uint32_t*);
template bool mark(const std::int64_t*, const std::uint16_t*, std::size_t,
  const CellBits<std::int64_t>&, std::uint32_t*);
template std::size_t extend(const std::uint64_t*, std::size_t,
  std::array<std::uint64_t, kExtremes>&, std::array<std::uint64_t, kExtremes>&, bool&);
template bool mark(const std::uint64_t*, const std::uint16_t*, std::size_t,
  const TreeletBits<std::uint64_t>&, std::uint32_t*);
template bool mark(const std::uint64_t*, const std::uint16_t*, std::size_t,
  const CellBits<std::uint64_t>&, std::uint32_t*);
}
