// SPDX-License-Identifier: BSD-3-Clause
// Four particles side by side: one number per particle in a vector.
#pragma once

#include "common/intrinsics.hpp"
#include "flow/walk/vector4.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace bat::flow
{
inline constexpr unsigned kLanes = 4;
inline constexpr unsigned kAllLanes = (1u << kLanes) - 1;

/// All bits of a lane are set, or none.
using LaneMask = decltype(Vector4{} < Vector4{});

/// Bit k belongs to lane k.
[[nodiscard]] BAT_INLINE unsigned bits_of(const LaneMask& mask)
{
#ifdef __SSE2__
  __m128d low;
  __m128d high;
  const auto* const from = reinterpret_cast<const char*>(&mask);
  std::memcpy(&low, from, sizeof(low));
  std::memcpy(&high, from + sizeof(low), sizeof(high));
  return static_cast<unsigned>(_mm_movemask_pd(low)) |
    static_cast<unsigned>(_mm_movemask_pd(high)) << 2;
#else
  return static_cast<unsigned>((mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8));
#endif
}

[[nodiscard]] BAT_INLINE LaneMask mask_of(unsigned bits)
{
  const Vector4 numbers{ static_cast<double>(bits & 1), static_cast<double>(bits & 2),
    static_cast<double>(bits & 4), static_cast<double>(bits & 8) };
  return numbers > 0;
}
/// True for at least one lane.
[[nodiscard]] BAT_INLINE unsigned lowest_lane(unsigned bits)
{
  return static_cast<unsigned>(__builtin_ctz(bits));
}
[[nodiscard]] BAT_INLINE unsigned lanes_in(unsigned bits)
{
  return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1) + (bits >> 3 & 1);
}

[[nodiscard]] BAT_INLINE Vector4 compute_roots(const Vector4& v)
{
  return Vector4{ std::sqrt(v[0]), std::sqrt(v[1]), std::sqrt(v[2]), std::sqrt(v[3]) };
}

/// Approximates x^(1/5) for 1e-300 < x < 1e300, to within a hundredth.
[[nodiscard]] BAT_INLINE Vector4 compute_fifth_roots(const Vector4& x)
{
  typedef std::int64_t Longs __attribute__((vector_size(32)));
  typedef std::int32_t Ints __attribute__((vector_size(16)));
  Longs bits;
  std::memcpy(&bits, &x, sizeof(bits));
  // A fifth of the exponent gives the result to within a few percent.
  const Ints high = __builtin_convertvector(bits >> 32, Ints);
  const Vector4 part = 0.2 * __builtin_convertvector(high, Vector4) + 858117898.0;
  const Longs guess = __builtin_convertvector(__builtin_convertvector(part, Ints), Longs) << 32;
  Vector4 y;
  std::memcpy(&y, &guess, sizeof(y));
  const Vector4 square = y * y;
  return 0.8 * y + 0.2 * (x / (square * square));
}

/// A point or vector in each lane.
struct Vectors
{
  Vector4 x;
  Vector4 y;
  Vector4 z;

  [[nodiscard]] BAT_INLINE std::array<double, 3> of(unsigned lane) const
  {
    return { this->x[lane], this->y[lane], this->z[lane] };
  }
  BAT_INLINE void set(unsigned lane, const std::array<double, 3>& v)
  {
    this->x[lane] = v[0];
    this->y[lane] = v[1];
    this->z[lane] = v[2];
  }
};

[[nodiscard]] BAT_INLINE Vectors operator+(const Vectors& a, const Vectors& b)
{
  return { a.x + b.x, a.y + b.y, a.z + b.z };
}
[[nodiscard]] BAT_INLINE Vectors operator-(const Vectors& a, const Vectors& b)
{
  return { a.x - b.x, a.y - b.y, a.z - b.z };
}
[[nodiscard]] BAT_INLINE Vectors operator*(double s, const Vectors& v)
{
  return { s * v.x, s * v.y, s * v.z };
}
[[nodiscard]] BAT_INLINE Vectors operator*(const Vector4& s, const Vectors& v)
{
  return { s * v.x, s * v.y, s * v.z };
}
[[nodiscard]] BAT_INLINE Vectors chosen(const LaneMask& mask, const Vectors& a, const Vectors& b)
{
  return { mask ? a.x : b.x, mask ? a.y : b.y, mask ? a.z : b.z };
}
/// True for lanes inside the cell.
[[nodiscard]] BAT_INLINE Vectors inside(const Vectors& v)
{
  const Vector4 low = all_of(0);
  const Vector4 high = all_of(1);
  return { smaller(larger(v.x, low), high), smaller(larger(v.y, low), high),
    smaller(larger(v.z, low), high) };
}
}
