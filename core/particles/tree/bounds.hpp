// SPDX-License-Identifier: BSD-3-Clause
// Bounding boxes during a build.
#pragma once

#include "bat/types.hpp"

#include <algorithm>
#include <limits>

namespace bat
{
[[nodiscard]] inline Box empty_box() noexcept
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  return { { inf, inf, inf }, { -inf, -inf, -inf } };
}

template <class Point>
void extend(Box& box, const Point& p) noexcept
{
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.lower[axis] = std::min(box.lower[axis], static_cast<double>(p[axis]));
    box.upper[axis] = std::max(box.upper[axis], static_cast<double>(p[axis]));
  }
}

inline void extend(Box& box, const Box& other) noexcept
{
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.lower[axis] = std::min(box.lower[axis], other.lower[axis]);
    box.upper[axis] = std::max(box.upper[axis], other.upper[axis]);
  }
}

/// Returns the longest axis. Halves are compared so that the extent of huge boxes does not
/// overflow.
[[nodiscard]] inline std::size_t longest_axis(const Box& box) noexcept
{
  std::size_t longest = 0;
  double maximum = -1;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const double half = box.upper[axis] * 0.5 - box.lower[axis] * 0.5;
    if (half > maximum)
    {
      maximum = half;
      longest = axis;
    }
  }
  return longest;
}
}
