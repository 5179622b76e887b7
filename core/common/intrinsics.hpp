// SPDX-License-Identifier: BSD-3-Clause
// Support for loops with instructions that the program does not require: BAT_AVX2 and BAT_AVX512
// mark functions with these, which may be called if processor::has_avx2() or has_avx512().
// Undefined if the compiler does not support them.
#pragma once

#include <type_traits>

#if defined(__x86_64__) && defined(__GNUC__)
#ifndef __clang__ // GCC's header leaves values undefined on purpose (GCC bug 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#define BAT_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define BAT_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))

namespace bat
{
/// Returns one bit for each pair of values of T with a <= b; 0 if one is NaN.
template <class T>
BAT_AVX512 auto not_above(__m512i a, __m512i b)
{
  if constexpr (std::is_same_v<T, float>)
  {
    return _mm512_cmp_ps_mask(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _CMP_LE_OQ);
  }
  else if constexpr (std::is_same_v<T, double>)
  {
    return _mm512_cmp_pd_mask(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _CMP_LE_OQ);
  }
  else if constexpr (sizeof(T) == 1)
  {
    return std::is_signed_v<T> ? _mm512_cmple_epi8_mask(a, b) : _mm512_cmple_epu8_mask(a, b);
  }
  else if constexpr (sizeof(T) == 2)
  {
    return std::is_signed_v<T> ? _mm512_cmple_epi16_mask(a, b) : _mm512_cmple_epu16_mask(a, b);
  }
  else if constexpr (sizeof(T) == 4)
  {
    return std::is_signed_v<T> ? _mm512_cmple_epi32_mask(a, b) : _mm512_cmple_epu32_mask(a, b);
  }
  else
  {
    return std::is_signed_v<T> ? _mm512_cmple_epi64_mask(a, b) : _mm512_cmple_epu64_mask(a, b);
  }
}
}
#endif
