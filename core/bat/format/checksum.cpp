#include "bat/format/checksum.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <xxhash.h>
#ifdef BAT_XXHASH_DISPATCH
#include <xxh_x86dispatch.h> // XXH3 with the widest vectors that the processor has
#endif
#if XXH_VERSION_NUMBER < 800
#error "xxHash 0.8 or later is needed: earlier versions have another XXH3"
#endif

#include <algorithm>

namespace bat::format
{
#ifdef BAT_XXHASH_DISPATCH
namespace
{
// The library chooses its vectors when it first gets more than 240 bytes: here, before there are
// threads.
[[maybe_unused]] const XXH64_hash_t kChosen =
  XXH3_64bits(std::vector<char>(kPageBytes).data(), kPageBytes);
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

std::vector<std::uint32_t> page_checksums(const std::byte* data, std::uint64_t bytes)
{
  const std::uint64_t pages = page_count(bytes);
  const std::uint64_t upper = page_count(4 * pages);
  std::vector<std::uint32_t> sums(upper + pages);
  std::uint32_t* lower_sums = sums.data() + upper;
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, pages, 64),
    [&](const auto& range)
    {
      for (std::uint64_t i = range.begin(); i != range.end(); ++i)
      {
        const std::uint64_t begin = i * kPageBytes;
        lower_sums[i] = page_checksum(data + begin, std::min(kPageBytes, bytes - begin));
      }
    });
  for (std::uint64_t i = 0; i != upper; ++i)
  {
    const std::uint64_t begin = i * kPageBytes;
    sums[i] = page_checksum(reinterpret_cast<const std::byte*>(lower_sums) + begin,
      std::min(kPageBytes, 4 * pages - begin));
  }
  return sums;
}
}
