#include "query/avx512.hpp"

#include "intrinsics.hpp"

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
BAT_AVX512 void match_range_of(
  const T* values, std::size_t count, T lower, T upper, std::uint8_t* match)
{
  constexpr std::size_t lanes = 64 / sizeof(T);
  const __m512i least = all(lower);
  const __m512i most = all(upper);
  for (std::size_t i = 0; i != count; i += kMatches)
  {
    std::uint64_t bits = 0;
    for (std::size_t v = 0; v != kMatches; v += lanes)
    {
      const __m512i x = _mm512_loadu_si512(values + i + v);
      bits |= static_cast<std::uint64_t>(not_above<T>(least, x) & not_above<T>(x, most)) << v;
    }
    const __m512i before = _mm512_loadu_si512(match + i);
    _mm512_storeu_si512(match + i, _mm512_maskz_mov_epi8(bits, before));
  }
}

BAT_AVX512 std::uint64_t bits_of_first(const std::uint8_t* match, std::size_t count)
{
  const std::uint64_t first = count == kMatches ? ~0ull : (1ull << count) - 1;
  const __m512i bytes = _mm512_maskz_loadu_epi8(first, match);
  return _mm512_test_epi8_mask(bytes, bytes);
}
}

template <class T>
void match_range(const T* values, std::size_t count, T lower, T upper, std::uint8_t* match) noexcept
{
  match_range_of(values, count, lower, upper, match);
}

std::uint64_t bits_of(const std::uint8_t* match, std::size_t count) noexcept
{
  return bits_of_first(match, count);
}

#else // never called
template <class T>
void match_range(const T*, std::size_t, T, T, std::uint8_t*) noexcept
{
}

std::uint64_t bits_of(const std::uint8_t*, std::size_t) noexcept
{
  return 0;
}
#endif

template void match_range(
  const std::int8_t*, std::size_t, std::int8_t, std::int8_t, std::uint8_t*) noexcept;
template void match_range(
  const std::uint8_t*, std::size_t, std::uint8_t, std::uint8_t, std::uint8_t*) noexcept;
template void match_range(
  const std::int16_t*, std::size_t, std::int16_t, std::int16_t, std::uint8_t*) noexcept;
template void match_range(
  const std::uint16_t*, std::size_t, std::uint16_t, std::uint16_t, std::uint8_t*) noexcept;
template void match_range(
  const std::int32_t*, std::size_t, std::int32_t, std::int32_t, std::uint8_t*) noexcept;
template void match_range(
  const std::uint32_t*, std::size_t, std::uint32_t, std::uint32_t, std::uint8_t*) noexcept;
template void match_range(
  const std::int64_t*, std::size_t, std::int64_t, std::int64_t, std::uint8_t*) noexcept;
template void match_range(
  const std::uint64_t*, std::size_t, std::uint64_t, std::uint64_t, std::uint8_t*) noexcept;
template void match_range(const float*, std::size_t, float, float, std::uint8_t*) noexcept;
template void match_range(const double*, std::size_t, double, double, std::uint8_t*) noexcept;
}
