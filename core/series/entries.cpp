// SPDX-License-Identifier: BSD-3-Clause
#include "series/entries.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>

namespace bat::series
{
std::string compute_checksum(const Entries& entries)
{
  std::string bytes;
  const auto add = [&](const auto& value)
  {
    char own[sizeof(value)];
    std::memcpy(own, &value, sizeof(value));
    bytes.append(own, sizeof(value));
  };
  for (const Entry& entry : entries)
  {
    bytes += entry.file + '\0';
    add(entry.time);
    if (entry.step)
    {
      add(*entry.step);
    }
  }
  return fmt::format("{:016x}", XXH64(bytes.data(), bytes.size(), 0));
}
}
