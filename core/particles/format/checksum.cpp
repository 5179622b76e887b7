// SPDX-License-Identifier: BSD-3-Clause
#include "particles/format/checksum.hpp"

#include "particles/format/layout.hpp"
#include "particles/format/page_layout.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <xxhash.h>
#ifdef BAT_XXHASH_DISPATCH
#include <xxh_x86dispatch.h> // XXH3 with the widest vectors that the processor has
#endif
#if XXH_VERSION_NUMBER < 800
#error "xxHash 0.8 or later is required: earlier versions have a different XXH3"
#endif

namespace bat::format
{
#ifdef BAT_XXHASH_DISPATCH
namespace
{
// The library chooses its vectors on the first call with more than 240 bytes, which is here, before
// threads exist.
[[maybe_unused]] const XXH64_hash_t kChosen =
  XXH3_64bits(std::vector<char>(kPageBytes).data(), kPageBytes) +
  XXH3_128bits(std::vector<char>(kPageBytes).data(), kPageBytes).low64;
}
#endif

std::uint64_t checksum(const void* data, std::size_t bytes) noexcept
{
  return XXH64(data, bytes, 0);
}

std::uint32_t page_checksum(const void* data, std::size_t bytes) noexcept
{
  return static_cast<std::uint32_t>(XXH3_64bits(data, bytes));
}

Hash128 hash128(const void* data, std::size_t bytes) noexcept
{
  const XXH128_hash_t hash = XXH3_128bits(data, bytes);
  return { hash.low64, hash.high64 };
}

std::vector<std::uint32_t> page_checksums(const std::byte* data, std::uint64_t bytes)
{
  const PageLayout layout(bytes);
  std::vector<std::uint32_t> sums(layout.checksum_count());
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, layout.page_count(), 64),
    [&](const auto& pages)
    {
      for (std::uint64_t page = pages.begin(); page != pages.end(); ++page)
      {
        const ByteRange range = layout.bytes_of(PageRange{ page, page + 1 });
        sums[layout.checksum_of_page(page)] = page_checksum(data + range.begin, range.size());
      }
    });
  for (std::uint64_t group = 0; group != layout.group_count(); ++group)
  {
    const PageRange pages = layout.pages_of_group(group);
    sums[group] = page_checksum(
      &sums[layout.checksum_of_page(pages.first)], pages.count() * sizeof(std::uint32_t));
  }
  return sums;
}
}
