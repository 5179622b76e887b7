// Pages of a section, each checked against its checksum before anything in it is used (FORMAT.md
// section 6).
#pragma once

#include "bat/bytes.hpp"
#include "bat/format/checksum.hpp"
#include "bat/format/layout.hpp"
#include "bat/format/levels.hpp"
#include "bat/query.hpp"
#include "common/elements.hpp"
#include "common/io/random_access_file.hpp"

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
/// Which pages of a mapped section match their checksums. May be used concurrently.
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

/// Reads pages of one paged section and checks each against its checksum. const functions may be
/// called concurrently.
class PagedSection
{
public:
  /// `name` is how messages call the section.
  PagedSection(const io::RandomAccessFile& file, const SectionRecord& section, std::string name)
    : file_(file)
    , section_(section)
    , name_(std::move(name))
  {
  }
  [[nodiscard]] const SectionRecord& record() const noexcept { return this->section_; }
  [[nodiscard]] const std::string& name() const noexcept { return this->name_; }
  [[nodiscard]] const io::RandomAccessFile& file() const noexcept { return this->file_; }

  /// Checksums of pages first to first + 1023, first being a multiple of 1024 (one page of L1).
  [[nodiscard]] std::vector<std::uint32_t> page_checksums(std::uint64_t first) const;

  /// The marks of a mapped file; null for a file that is read, whose pages are checked each time.
  [[nodiscard]] CheckedPages* checked_pages() const;

private:
  const io::RandomAccessFile& file_;
  SectionRecord section_;
  std::string name_;
  mutable std::once_flag marked_;
  mutable std::optional<CheckedPages> checked_;
  mutable std::once_flag loaded_;
  mutable std::vector<std::uint32_t> upper_; ///< L2
};

/// Copies out pieces of a paged section. One per thread.
class PageReader
{
public:
  explicit PageReader(const PagedSection& section)
    : section_(section)
    , checked_(section.checked_pages())
  {
  }

  /// Of a mapped file: pages from first_page on, which have `bytes`, checked.
  const std::byte* view_pages(std::uint64_t first_page, std::uint64_t bytes);

  /// Copies the elements of ascending `spans` to `out`, packed. Elements have `element_bytes`
  /// bytes. The spans lie inside the section.
  void gather(
    const Span* spans, std::size_t span_count, std::uint64_t element_bytes, std::byte* out);

  /// Calls look(elements, count) with those of ascending `spans` where they lie, some at a time and
  /// in order; a span may come in parts. The memory is the file's or the reader's, and what it
  /// holds until `look` returns. The spans lie inside the section.
  void visit(const Span* spans, std::size_t span_count, std::uint64_t element_bytes,
    const std::function<void(const Elements*, std::size_t)>& look);

private:
  /// Checked bytes of the section from `begin` to `end`, whole pages of it.
  struct Run
  {
    const std::byte* pages = nullptr;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    [[nodiscard]] bool has(std::uint64_t offset) const noexcept
    {
      return offset >= this->begin && offset < this->end;
    }
    [[nodiscard]] const std::byte* at(std::uint64_t offset) const noexcept
    {
      return this->pages + (offset - this->begin);
    }
  };

  void visit_mapped(const Span* spans, std::size_t span_count, std::uint64_t element_bytes,
    const std::function<void(const Elements*, std::size_t)>& look);
  void gather_mapped(
    const Span* spans, std::size_t span_count, std::uint64_t element_bytes, std::byte* out);
  void stream_pages(std::uint64_t first_page, std::uint64_t bytes, std::byte* out);
  void read_pages(std::uint64_t first_page, std::uint64_t bytes, std::byte* to);
  void check_pages(std::uint64_t first_page, std::uint64_t bytes, const std::byte* pages);
  [[nodiscard]] Run view(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] Run load(const Span* spans, std::size_t span_count, std::uint64_t element_bytes,
    std::uint64_t first_page, std::uint64_t used);
  void look_at_found(const std::function<void(const Elements*, std::size_t)>& look);

  const PagedSection& section_;
  CheckedPages* checked_;
  Bytes buffer_;
  Run buffered_;                    ///< by gather()
  std::vector<std::uint32_t> sums_; ///< one page of L1
  std::uint64_t sums_first_ = ~std::uint64_t{ 0 };
  std::vector<Elements> found_; ///< by visit(), not looked at yet
};
}
