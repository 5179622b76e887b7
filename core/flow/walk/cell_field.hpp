// SPDX-License-Identifier: BSD-3-Clause
// The velocity in one cell during one interval: trilinear in space, linear in time, one polynomial.
#pragma once

#include "flow/walk/particle.hpp"
#include "flow/walk/vector4.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace bat::flow
{
struct CellField
{
  std::array<Vector4, 8> q; ///< of products of x, y, z (bits 1, 2, 4), at the beginning
  std::array<Vector4, 8> r; ///< of the same times the share of the interval

  /// In cells per interval.
  [[nodiscard]] BAT_INLINE Vector4 at(const Vector4& p, double t) const
  {
    const Vector4 x = all_of(p[0]);
    const Vector4 y = all_of(p[1]);
    const Vector4 z = all_of(p[2]);
    std::array<Vector4, 8> v;
    for (std::size_t k = 0; k != 8; ++k)
    {
      v[k] = this->q[k] + t * this->r[k];
    }
    for (std::size_t k = 0; k != 4; ++k)
    {
      v[k] = v[k] + z * v[k + 4];
    }
    v[0] = v[0] + y * v[2];
    v[1] = v[1] + y * v[3];
    return v[0] + x * v[1];
  }
};

/// Velocity at a point, in cells per interval.
template <class T>
[[nodiscard]] BAT_INLINE Vector4 load_corner(
  const WalkFrame& run, const Vector4& scale, const std::byte* value)
{
  Vector4 v = load_vector<T>(value, run.components);
  // Of a point as a whole: NaN of one component is no velocity.
  if (run.no_slip && !(v[0] == v[0] && v[1] == v[1] && v[2] == v[2]))
  {
    v = all_of(0);
  }
  return v * scale;
}

/// Of the cell whose first point is `offset` bytes into the values. False if it is without flow.
template <class T>
[[nodiscard]] BAT_INLINE bool load_cell(const WalkFrame& run, const IntervalFrame& interval,
  const BrickPair& bricks, std::size_t offset, CellField& cell)
{
  Vector4 scale;
  std::memcpy(&scale, interval.scale.data(), sizeof(scale));
  for (std::size_t k = 0; k != 8; ++k)
  {
    const std::size_t at = offset + ((k & 1) != 0 ? run.stride[0] : 0) +
      ((k & 2) != 0 ? run.stride[1] : 0) + ((k & 4) != 0 ? run.stride[2] : 0);
    const Vector4 before = load_corner<T>(run, scale, bricks.before + at);
    cell.q[k] = before;
    cell.r[k] = load_corner<T>(run, scale, bricks.after + at) - before;
  }
  for (std::size_t bit = 1; bit != 8; bit *= 2)
  {
    for (std::size_t k = 0; k != 8; ++k)
    {
      if ((k & bit) != 0)
      {
        cell.q[k] = cell.q[k] - cell.q[k - bit];
        cell.r[k] = cell.r[k] - cell.r[k - bit];
      }
    }
  }
  // Made of all corners: finite if they are.
  const Vector4 last = cell.q[7] + cell.r[7];
  const double sum = last[0] + last[1] + last[2];
  return sum - sum == 0;
}
}
