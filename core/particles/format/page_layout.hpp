// SPDX-License-Identifier: BSD-3-Clause
// Locates elements, pages and page checksums of a section (FORMAT.md section 6). No other code
// computes these addresses.
#pragma once

#include "bat/query.hpp"
#include "particles/format/layout.hpp"

#include <algorithm>
#include <cstdint>

namespace bat::format
{
/// A range of bytes of a section, counted from its beginning.
struct ByteRange
{
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t size() const noexcept { return this->end - this->begin; }
};

/// A range of pages of a section, or of checksums.
struct PageRange
{
  std::uint64_t first = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t count() const noexcept { return this->end - this->first; }
};

/// The layout of one paged section. Its pages have checksums, L1, which are on pages too: a group
/// consists of the pages whose checksums share a page of L1, and has one checksum in L2.
class PageLayout
{
public:
  /// The layout of a section that has no position in a file yet.
  explicit PageLayout(std::uint64_t bytes) noexcept
    : bytes_(bytes)
  {
  }
  PageLayout(const SectionRecord& record, std::uint64_t element_bytes) noexcept
    : offset_(record.offset)
    , bytes_(record.bytes)
    , checksums_offset_(record.checksums_offset)
    , element_bytes_(element_bytes)
  {
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return this->bytes_; }
  [[nodiscard]] std::uint64_t element_bytes() const noexcept { return this->element_bytes_; }
  [[nodiscard]] std::uint64_t page_count() const noexcept { return pages_in(this->bytes_); }

  /// Alignment of the section's offset when it is written (section 12).
  [[nodiscard]] std::uint64_t alignment() const noexcept
  {
    return this->bytes_ >= kAlignedSectionBytes ? kPageBytes : 8;
  }

  /// File offset of a byte of the section.
  [[nodiscard]] std::uint64_t in_file(std::uint64_t byte) const noexcept
  {
    return this->offset_ + byte;
  }

  [[nodiscard]] ByteRange bytes_of(const Span& elements) const noexcept
  {
    const std::uint64_t begin = elements.first * this->element_bytes_;
    return { begin, begin + elements.count * this->element_bytes_ };
  }
  /// The bytes on these pages. The last page of a section may be shorter than others.
  [[nodiscard]] ByteRange bytes_of(const PageRange& pages) const noexcept
  {
    return { pages.first * kPageBytes, std::min(pages.end * kPageBytes, this->bytes_) };
  }

  [[nodiscard]] std::uint64_t page_of(std::uint64_t byte) const noexcept
  {
    return byte / kPageBytes;
  }
  /// The pages that hold any of the bytes, at least one.
  [[nodiscard]] PageRange pages_of(const ByteRange& bytes) const noexcept
  {
    return { this->page_of(bytes.begin), pages_in(bytes.end) };
  }
  [[nodiscard]] PageRange pages_of(const Span& elements) const noexcept
  {
    return this->pages_of(this->bytes_of(elements));
  }
  [[nodiscard]] bool begins_page(std::uint64_t byte) const noexcept
  {
    return byte % kPageBytes == 0;
  }
  /// The pages that lie completely in the range, which begins with a page.
  [[nodiscard]] PageRange whole_pages(const ByteRange& bytes) const noexcept
  {
    return { this->page_of(bytes.begin), this->page_of(bytes.end) };
  }

  [[nodiscard]] std::uint64_t group_of(std::uint64_t page) const noexcept
  {
    return page / kGroupPages;
  }
  /// Number of groups that hold the first `pages` pages.
  [[nodiscard]] static std::uint64_t groups_in(std::uint64_t pages) noexcept
  {
    return pages_in(kSumBytes * pages);
  }
  [[nodiscard]] std::uint64_t group_count() const noexcept { return groups_in(this->page_count()); }
  [[nodiscard]] PageRange pages_of_group(std::uint64_t group) const noexcept
  {
    return { group * kGroupPages, std::min((group + 1) * kGroupPages, this->page_count()) };
  }

  /// Number of checksums in L2 and L1, which follows it.
  [[nodiscard]] std::uint64_t checksum_count() const noexcept
  {
    return this->group_count() + this->page_count();
  }
  [[nodiscard]] std::uint64_t checksums_bytes() const noexcept
  {
    return kSumBytes * this->checksum_count();
  }
  /// Offset of L2 in the file, which L1 follows.
  [[nodiscard]] std::uint64_t checksums_in_file() const noexcept { return this->checksums_offset_; }
  /// Bytes of L2.
  [[nodiscard]] std::uint64_t group_checksums_bytes() const noexcept
  {
    return kSumBytes * this->group_count();
  }
  /// Index of a page's checksum among all checksums.
  [[nodiscard]] std::uint64_t checksum_of_page(std::uint64_t page) const noexcept
  {
    return this->group_count() + page;
  }
  /// File offset of a page's checksum.
  [[nodiscard]] std::uint64_t checksum_in_file(std::uint64_t page) const noexcept
  {
    return this->checksums_offset_ + kSumBytes * this->checksum_of_page(page);
  }

private:
  static constexpr std::uint64_t kSumBytes = sizeof(std::uint32_t);
  static constexpr std::uint64_t kGroupPages = kPageBytes / kSumBytes;

  [[nodiscard]] static std::uint64_t pages_in(std::uint64_t bytes) noexcept
  {
    return bytes / kPageBytes + (bytes % kPageBytes != 0);
  }

  std::uint64_t offset_ = 0;
  std::uint64_t bytes_;
  std::uint64_t checksums_offset_ = 0;
  std::uint64_t element_bytes_ = 1;
};
}
