// SPDX-License-Identifier: BSD-3-Clause
// Rounds many numbers to grid points at a time.
#pragma once

#include "codec/grid_point.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::codec
{
/// Returns whether a number has the bits of a grid point.
template <class T>
[[nodiscard]] BAT_INLINE bool is_grid_point(T number, double step) noexcept
{
  // A number outside the grid gets step 0, whose point differs from it.
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  bool holds = false;
  const T point = grid_point<T>(steps_to(number, step, holds), step);
  return load<U>(&point) == load<U>(&number);
}

/// Computes the steps of numbers, in two's complement. Returns whether all are grid points.
bool to_steps(const float* numbers, std::size_t count, double step, std::uint32_t* steps) noexcept;
bool to_steps(const double* numbers, std::size_t count, double step, std::uint64_t* steps) noexcept;

/// Works as snap() does.
std::size_t snap_numbers(double bound, float* numbers, std::size_t count) noexcept;
std::size_t snap_numbers(double bound, double* numbers, std::size_t count) noexcept;
}
