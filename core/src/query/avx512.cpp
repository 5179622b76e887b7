#include "query/avx512.hpp"

#include "intrinsics.hpp"

#include <algorithm>
#include <type_traits>

namespace bat::query::avx512
{
#ifdef BAT_AVX512
namespace
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
BAT_AVX512 void match_range_of(
  const Elements* parts, std::size_t part_count, T lower, T upper, Matches& matches)
{
  constexpr std::size_t lanes = 64 / sizeof(T);
  const __m512i least = all(lower);
  const __m512i most = all(upper);
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
        bits |= static_cast<std::uint64_t>(not_above<T>(least, x) & not_above<T>(x, most)) << v;
      }
      matches.keep(count, bits);
      values += count;
      left -= count;
    }
  }
}
}

template <class T>
void match_range(
  const Elements* parts, std::size_t part_count, T lower, T upper, Matches& matches) noexcept
{
  match_range_of(parts, part_count, lower, upper, matches);
}

#else // never called
template <class T>
void match_range(const Elements*, std::size_t, T, T, Matches&) noexcept
{
}
#endif

template void match_range(
  const Elements*, std::size_t, std::int8_t, std::int8_t, Matches&) noexcept;
template void match_range(
  const Elements*, std::size_t, std::uint8_t, std::uint8_t, Matches&) noexcept;
template void match_range(
  const Elements*, std::size_t, std::int16_t, std::int16_t, Matches&) noexcept;
template void match_range(
  const Elements*, std::size_t, std::uint16_t, std::uint16_t, Matches&) noexcept;
template void match_range(
  const Elements*, std::size_t, std::int32_t, std::int32_t, Matches&) noexcept;
template void match_range(
  const Elements*, std::size_t, std::uint32_t, std::uint32_t, Matches&) noexcept;
template void match_range(
  const Elements*, std::size_t, std::int64_t, std::int64_t, Matches&) noexcept;
template void match_range(
  const Elements*, std::size_t, std::uint64_t, std::uint64_t, Matches&) noexcept;
template void match_range(const Elements*, std::size_t, float, float, Matches&) noexcept;
template void match_range(const Elements*, std::size_t, double, double, Matches&) noexcept;
}
