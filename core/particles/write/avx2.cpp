// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/avx2.hpp"

#include "common/intrinsics.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace bat::write::avx2
{
#ifdef BAT_AVX2
namespace
{
/// Maps each mask of four lanes to the halves of these lanes, then those of the other lanes.
struct Compressions
{
  alignas(32) std::array<std::array<std::uint32_t, 2 * kLanes>, 1 << kLanes> halves;
};

constexpr Compressions kCompressions = []
{
  Compressions result{};
  for (std::size_t mask = 0; mask != result.halves.size(); ++mask)
  {
    std::size_t taken = 0;
    for (const std::size_t requested : { std::size_t{ 1 }, std::size_t{ 0 } })
    {
      for (std::uint32_t lane = 0; lane != kLanes; ++lane)
      {
        if ((mask >> lane & 1) == requested)
        {
          result.halves[mask][taken++] = 2 * lane;
          result.halves[mask][taken++] = 2 * lane + 1;
        }
      }
    }
  }
  return result;
}();

BAT_AVX2 __m256i load(const void* from)
{
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

BAT_AVX2 void store(void* to, __m256i vector)
{
  _mm256_storeu_si256(static_cast<__m256i*>(to), vector);
}

// The lanes of `mask` come first; both parts keep their order.
BAT_AVX2 __m256i compress(__m256i vector, unsigned mask)
{
  const auto* const halves = kCompressions.halves[mask].data();
  return _mm256_permutevar8x32_epi32(
    vector, _mm256_load_si256(reinterpret_cast<const __m256i*>(halves)));
}

// Writes the keys in `mask` to `low`, the others to `high`. Whole vectors are stored.
BAT_AVX2 void part_keys(__m256i some, unsigned mask, TreeletKey*& low, TreeletKey*& high)
{
  store(low, compress(some, mask));
  store(high, compress(some, mask ^ 15u));
  const auto taken = static_cast<std::ptrdiff_t>(_mm_popcnt_u32(mask));
  low += taken;
  high += static_cast<std::ptrdiff_t>(kLanes) - taken;
}

BAT_AVX2 __m256d load_doubles(const float* values)
{
  return _mm256_cvtps_pd(_mm_loadu_ps(values));
}

BAT_AVX2 __m256d load_doubles(const double* values)
{
  return _mm256_loadu_pd(values);
}

template <class T>
BAT_AVX2 void fill_typed_keys(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, const std::array<double, 3>& scale, TreeletKey* keys)
{
  // Three vectors of coordinates hold four particles.
  alignas(32) std::array<double, 3 * kLanes> lowers;
  alignas(32) std::array<double, 3 * kLanes> scales;
  for (std::size_t i = 0; i != lowers.size(); ++i)
  {
    lowers[i] = half_lower[i % 3];
    scales[i] = scale[i % 3];
  }
  const __m256d half = _mm256_set1_pd(0.5);
  const __m256d top = _mm256_set1_pd(kTreeletCells - 1.0);
  const __m128i zero = _mm_set1_epi32(kTreeletCells / 2);
  // Makes two keys with number 0 from six words.
  const __m128i order = _mm_setr_epi8(0, 1, 2, 3, 4, 5, -1, -1, 6, 7, 8, 9, 10, 11, -1, -1);
  __m256i number = _mm256_slli_epi64(_mm256_setr_epi64x(0, 1, 2, 3), 48);
  const __m256i next = _mm256_set1_epi64x(static_cast<long long>(key_of_number(kLanes)));
  for (std::size_t i = 0; i != count; i += kLanes)
  {
    const auto cells = [&](std::size_t v) BAT_AVX2
    {
      const __m256d x = load_doubles(positions + 3 * i + v * kLanes);
      const __m256d distance =
        _mm256_mul_pd(_mm256_sub_pd(_mm256_mul_pd(x, half), _mm256_load_pd(&lowers[v * kLanes])),
          _mm256_load_pd(&scales[v * kLanes]));
      const __m256d inside = _mm256_min_pd(_mm256_max_pd(distance, _mm256_setzero_pd()), top);
      return _mm_sub_epi32(_mm256_cvttpd_epi32(inside), zero);
    };
    const __m128i first = _mm_packs_epi32(cells(0), cells(1));
    const __m128i last = cells(2);
    const __m128i rest = _mm_alignr_epi8(_mm_packs_epi32(last, last), first, 12);
    const __m256i coordinates =
      _mm256_setr_m128i(_mm_shuffle_epi8(first, order), _mm_shuffle_epi8(rest, order));
    store(keys + i, _mm256_or_si256(coordinates, number));
    number = _mm256_add_epi64(number, next);
  }
}

template <unsigned by, int mask>
BAT_AVX2 __m256i spread_step(__m256i x)
{
  return _mm256_and_si256(_mm256_or_si256(x, _mm256_slli_epi32(x, by)), _mm256_set1_epi32(mask));
}

// Spreads 6 bits to every third bit.
BAT_AVX2 __m256i spread_few_bits(__m256i x)
{
  return spread_step<2, 0x9249>(spread_step<4, 0x30C3>(spread_step<8, 0x300F>(x)));
}

template <class T>
BAT_AVX2 void coarse_codes_of(const T* positions, std::size_t count,
  const std::array<double, 3>& half_lower, double scale, double top, int dropped,
  std::uint32_t* codes)
{
  alignas(32) std::array<double, 3 * kLanes> lowers;
  for (std::size_t i = 0; i != lowers.size(); ++i)
  {
    lowers[i] = half_lower[i % 3];
  }
  const __m256d half = _mm256_set1_pd(0.5);
  const __m256d scales = _mm256_set1_pd(scale);
  const __m256d largest = _mm256_set1_pd(top);
  const __m128i shift = _mm_cvtsi32_si128(dropped);
  for (std::size_t i = 0; i != count; i += kCodes)
  {
    const auto cells_of = [&](std::size_t v) BAT_AVX2
    {
      const __m256d x = load_doubles(positions + 3 * i + v * kLanes);
      const __m256d distance = _mm256_mul_pd(
        _mm256_sub_pd(_mm256_mul_pd(x, half), _mm256_load_pd(&lowers[v % 3 * kLanes])), scales);
      return _mm256_cvttpd_epi32(_mm256_min_pd(distance, largest));
    };
    const auto both = [&](std::size_t v) BAT_AVX2
    { return _mm256_srl_epi32(_mm256_setr_m128i(cells_of(v), cells_of(v + 1)), shift); };
    const __m256i first = both(0);
    const __m256i second = both(2);
    const __m256i third = both(4);
    // Takes every third number of the three vectors, first each in its own lane, then in order.
    const __m256i x = _mm256_permutevar8x32_epi32(
      _mm256_blend_epi32(_mm256_blend_epi32(first, second, 0x92), third, 0x24),
      _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
    const __m256i y = _mm256_permutevar8x32_epi32(
      _mm256_blend_epi32(_mm256_blend_epi32(first, second, 0x24), third, 0x49),
      _mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6));
    const __m256i z = _mm256_permutevar8x32_epi32(
      _mm256_blend_epi32(_mm256_blend_epi32(first, second, 0x49), third, 0x92),
      _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
    store(codes + i,
      _mm256_or_si256(_mm256_slli_epi32(spread_few_bits(x), 2),
        _mm256_or_si256(_mm256_slli_epi32(spread_few_bits(y), 1), spread_few_bits(z))));
  }
}

template <bool or_equal>
BAT_AVX2 std::size_t partition_by(
  TreeletKey* keys, std::size_t count, std::size_t axis, std::int16_t pivot, TreeletKey* room)
{
  const auto shift = static_cast<int>(48 - 16 * axis);
  const __m128i shifts = _mm_cvtsi32_si128(shift);
  // Compares cells together with the bits of a key below its cell.
  const std::uint64_t lowest = static_cast<std::uint64_t>(pivot) << 48;
  const std::uint64_t highest = lowest | ((std::uint64_t{ 1 } << 48) - 1);
  const __m256i bound = _mm256_set1_epi64x(static_cast<long long>(or_equal ? highest : lowest));
  TreeletKey* low = keys;
  TreeletKey* high = room;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
  {
    const __m256i some = load(keys + i);
    const __m256i cells = _mm256_sll_epi64(some, shifts);
    const __m256i flags =
      or_equal ? _mm256_cmpgt_epi64(cells, bound) : _mm256_cmpgt_epi64(bound, cells);
    const auto mask = static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(flags)));
    part_keys(some, or_equal ? mask ^ 15u : mask, low, high);
  }
  for (; i != count; ++i)
  {
    const TreeletKey key = keys[i];
    const auto cell = static_cast<std::int16_t>(key >> 16 * axis);
    const bool below = or_equal ? cell <= pivot : cell < pivot;
    *low = key;
    *high = key;
    low += below;
    high += !below;
  }
  std::copy(room, high, low);
  return static_cast<std::size_t>(low - keys);
}

// One bit for each word of two vectors whose words have all bits or none.
BAT_AVX2 std::uint32_t bits_of_words(__m256i first, __m256i second)
{
  const __m256i bytes =
    _mm256_permute4x64_epi64(_mm256_packs_epi16(first, second), _MM_SHUFFLE(3, 1, 2, 0));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
}

// Gathers the lowest words of the numbers in four vectors, which have no other bits.
BAT_AVX2 __m256i words_of(const __m256i* four)
{
  const __m256i words = _mm256_packus_epi32(
    _mm256_packus_epi32(four[0], four[1]), _mm256_packus_epi32(four[2], four[3]));
  return _mm256_permutevar8x32_epi32(words, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// Broadcasts the highest word.
BAT_AVX2 __m256i highest_word(__m256i words)
{
  const __m128i half =
    _mm_max_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  // The only such instruction is for the lowest unsigned word.
  const __m128i top = _mm_set1_epi16(std::numeric_limits<std::int16_t>::max());
  const __m128i distance = _mm_minpos_epu16(_mm_sub_epi16(top, half));
  return _mm256_broadcastw_epi16(_mm_sub_epi16(top, distance));
}

// Cells of four values.
template <class V>
BAT_AVX2 __m128i cells_of(const V* values, const CellBits<V>& bits)
{
  if constexpr (std::is_same_v<V, double>)
  {
    const __m256d distance = _mm256_sub_pd(_mm256_loadu_pd(values), _mm256_set1_pd(bits.minimum()));
    const __m128i cell = _mm256_cvttpd_epi32(_mm256_mul_pd(distance, _mm256_set1_pd(bits.scale())));
    return _mm_min_epu32(cell, _mm_set1_epi32(CellBits<V>::kCells - 1));
  }
  else
  {
    const __m256i distance =
      _mm256_sub_epi64(load(values), _mm256_set1_epi64x(static_cast<long long>(bits.minimum())));
    const __m256i cell = _mm256_srl_epi64(distance, _mm_cvtsi32_si128(bits.shift()));
    return _mm256_castsi256_si128(
      _mm256_permutevar8x32_epi32(cell, _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0)));
  }
}

template <class V>
BAT_AVX2 bool extend_lanes(const V* values, std::size_t count, V* minimum, V* maximum)
{
  constexpr std::size_t kValuesPerStep = 2 * kLanes;
  if constexpr (std::is_same_v<V, double>)
  {
    // Given a NaN and a number, these take the second operand, the number.
    __m256d bottom[2] = { _mm256_loadu_pd(minimum), _mm256_loadu_pd(minimum + kLanes) };
    __m256d top[2] = { _mm256_loadu_pd(maximum), _mm256_loadu_pd(maximum + kLanes) };
    __m256d nan = _mm256_setzero_pd();
    for (std::size_t i = 0; i != count; i += kValuesPerStep)
    {
      for (std::size_t v = 0; v != 2; ++v)
      {
        const __m256d some = _mm256_loadu_pd(values + i + v * kLanes);
        nan = _mm256_or_pd(nan, _mm256_cmp_pd(some, some, _CMP_UNORD_Q));
        bottom[v] = _mm256_min_pd(some, bottom[v]);
        top[v] = _mm256_max_pd(some, top[v]);
      }
    }
    for (std::size_t v = 0; v != 2; ++v)
    {
      _mm256_storeu_pd(minimum + v * kLanes, bottom[v]);
      _mm256_storeu_pd(maximum + v * kLanes, top[v]);
    }
    return _mm256_movemask_pd(nan) != 0;
  }
  else
  {
    // Unsigned numbers are compared as signed ones with the opposite sign bit.
    const __m256i sign =
      _mm256_set1_epi64x(std::is_signed_v<V> ? 0 : std::numeric_limits<std::int64_t>::min());
    const auto is_above = [&](__m256i a, __m256i b) BAT_AVX2
    { return _mm256_cmpgt_epi64(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign)); };
    __m256i bottom[2] = { load(minimum), load(minimum + kLanes) };
    __m256i top[2] = { load(maximum), load(maximum + kLanes) };
    for (std::size_t i = 0; i != count; i += kValuesPerStep)
    {
      for (std::size_t v = 0; v != 2; ++v)
      {
        const __m256i some = load(values + i + v * kLanes);
        bottom[v] = _mm256_blendv_epi8(bottom[v], some, is_above(bottom[v], some));
        top[v] = _mm256_blendv_epi8(top[v], some, is_above(some, top[v]));
      }
    }
    for (std::size_t v = 0; v != 2; ++v)
    {
      store(minimum + v * kLanes, bottom[v]);
      store(maximum + v * kLanes, top[v]);
    }
    return false;
  }
}

template <class V>
BAT_AVX2 void mark_values(const V* values, const std::uint16_t* blocks, std::size_t count,
  const CellBits<V>& bits, std::uint32_t* bitmaps)
{
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
  {
    const __m128i cells = cells_of(values + i, bits);
    const auto bit_of = [&](std::size_t lane, int cell) BAT_AVX2 {
      return std::uint32_t{ 1 } << bits.in_cell(static_cast<std::uint32_t>(cell), values[i + lane]);
    };
    const std::uint32_t a = bit_of(0, _mm_cvtsi128_si32(cells));
    const std::uint32_t b = bit_of(1, _mm_extract_epi32(cells, 1));
    const std::uint32_t c = bit_of(2, _mm_extract_epi32(cells, 2));
    const std::uint32_t d = bit_of(3, _mm_extract_epi32(cells, 3));
    bitmaps[blocks[i]] |= a;
    bitmaps[blocks[i + 1]] |= b;
    bitmaps[blocks[i + 2]] |= c;
    bitmaps[blocks[i + 3]] |= d;
  }
  for (; i != count; ++i)
  {
    bitmaps[blocks[i]] |= std::uint32_t{ 1 } << bits(values[i]);
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

BAT_AVX2 CellBox tight_cells(const TreeletKey* keys, std::size_t count)
{
  __m256i lower = _mm256_set1_epi64x(static_cast<long long>(keys[0]));
  __m256i upper = lower;
  const auto add = [&](const TreeletKey* four) BAT_AVX2
  {
    const __m256i some = load(four);
    lower = _mm256_min_epi16(lower, some);
    upper = _mm256_max_epi16(upper, some);
  };
  for (std::size_t i = 0; i + kLanes <= count; i += kLanes)
  {
    add(keys + i);
  }
  add(keys + count - kLanes);
  const __m128i bottom =
    _mm_min_epi16(_mm256_castsi256_si128(lower), _mm256_extracti128_si256(lower, 1));
  const __m128i top =
    _mm_max_epi16(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
  std::array<std::int16_t, 8> ends[2];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(ends[0].data()), bottom);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(ends[1].data()), top);
  CellBox box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.lower[axis] = std::min(ends[0][axis], ends[0][axis + 4]);
    box.upper[axis] = std::max(ends[1][axis], ends[1][axis + 4]);
  }
  return box;
}

std::size_t partition(TreeletKey* keys, std::size_t count, std::size_t axis, std::int16_t pivot,
  bool or_equal, TreeletKey* room)
{
  return or_equal ? partition_by<true>(keys, count, axis, pivot, room)
                  : partition_by<false>(keys, count, axis, pivot, room);
}

BAT_AVX2 void split_few(TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis)
{
  constexpr std::size_t kVectors = kMaxComparedKeys / kLanes;
  const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(16 * axis));
  const __m256i word = _mm256_set1_epi64x(0xFFFF);
  const __m256i highest = _mm256_set1_epi64x(std::numeric_limits<std::int16_t>::max());
  __m256i vectors[kVectors]; // std::array would lose its alignment
  __m256i cells_of_vector[kVectors];
  __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
  const __m256i end = _mm256_set1_epi64x(static_cast<long long>(count));
  for (std::size_t v = 0; v != kVectors; ++v)
  {
    const __m256i used = _mm256_cmpgt_epi64(end, lane);
    vectors[v] = _mm256_maskload_epi64(reinterpret_cast<const long long*>(keys + v * kLanes), used);
    const __m256i cell = _mm256_and_si256(_mm256_srl_epi64(vectors[v], shift), word);
    cells_of_vector[v] = _mm256_blendv_epi8(highest, cell, used);
    lane = _mm256_add_epi64(lane, _mm256_set1_epi64x(kLanes));
  }
  const __m256i first = words_of(cells_of_vector);
  const __m256i second = words_of(cells_of_vector + kVectors / 2);
  alignas(32) std::array<std::int16_t, kMaxComparedKeys> cells;
  store(cells.data(), first);
  store(cells.data() + kMaxComparedKeys / 2, second);
  // Counts the cells below each cell. The pivot is the highest cell with at most `left` below it.
  __m256i below_first = _mm256_setzero_si256();
  __m256i below_second = _mm256_setzero_si256();
  for (std::size_t i = 0; i != count; ++i)
  {
    const __m256i cell = _mm256_set1_epi16(cells[i]);
    below_first = _mm256_sub_epi16(below_first, _mm256_cmpgt_epi16(first, cell));
    below_second = _mm256_sub_epi16(below_second, _mm256_cmpgt_epi16(second, cell));
  }
  const __m256i top = _mm256_set1_epi16(static_cast<short>(left));
  const __m256i lowest = _mm256_set1_epi16(std::numeric_limits<std::int16_t>::min());
  const __m256i pivots = highest_word(
    _mm256_max_epi16(_mm256_blendv_epi8(first, lowest, _mm256_cmpgt_epi16(below_first, top)),
      _mm256_blendv_epi8(second, lowest, _mm256_cmpgt_epi16(below_second, top))));
  const auto used = static_cast<std::uint32_t>((std::uint64_t{ 1 } << count) - 1);
  std::uint32_t to_left =
    used & bits_of_words(_mm256_cmpgt_epi16(pivots, first), _mm256_cmpgt_epi16(pivots, second));
  std::uint32_t equal =
    used & bits_of_words(_mm256_cmpeq_epi16(pivots, first), _mm256_cmpeq_epi16(pivots, second));
  for (std::size_t i = static_cast<std::size_t>(_mm_popcnt_u32(to_left)); i != left; ++i)
  {
    to_left |= equal & (0 - equal);
    equal &= equal - 1;
  }
  std::array<TreeletKey, kMaxComparedKeys + kLanes> sorted;
  std::array<TreeletKey, kMaxComparedKeys + kLanes> others;
  TreeletKey* low = sorted.data();
  TreeletKey* high = others.data();
  for (std::size_t v = 0; v * kLanes < count; ++v)
  {
    part_keys(vectors[v], to_left >> v * kLanes & 15u, low, high);
  }
  std::copy(sorted.data(), low, keys);
  std::copy(others.data(), others.data() + (count - left), keys + left);
}

template <class V>
bool extend(const V* values, std::size_t count, V* minimum, V* maximum)
{
  return extend_lanes(values, count, minimum, maximum);
}

template <class V>
void mark(const V* values, const std::uint16_t* blocks, std::size_t count, const CellBits<V>& bits,
  std::uint32_t* bitmaps)
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

CellBox tight_cells(const TreeletKey*, std::size_t)
{
  return {};
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
void mark(const V*, const std::uint16_t*, std::size_t, const CellBits<V>&, std::uint32_t*)
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
  const double*, const std::uint16_t*, std::size_t, const CellBits<double>&, std::uint32_t*);
template void mark(const std::int64_t*, const std::uint16_t*, std::size_t,
  const CellBits<std::int64_t>&, std::uint32_t*);
template void mark(const std::uint64_t*, const std::uint16_t*, std::size_t,
  const CellBits<std::uint64_t>&, std::uint32_t*);
}
