// SPDX-License-Identifier: BSD-3-Clause
// Reads elements of a paged section and checks each page before any of its bytes are used.
//
//   section   | page 0 | page 1 | ... | page 1023 | page 1024 | ...     4096 bytes each
//   L1        | u32    | u32    | ... | u32       | u32       | ...     one checksum per page
//             |<- one page of L1: the checksums of a group ->|
//   L2        | u32 per group |                                       checked by the section
//   table
//
// To check a page, a reader needs L2, read once per section, one page of L1, which it keeps for the
// next pages of the group, and the page. Requested spans become batches of at most 64 pages: pages
// that lie close together are read with one call, since reading a small gap costs less than another
// call, but pages in a gap are neither checked nor used. Long runs go straight into the caller's
// memory. Pages of a mapped file are used where they lie, checked once and marked (CheckedPages).

#include "particles/format/page_reader.hpp"

#include "bat/error.hpp"
#include "common/memory/stream_copy.hpp"
#include "particles/format/checksum.hpp"
#include "particles/format/decode.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

namespace bat::format
{
namespace
{
// Longer runs are read straight into the caller's memory.
constexpr std::uint64_t kMaxBufferedPages = 16;
constexpr std::uint64_t kReadPages = 64; // read at once: still in the cache when checked
constexpr std::uint64_t kBufferPages = 64;
// Copying a gap of this many pages is cheaper than another system call.
constexpr std::uint64_t kPagesBetween = 2;
constexpr std::uint64_t kViewedPages = 32;   // are visited before they leave the near caches
constexpr std::uint64_t kGapBytes = 1 << 17; // cheaper to read than a second request

constexpr std::uint64_t kExpectedBytes = 1024; // further ones the processor sees coming

// Cache lines arrive in parallel instead of one after the other.
void prefetch(const std::byte* memory, std::uint64_t bytes)
{
  constexpr std::uint64_t line = 64;
  for (std::uint64_t at = 0; at < bytes; at += line)
  {
    __builtin_prefetch(memory + at);
  }
  __builtin_prefetch(memory + bytes - 1);
}
}

std::vector<std::uint32_t> PagedSection::group_checksums(std::uint64_t group) const
{
  std::call_once(this->loaded_,
    [&]
    {
      std::vector<std::uint32_t> sums(this->layout_.group_count());
      const std::uint64_t bytes = this->layout_.group_checksums_bytes();
      this->file_.read(this->layout_.checksums_in_file(), sums.data(), bytes);
      if (checksum(sums.data(), bytes) != this->groups_checksum_)
      {
        corrupt(this->file_, "the page checksums of " + this->name_ + " are damaged");
      }
      this->groups_ = std::move(sums);
    });
  const PageRange pages = this->layout_.pages_of_group(group);
  std::vector<std::uint32_t> sums(pages.count());
  const std::uint64_t bytes = sums.size() * sizeof(sums[0]);
  this->file_.read(this->layout_.checksum_in_file(pages.first), sums.data(), bytes);
  if (page_checksum(sums.data(), bytes) != this->groups_[group])
  {
    corrupt(this->file_, "the page checksums of " + this->name_ + " are damaged");
  }
  return sums;
}

CheckedPages* PagedSection::checked_pages() const
{
  if (!this->file_.is_mapped())
  {
    return nullptr;
  }
  std::call_once(this->marked_, [&] { this->checked_.emplace(this->layout_.page_count()); });
  return &*this->checked_;
}

const std::byte* PagedSection::view_front(std::uint64_t count) const
{
  this->file_.check_length();
  const PageRange pages = this->layout_.pages_of(Span{ 0, count });
  tbb::parallel_for(std::uint64_t{ 0 }, PageLayout::groups_in(pages.count()),
    [&](std::uint64_t group)
    {
      const PageRange part = this->layout_.pages_of_group(group);
      (void)PageReader(*this).view({ part.first, std::min(part.end, pages.end) });
    });
  return this->file_.view(this->layout_.in_file(0), 0);
}

// The pages and their checksums are requested at the same time, with the gaps that are read too.
void PagedSection::prefetch_remote(const std::vector<Span>& spans) const
{
  std::vector<io::ByteRange> ranges;
  std::uint64_t next_group = 0;
  std::uint64_t next_page = 0;
  for (const Span& span : spans)
  {
    if (span.count == 0)
    {
      continue;
    }
    PageRange pages = this->layout_.pages_of(span);
    if (next_page != 0 && pages.first > next_page && pages.first - next_page <= kPagesBetween)
    {
      pages.first = next_page;
    }
    next_page = pages.end;
    const ByteRange bytes = this->layout_.bytes_of(pages);
    ranges.push_back({ this->layout_.in_file(bytes.begin), bytes.size() });
    const std::uint64_t end_group = this->layout_.group_of(pages.end - 1) + 1;
    for (std::uint64_t group = std::max(next_group, this->layout_.group_of(pages.first));
         group < end_group; ++group)
    {
      const PageRange of_group = this->layout_.pages_of_group(group);
      ranges.push_back({ this->layout_.checksum_in_file(of_group.first),
        of_group.count() * sizeof(std::uint32_t) });
    }
    next_group = end_group;
  }
  if (!ranges.empty())
  {
    ranges.push_back({ this->layout_.checksums_in_file(), this->layout_.group_checksums_bytes() });
    this->file_.prefetch(ranges);
  }
}

void PagedSection::prefetch(const std::vector<Span>& spans) const noexcept
{
  if (this->file_.is_remote())
  {
    (void)attempt([&] { this->prefetch_remote(spans); });
    return;
  }
  ByteRange requested;
  const auto ask = [&]
  { this->file_.prefetch(this->layout_.in_file(requested.begin), requested.size()); };
  for (const Span& span : spans)
  {
    const ByteRange bytes = this->layout_.bytes_of(span);
    if (bytes.begin > requested.end + kGapBytes)
    {
      ask();
      requested.begin = bytes.begin;
    }
    requested.end = bytes.end;
  }
  ask();
}

void PagedSection::check() const
{
  PageReader reader(*this);
  const std::uint64_t end = this->layout_.page_count();
  Bytes bytes;
  for (PageRange pages; pages.first != end; pages.first = pages.end)
  {
    pages.end = std::min(end, pages.first + kReadPages);
    if (this->file_.is_mapped())
    {
      this->file_.check_length();
      (void)reader.view(pages);
      continue;
    }
    bytes.resize(this->layout_.bytes_of(pages).size());
    reader.read(pages, bytes.data());
  }
}

void PageReader::read(const PageRange& pages, std::byte* to)
{
  const PageLayout& layout = this->section_.layout();
  const ByteRange bytes = layout.bytes_of(pages);
  this->section_.file().read(layout.in_file(bytes.begin), to, bytes.size());
  this->check(pages, to);
}

PageReader::Run PageReader::view(const PageRange& pages)
{
  const PageLayout& layout = this->section_.layout();
  const ByteRange bytes = layout.bytes_of(pages);
  const std::byte* const at = this->section_.file().view(layout.in_file(bytes.begin), bytes.size());
  this->check(pages, at);
  return { at, bytes, ~std::uint64_t{ 0 } };
}

void PageReader::check(const PageRange& pages, const std::byte* bytes)
{
  const PageLayout& layout = this->section_.layout();
  for (std::uint64_t page = pages.first; page != pages.end; ++page)
  {
    const ByteRange range = layout.bytes_of(PageRange{ page, page + 1 });
    const std::byte* const at = bytes;
    bytes += range.size();
    if (this->checked_ && this->checked_->has(page))
    {
      continue;
    }
    if (page < this->sums_pages_.first || page >= this->sums_pages_.end)
    {
      const std::uint64_t group = layout.group_of(page);
      this->sums_pages_ = {};
      this->sums_ = this->section_.group_checksums(group);
      this->sums_pages_ = layout.pages_of_group(group);
    }
    if (page_checksum(at, range.size()) != this->sums_[page - this->sums_pages_.first])
    {
      corrupt(this->section_.file(),
        fmt::format("page {} of {} (offset {}{}) does not match its checksum", page,
          this->section_.name(), layout.in_file(range.begin),
          this->section_.describe_ ? this->section_.describe_(range) : std::string()));
    }
    if (this->checked_)
    {
      this->checked_->add(page);
    }
  }
}

PageReader::Batch PageReader::next_batch(
  const Span* spans, std::size_t span_count, std::uint64_t first_page, std::uint64_t maximum) const
{
  const PageLayout& layout = this->section_.layout();
  Batch batch{ { first_page, first_page + 1 }, 1 };
  for (std::size_t i = 0; i != span_count && batch.pages.count() < maximum; ++i)
  {
    const PageRange next = layout.pages_of(spans[i]);
    if (next.first > batch.pages.end + kPagesBetween || next.first >= first_page + maximum)
    {
      break;
    }
    batch.pages.end = std::clamp(next.end, batch.pages.end, first_page + maximum);
    for (std::uint64_t page = std::max(next.first, first_page); page < batch.pages.end; ++page)
    {
      batch.needed |= std::uint64_t{ 1 } << (page - first_page);
    }
  }
  return batch;
}

// Reads pages into the buffer after the `used` pages that stay there.
PageReader::Run PageReader::load(const Batch& batch, std::uint64_t used)
{
  const PageLayout& layout = this->section_.layout();
  const ByteRange bytes = layout.bytes_of(batch.pages);
  this->buffered_ = {};
  this->buffer_.resize(
    std::max<std::size_t>(this->buffer_.size(), used * kPageBytes + bytes.size()));
  std::byte* const to = this->buffer_.data() + used * kPageBytes;
  this->section_.file().read(layout.in_file(bytes.begin), to, bytes.size());
  for (std::uint64_t needed = batch.needed; needed != 0; needed &= needed - 1)
  {
    const auto i = static_cast<std::uint64_t>(__builtin_ctzll(needed));
    const std::uint64_t page = batch.pages.first + i;
    this->check({ page, page + 1 }, to + i * kPageBytes);
  }
  return { to, bytes, batch.needed };
}

const std::byte* PageReader::find(const Span& elements) const noexcept
{
  const ByteRange bytes = this->section_.layout().bytes_of(elements);
  return this->buffered_.has(bytes) ? this->buffered_.at(bytes.begin) : nullptr;
}

const std::byte* PageReader::inspect(const Span* spans, std::size_t span_count)
{
  if (const std::byte* const there = this->find(spans[0]))
  {
    return there;
  }
  const PageLayout& layout = this->section_.layout();
  const ByteRange bytes = layout.bytes_of(spans[0]);
  const std::uint64_t page = layout.page_of(bytes.begin);
  if (this->section_.file().is_mapped())
  {
    if (this->inspected_++ % kBufferPages == 0)
    {
      this->section_.file().check_length();
    }
    this->buffered_ = {};
    this->buffered_ = this->view({ page, page + 1 });
    if (span_count > 1)
    {
      this->expect(spans[1]);
    }
  }
  else
  {
    this->buffered_ = this->load(this->next_batch(spans, span_count, page, kBufferPages), 0);
  }
  return this->buffered_.at(bytes.begin);
}

// All of the page where the elements begin, if it will be checked.
void PageReader::expect(const Span& elements) const
{
  const PageLayout& layout = this->section_.layout();
  const std::uint64_t byte = layout.bytes_of(elements).begin;
  const std::uint64_t page = layout.page_of(byte);
  if (elements.count != 0)
  {
    const ByteRange bytes = this->checked_->has(page)
      ? ByteRange{ byte, byte + 1 }
      : layout.bytes_of(PageRange{ page, page + 1 });
    prefetch(this->section_.file().view(layout.in_file(bytes.begin), 0), bytes.size());
  }
}

// Pages are checked when the first span reaches them; spans ascend.
void PageReader::gather_mapped(const Span* spans, std::size_t span_count, std::byte* out)
{
  this->section_.file().check_length();
  const PageLayout layout = this->section_.layout();
  Run run;
  for (std::size_t i = 0; i != span_count; ++i)
  {
    ByteRange rest = layout.bytes_of(spans[i]);
    while (rest.size() != 0)
    {
      std::uint64_t bytes = 0;
      const PageRange whole = layout.whole_pages(rest);
      if (layout.begins_page(rest.begin) && whole.count() >= kMaxBufferedPages)
      {
        bytes = layout.bytes_of(whole).size();
        this->stream(whole, out);
      }
      else
      {
        if (!run.has(rest.begin))
        {
          const PageRange pages = layout.pages_of(rest);
          run = this->view({ pages.first, std::min(pages.end, pages.first + kMaxBufferedPages) });
        }
        bytes = std::min(rest.end, run.bytes.end) - rest.begin;
        if (rest.begin + bytes == rest.end && i + 1 != span_count &&
          !run.has(layout.bytes_of(spans[i + 1]).begin))
        {
          this->expect(spans[i + 1]);
        }
        std::memcpy(out, run.at(rest.begin), bytes);
      }
      rest.begin += bytes;
      out += bytes;
    }
  }
}

// A page is copied directly after it was checked, while it is in the nearest cache.
void PageReader::stream(const PageRange& pages, std::byte* out)
{
  const PageLayout& layout = this->section_.layout();
  const ByteRange all = layout.bytes_of(pages);
  const std::byte* from = this->section_.file().view(layout.in_file(all.begin), all.size());
  for (std::uint64_t page = pages.first; page != pages.end; ++page)
  {
    const PageRange one{ page, page + 1 };
    const std::uint64_t bytes = layout.bytes_of(one).size();
    this->check(one, from);
    stream_copy(out, from, bytes);
    from += bytes;
    out += bytes;
  }
  finish_stream_copies();
}

void PageReader::gather(const Span* spans, std::size_t span_count, std::byte* out)
{
  if (this->section_.file().is_mapped())
  {
    this->gather_mapped(spans, span_count, out);
    return;
  }
  const PageLayout layout = this->section_.layout();
  for (std::size_t i = 0; i != span_count; ++i)
  {
    ByteRange rest = layout.bytes_of(spans[i]);
    while (rest.size() != 0)
    {
      const PageRange whole = layout.whole_pages(rest);
      if (layout.begins_page(rest.begin) && whole.count() >= kMaxBufferedPages)
      {
        // Pages are checked directly after the read, while the bytes are in the cache.
        const PageRange pages{ whole.first, std::min(whole.end, whole.first + kReadPages) };
        const std::uint64_t bytes = layout.bytes_of(pages).size();
        this->read(pages, out);
        rest.begin += bytes;
        out += bytes;
        continue;
      }
      if (!this->buffered_.has(rest.begin))
      {
        // Reads only up to where the direct read begins, if one follows.
        const std::uint64_t page = layout.page_of(rest.begin);
        const bool is_head = rest.size() >= (kMaxBufferedPages + 1) * kPageBytes;
        this->buffered_ =
          this->load(is_head ? Batch{ { page, page + 1 }, 1 }
                             : this->next_batch(spans + i, span_count - i, page, kBufferPages),
            0);
      }
      const std::uint64_t bytes =
        std::min(rest.end, this->buffered_.checked_end(rest.begin)) - rest.begin;
      std::memcpy(out, this->buffered_.at(rest.begin), bytes);
      rest.begin += bytes;
      out += bytes;
    }
  }
}

void PageReader::visit_found(const std::function<void(const Elements*, std::size_t)>& look)
{
  look(this->found_.data(), this->found_.size());
  this->found_.clear();
}

void PageReader::visit_mapped(const Span* spans, std::size_t span_count,
  const std::function<void(const Elements*, std::size_t)>& look)
{
  this->section_.file().check_length();
  const PageLayout layout = this->section_.layout();
  const std::uint64_t maximum = kMaxBufferedPages * kPageBytes / layout.element_bytes();
  Run run;
  std::uint64_t viewed = 0; // pages since the last look
  for (std::size_t i = 0; i != span_count; ++i)
  {
    Span rest = spans[i];
    while (rest.count != 0)
    {
      const Span part{ rest.first, std::min(rest.count, maximum) };
      const ByteRange bytes = layout.bytes_of(part);
      if (!run.has(bytes))
      {
        if (viewed >= kViewedPages)
        {
          this->visit_found(look);
          viewed = 0;
        }
        const PageRange pages = layout.pages_of(bytes);
        run = this->view(pages);
        viewed += pages.count();
      }
      this->found_.push_back({ run.at(bytes.begin), part.count });
      prefetch(run.at(bytes.begin), std::min(bytes.size(), kExpectedBytes));
      rest.first += part.count;
      rest.count -= part.count;
    }
  }
  this->visit_found(look);
}

void PageReader::visit(const Span* spans, std::size_t span_count,
  const std::function<void(const Elements*, std::size_t)>& look)
{
  this->found_.clear();
  if (this->section_.file().is_mapped())
  {
    this->visit_mapped(spans, span_count, look);
    return;
  }
  const PageLayout layout = this->section_.layout();
  const std::uint64_t element_bytes = layout.element_bytes();
  this->buffer_.resize(kBufferPages * kPageBytes); // stays where it is while elements are found
  Run run;
  std::uint64_t used = 0; // pages of the buffer
  for (std::size_t i = 0; i != span_count; ++i)
  {
    ByteRange rest = layout.bytes_of(spans[i]);
    while (rest.size() != 0)
    {
      const ByteRange element{ rest.begin, rest.begin + element_bytes };
      if (!run.has(element))
      {
        const PageRange needed = layout.pages_of(element);
        if (needed.count() > kBufferPages - used)
        {
          this->visit_found(look);
          used = 0;
        }
        const Batch batch =
          this->next_batch(spans + i, span_count - i, needed.first, kBufferPages - used);
        run = this->load(batch, used);
        used += batch.pages.count();
      }
      const std::uint64_t count =
        (std::min(rest.end, run.checked_end(rest.begin)) - rest.begin) / element_bytes;
      this->found_.push_back({ run.at(rest.begin), count });
      rest.begin += count * element_bytes;
    }
  }
  this->visit_found(look);
}
}
