// SPDX-License-Identifier: BSD-3-Clause
// A column in chunks (FORMAT.md section 12).
#pragma once

#include "common/memory/large_array.hpp"
#include "particles/format/decode.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::write
{
/// How to store a column.
struct ColumnCoding
{
  bool is_compressed = false;
  double bound = 0;                  ///< its values are snapped to it; 0: they are what was given
  std::uint32_t chunk_particles = 0; ///< 0: chosen
};

/// The frames of all chunks in a column.
class Chunks
{
public:
  /// Compresses a column in parallel. The same values give the same frames. These are in `scratch`,
  /// which is enlarged if necessary, and are valid as long as this lives.
  Chunks(const format::ElementType& type, const ColumnCoding& coding, const std::byte* values,
    std::uint64_t particles, LargeArray<std::byte>& scratch);

  /// Total size of the frames in bytes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return this->bytes_; }
  /// Copies the frames one after the other, in parallel.
  void copy(std::byte* out) const;
  /// Returns the bytes of CHUNK_TABLE.
  [[nodiscard]] std::vector<std::byte> table() const;

private:
  /// Frames of consecutive chunks, and the memory that holds them.
  struct Batch
  {
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };

  double bound_;
  std::uint32_t chunk_particles_;
  std::uint64_t bytes_ = 0;
  std::vector<std::byte> model_;      ///< shared by all frames
  std::vector<std::uint32_t> frames_; ///< bytes of each
  std::vector<Batch> batches_;
  LargeArray<std::byte>& memory_;
};
}
