// SPDX-License-Identifier: BSD-3-Clause
// Locates the chunks of a column (FORMAT.md section 12).
#pragma once

#include "bat/query.hpp"
#include "codec/chunk_codec.hpp"
#include "particles/format/decode.hpp"
#include "particles/format/layout.hpp"
#include "particles/format/page_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bat::format
{
/// Returns the bytes of a CHUNK_TABLE. `frames` has the size of each frame; `model` is the column's
/// model (codec::Plan).
[[nodiscard]] std::vector<std::byte> chunk_table_bytes(std::uint32_t chunk_particles, double bound,
  const std::vector<std::uint32_t>& frames, const std::vector<std::byte>& model);

/// A chunk is a run of file positions, and its frame is the stored form.
class ChunkTable
{
public:
  /// Reads and checks the table. `column` is the column's section; `column_name` is used in
  /// messages. Throws Error{Corrupt}.
  ChunkTable(const io::RandomAccessFile& file, const SectionRecord& table,
    const SectionRecord& column, const std::string& column_name, const codec::ColumnShape& shape,
    std::uint64_t particles);

  [[nodiscard]] std::uint64_t count() const noexcept { return this->begins_.size() - 1; }
  /// Particles per chunk; the last may have fewer.
  [[nodiscard]] std::uint32_t chunk_particles() const noexcept { return this->chunk_particles_; }
  /// Largest absolute difference from the values given to the writer; 0 if every bit is kept.
  [[nodiscard]] double bound() const noexcept { return this->bound_; }

  /// The model shared by all frames.
  [[nodiscard]] const codec::Model& model() const noexcept { return *this->model_; }

  [[nodiscard]] std::uint64_t chunk_of(std::uint64_t particle) const noexcept
  {
    return particle / this->chunk_particles_;
  }
  [[nodiscard]] Span particles_of(std::uint64_t chunk) const noexcept
  {
    const std::uint64_t first = chunk * this->chunk_particles_;
    return { first, std::min<std::uint64_t>(this->chunk_particles_, this->particles_ - first) };
  }
  /// Returns the chunks that contain any of the particles, at least one: the first, and their
  /// number.
  [[nodiscard]] Span chunks_of(const Span& particles) const noexcept
  {
    const std::uint64_t first = this->chunk_of(particles.first);
    return { first, this->chunk_of(particles.first + particles.count - 1) - first + 1 };
  }
  /// Returns the bytes of the column that hold the frames of consecutive chunks.
  [[nodiscard]] ByteRange frames(const Span& chunks) const noexcept
  {
    return { this->begins_[chunks.first], this->begins_[chunks.first + chunks.count] };
  }
  /// Returns the chunks whose frames contain any of the bytes, at least one.
  [[nodiscard]] Span chunks_at(const ByteRange& bytes) const noexcept;

private:
  std::uint64_t particles_;
  std::uint32_t chunk_particles_ = 1;
  double bound_ = 0;
  std::unique_ptr<const codec::Model> model_;
  std::vector<std::uint64_t> begins_; ///< beginning of each frame, and the end of the last one
};
}
