// SPDX-License-Identifier: BSD-3-Clause
// Represents numbers by words of their bits, so that differences between nearby numbers are small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__GNUC__)
#define BAT_INLINE inline __attribute__((always_inline)) // compiled for several processors
#else
#define BAT_INLINE inline
#endif

namespace bat::codec
{
template <class U>
inline constexpr unsigned kBits = std::numeric_limits<U>::digits;

/// Maps differences close to 0, of either sign, to small words.
template <class U>
[[nodiscard]] BAT_INLINE U zigzag(U difference) noexcept
{
  const U sign = static_cast<U>(0 - (difference >> (kBits<U> - 1)));
  return static_cast<U>(static_cast<U>(difference << 1) ^ sign);
}

template <class U>
[[nodiscard]] BAT_INLINE U from_zigzag(U word) noexcept
{
  return static_cast<U>(static_cast<U>(word >> 1) ^ static_cast<U>(0 - (word & 1)));
}

/// Maps the bits of a floating-point number, without the `dropped` lowest, which are 0, to an
/// integer in two's complement that increases with the number.
template <class U>
[[nodiscard]] BAT_INLINE U ranked(U bits, unsigned dropped) noexcept
{
  using S = std::make_signed_t<U>;
  const U all = static_cast<U>(std::numeric_limits<S>::max()) >> dropped;
  const U word = static_cast<U>(static_cast<S>(bits) >> dropped);
  return static_cast<U>(word ^ (static_cast<U>(static_cast<S>(bits) >> (kBits<U> - 1)) & all));
}

template <class U>
[[nodiscard]] BAT_INLINE U from_ranked(U word, unsigned dropped) noexcept
{
  using S = std::make_signed_t<U>;
  const U all = static_cast<U>(std::numeric_limits<S>::max()) >> dropped;
  const U sign = static_cast<U>(static_cast<S>(word) >> (kBits<U> - 1));
  return static_cast<U>(static_cast<U>(word ^ (sign & all)) << dropped);
}

/// Returns the number of bits up to the highest set bit.
template <class U>
[[nodiscard]] BAT_INLINE unsigned bit_length(U word) noexcept
{
#if defined(__GNUC__)
  return word == 0 ? 0u : 64u - static_cast<unsigned>(__builtin_clzll(word));
#else
  unsigned length = 0;
  for (; word != 0; word = static_cast<U>(word >> 1))
  {
    ++length;
  }
  return length;
#endif
}

template <class T>
[[nodiscard]] BAT_INLINE T load(const void* from) noexcept
{
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
BAT_INLINE void store(void* to, T value) noexcept
{
  std::memcpy(to, &value, sizeof(T));
}
}
