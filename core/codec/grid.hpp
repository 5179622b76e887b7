// SPDX-License-Identifier: BSD-3-Clause
// The grid to which the numbers of a bounded column are rounded.
#pragma once

namespace bat::codec
{
/// A hint to the encoder: many numbers are a whole multiple of this step, rounded to their type, as
/// snap() makes them. Only floating-point columns have a grid.
struct Grid
{
  double step = 0; ///< 0: none
};

/// Returns the grid step for an error bound.
[[nodiscard]] inline double grid_step(double bound) noexcept
{
  return 2 * bound;
}

/// Numbers farther from 0 than this many steps stay as they are: a grid point must differ from its
/// neighbours after it is rounded to the type.
inline constexpr double kMaxStepsFloat32 = 4194304.0;          // 2^22
inline constexpr double kMaxStepsFloat64 = 1125899906842624.0; // 2^50
}
