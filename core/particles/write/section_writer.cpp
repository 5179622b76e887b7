// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/section_writer.hpp"

#include "common/round_up.hpp"
#include "particles/format/checksum.hpp"
#include "particles/format/encode.hpp"
#include "particles/format/hdf5.hpp"
#include "particles/format/page_layout.hpp"
#include "particles/format/section_kinds.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace bat::write
{
using format::SectionKind;

namespace
{
void copy_in_parallel(std::byte* to, const std::byte* from, std::uint64_t bytes)
{
  constexpr std::uint64_t kBytesPerCopy = 1 << 20;
  tbb::parallel_for(std::uint64_t{ 0 }, (bytes + kBytesPerCopy - 1) / kBytesPerCopy,
    [&](std::uint64_t piece)
    {
      const std::uint64_t begin = piece * kBytesPerCopy;
      std::memcpy(to + begin, from + begin, std::min(kBytesPerCopy, bytes - begin));
    });
}
}

void SectionWriter::write_plain(
  SectionKind kind, std::uint32_t index, const void* data, std::uint64_t bytes)
{
  const std::uint64_t offset = this->reserve(bytes, 8);
  this->sections_.push_back(format::plain_section(kind, index, offset, data, bytes));
  this->output_.write(offset, data, bytes);
}

void SectionWriter::write_paged(
  SectionKind kind, std::uint32_t index, const void* data, std::uint64_t bytes)
{
  this->output_.write(this->add_paged(kind, index, bytes).offset, data, bytes);
  this->add_page_checksums(static_cast<const std::byte*>(data));
}

std::byte* SectionWriter::begin_column(SectionKind kind, std::uint32_t index,
  const format::ElementType& type, std::uint64_t particles, const ColumnCoding& coding)
{
  const std::uint64_t bytes = type.bytes() * particles;
  this->column_bytes_ += bytes;
  std::byte* values = nullptr;
  if (coding.is_compressed)
  {
    if (this->values_.size() < bytes)
    {
      this->values_.reset(bytes);
    }
    values = this->values_.data();
  }
  else
  {
    values = this->begin_stored(kind, index, bytes);
  }
  this->column_ = { kind, index, type, particles, coding, values };
  return values;
}

void SectionWriter::end_column()
{
  const Column& column = this->column_;
  if (!column.coding.is_compressed)
  {
    this->end_stored(column.values);
    return;
  }
  const std::uint64_t bytes = column.type.bytes() * column.particles;
  const Chunks chunks(column.type, column.coding, column.values, column.particles, this->frames_);
  std::vector<std::byte> table = chunks.table();
  // Values that hardly shrink are read faster without compression. The bound is recorded in the
  // table.
  const bool is_worth_it = (chunks.bytes() + table.size()) / 31 < bytes / 32;
  if (!is_worth_it && column.coding.bound == 0)
  {
    std::byte* const stored = this->begin_stored(column.kind, column.index, bytes);
    copy_in_parallel(stored, column.values, bytes);
    this->end_stored(stored);
    return;
  }
  std::byte* const stored = this->begin_stored(column.kind, column.index, chunks.bytes());
  this->sections_.back().encoding = format::kChunks;
  this->sections_.back().raw_bytes = bytes;
  chunks.copy(stored);
  this->end_stored(stored);
  this->chunk_tables_.emplace_back(
    format::column_number(column.kind, column.index), std::move(table));
}

void SectionWriter::write_chunk_tables()
{
  if (!this->chunk_tables_.empty())
  {
    this->features_ |= format::kCompressedChunks;
  }
  for (const auto& [column, table] : this->chunk_tables_)
  {
    this->write_plain(SectionKind::ChunkTable, column, table.data(), table.size());
  }
  this->chunk_tables_.clear();
}

void SectionWriter::write_page_checksums()
{
  for (const auto& [section, sums] : this->page_checksums_)
  {
    format::SectionRecord& record = this->sections_[section];
    const format::PageLayout layout(record.bytes);
    record.checksums_offset = this->reserve(layout.checksums_bytes(), 8);
    record.checksum = format::checksum(sums.data(), layout.group_checksums_bytes());
    this->output_.write(record.checksums_offset, sums.data(), layout.checksums_bytes());
  }
  this->page_checksums_.clear();
}

void SectionWriter::reserve_hdf5_view()
{
  this->end_ = format::kSuperblockOffset + format::hdf5::kSuperblockBytes;
}

void SectionWriter::write_hdf5_view(format::LeafViewFacts facts)
{
  facts.columns = format::columns_of(this->sections_);
  if (!format::reason_against_view(facts).empty())
  {
    return;
  }
  facts.metadata_offset = std::find_if(this->sections_.begin(), this->sections_.end(),
    [](const auto& s) {
      return s.kind == static_cast<std::uint32_t>(SectionKind::Metadata);
    })->offset;
  facts.objects_offset = this->reserve(0, 8);
  const format::Hdf5Objects objects = format::leaf_objects(facts);
  this->write_plain(SectionKind::Hdf5Objects, 0, objects.bytes.data(), objects.bytes.size());
  this->sections_.emplace_back(); // filled in when the size of the file is known
  const std::vector<std::byte> superblock =
    format::hdf5_superblock(objects, this->reserve(0, 8) + this->table_bytes());
  this->sections_.back() = format::plain_section(SectionKind::Hdf5Superblock, 0,
    format::kSuperblockOffset, superblock.data(), superblock.size());
  this->output_.write(format::kSuperblockOffset, superblock.data(), superblock.size());
}

void SectionWriter::finish(
  std::uint64_t particles, std::optional<double> time, std::optional<std::int64_t> step)
{
  const std::uint64_t table_bytes = this->table_bytes();
  const format::Header header = format::finish_header(
    this->sections_, this->reserve(table_bytes, 8), particles, this->features_, time, step);
  this->output_.write(header.section_table_offset, this->sections_.data(), table_bytes);
  this->output_.write(0, &header, sizeof(header));
}

std::uint64_t SectionWriter::table_bytes() const noexcept
{
  return sizeof(format::SectionRecord) * this->sections_.size();
}

// Begins a column's section and returns its memory.
std::byte* SectionWriter::begin_stored(SectionKind kind, std::uint32_t index, std::uint64_t bytes)
{
  this->stored_bytes_ += bytes;
  return this->output_.begin_column(this->add_paged(kind, index, bytes).offset, bytes);
}

void SectionWriter::end_stored(const std::byte* data)
{
  this->add_page_checksums(data);
  this->output_.end_column();
}

// Reserves space for a paged section and begins its record.
const format::SectionRecord& SectionWriter::add_paged(
  SectionKind kind, std::uint32_t index, std::uint64_t bytes)
{
  format::SectionRecord record{};
  record.kind = static_cast<std::uint32_t>(kind);
  record.index = index;
  record.flags = format::kPaged;
  record.offset = this->reserve(bytes, format::PageLayout(bytes).alignment());
  record.bytes = bytes;
  record.raw_bytes = bytes;
  this->sections_.push_back(record);
  return this->sections_.back();
}

// Checksums the pages of the section added last.
void SectionWriter::add_page_checksums(const std::byte* data)
{
  this->page_checksums_.emplace_back(
    this->sections_.size() - 1, format::page_checksums(data, this->sections_.back().bytes));
}

std::uint64_t SectionWriter::reserve(std::uint64_t bytes, std::uint64_t alignment)
{
  const std::uint64_t offset = round_up(this->end_, alignment);
  this->end_ = offset + bytes;
  return offset;
}
}
