// SPDX-License-Identifier: BSD-3-Clause
// The loops in which decoding spends most of its time, compiled for several processors.
#pragma once

#include "codec/bit_writer.hpp"
#include "codec/column_model.hpp"
#include "codec/grid_point.hpp"
#include "codec/words.hpp"
#include "common/intrinsics.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace bat::codec
{
/// A loop's position in the packed bits.
struct BitPosition
{
  const std::byte* memory;
  std::uint64_t position; ///< in bits
};

template <bool two>
[[nodiscard]] BAT_INLINE std::uint64_t bits_at(
  const std::byte* memory, std::uint64_t position) noexcept
{
  const auto shift = static_cast<unsigned>(position & 7);
  const std::uint64_t word = load<std::uint64_t>(memory + (position >> 3)) >> shift;
  if constexpr (two)
  {
    return word | load<std::uint64_t>(memory + (position >> 3) + 8) << 1 << (63 - shift);
  }
  return word;
}

/// The words of values; a value's words are adjacent.
template <class U, std::size_t components, Loads loads>
BAT_INLINE void unpack(const SymbolMeanings<U, components>& meanings, const std::uint8_t* symbols,
  std::size_t count, BitPosition& from, U* words) noexcept
{
  std::uint64_t position = from.position;
  for (std::size_t i = 0; i != count; ++i)
  {
    const SymbolMeaning<U, components>& meaning = meanings[symbols[i]];
    if constexpr (loads == Loads::One)
    {
      std::uint64_t bits = bits_at<false>(from.memory, position);
      for (std::size_t c = 0; c != components; ++c)
      {
        words[i * components + c] =
          static_cast<U>((static_cast<U>(bits) & meaning.mask[c]) + meaning.base[c]);
        bits >>= meaning.bits[c];
      }
    }
    else
    {
      std::uint64_t at = position;
      for (std::size_t c = 0; c != components; ++c)
      {
        const auto bits = static_cast<U>(bits_at<loads == Loads::TwoEach>(from.memory, at));
        words[i * components + c] = static_cast<U>((bits & meaning.mask[c]) + meaning.base[c]);
        at += meaning.bits[c];
      }
    }
    position += meaning.total;
  }
  from.position = position;
}

/// Destination and properties of a stream's components.
template <class U, std::size_t components>
struct Places
{
  std::array<std::byte*, components> values{}; ///< addresses of value 0
  std::size_t stride = 0;                      ///< bytes from one value to the next
  std::array<unsigned, components> dropped{};  ///< lowest bits that are 0
  std::array<U, components> before{};          ///< base of the first differences
  double step = 0;                             ///< grid step, if there is a grid
};

/// Stores words unchanged.
template <class U, std::size_t components>
struct WordSink
{
  Places<U, components> places;

  BAT_INLINE void operator()(std::size_t first, std::size_t count, const U* words) noexcept
  {
    for (std::size_t i = 0; i != count; ++i)
    {
      for (std::size_t c = 0; c != components; ++c)
      {
        store(this->places.values[c] + (first + i) * this->places.stride,
          static_cast<U>(words[i * components + c] << this->places.dropped[c]));
      }
    }
  }
};

/// Interpretation of the words restored from differences.
enum class Numbers
{
  Integers,
  Floats,    ///< ranked()
  GridPoints ///< steps
};

template <class U>
using FloatOf = std::conditional_t<sizeof(U) == sizeof(float), float, double>;

template <class U, std::size_t components, Numbers numbers>
struct DifferenceSink
{
  Places<U, components> places;
  std::array<U, components> before{};

  BAT_INLINE void operator()(std::size_t first, std::size_t count, const U* zigzags) noexcept
  {
    std::array<U, components> word = this->before;
    for (std::size_t i = 0; i != count; ++i)
    {
      for (std::size_t c = 0; c != components; ++c)
      {
        word[c] = static_cast<U>(word[c] + from_zigzag(zigzags[i * components + c]));
        std::byte* const to = this->places.values[c] + (first + i) * this->places.stride;
        if constexpr (numbers == Numbers::GridPoints)
        {
          const auto steps = static_cast<double>(static_cast<std::make_signed_t<U>>(word[c]));
          store(to, grid_point<FloatOf<U>>(steps, this->places.step));
        }
        else if constexpr (numbers == Numbers::Floats)
        {
          store(to, from_ranked(word[c], this->places.dropped[c]));
        }
        else
        {
          store(to, static_cast<U>(word[c] << this->places.dropped[c]));
        }
      }
    }
    this->before = word;
  }
};

#ifdef BAT_AVX2
/// Restores three adjacent 32-bit numbers with SSE2. No bits are dropped.
template <Numbers numbers>
struct PackedSink
{
  std::byte* values;
  double step;
  __m128i before;

  BAT_INLINE void operator()(
    std::size_t first, std::size_t count, const std::uint32_t* zigzags) noexcept
  {
    constexpr std::size_t kValue = 3 * sizeof(std::uint32_t);
    const __m128i one = _mm_set1_epi32(1);
    const __m128i zero = _mm_setzero_si128();
    const __m128d steps = _mm_set1_pd(this->step);
    __m128i word = this->before;
    const auto next = [&](std::size_t i)
    {
      // Writes one extra lane, whose content does not matter.
      const __m128i zigzag = _mm_loadu_si128(reinterpret_cast<const __m128i*>(zigzags + 3 * i));
      word = _mm_add_epi32(word,
        _mm_xor_si128(_mm_srli_epi32(zigzag, 1), _mm_sub_epi32(zero, _mm_and_si128(zigzag, one))));
      if constexpr (numbers == Numbers::Floats)
      {
        return _mm_xor_si128(word, _mm_srli_epi32(_mm_srai_epi32(word, 31), 1));
      }
      else if constexpr (numbers == Numbers::GridPoints)
      {
        const __m128d low = _mm_cvtepi32_pd(word);
        const __m128d high = _mm_cvtepi32_pd(_mm_shuffle_epi32(word, 0xEE));
        const __m128d no = _mm_setzero_pd(); // -0 becomes +0
        return _mm_castps_si128(_mm_movelh_ps(_mm_cvtpd_ps(_mm_add_pd(_mm_mul_pd(low, steps), no)),
          _mm_cvtpd_ps(_mm_add_pd(_mm_mul_pd(high, steps), no))));
      }
      else
      {
        return word;
      }
    };
    std::byte* const to = this->values + first * kValue;
    for (std::size_t i = 0; i + 1 < count; ++i)
    {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * kValue), next(i));
    }
    if (count != 0) // nothing beyond it
    {
      std::array<std::byte, sizeof(__m128i)> last;
      _mm_storeu_si128(reinterpret_cast<__m128i*>(last.data()), next(count - 1));
      std::memcpy(to + (count - 1) * kValue, last.data(), kValue);
    }
    this->before = word;
  }
};
#endif
}
