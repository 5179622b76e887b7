// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the encoder share.
#pragma once

#include <cstddef>
#include <vector>

namespace bat::format
{
inline void append(std::vector<std::byte>& bytes, const void* data, std::size_t count)
{
  const auto* from = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), from, from + count);
}
}
