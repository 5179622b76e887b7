// SPDX-License-Identifier: BSD-3-Clause
#include "particles/query/range_loops.hpp"

#include "common/intrinsics.hpp"
#include "common/processor.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace bat::query
{
namespace
{
#ifdef BAT_AVX512
namespace avx512
{
template <class T>
BAT_AVX512 __m512i all(T value)
{
  if constexpr (std::is_same_v<T, float>)
  {
    return _mm512_castps_si512(_mm512_set1_ps(value));
  }
  else if constexpr (std::is_same_v<T, double>)
  {
    return _mm512_castpd_si512(_mm512_set1_pd(value));
  }
  else if constexpr (sizeof(T) == 1)
  {
    return _mm512_set1_epi8(static_cast<char>(value));
  }
  else if constexpr (sizeof(T) == 2)
  {
    return _mm512_set1_epi16(static_cast<short>(value));
  }
  else if constexpr (sizeof(T) == 4)
  {
    return _mm512_set1_epi32(static_cast<int>(value));
  }
  else
  {
    return _mm512_set1_epi64(static_cast<long long>(value));
  }
}

template <class T>
BAT_AVX512 __m512i first_of(const T* values, std::uint64_t lanes)
{
  if constexpr (sizeof(T) == 1)
  {
    return _mm512_maskz_loadu_epi8(lanes, values);
  }
  else if constexpr (sizeof(T) == 2)
  {
    return _mm512_maskz_loadu_epi16(static_cast<__mmask32>(lanes), values);
  }
  else if constexpr (sizeof(T) == 4)
  {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), values);
  }
  else
  {
    return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(lanes), values);
  }
}

template <class T>
BAT_AVX512 void match_between(
  const Elements* parts, std::size_t part_count, T lower, T upper, Matches& matches)
{
  constexpr std::size_t lanes = 64 / sizeof(T);
  const __m512i minimum = all(lower);
  const __m512i maximum = all(upper);
  for (std::size_t p = 0; p != part_count; ++p)
  {
    const T* values = reinterpret_cast<const T*>(parts[p].first);
    for (std::size_t left = parts[p].count; left != 0;)
    {
      const std::size_t count = std::min(left, kWordBits);
      std::uint64_t bits = 0;
      for (std::size_t v = 0; v < count; v += lanes)
      {
        const __m512i x = first_of(values + v, lowest_bits(count - v));
        bits |= static_cast<std::uint64_t>(not_above<T>(minimum, x) & not_above<T>(x, maximum))
          << v;
      }
      matches.keep(count, bits);
      values += count;
      left -= count;
    }
  }
}
}

namespace avx2
{
template <class T>
constexpr std::size_t kLanes = 32 / sizeof(T);

// Values of T in lanes, transformed so that greater() compares them, because unsigned comparisons
// do not exist.
template <class T>
BAT_AVX2 __m256i turned(__m256i values)
{
  if constexpr (std::is_unsigned_v<T>)
  {
    return _mm256_xor_si256(values,
      sizeof(T) == 4 ? _mm256_set1_epi32(static_cast<int>(0x80000000u))
                     : _mm256_set1_epi64x(static_cast<long long>(0x8000000000000000u)));
  }
  return values;
}

template <class T>
BAT_AVX2 __m256i all(T value)
{
  if constexpr (std::is_same_v<T, float>)
  {
    return _mm256_castps_si256(_mm256_set1_ps(value));
  }
  else if constexpr (std::is_same_v<T, double>)
  {
    return _mm256_castpd_si256(_mm256_set1_pd(value));
  }
  else if constexpr (sizeof(T) == 4)
  {
    return turned<T>(_mm256_set1_epi32(static_cast<int>(value)));
  }
  else
  {
    return turned<T>(_mm256_set1_epi64x(static_cast<long long>(value)));
  }
}

// Lanes whose number is below `count` are all ones.
template <class T>
BAT_AVX2 __m256i lanes_below(std::size_t count)
{
  if constexpr (sizeof(T) == 4)
  {
    return _mm256_cmpgt_epi32(
      _mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  else
  {
    return _mm256_cmpgt_epi64(
      _mm256_set1_epi64x(static_cast<long long>(count)), _mm256_setr_epi64x(0, 1, 2, 3));
  }
}

// The first `count` values, at most as many as there are lanes; other lanes are zero.
template <class T>
BAT_AVX2 __m256i first_of(const T* values, std::size_t count)
{
  if constexpr (sizeof(T) == 4)
  {
    return turned<T>(
      _mm256_maskload_epi32(reinterpret_cast<const int*>(values), lanes_below<T>(count)));
  }
  else
  {
    return turned<T>(
      _mm256_maskload_epi64(reinterpret_cast<const long long*>(values), lanes_below<T>(count)));
  }
}

// One bit for each lane.
template <class T>
BAT_AVX2 std::uint64_t bits_between(__m256i values, __m256i minimum, __m256i maximum)
{
  if constexpr (std::is_same_v<T, float>)
  {
    const __m256 x = _mm256_castsi256_ps(values);
    return static_cast<unsigned>(
      _mm256_movemask_ps(_mm256_and_ps(_mm256_cmp_ps(_mm256_castsi256_ps(minimum), x, _CMP_LE_OQ),
        _mm256_cmp_ps(x, _mm256_castsi256_ps(maximum), _CMP_LE_OQ))));
  }
  else if constexpr (std::is_same_v<T, double>)
  {
    const __m256d x = _mm256_castsi256_pd(values);
    return static_cast<unsigned>(
      _mm256_movemask_pd(_mm256_and_pd(_mm256_cmp_pd(_mm256_castsi256_pd(minimum), x, _CMP_LE_OQ),
        _mm256_cmp_pd(x, _mm256_castsi256_pd(maximum), _CMP_LE_OQ))));
  }
  else if constexpr (sizeof(T) == 4)
  {
    const __m256i outside =
      _mm256_or_si256(_mm256_cmpgt_epi32(minimum, values), _mm256_cmpgt_epi32(values, maximum));
    return ~static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(outside))) & 0xffu;
  }
  else
  {
    const __m256i outside =
      _mm256_or_si256(_mm256_cmpgt_epi64(minimum, values), _mm256_cmpgt_epi64(values, maximum));
    return ~static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(outside))) & 0xfu;
  }
}

template <class T>
BAT_AVX2 void match_between(
  const Elements* parts, std::size_t part_count, T lower, T upper, Matches& matches)
{
  const __m256i minimum = all(lower);
  const __m256i maximum = all(upper);
  for (std::size_t p = 0; p != part_count; ++p)
  {
    const T* values = reinterpret_cast<const T*>(parts[p].first);
    for (std::size_t left = parts[p].count; left != 0;)
    {
      const std::size_t count = std::min(left, kWordBits);
      std::uint64_t bits = 0;
      for (std::size_t v = 0; v < count; v += kLanes<T>)
      {
        bits |= bits_between<T>(first_of(values + v, count - v), minimum, maximum) << v;
      }
      matches.keep(count, bits);
      values += count;
      left -= count;
    }
  }
}
}
#endif
}

template <class T>
bool match_between([[maybe_unused]] const Elements* parts, [[maybe_unused]] std::size_t part_count,
  [[maybe_unused]] T lower, [[maybe_unused]] T upper, [[maybe_unused]] Matches& matches) noexcept
{
#ifdef BAT_AVX512
  if (processor::has_avx512())
  {
    avx512::match_between(parts, part_count, lower, upper, matches);
    return true;
  }
  if constexpr (sizeof(T) >= 4) // smaller lanes cannot be loaded one by one
  {
    if (processor::has_avx2())
    {
      avx2::match_between(parts, part_count, lower, upper, matches);
      return true;
    }
  }
#endif
  return false;
}

template bool match_between(
  const Elements*, std::size_t, std::int8_t, std::int8_t, Matches&) noexcept;
template bool match_between(
  const Elements*, std::size_t, std::uint8_t, std::uint8_t, Matches&) noexcept;
template bool match_between(
  const Elements*, std::size_t, std::int16_t, std::int16_t, Matches&) noexcept;
template bool match_between(
  const Elements*, std::size_t, std::uint16_t, std::uint16_t, Matches&) noexcept;
template bool match_between(
  const Elements*, std::size_t, std::int32_t, std::int32_t, Matches&) noexcept;
template bool match_between(
  const Elements*, std::size_t, std::uint32_t, std::uint32_t, Matches&) noexcept;
template bool match_between(
  const Elements*, std::size_t, std::int64_t, std::int64_t, Matches&) noexcept;
template bool match_between(
  const Elements*, std::size_t, std::uint64_t, std::uint64_t, Matches&) noexcept;
template bool match_between(const Elements*, std::size_t, float, float, Matches&) noexcept;
template bool match_between(const Elements*, std::size_t, double, double, Matches&) noexcept;
}
