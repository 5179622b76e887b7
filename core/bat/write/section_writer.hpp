// Writes sections one behind the other, then their checksums, the section table and the header.
#pragma once

#include "bat/format/layout.hpp"
#include "bat/write/output.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bat::write
{
class SectionWriter
{
public:
  explicit SectionWriter(Output& output)
    : output_(output)
  {
  }

  void write_plain(
    format::SectionKind kind, std::uint32_t index, const void* data, std::uint64_t bytes);
  void write_paged(
    format::SectionKind kind, std::uint32_t index, const void* data, std::uint64_t bytes);

  /// The memory of a paged section, all of which is to be filled before end_column().
  [[nodiscard]] std::byte* begin_column(
    format::SectionKind kind, std::uint32_t index, std::uint64_t bytes);
  void end_column();

  /// Of all paged sections so far.
  void write_page_checksums();
  /// Header and section table. Nothing comes after this.
  void finish(
    std::uint64_t particles, std::optional<double> time, std::optional<std::int64_t> step);

  /// Of the file, so far.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return this->end_; }
  /// Of these, those of columns.
  [[nodiscard]] std::uint64_t column_bytes() const noexcept { return this->column_bytes_; }

private:
  const format::SectionRecord& add_paged(
    format::SectionKind kind, std::uint32_t index, std::uint64_t bytes);
  void add_page_checksums(const std::byte* data);
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment);

  Output& output_;
  std::vector<format::SectionRecord> sections_;
  std::vector<std::pair<std::size_t, std::vector<std::uint32_t>>> page_checksums_; ///< by section
  const std::byte* column_ = nullptr;
  std::uint64_t end_ = sizeof(format::Header);
  std::uint64_t column_bytes_ = 0;
};
}
