// SPDX-License-Identifier: BSD-3-Clause
// Numbers on a grid whose points are the multiples of a step.
#pragma once

#include "codec/grid.hpp"
#include "codec/words.hpp"

#include <cstdint>
#include <type_traits>

namespace bat::codec
{
/// 1.5 * 2^52. Adding a number below 2^51 in magnitude rounds it to the nearest integer, which is
/// then in the lower bits of the sum.
inline constexpr double kRoundingConstant = 6755399441055744.0;

template <class T>
inline constexpr double kMaxSteps = std::is_same_v<T, float> ? kMaxStepsFloat32 : kMaxStepsFloat64;

/// Returns the number of steps to the grid point nearest to a number; 0 if `holds` becomes false.
template <class T>
[[nodiscard]] BAT_INLINE double steps_to(T number, double step, bool& holds) noexcept
{
  const double quotient = static_cast<double>(number) / step;
  holds = (quotient >= -kMaxSteps<T>)&(quotient <= kMaxSteps<T>); // not NaN
  return ((holds ? quotient : 0.0) + kRoundingConstant) - kRoundingConstant;
}

/// Returns the grid point `steps` steps from 0. Never -0, which is not on the grid.
template <class T>
[[nodiscard]] BAT_INLINE T grid_point(double steps, double step) noexcept
{
  return static_cast<T>(steps * step + 0.0);
}

/// Returns whether |a - b| <= bound, exactly; false if a is NaN.
[[nodiscard]] BAT_INLINE bool is_within(double a, double b, double bound) noexcept
{
  // Knuth's two-sum: difference + rest equals a - b without rounding.
  const double difference = a - b;
  const double virtual_b = difference - a;
  const double rest = (a - (difference - virtual_b)) - (b + virtual_b);
  const double magnitude = difference < 0 ? -difference : difference;
  const double beyond = difference < 0 ? -rest : rest;
  return (magnitude < bound) | ((magnitude == bound) & (beyond <= 0));
}
}
