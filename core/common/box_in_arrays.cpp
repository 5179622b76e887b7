// SPDX-License-Identifier: BSD-3-Clause
#include "common/box_in_arrays.hpp"

#include <fmt/format.h>

namespace bat
{
std::string format_text(const LogicalBox& box)
{
  return fmt::format("{} to {}, {} to {}, {} to {}", box.lower[0], box.upper[0], box.lower[1],
    box.upper[1], box.lower[2], box.upper[2]);
}

std::string find_stored_problem(const LogicalBox& stored, const LogicalBox& box)
{
  constexpr std::int64_t kMax = std::int64_t{ 1 } << 62;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    // Ghosts may lie before 0, where there are no samples.
    if (stored.lower[axis] > box.lower[axis] || stored.upper[axis] < box.upper[axis] ||
      stored.lower[axis] <= -kMax || stored.upper[axis] >= kMax)
    {
      return fmt::format("the box {} must lie inside its stored array box {}", format_text(box),
        format_text(stored));
    }
  }
  return {};
}
}
