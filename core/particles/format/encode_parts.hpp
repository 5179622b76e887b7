// SPDX-License-Identifier: BSD-3-Clause
// Shared parts of the encoder.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace bat::format
{
inline void append(std::vector<std::byte>& bytes, const void* data, std::size_t count)
{
  if (count != 0)
  {
    // Not insert(), for which GCC 12 gives a spurious warning.
    const std::size_t size = bytes.size();
    bytes.resize(size + count);
    std::memcpy(bytes.data() + size, data, count);
  }
}
}
