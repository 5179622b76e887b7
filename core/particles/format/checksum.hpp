// SPDX-License-Identifier: BSD-3-Clause
// The checksums of FORMAT.md section 6, and a hash that no file stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::format
{
/// The checksum of everything except pages: XXH64.
[[nodiscard]] std::uint64_t checksum(const void* data, std::size_t bytes) noexcept;

/// The checksum of one page: the lower half of XXH3.
[[nodiscard]] std::uint32_t page_checksum(const void* data, std::size_t bytes) noexcept;

/// 128-bit XXH3, for comparisons of values.
struct Hash128
{
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
[[nodiscard]] Hash128 hash128(const void* data, std::size_t bytes) noexcept;

/// Computes L2 followed by L1 of a section, in parallel.
[[nodiscard]] std::vector<std::uint32_t> page_checksums(const std::byte* data, std::uint64_t bytes);
}
