// SPDX-License-Identifier: BSD-3-Clause
// Four numbers side by side: one for each of four particles, or x, y, z and an unused one.
#pragma once

#include "codec/words.hpp"

namespace bat::flow
{
/// The compiler's vector types: the same operations, and therefore the same bits, on any processor.
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

[[nodiscard]] BAT_INLINE Vector4 magnitude_of(const Vector4& v)
{
  return larger(v, -v);
}
}
