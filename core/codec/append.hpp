// SPDX-License-Identifier: BSD-3-Clause
// Appends numbers to bytes: as they are or, for mostly small ones, with 7 bits in each byte, the
// lowest first, and bit 7 set if more follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
inline constexpr std::size_t kMaxVarintBytes = 10;

template <class T>
void append_number(std::vector<std::byte>& to, T number)
{
  const auto* bytes = reinterpret_cast<const std::byte*>(&number);
  to.insert(to.end(), bytes, bytes + sizeof(T));
}

inline void append_varint(std::vector<std::byte>& to, std::uint64_t number)
{
  for (; number >= 128; number >>= 7)
  {
    to.push_back(static_cast<std::byte>(number | 128));
  }
  to.push_back(static_cast<std::byte>(number));
}
}
