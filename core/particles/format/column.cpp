// SPDX-License-Identifier: BSD-3-Clause
#include "particles/format/column.hpp"

#include "bat/error.hpp"
#include "common/round_up.hpp"
#include "particles/format/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

namespace bat::format
{
namespace
{
constexpr std::uint64_t kReadBytes = 1 << 18; // this much at once: still in the cache when decoded
constexpr std::uint64_t kDecodedBytes = 1 << 19; // are visited before they leave it

std::string numbers_of(const Span& chunks)
{
  return chunks.count == 1
    ? fmt::format("chunk {}", chunks.first)
    : fmt::format("chunks {} to {}", chunks.first, chunks.first + chunks.count - 1);
}
}

ColumnSection::ColumnSection(const io::RandomAccessFile& file, const SectionRecord& section,
  const SectionRecord* table, const ElementType& type, std::uint64_t particles,
  const std::string& name)
  : stored_(file, section, table ? 1 : type.bytes(), name)
  , table_record_(table)
  , record_(section)
  , type_(type)
  , element_bytes_(type.bytes())
  , particles_(particles)
{
  if (table)
  {
    this->stored_.describe_bytes_with([this](const ByteRange& bytes)
      { return ", " + numbers_of(this->chunks().chunks_at(bytes)); });
  }
}

const ChunkTable& ColumnSection::chunks() const
{
  std::call_once(this->loaded_,
    [this]
    {
      this->chunks_.emplace(this->file(), *this->table_record_, this->record_, this->name(),
        codec::ColumnShape{ this->type_.type, static_cast<std::uint32_t>(this->type_.components) },
        this->particles_);
      const bool may_be_bounded =
        this->type_.type == ScalarType::Float32 || this->type_.type == ScalarType::Float64;
      check_field(this->file(), may_be_bounded || this->chunks_->bound() == 0,
        fmt::format("{}, of {}", describe(*this->table_record_), this->name()), "bound",
        fmt::format("{}", this->chunks_->bound()),
        "0, because the values are not float32 or float64");
    });
  return *this->chunks_;
}

Span ColumnSection::frames_of(const Span& elements) const
{
  const ByteRange bytes = this->chunks().frames(this->chunks().chunks_of(elements));
  return { bytes.begin, bytes.size() };
}

PageRange ColumnSection::pages_of(const Span& elements) const
{
  return this->stored_.layout().pages_of(this->has_chunks() ? this->frames_of(elements) : elements);
}

Span ColumnSection::read_merged(const Span& elements) const
{
  if (!this->has_chunks())
  {
    return elements;
  }
  const Span chunks = this->chunks().chunks_of(elements);
  const Span last = this->chunks().particles_of(chunks.first + chunks.count - 1);
  const std::uint64_t first = this->chunks().particles_of(chunks.first).first;
  return { first, last.first + last.count - first };
}

void ColumnSection::prefetch(const std::vector<Span>& spans) const noexcept
{
  if (!this->has_chunks())
  {
    this->stored_.prefetch(spans);
    return;
  }
  try
  {
    std::vector<Span> frames;
    for (const Span& span : spans)
    {
      if (span.count != 0)
      {
        frames.push_back(this->frames_of(span));
      }
    }
    this->stored_.prefetch(frames);
  }
  catch (const std::exception&) // a damaged table, which reading will report
  {
  }
}

ColumnReader::ColumnReader(const ColumnSection& column)
  : column_(column)
  , stored_(column.stored_)
  , decoder_(column.has_chunks() ? std::make_unique<codec::Decoder>() : nullptr)
{
}

void ColumnReader::gather(const Span* spans, std::size_t span_count, std::byte* out)
{
  if (this->decoder_)
  {
    this->gather_chunks(spans, span_count, out);
    return;
  }
  this->stored_.gather(spans, span_count, out);
}

void ColumnReader::visit(const Span* spans, std::size_t span_count,
  const std::function<void(const Elements*, std::size_t)>& look)
{
  if (this->decoder_)
  {
    this->visit_chunks(spans, span_count, look);
    return;
  }
  this->stored_.visit(spans, span_count, look);
}

void ColumnReader::gather_chunks(const Span* spans, std::size_t span_count, std::byte* out)
{
  const ChunkTable& table = this->column_.chunks();
  const std::uint64_t element_bytes = this->column_.element_bytes();
  Span decoded; // particles in decoded_
  for (std::size_t i = 0; i != span_count; ++i)
  {
    Span rest = spans[i];
    while (rest.count != 0)
    {
      const std::uint64_t chunk = table.chunk_of(rest.first);
      const Span all = table.particles_of(chunk);
      const std::uint64_t count = std::min(rest.count, all.first + all.count - rest.first);
      if (count == all.count)
      {
        this->decode(chunk, rest, spans + i + 1, spans + span_count, out);
      }
      else
      {
        if (decoded.count == 0 || decoded.first != all.first)
        {
          this->decoded_.resize(
            std::max<std::size_t>(this->decoded_.size(), all.count * element_bytes));
          decoded = {};
          this->decode(chunk, rest, spans + i + 1, spans + span_count, this->decoded_.data());
          decoded = all;
        }
        std::memcpy(out, this->decoded_.data() + (rest.first - all.first) * element_bytes,
          count * element_bytes);
      }
      out += count * element_bytes;
      rest.first += count;
      rest.count -= count;
    }
  }
}

void ColumnReader::visit_chunks(const Span* spans, std::size_t span_count,
  const std::function<void(const Elements*, std::size_t)>& look)
{
  const auto visit_found = [&]
  {
    look(this->found_.data(), this->found_.size());
    this->found_.clear();
  };
  const ChunkTable& table = this->column_.chunks();
  const std::uint64_t element_bytes = this->column_.element_bytes();
  const std::uint64_t maximum = table.particles_of(0).count * element_bytes;
  this->found_.clear();
  // Stays in place while elements are located.
  this->decoded_.resize(std::max({ this->decoded_.size(), kDecodedBytes, maximum }));
  Span decoded;                  // particles of the last chunk
  const std::byte* at = nullptr; // their address
  std::uint64_t used = 0;        // bytes of decoded_
  for (std::size_t i = 0; i != span_count; ++i)
  {
    Span rest = spans[i];
    while (rest.count != 0)
    {
      const std::uint64_t chunk = table.chunk_of(rest.first);
      const Span all = table.particles_of(chunk);
      if (decoded.count == 0 || decoded.first != all.first)
      {
        if (used + maximum > this->decoded_.size())
        {
          visit_found();
          used = 0;
        }
        std::byte* const to = this->decoded_.data() + used;
        decoded = {};
        this->decode(chunk, rest, spans + i + 1, spans + span_count, to);
        decoded = all;
        at = to;
        used += round_up(maximum, 64); // elements stay aligned for the numbers in them
      }
      const std::uint64_t count = std::min(rest.count, all.first + all.count - rest.first);
      this->found_.push_back({ at + (rest.first - all.first) * element_bytes, count });
      rest.first += count;
      rest.count -= count;
    }
  }
  visit_found();
}

// Decodes a chunk in which `rest` begins. The spans from `behind` to `end` follow.
void ColumnReader::decode(
  std::uint64_t chunk, const Span& rest, const Span* behind, const Span* end, std::byte* to)
{
  while (this->next_ != this->read_.size() && this->read_[this->next_].chunk < chunk)
  {
    ++this->next_;
  }
  if (this->next_ == this->read_.size() || this->read_[this->next_].chunk != chunk)
  {
    this->read_frames(chunk, rest, behind, end);
  }
  const Frame& frame = this->read_[this->next_];
  const ChunkTable& table = this->column_.chunks();
  try
  {
    this->decoder_->decode(table.model(), this->frames_.data() + frame.bytes.begin,
      frame.bytes.size(), to, table.particles_of(chunk).count);
  }
  catch (const Error& error)
  {
    const ByteRange bytes = table.frames({ chunk, 1 });
    corrupt(this->column_.file(),
      fmt::format("chunk {} of {} (bytes {} to {} of the column): {}", chunk, this->column_.name(),
        bytes.begin, bytes.end - 1, error.what()));
  }
}

// Reads the frames of the chunk and of those needed next.
void ColumnReader::read_frames(
  std::uint64_t chunk, const Span& rest, const Span* behind, const Span* end)
{
  const ChunkTable& table = this->column_.chunks();
  this->read_.clear();
  this->next_ = 0;
  std::vector<Span> bytes; // ranges of the column; touching ones are merged
  std::uint64_t total = 0;
  std::uint64_t from = chunk; // chunks before it are read or not needed
  const auto add = [&](const Span& particles)
  {
    const Span chunks = table.chunks_of(particles);
    from = std::max(from, chunks.first);
    for (; from != chunks.first + chunks.count && total < kReadBytes; ++from)
    {
      const ByteRange frame = table.frames({ from, 1 });
      this->read_.push_back({ from, { total, total + frame.size() } });
      total += frame.size();
      if (!bytes.empty() && bytes.back().first + bytes.back().count == frame.begin)
      {
        bytes.back().count += frame.size();
      }
      else
      {
        bytes.push_back({ frame.begin, frame.size() });
      }
    }
  };
  add(rest);
  for (; behind != end && total < kReadBytes; ++behind)
  {
    if (behind->count != 0)
    {
      add(*behind);
    }
  }
  this->frames_.resize(std::max<std::size_t>(this->frames_.size(), total));
  this->stored_.gather(bytes.data(), bytes.size(), this->frames_.data());
}
}
