// SPDX-License-Identifier: BSD-3-Clause
// Locates the samples of a box in arrays that hold a larger box.
#pragma once

#include "bat/logical_box.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bat
{
/// "0 to 7, 0 to 7, 0 to 3"
[[nodiscard]] std::string format_text(const LogicalBox& box);

struct BoxInArrays
{
  std::int64_t first = 0;                            ///< number of the first sample
  std::array<std::int64_t, 3> dimensions{ 1, 1, 1 }; ///< dimensions of the arrays
};

[[nodiscard]] inline BoxInArrays place_in(const LogicalBox& stored, const LogicalBox& box) noexcept
{
  BoxInArrays place;
  std::int64_t stride = 1;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    place.dimensions[axis] = stored.upper[axis] - stored.lower[axis] + 1;
    place.first += (box.lower[axis] - stored.lower[axis]) * stride;
    stride *= place.dimensions[axis];
  }
  return place;
}

/// Returns why arrays of `stored` cannot contain the samples of `box`; empty if they can.
[[nodiscard]] std::string find_stored_problem(const LogicalBox& stored, const LogicalBox& box);
}
