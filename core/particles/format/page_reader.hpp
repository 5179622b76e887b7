// SPDX-License-Identifier: BSD-3-Clause
// Pages of a section, each checked against its checksum before anything in it is used (FORMAT.md
// section 6).
#pragma once

#include "bat/bytes.hpp"
#include "bat/query.hpp"
#include "common/elements.hpp"
#include "common/io/random_access_file.hpp"
#include "particles/format/checksum.hpp"
#include "particles/format/layout.hpp"
#include "particles/format/page_layout.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bat::format
{
/// The set of pages in a mapped section that match their checksums. May be used concurrently.
class CheckedPages
{
public:
  explicit CheckedPages(std::uint64_t pages)
    : words_(std::make_unique<std::atomic<std::uint64_t>[]>((pages + 63) / 64))
  {
  }
  [[nodiscard]] bool has(std::uint64_t page) const noexcept
  {
    return (this->words_[page / 64].load(std::memory_order_relaxed) >> page % 64 & 1) != 0;
  }
  void add(std::uint64_t page) noexcept
  {
    this->words_[page / 64].fetch_or(std::uint64_t{ 1 } << page % 64, std::memory_order_relaxed);
  }

private:
  std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
};

/// One paged section of a file: its layout, its page checksums, and which pages were checked. const
/// functions may be called concurrently.
class PagedSection
{
public:
  /// `name` is the section's name in messages.
  PagedSection(const io::RandomAccessFile& file, const SectionRecord& section,
    std::uint64_t element_bytes, std::string name)
    : file_(file)
    , layout_(section, element_bytes)
    , groups_checksum_(section.checksum)
    , name_(std::move(name))
  {
  }
  [[nodiscard]] const PageLayout& layout() const noexcept { return this->layout_; }
  [[nodiscard]] std::uint64_t element_bytes() const noexcept
  {
    return this->layout_.element_bytes();
  }
  [[nodiscard]] const std::string& name() const noexcept { return this->name_; }
  /// Sets a function whose text is appended to messages about a damaged page.
  void describe_bytes_with(std::function<std::string(const ByteRange&)> say)
  {
    this->describe_ = std::move(say);
  }
  [[nodiscard]] const io::RandomAccessFile& file() const noexcept { return this->file_; }

  /// Returns the first `count` elements of a mapped file in place. Pages are checked in parallel.
  [[nodiscard]] const std::byte* view_front(std::uint64_t count) const;

  /// Prefetches the pages of ascending spans without waiting.
  void prefetch(const std::vector<Span>& spans) const noexcept;

  /// Checks all pages.
  void check() const;

private:
  friend class PageReader;

  void prefetch_remote(const std::vector<Span>& spans) const;
  /// Checksums of the pages in a group.
  [[nodiscard]] std::vector<std::uint32_t> group_checksums(std::uint64_t group) const;

  /// The marks of a mapped file; null for a file that is read, whose pages are checked each time.
  [[nodiscard]] CheckedPages* checked_pages() const;

  const io::RandomAccessFile& file_;
  PageLayout layout_;
  std::uint64_t groups_checksum_;
  std::string name_;
  std::function<std::string(const ByteRange&)> describe_;
  mutable std::once_flag marked_;
  mutable std::optional<CheckedPages> checked_;
  mutable std::once_flag loaded_;
  mutable std::vector<std::uint32_t> groups_; ///< L2
};

/// Copies out elements of a paged section. Use one per thread.
class PageReader
{
public:
  explicit PageReader(const PagedSection& section)
    : section_(section)
    , checked_(section.checked_pages())
  {
  }

  /// Copies the elements in ascending `spans` to `out`, packed. The spans lie inside the section.
  void gather(const Span* spans, std::size_t span_count, std::byte* out);

  /// Calls look(elements, count) with the elements in ascending `spans` in place, some at a time
  /// and in order; a span may be split. The memory belongs to the file or the reader and is valid
  /// until `look` returns. The spans lie inside the section.
  void visit(const Span* spans, std::size_t span_count,
    const std::function<void(const Elements*, std::size_t)>& look);

  /// Returns the elements, which are on one page, in place if inspect() still holds their page;
  /// else null.
  [[nodiscard]] const std::byte* find(const Span& elements) const noexcept;
  /// Returns the elements of the first span in place, valid until the next call of any function.
  /// Each span is on one page; the others, which ascend, will be requested next.
  [[nodiscard]] const std::byte* inspect(const Span* spans, std::size_t span_count);

private:
  friend class PagedSection;

  /// Pages that are read together, at most as many as the bits of a set. Pages in gaps between
  /// needed ones are neither checked nor used.
  struct Batch
  {
    PageRange pages;
    std::uint64_t needed = 0; ///< bit i: page pages.first + i
  };

  /// Whole pages of the section, some of which are checked.
  struct Run
  {
    const std::byte* pages = nullptr;
    ByteRange bytes;
    std::uint64_t checked = 0; ///< bit i: the page i of it

    [[nodiscard]] bool has(std::uint64_t byte) const noexcept
    {
      return byte >= this->bytes.begin && byte < this->bytes.end &&
        (this->checked >> (byte - this->bytes.begin) / kPageBytes & 1) != 0;
    }
    [[nodiscard]] bool has(const ByteRange& requested) const noexcept
    {
      return this->has(requested.begin) && requested.end <= this->checked_end(requested.begin);
    }
    /// End of the checked bytes that follow `byte` without a gap.
    [[nodiscard]] std::uint64_t checked_end(std::uint64_t byte) const noexcept
    {
      const std::uint64_t page = (byte - this->bytes.begin) / kPageBytes;
      const std::uint64_t gaps = ~(this->checked >> page); // shifted in are gaps, too
      const std::uint64_t pages =
        gaps == 0 ? kMaxPages : static_cast<std::uint64_t>(__builtin_ctzll(gaps));
      return std::min(this->bytes.end, this->bytes.begin + (page + pages) * kPageBytes);
    }
    [[nodiscard]] const std::byte* at(std::uint64_t byte) const noexcept
    {
      return this->pages + (byte - this->bytes.begin);
    }
  };
  static constexpr std::uint64_t kMaxPages = 64; ///< per Batch and Run

  /// The pages from first_page on that the next spans need, as long as gaps are small, at most
  /// `maximum` pages.
  [[nodiscard]] Batch next_batch(const Span* spans, std::size_t span_count,
    std::uint64_t first_page, std::uint64_t maximum) const;

  void visit_mapped(const Span* spans, std::size_t span_count,
    const std::function<void(const Elements*, std::size_t)>& look);
  void gather_mapped(const Span* spans, std::size_t span_count, std::byte* out);
  void stream(const PageRange& pages, std::byte* out);
  void read(const PageRange& pages, std::byte* to);
  [[nodiscard]] Run view(const PageRange& pages);
  void check(const PageRange& pages, const std::byte* bytes);
  void expect(const Span& elements) const;
  [[nodiscard]] Run load(const Batch& batch, std::uint64_t used);
  void visit_found(const std::function<void(const Elements*, std::size_t)>& look);

  const PagedSection& section_;
  CheckedPages* checked_;
  Bytes buffer_;
  Run buffered_;                    ///< set by gather() and inspect()
  std::uint64_t inspected_ = 0;     ///< pages of a mapped file, by inspect()
  std::vector<std::uint32_t> sums_; ///< checksums of a group's pages
  PageRange sums_pages_;
  std::vector<Elements> found_; ///< found by visit(), not visited yet
};
}
