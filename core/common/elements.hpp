// SPDX-License-Identifier: BSD-3-Clause
// Elements of a column, in place.
#pragma once

#include <cstddef>

namespace bat
{
/// Contiguous elements, aligned for the numbers in them. Does not own the memory.
struct Elements
{
  const std::byte* first = nullptr;
  std::size_t count = 0;
};
}
