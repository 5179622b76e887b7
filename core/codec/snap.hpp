// SPDX-License-Identifier: BSD-3-Clause
// Rounds floating-point numbers to a grid within a bound, so that they take few bytes in a frame.
#pragma once

#include "codec/column_shape.hpp"
#include "codec/grid.hpp"

#include <cstddef>

namespace bat::codec
{
/// Replaces each number v of a floating-point column by the nearest multiple of grid_step(bound),
/// rounded to the type, if that is at most `bound` away, exactly. Other numbers keep every bit,
/// including NaN, infinities and numbers too far from 0. -0 becomes +0. Snapping again changes
/// nothing. The result does not depend on the processor. Returns how many numbers the grid could
/// not hold. `values` are aligned for their type. Throws Error{InvalidArgument} unless the bound
/// and its step are positive and finite, and the type is a floating-point one.
std::size_t snap(const ColumnShape& shape, double bound, void* values, std::size_t count);
}
