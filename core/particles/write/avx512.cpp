// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/avx512.hpp"

#include "common/intrinsics.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace bat::write::avx512
{
#ifdef BAT_AVX512
namespace
{
BAT_AVX512 __mmask8 first_lanes(std::size_t count)
{
  return static_cast<__mmask8>((1u << std::min(count, kLanes)) - 1);
}

// Every second value at which a bit begins, starting with one of them.
template <class V>
BAT_AVX512 __m512i every_second(const std::array<V, kBitmapBits>& begins, std::size_t from)
{
  alignas(64) std::array<V, kLanes> values;
  for (std::size_t i = 0; i != kLanes; ++i)
  {
    values[i] = begins[from + 2 * i];
  }
  return _mm512_load_si512(values.data());
}

BAT_AVX512 __m512d load_doubles(const float* values)
{
  return _mm512_cvtps_pd(_mm256_loadu_ps(values));
}

BAT_AVX512 __m512d load_doubles(const double* values)
{
  return _mm512_loadu_pd(values);
}

template <class T>
BAT_AVX512 void fill_typed_keys(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, const std::array<double, 3>& scale, TreeletKey* keys)
{
  // Three vectors of coordinates hold eight particles.
  alignas(64) std::array<double, 3 * kLanes> lowers;
  alignas(64) std::array<double, 3 * kLanes> scales;
  for (std::size_t i = 0; i != lowers.size(); ++i)
  {
    lowers[i] = half_lower[i % 3];
    scales[i] = scale[i % 3];
  }
  alignas(64) std::array<std::uint16_t, 4 * kLanes> cells{};
  alignas(64) std::array<std::uint16_t, 4 * kLanes> cell_of_word{}; // the cell in each word of keys
  for (std::size_t i = 0; i != cell_of_word.size(); ++i)
  {
    cell_of_word[i] = static_cast<std::uint16_t>(i / 4 * 3 + i % 4);
  }
  const __m512i order = _mm512_load_si512(cell_of_word.data());
  constexpr __mmask32 kCoordinates = 0x77777777; // the other words are of the number
  const __m512d half = _mm512_set1_pd(0.5);
  const __m512d top = _mm512_set1_pd(kTreeletCells - 1.0);
  const __m256i zero = _mm256_set1_epi32(kTreeletCells / 2);
  __m512i number = _mm512_slli_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), 48);
  const __m512i next = _mm512_set1_epi64(static_cast<long long>(key_of_number(kLanes)));
  for (std::size_t i = 0; i != count; i += kLanes)
  {
    for (std::size_t v = 0; v != 3; ++v)
    {
      const __m512d x = load_doubles(positions + 3 * i + v * kLanes);
      const __m512d distance =
        _mm512_mul_pd(_mm512_sub_pd(_mm512_mul_pd(x, half), _mm512_load_pd(&lowers[v * kLanes])),
          _mm512_load_pd(&scales[v * kLanes]));
      const __m512d inside = _mm512_min_pd(_mm512_max_pd(distance, _mm512_setzero_pd()), top);
      const __m256i cell = _mm256_sub_epi32(_mm512_cvttpd_epi32(inside), zero);
      _mm_store_si128(reinterpret_cast<__m128i*>(&cells[v * kLanes]), _mm256_cvtepi32_epi16(cell));
    }
    const __m512i coordinates =
      _mm512_maskz_permutexvar_epi16(kCoordinates, order, _mm512_load_si512(cells.data()));
    _mm512_storeu_si512(keys + i, _mm512_or_si512(coordinates, number));
    number = _mm512_add_epi64(number, next);
  }
}

// Takes every third number of three vectors, starting at number `axis`.
struct EveryThird
{
  __m512i of_two;   // out of the first two vectors
  __m512i of_three; // out of those and the third
};

BAT_AVX512 EveryThird every_third(std::size_t axis)
{
  alignas(64) std::array<std::uint32_t, kCodes> of_two{};
  alignas(64) std::array<std::uint32_t, kCodes> of_three{};
  for (std::uint32_t i = 0; i != kCodes; ++i)
  {
    const auto number = static_cast<std::uint32_t>(3 * i + axis);
    const bool is_third = number >= 2 * kCodes;
    of_two[i] = is_third ? 0 : number;
    of_three[i] = is_third ? number - kCodes : i; // the second vector's numbers begin at kCodes
  }
  return { _mm512_load_si512(of_two.data()), _mm512_load_si512(of_three.data()) };
}

template <unsigned by, int mask>
BAT_AVX512 __m512i spread_step(__m512i x)
{
  return _mm512_and_si512(_mm512_or_si512(x, _mm512_slli_epi32(x, by)), _mm512_set1_epi32(mask));
}

// Spreads 6 bits to every third bit.
BAT_AVX512 __m512i spread_few_bits(__m512i x)
{
  return spread_step<2, 0x9249>(spread_step<4, 0x30C3>(spread_step<8, 0x300F>(x)));
}

template <class T>
BAT_AVX512 void coarse_codes_of(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, double scale, double top, int dropped,
  std::uint32_t* codes)
{
  alignas(64) std::array<double, 3 * kLanes> lowers;
  for (std::size_t i = 0; i != lowers.size(); ++i)
  {
    lowers[i] = half_lower[i % 3];
  }
  const __m512d half = _mm512_set1_pd(0.5);
  const __m512d scales = _mm512_set1_pd(scale);
  const __m512d largest = _mm512_set1_pd(top);
  const __m128i shift = _mm_cvtsi32_si128(dropped);
  const EveryThird of_x = every_third(0);
  const EveryThird of_y = every_third(1);
  const EveryThird of_z = every_third(2);
  for (std::size_t i = 0; i != count; i += kCodes)
  {
    const auto cells_of = [&](std::size_t v) BAT_AVX512
    {
      const __m512d x = load_doubles(positions + 3 * i + v * kLanes);
      const __m512d distance = _mm512_mul_pd(
        _mm512_sub_pd(_mm512_mul_pd(x, half), _mm512_load_pd(&lowers[v % 3 * kLanes])), scales);
      return _mm512_cvttpd_epi32(_mm512_min_pd(distance, largest));
    };
    const auto both = [&](std::size_t v) BAT_AVX512
    {
      const __m512i cells =
        _mm512_inserti64x4(_mm512_castsi256_si512(cells_of(v)), cells_of(v + 1), 1);
      return _mm512_srl_epi32(cells, shift);
    };
    const __m512i first = both(0);
    const __m512i second = both(2);
    const __m512i third = both(4);
    const auto spread = [&](const EveryThird& which) BAT_AVX512
    {
      const __m512i of_two = _mm512_permutex2var_epi32(first, which.of_two, second);
      return spread_few_bits(_mm512_permutex2var_epi32(of_two, which.of_three, third));
    };
    _mm512_storeu_si512(codes + i,
      _mm512_or_si512(_mm512_slli_epi32(spread(of_x), 2),
        _mm512_or_si512(_mm512_slli_epi32(spread(of_y), 1), spread(of_z))));
  }
}

template <bool or_equal>
BAT_AVX512 std::size_t partition_by(
  TreeletKey* keys, std::size_t count, std::size_t axis, std::int16_t pivot, TreeletKey* room)
{
  const __m512i pivots = _mm512_set1_epi64(pivot);
  const __m128i shift = _mm_cvtsi64_si128(static_cast<long long>(48 - 16 * axis));
  const auto is_below = [&](__m512i some) BAT_AVX512
  {
    const __m512i cells = _mm512_srai_epi64(_mm512_sll_epi64(some, shift), 48);
    return or_equal ? _mm512_cmple_epi64_mask(cells, pivots)
                    : _mm512_cmplt_epi64_mask(cells, pivots);
  };
  TreeletKey* low = keys;
  TreeletKey* high = room;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
  {
    const __m512i some = _mm512_loadu_si512(keys + i);
    const __mmask8 below = is_below(some);
    // Whole vectors are stored: values after `low` have been read, and there is space after `high`.
    _mm512_storeu_si512(low, _mm512_maskz_compress_epi64(below, some));
    _mm512_storeu_si512(high, _mm512_maskz_compress_epi64(static_cast<__mmask8>(~below), some));
    const int taken = _mm_popcnt_u32(below);
    low += taken;
    high += static_cast<int>(kLanes) - taken;
  }
  const __mmask8 rest = first_lanes(count - i);
  const __m512i some = _mm512_maskz_loadu_epi64(rest, keys + i);
  const auto below = static_cast<__mmask8>(is_below(some) & rest);
  const auto others = static_cast<__mmask8>(rest & ~below);
  _mm512_mask_compressstoreu_epi64(low, below, some);
  _mm512_mask_compressstoreu_epi64(high, others, some);
  low += _mm_popcnt_u32(below);
  high += _mm_popcnt_u32(others);
  std::copy(room, high, low);
  return static_cast<std::size_t>(low - keys);
}

template <class V>
BAT_AVX512 bool extend_lanes(const V* values, std::size_t count, V* minimum, V* maximum)
{
  __mmask8 nan = 0;
  if constexpr (std::is_same_v<V, double>)
  {
    // Given a NaN and a number, these take the second operand, the number.
    __m512d bottom = _mm512_loadu_pd(minimum);
    __m512d top = _mm512_loadu_pd(maximum);
    for (std::size_t i = 0; i != count; i += kLanes)
    {
      const __m512d some = _mm512_loadu_pd(values + i);
      nan |= _mm512_cmp_pd_mask(some, some, _CMP_UNORD_Q);
      bottom = _mm512_min_pd(some, bottom);
      top = _mm512_max_pd(some, top);
    }
    _mm512_storeu_pd(minimum, bottom);
    _mm512_storeu_pd(maximum, top);
  }
  else
  {
    __m512i bottom = _mm512_loadu_si512(minimum);
    __m512i top = _mm512_loadu_si512(maximum);
    for (std::size_t i = 0; i != count; i += kLanes)
    {
      const __m512i some = _mm512_loadu_si512(values + i);
      if constexpr (std::is_signed_v<V>)
      {
        bottom = _mm512_min_epi64(some, bottom);
        top = _mm512_max_epi64(some, top);
      }
      else
      {
        bottom = _mm512_min_epu64(some, bottom);
        top = _mm512_max_epu64(some, top);
      }
    }
    _mm512_storeu_si512(minimum, bottom);
    _mm512_storeu_si512(maximum, top);
  }
  return nan != 0;
}

template <class V>
BAT_AVX512 void mark_values(const V* values, const std::uint16_t* blocks, std::size_t count,
  const TreeletBits<V>& bits, std::uint32_t* bitmaps)
{
  // A binary search tree: node k has the nodes 2 k and 2 k + 1 below it. Its upper four levels are
  // in two vectors, the fifth in two others.
  const std::array<V, kBitmapBits>& begins = bits.begins();
  alignas(64) std::array<V, 2 * kLanes> upper{};
  for (std::size_t floor = 0, node = 1; floor != 4; ++floor)
  {
    const std::size_t step = kBitmapBits >> floor;
    for (std::size_t at = step / 2 - 1; at < kBitmapBits; at += step, ++node)
    {
      upper[node] = begins[at];
    }
  }
  const __m512i upper_0 = _mm512_load_si512(upper.data());
  const __m512i upper_1 = _mm512_load_si512(upper.data() + kLanes);
  const __m512i lower_0 = every_second(begins, 0);
  const __m512i lower_1 = every_second(begins, 2 * kLanes);
  const __m512i one = _mm512_set1_epi64(1);
  const __m512i top = _mm512_set1_epi64(bits.begin_count());
  for (std::size_t i = 0; i < count; i += kLanes)
  {
    const __mmask8 used = first_lanes(count - i);
    const __m512i some = _mm512_maskz_loadu_epi64(used, values + i);
    __m512i node = one;
    const auto descend = [&](__m512i begins_0, __m512i begins_1) BAT_AVX512
    {
      const __mmask8 above =
        not_above<V>(_mm512_permutex2var_epi64(begins_0, node, begins_1), some);
      const __m512i twice = _mm512_add_epi64(node, node);
      node = _mm512_mask_add_epi64(twice, above, twice, one);
    };
    for (int floor = 0; floor != 4; ++floor)
    {
      descend(upper_0, upper_1);
    }
    descend(lower_0, lower_1); // of the node, the lowest four bits count
    const __m512i bit =
      _mm512_min_epu64(_mm512_sub_epi64(node, _mm512_set1_epi64(kBitmapBits)), top);
    __mmask8 marked = used;
    if constexpr (std::is_same_v<V, double>)
    {
      const __m512d numbers = _mm512_castsi512_pd(some);
      marked &= _mm512_cmp_pd_mask(numbers, numbers, _CMP_ORD_Q);
    }
    const __m512i flags = _mm512_maskz_sllv_epi64(marked, one, bit);
    const __m128i here = _mm_maskz_loadu_epi16(used, blocks + i);
    const auto block = static_cast<short>(blocks[i]);
    if (_mm_mask_cmpneq_epi16_mask(used, here, _mm_set1_epi16(block)) == 0)
    {
      bitmaps[blocks[i]] |= static_cast<std::uint32_t>(_mm512_reduce_or_epi64(flags));
      continue;
    }
    alignas(32) std::array<std::uint32_t, kLanes> of_lane;
    _mm256_store_si256(reinterpret_cast<__m256i*>(of_lane.data()), _mm512_cvtepi64_epi32(flags));
    for (std::size_t lane = 0; lane != std::min(kLanes, count - i); ++lane)
    {
      bitmaps[blocks[i + lane]] |= of_lane[lane];
    }
  }
}
}

template <class T>
void fill_keys(const T* positions, std::size_t count, const std::array<double, 3>& half_lower,
  const std::array<double, 3>& scale, TreeletKey* keys)
{
  fill_typed_keys(positions, count, half_lower, scale, keys);
}

template <class T>
void coarse_codes(const T* positions, std::size_t count, const std::array<double, 3>& half_lower,
  double scale, double top, int dropped, std::uint32_t* codes)
{
  coarse_codes_of(positions, count, half_lower, scale, top, dropped, codes);
}

std::size_t partition(TreeletKey* keys, std::size_t count, std::size_t axis, std::int16_t pivot,
  bool or_equal, TreeletKey* room)
{
  return or_equal ? partition_by<true>(keys, count, axis, pivot, room)
                  : partition_by<false>(keys, count, axis, pivot, room);
}

BAT_AVX512 void split_few(TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis)
{
  constexpr std::size_t kVectors = kMaxComparedKeys / kLanes;
  const __m128i shift = _mm_cvtsi64_si128(static_cast<long long>(16 * axis));
  __m512i vectors[kVectors]; // std::array would lose its alignment
  alignas(64) std::array<std::int16_t, kMaxComparedKeys> cells;
  for (std::size_t v = 0; v != kVectors; ++v)
  {
    const std::size_t first = std::min(v * kLanes, count);
    vectors[v] = _mm512_maskz_loadu_epi64(first_lanes(count - first), keys + first);
    _mm_store_si128(reinterpret_cast<__m128i*>(&cells[v * kLanes]),
      _mm512_cvtepi64_epi16(_mm512_srl_epi64(vectors[v], shift)));
  }
  // Counts how many others come before each particle.
  const __m512i all = _mm512_load_si512(cells.data());
  const __m512i one = _mm512_set1_epi16(1);
  __m512i place = _mm512_setzero_si512();
  for (std::size_t i = 0; i != count; ++i)
  {
    const __m512i cell = _mm512_set1_epi16(cells[i]);
    const __mmask32 behind = ~std::uint32_t{ 1 } << i;
    const __mmask32 after =
      _mm512_cmpgt_epi16_mask(all, cell) | _mm512_mask_cmpeq_epi16_mask(behind, all, cell);
    place = _mm512_mask_add_epi16(place, after, place, one);
  }
  const __mmask32 first =
    _mm512_cmplt_epu16_mask(place, _mm512_set1_epi16(static_cast<short>(left)));
  std::array<TreeletKey, kMaxComparedKeys + kLanes> sorted;
  const auto store = [&](__mmask32 which, TreeletKey* to) BAT_AVX512
  {
    for (std::size_t v = 0; v != kVectors; ++v)
    {
      const auto here = static_cast<__mmask8>(which >> v * kLanes);
      _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(here, vectors[v]));
      to += _mm_popcnt_u32(here);
    }
  };
  const auto used = static_cast<__mmask32>((std::uint64_t{ 1 } << count) - 1);
  store(first & used, sorted.data());
  store(~first & used, sorted.data() + left);
  std::copy(sorted.data(), sorted.data() + count, keys);
}

template <class V>
bool extend(const V* values, std::size_t count, V* minimum, V* maximum)
{
  return extend_lanes(values, count, minimum, maximum);
}

template <class V>
void mark(const V* values, const std::uint16_t* blocks, std::size_t count,
  const TreeletBits<V>& bits, std::uint32_t* bitmaps)
{
  mark_values(values, blocks, count, bits, bitmaps);
}
#else // never called
template <class T>
void fill_keys(
  const T*, std::size_t, const std::array<double, 3>&, const std::array<double, 3>&, TreeletKey*)
{
}

template <class T>
void coarse_codes(
  const T*, std::size_t, const std::array<double, 3>&, double, double, int, std::uint32_t*)
{
}

std::size_t partition(TreeletKey*, std::size_t, std::size_t, std::int16_t, bool, TreeletKey*)
{
  return 0;
}

void split_few(TreeletKey*, std::size_t, std::size_t, std::size_t) {}

template <class V>
bool extend(const V*, std::size_t, V*, V*)
{
  return false;
}

template <class V>
void mark(const V*, const std::uint16_t*, std::size_t, const TreeletBits<V>&, std::uint32_t*)
{
}
#endif

template void fill_keys(const float*, std::size_t, const std::array<double, 3>&,
  const std::array<double, 3>&, TreeletKey*);
template void fill_keys(const double*, std::size_t, const std::array<double, 3>&,
  const std::array<double, 3>&, TreeletKey*);
template void coarse_codes(
  const float*, std::size_t, const std::array<double, 3>&, double, double, int, std::uint32_t*);
template void coarse_codes(
  const double*, std::size_t, const std::array<double, 3>&, double, double, int, std::uint32_t*);
template bool extend(const double*, std::size_t, double*, double*);
template bool extend(const std::int64_t*, std::size_t, std::int64_t*, std::int64_t*);
template bool extend(const std::uint64_t*, std::size_t, std::uint64_t*, std::uint64_t*);
template void mark(
  const double*, const std::uint16_t*, std::size_t, const TreeletBits<double>&, std::uint32_t*);
template void mark(const std::int64_t*, const std::uint16_t*, std::size_t,
  const TreeletBits<std::int64_t>&, std::uint32_t*);
template void mark(const std::uint64_t*, const std::uint16_t*, std::size_t,
  const TreeletBits<std::uint64_t>&, std::uint32_t*);
}
