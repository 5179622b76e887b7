#include "bat/format/page_reader.hpp"

#include "bat/format/decode.hpp"
#include "common/stream_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace bat::format
{
namespace
{
// Longer runs are read straight into the caller's memory.
constexpr std::uint64_t kDirectBytes = 1 << 16;
constexpr std::uint64_t kReadBytes = 1 << 18; // this much at once: still in the cache when checked
constexpr std::uint64_t kBufferPages = 64;
constexpr std::uint64_t kViewedBytes = 1 << 17; // are looked at before they leave the near caches

// The page behind those from first_page on that the next spans need, as far as they touch, and at
// most `most` pages.
std::uint64_t end_of_pages(const Span* spans, std::size_t span_count, std::uint64_t element_bytes,
  std::uint64_t first_page, std::uint64_t most)
{
  std::uint64_t end_page = first_page + 1;
  for (std::size_t i = 0; i != span_count; ++i)
  {
    const std::uint64_t begin = spans[i].first * element_bytes;
    const std::uint64_t end = begin + spans[i].count * element_bytes;
    if (begin / kPageBytes > end_page)
    {
      break;
    }
    end_page = std::max(end_page, page_count(end));
    if (end_page >= first_page + most)
    {
      return first_page + most;
    }
  }
  return end_page;
}

// Lines of memory come at the same time that otherwise are waited for one after the other.
void prefetch(const std::byte* memory, std::uint64_t bytes)
{
  constexpr std::uint64_t line = 64;
  constexpr std::uint64_t most = 16 * line; // further ones the processor sees coming
  for (std::uint64_t at = 0; at < std::min(bytes, most); at += line)
  {
    __builtin_prefetch(memory + at);
  }
  __builtin_prefetch(memory + bytes - 1);
}
}

std::vector<std::uint32_t> PagedSection::page_checksums(std::uint64_t first) const
{
  const std::uint64_t pages = page_count(this->section_.bytes);
  const std::uint64_t upper = page_count(4 * pages);
  std::call_once(this->loaded_,
    [&]
    {
      std::vector<std::uint32_t> sums(upper);
      this->file_.read(this->section_.checksums_offset, sums.data(), 4 * upper);
      if (checksum(sums.data(), 4 * upper) != this->section_.checksum)
      {
        corrupt(this->file_, "the page checksums of " + this->name_ + " are damaged");
      }
      this->upper_ = std::move(sums);
    });
  std::vector<std::uint32_t> sums(std::min<std::uint64_t>(kPageBytes / 4, pages - first));
  this->file_.read(
    this->section_.checksums_offset + 4 * (upper + first), sums.data(), 4 * sums.size());
  if (page_checksum(sums.data(), 4 * sums.size()) != this->upper_[first / (kPageBytes / 4)])
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
  std::call_once(this->marked_, [&] { this->checked_.emplace(page_count(this->section_.bytes)); });
  return &*this->checked_;
}

void PageReader::read_pages(std::uint64_t first_page, std::uint64_t bytes, std::byte* to)
{
  this->section_.file().read(this->section_.record().offset + first_page * kPageBytes, to, bytes);
  this->check_pages(first_page, bytes, to);
}

const std::byte* PageReader::view_pages(std::uint64_t first_page, std::uint64_t bytes)
{
  const std::byte* const pages =
    this->section_.file().view(this->section_.record().offset + first_page * kPageBytes, bytes);
  this->check_pages(first_page, bytes, pages);
  return pages;
}

void PageReader::check_pages(std::uint64_t first_page, std::uint64_t bytes, const std::byte* pages)
{
  const SectionRecord& record = this->section_.record();
  for (std::uint64_t begin = 0; begin < bytes; begin += kPageBytes)
  {
    const std::uint64_t page = first_page + begin / kPageBytes;
    if (this->checked_ && this->checked_->has(page))
    {
      continue;
    }
    const std::uint64_t sums_first = page / (kPageBytes / 4) * (kPageBytes / 4);
    if (sums_first != this->sums_first_)
    {
      this->sums_ = this->section_.page_checksums(sums_first);
      this->sums_first_ = sums_first;
    }
    if (page_checksum(pages + begin, std::min(kPageBytes, bytes - begin)) !=
      this->sums_[page - sums_first])
    {
      corrupt(this->section_.file(),
        fmt::format("page {} of {} (offset {}) does not match its checksum", page,
          this->section_.name(), record.offset + page * kPageBytes));
    }
    if (this->checked_)
    {
      this->checked_->add(page);
    }
  }
}

// Of a mapped file: the pages that bytes from `begin` to `end` lie on.
PageReader::Run PageReader::view(std::uint64_t begin, std::uint64_t end)
{
  const std::uint64_t first_page = begin / kPageBytes;
  begin = first_page * kPageBytes;
  end = std::min(this->section_.record().bytes, page_count(end) * kPageBytes);
  return { this->view_pages(first_page, end - begin), begin, end };
}

// Reads the pages from first_page on that the next spans need, behind those of the buffer that are
// used.
PageReader::Run PageReader::load(const Span* spans, std::size_t span_count,
  std::uint64_t element_bytes, std::uint64_t first_page, std::uint64_t used)
{
  const std::uint64_t end_page =
    end_of_pages(spans, span_count, element_bytes, first_page, kBufferPages - used);
  const std::uint64_t begin = first_page * kPageBytes;
  const std::uint64_t end = std::min(end_page * kPageBytes, this->section_.record().bytes);
  this->buffered_ = {};
  this->buffer_.resize(
    std::max<std::size_t>(this->buffer_.size(), used * kPageBytes + (end - begin)));
  std::byte* const to = this->buffer_.data() + used * kPageBytes;
  this->read_pages(first_page, end - begin, to);
  return { to, begin, end };
}

// Pages are checked when the first span comes to them; spans ascend.
void PageReader::gather_mapped(
  const Span* spans, std::size_t span_count, std::uint64_t element_bytes, std::byte* out)
{
  this->section_.file().check_length();
  Run run;
  for (std::size_t i = 0; i != span_count; ++i)
  {
    std::uint64_t at = spans[i].first * element_bytes;
    const std::uint64_t stop = at + spans[i].count * element_bytes;
    while (at != stop)
    {
      std::uint64_t bytes = 0;
      if (at % kPageBytes == 0 && stop - at >= kDirectBytes)
      {
        bytes = (stop - at) / kPageBytes * kPageBytes;
        this->stream_pages(at / kPageBytes, bytes, out);
      }
      else
      {
        if (!run.has(at))
        {
          run = this->view(at, std::min(stop, at / kPageBytes * kPageBytes + kDirectBytes));
        }
        bytes = std::min(stop, run.end) - at;
        std::memcpy(out, run.at(at), bytes);
      }
      at += bytes;
      out += bytes;
    }
  }
}

// A page is copied while it is in the nearest cache: from where it was checked.
void PageReader::stream_pages(std::uint64_t first_page, std::uint64_t bytes, std::byte* out)
{
  const std::byte* const pages =
    this->section_.file().view(this->section_.record().offset + first_page * kPageBytes, bytes);
  for (std::uint64_t begin = 0; begin != bytes; begin += kPageBytes)
  {
    this->check_pages(first_page + begin / kPageBytes, kPageBytes, pages + begin);
    stream_copy(out + begin, pages + begin, kPageBytes);
  }
  finish_stream_copies();
}

void PageReader::gather(
  const Span* spans, std::size_t span_count, std::uint64_t element_bytes, std::byte* out)
{
  if (this->section_.file().is_mapped())
  {
    this->gather_mapped(spans, span_count, element_bytes, out);
    return;
  }
  for (std::size_t i = 0; i != span_count; ++i)
  {
    std::uint64_t at = spans[i].first * element_bytes;
    const std::uint64_t end = at + spans[i].count * element_bytes;
    while (at != end)
    {
      if (at % kPageBytes == 0 && end - at >= kDirectBytes)
      {
        // Checked right behind the read, while the bytes are in the cache.
        const std::uint64_t bytes = std::min(kReadBytes, (end - at) / kPageBytes * kPageBytes);
        this->read_pages(at / kPageBytes, bytes, out);
        at += bytes;
        out += bytes;
        continue;
      }
      if (!this->buffered_.has(at))
      {
        // Only up to where the direct read begins, if there will be one.
        const Span head{ at, kPageBytes - at % kPageBytes };
        const bool is_head = end - at >= kDirectBytes + kPageBytes;
        this->buffered_ = is_head
          ? this->load(&head, 1, 1, at / kPageBytes, 0)
          : this->load(spans + i, span_count - i, element_bytes, at / kPageBytes, 0);
      }
      const std::uint64_t bytes = std::min(end, this->buffered_.end) - at;
      std::memcpy(out, this->buffered_.at(at), bytes);
      at += bytes;
      out += bytes;
    }
  }
}

void PageReader::look_at_found(const std::function<void(const Elements*, std::size_t)>& look)
{
  look(this->found_.data(), this->found_.size());
  this->found_.clear();
}

void PageReader::visit_mapped(const Span* spans, std::size_t span_count,
  std::uint64_t element_bytes, const std::function<void(const Elements*, std::size_t)>& look)
{
  this->section_.file().check_length();
  const std::uint64_t most = kDirectBytes / element_bytes;
  Run run;
  std::uint64_t viewed = 0; // bytes since the last look
  for (std::size_t i = 0; i != span_count; ++i)
  {
    Span rest = spans[i];
    while (rest.count != 0)
    {
      const std::uint64_t count = std::min(rest.count, most);
      const std::uint64_t at = rest.first * element_bytes;
      const std::uint64_t stop = at + count * element_bytes;
      if (at < run.begin || stop > run.end)
      {
        if (viewed >= kViewedBytes)
        {
          this->look_at_found(look);
          viewed = 0;
        }
        run = this->view(at, stop);
        viewed += run.end - run.begin;
      }
      this->found_.push_back({ run.at(at), count });
      prefetch(run.at(at), stop - at);
      rest.first += count;
      rest.count -= count;
    }
  }
  this->look_at_found(look);
}

void PageReader::visit(const Span* spans, std::size_t span_count, std::uint64_t element_bytes,
  const std::function<void(const Elements*, std::size_t)>& look)
{
  this->found_.clear();
  if (this->section_.file().is_mapped())
  {
    this->visit_mapped(spans, span_count, element_bytes, look);
    return;
  }
  this->buffer_.resize(kBufferPages * kPageBytes); // stays where it is while elements are found
  Run run;
  std::uint64_t used = 0; // pages of the buffer
  for (std::size_t i = 0; i != span_count; ++i)
  {
    std::uint64_t at = spans[i].first * element_bytes;
    const std::uint64_t stop = at + spans[i].count * element_bytes;
    while (at != stop)
    {
      if (at < run.begin || at + element_bytes > run.end)
      {
        const std::uint64_t first_page = at / kPageBytes;
        if (page_count(at + element_bytes) - first_page > kBufferPages - used)
        {
          this->look_at_found(look);
          used = 0;
        }
        run = this->load(spans + i, span_count - i, element_bytes, first_page, used);
        used += page_count(run.end - run.begin);
      }
      const std::uint64_t count = (std::min(stop, run.end) - at) / element_bytes;
      this->found_.push_back({ run.at(at), count });
      at += count * element_bytes;
    }
  }
  this->look_at_found(look);
}
}
