// SPDX-License-Identifier: BSD-3-Clause
// Writes sections one after another, then their checksums, the section table and the header.
#pragma once

#include "common/memory/large_array.hpp"
#include "particles/format/hdf5_view.hpp"
#include "particles/format/layout.hpp"
#include "particles/write/chunks.hpp"
#include "particles/write/output.hpp"

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

  /// Returns memory for a column, all of which must be filled before
  /// end_column().
  [[nodiscard]] std::byte* begin_column(format::SectionKind kind, std::uint32_t index,
    const format::ElementType& type, std::uint64_t particles, const ColumnCoding& coding);
  void end_column();
  /// Writes the tables of all columns with chunks so far.
  void write_chunk_tables();

  /// Keeps the place of HDF5_SUPERBLOCK free. Must come before all sections.
  void reserve_hdf5_view();
  /// Writes the HDF5 view, unless the positions are compressed, after all other sections. Columns
  /// and offsets in `facts` are filled in.
  void write_hdf5_view(format::LeafViewFacts facts);

  /// Adds a feature that readers need to know.
  void add_feature(format::Feature feature) { this->features_ |= feature; }
  /// Writes the checksums of all paged sections so far.
  void write_page_checksums();
  /// Writes header and section table. No call may follow.
  void finish(
    std::uint64_t particles, std::optional<double> time, std::optional<std::int64_t> step);

  /// Current size of the file in bytes.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return this->end_; }
  /// Uncompressed size of the columns so far, in bytes.
  [[nodiscard]] std::uint64_t column_bytes() const noexcept { return this->column_bytes_; }
  /// Stored size of the columns so far, in bytes.
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept { return this->stored_bytes_; }

private:
  /// A column that has begun but not ended.
  struct Column
  {
    format::SectionKind kind{};
    std::uint32_t index = 0;
    format::ElementType type;
    std::uint64_t particles = 0;
    ColumnCoding coding;
    const std::byte* values = nullptr;
  };

  const format::SectionRecord& add_paged(
    format::SectionKind kind, std::uint32_t index, std::uint64_t bytes);
  std::byte* begin_stored(format::SectionKind kind, std::uint32_t index, std::uint64_t bytes);
  void end_stored(const std::byte* data);
  void add_page_checksums(const std::byte* data);
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment);
  [[nodiscard]] std::uint64_t table_bytes() const noexcept;

  Output& output_;
  std::vector<format::SectionRecord> sections_;
  std::vector<std::pair<std::size_t, std::vector<std::uint32_t>>> page_checksums_; ///< by section
  std::vector<std::pair<std::uint32_t, std::vector<std::byte>>> chunk_tables_;     ///< by column
  Column column_;
  LargeArray<std::byte> values_; ///< values of a column to be compressed
  LargeArray<std::byte> frames_; ///< frames of its chunks
  std::uint64_t features_ = 0;
  std::uint64_t end_ = sizeof(format::Header);
  std::uint64_t column_bytes_ = 0;
  std::uint64_t stored_bytes_ = 0;
};
}
