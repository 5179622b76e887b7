// SPDX-License-Identifier: BSD-3-Clause
// Elements of a column where they lie.
#pragma once

#include <cstddef>

namespace bat
{
/// Elements side by side, aligned for the numbers in them. The memory is somebody else's.
struct Elements
{
  const std::byte* first = nullptr;
  std::size_t count = 0;
};
}
