// The checksums of FORMAT.md section 6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::format
{
[[nodiscard]] std::uint64_t checksum(const void* data, std::size_t bytes) noexcept;

/// Checksum of one page.
[[nodiscard]] inline std::uint32_t page_checksum(const void* data, std::size_t bytes) noexcept
{
  return static_cast<std::uint32_t>(checksum(data, bytes));
}

/// L2 and behind it L1 of a section, computed in parallel.
[[nodiscard]] std::vector<std::uint32_t> page_checksums(const std::byte* data, std::uint64_t bytes);
}
