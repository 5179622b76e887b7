#include "bat/write/section_writer.hpp"

#include "bat/format/checksum.hpp"
#include "bat/format/encode.hpp"
#include "bat/format/page_layout.hpp"

namespace bat::write
{
using format::SectionKind;

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

std::byte* SectionWriter::begin_column(SectionKind kind, std::uint32_t index, std::uint64_t bytes)
{
  this->column_bytes_ += bytes;
  std::byte* const column =
    this->output_.begin_column(this->add_paged(kind, index, bytes).offset, bytes);
  this->column_ = column;
  return column;
}

void SectionWriter::end_column()
{
  this->add_page_checksums(this->column_);
  this->output_.end_column();
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

void SectionWriter::finish(
  std::uint64_t particles, std::optional<double> time, std::optional<std::int64_t> step)
{
  const std::uint64_t table_bytes = sizeof(format::SectionRecord) * this->sections_.size();
  const format::Header header =
    format::finish_header(this->sections_, this->reserve(table_bytes, 8), particles, 0, time, step);
  this->output_.write(header.section_table_offset, this->sections_.data(), table_bytes);
  this->output_.write(0, &header, sizeof(header));
}

// Reserves room for a paged section and begins its record.
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

// Of the section added last.
void SectionWriter::add_page_checksums(const std::byte* data)
{
  this->page_checksums_.emplace_back(
    this->sections_.size() - 1, format::page_checksums(data, this->sections_.back().bytes));
}

std::uint64_t SectionWriter::reserve(std::uint64_t bytes, std::uint64_t alignment)
{
  const std::uint64_t offset = (this->end_ + alignment - 1) / alignment * alignment;
  this->end_ = offset + bytes;
  return offset;
}
}
