// SPDX-License-Identifier: BSD-3-Clause
// Appends numbers to bytes: unchanged or, for mostly small numbers, as varints with 7 bits per
// byte, the lowest first; bit 7 is set if more bytes follow.
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
