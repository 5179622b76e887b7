// SPDX-License-Identifier: BSD-3-Clause
// Computes boxes around positions.
#pragma once

#include "bat/types.hpp"
#include "particles/tree/bounds.hpp"

#include <cstddef>
#include <cstdint>

namespace bat
{
struct ArrayView;
}

namespace bat::write
{
/// Box and number of positions whose coordinates are all finite.
struct FiniteBounds
{
  Box box = empty_box(); ///< lower > upper if there is none
  std::uint64_t count = 0;
};

inline void extend(FiniteBounds& bounds, const FiniteBounds& other) noexcept
{
  extend(bounds.box, other.box);
  bounds.count += other.count;
}

/// Returns the tight box of `count` packed positions, at least one, none of them NaN.
template <class T>
[[nodiscard]] Box tight_box(const T* positions, std::size_t count);

/// Returns the bounds of rows rows[begin] to rows[end - 1] in a view with three components of type
/// T. Without `rows`, uses rows begin to end - 1.
template <class T>
[[nodiscard]] FiniteBounds finite_bounds(
  const ArrayView& positions, const std::uint32_t* rows, std::uint64_t begin, std::uint64_t end);
}
