// SPDX-License-Identifier: BSD-3-Clause
// A particle's path in one step: a curve of degree 4 over [0, 1], bounded by its control points.
// Finds where it first leaves a box, and where it first enters one.
#pragma once

#include "flow/walk/vector4.hpp"

#include <array>
#include <cstddef>
#include <optional>

namespace bat::flow
{
struct Curve
{
  std::array<Vector4, 5> b;

  [[nodiscard]] BAT_INLINE Vector4 lowest() const
  {
    return smaller(
      smaller(smaller(this->b[0], this->b[1]), smaller(this->b[2], this->b[3])), this->b[4]);
  }
  [[nodiscard]] BAT_INLINE Vector4 highest() const
  {
    return larger(
      larger(larger(this->b[0], this->b[1]), larger(this->b[2], this->b[3])), this->b[4]);
  }
  /// Returns the control points of the halves before and after the middle.
  BAT_INLINE void halve(Curve& before, Curve& after) const
  {
    std::array<Vector4, 5> p = this->b;
    before.b[0] = p[0];
    after.b[4] = p[4];
    for (std::size_t n = 4; n != 0; --n)
    {
      for (std::size_t i = 0; i != n; ++i)
      {
        p[i] = 0.5 * (p[i] + p[i + 1]);
      }
      before.b[5 - n] = p[0];
      after.b[n - 1] = p[n - 1];
    }
  }
};

/// Returns the smallest t in [0, 1] after which a polynomial of degree 4, given by its control
/// points, is above 0; its first control point is not.
[[nodiscard]] std::optional<double> first_root(const std::array<double, 5>& p) noexcept;

/// Returns the first t in [0, end] at which the curve is in the closed box.
[[nodiscard]] std::optional<double> first_inside(
  const Curve& curve, const Vector4& lower, const Vector4& upper, double end) noexcept;
}
