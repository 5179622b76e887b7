// SPDX-License-Identifier: BSD-3-Clause
// Columns, whose elements are stored unchanged or in chunks (FORMAT.md section 12).
#pragma once

#include "codec/chunk_codec.hpp"
#include "particles/format/chunk_table.hpp"
#include "particles/format/page_reader.hpp"

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
/// One column of a file. const functions may be called concurrently.
class ColumnSection
{
public:
  /// `table` is its CHUNK_TABLE; null for a column stored without chunks. `name` is its name in
  /// messages.
  ColumnSection(const io::RandomAccessFile& file, const SectionRecord& section,
    const SectionRecord* table, const ElementType& type, std::uint64_t particles,
    const std::string& name);

  [[nodiscard]] const std::string& name() const noexcept { return this->stored_.name(); }
  [[nodiscard]] const ElementType& type() const noexcept { return this->type_; }
  [[nodiscard]] std::uint64_t element_bytes() const noexcept { return this->element_bytes_; }
  [[nodiscard]] const io::RandomAccessFile& file() const noexcept { return this->stored_.file(); }
  [[nodiscard]] bool has_chunks() const noexcept { return this->table_record_ != nullptr; }
  /// Size of the section in bytes: smaller than the elements if they are compressed.
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept
  {
    return this->stored_.layout().bytes();
  }
  /// The chunk table of a column with chunks; read at the first call.
  [[nodiscard]] const ChunkTable& chunks() const;

  /// The stored pages that must be read for these elements, at least one.
  [[nodiscard]] PageRange pages_of(const Span& elements) const;
  /// The elements that reading these yields at least.
  [[nodiscard]] Span read_merged(const Span& elements) const;

  /// Returns the first `count` elements of a mapped file in place. Pages are checked in parallel.
  /// The column has no chunks.
  [[nodiscard]] const std::byte* view_front(std::uint64_t count) const
  {
    return this->stored_.view_front(count);
  }

  /// Prefetches the pages of ascending spans without waiting.
  void prefetch(const std::vector<Span>& spans) const noexcept;

private:
  friend class ColumnReader;

  [[nodiscard]] Span frames_of(const Span& elements) const;

  PagedSection stored_; ///< elements, or bytes of frames
  const SectionRecord* table_record_;
  SectionRecord record_;
  ElementType type_;
  std::uint64_t element_bytes_;
  std::uint64_t particles_;
  mutable std::once_flag loaded_;
  mutable std::optional<ChunkTable> chunks_;
};

/// Copies out elements of a column. Use one per thread.
class ColumnReader
{
public:
  explicit ColumnReader(const ColumnSection& column);

  /// Copies the elements in ascending `spans` to `out`, packed. The spans lie inside the column.
  /// Throws Error{Corrupt} and other errors from reading.
  void gather(const Span* spans, std::size_t span_count, std::byte* out);

  /// Calls look(elements, count) with the elements in ascending `spans` in place, some at a time
  /// and in order; a span may be split. The memory belongs to the file or the reader and is valid
  /// until `look` returns. The spans lie inside the column.
  void visit(const Span* spans, std::size_t span_count,
    const std::function<void(const Elements*, std::size_t)>& look);

private:
  /// A chunk whose frame is in `frames_`.
  struct Frame
  {
    std::uint64_t chunk;
    ByteRange bytes; ///< range in `frames_`
  };

  void gather_chunks(const Span* spans, std::size_t span_count, std::byte* out);
  void visit_chunks(const Span* spans, std::size_t span_count,
    const std::function<void(const Elements*, std::size_t)>& look);
  void decode(
    std::uint64_t chunk, const Span& rest, const Span* behind, const Span* end, std::byte* to);
  void read_frames(std::uint64_t chunk, const Span& rest, const Span* behind, const Span* end);

  const ColumnSection& column_;
  PageReader stored_;
  std::unique_ptr<codec::Decoder> decoder_; ///< for a column with chunks
  Bytes frames_;
  std::vector<Frame> read_; ///< ascending
  std::size_t next_ = 0;    ///< index in read_
  Bytes decoded_;
  std::vector<Elements> found_; ///< found by visit(), not visited yet
};
}
