// SPDX-License-Identifier: BSD-3-Clause
// Four numbers side by side, of which three are x, y, z and the fourth is nobody's.
#pragma once

#include "common/codec/words.hpp"

#include <cstddef>
#include <cstring>

namespace bat::flow
{
/// The compiler's vectors: the same operations, and so the same bits, whatever the processor has.
typedef double Vector4 __attribute__((vector_size(32)));

[[nodiscard]] BAT_INLINE Vector4 all_of(double v)
{
  return Vector4{ v, v, v, v };
}

[[nodiscard]] BAT_INLINE Vector4 smaller(const Vector4& a, const Vector4& b)
{
  return a < b ? a : b;
}
[[nodiscard]] BAT_INLINE Vector4 larger(const Vector4& a, const Vector4& b)
{
  return a > b ? a : b;
}

/// Of a point with that many components, and not a byte beyond it, where others may be writing.
template <class T>
[[nodiscard]] BAT_INLINE Vector4 load_vector(const std::byte* from, int components)
{
  typedef T Values __attribute__((vector_size(4 * sizeof(T))));
  Values v{};
  if (components == 3)
  {
    std::memcpy(&v, from, 3 * sizeof(T));
  }
  else
  {
    std::memcpy(&v, from, 2 * sizeof(T));
  }
  return __builtin_convertvector(v, Vector4);
}

[[nodiscard]] BAT_INLINE double squared_length(const Vector4& v)
{
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}
[[nodiscard]] BAT_INLINE double largest_of(const Vector4& v)
{
  const double xy = v[0] > v[1] ? v[0] : v[1];
  return xy > v[2] ? xy : v[2];
}
[[nodiscard]] BAT_INLINE Vector4 magnitude_of(const Vector4& v)
{
  return larger(v, -v);
}
}
