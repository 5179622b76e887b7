// The checksums of FORMAT.md section 6.
#pragma once

#include "format/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::format
{
/// Of everything but pages: XXH64.
[[nodiscard]] std::uint64_t checksum(const void* data, std::size_t bytes) noexcept;

/// What the pages of a file are hashed with.
enum class PageHash
{
  Xxh64,
  Xxh3
};

[[nodiscard]] inline PageHash page_hash(const Header& header) noexcept
{
  return (header.required_features & kXxh3Pages) != 0 ? PageHash::Xxh3 : PageHash::Xxh64;
}

/// Checksum of one page.
[[nodiscard]] std::uint32_t page_checksum(
  PageHash hash, const void* data, std::size_t bytes) noexcept;

/// L2 and behind it L1 of a section, computed in parallel.
[[nodiscard]] std::vector<std::uint32_t> page_checksums(
  PageHash hash, const std::byte* data, std::uint64_t bytes);
}
