// SPDX-License-Identifier: BSD-3-Clause
// Writes particles that arrive piece by piece and exceed memory as one dataset.
#pragma once

#include "bat/write_options.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace bat
{
/// The result of a write. Sizes in bytes; seconds of wall time.
struct PieceReport
{
  std::uint64_t particles = 0;
  std::uint64_t leaf_files = 0;
  std::uint64_t target_bytes = 0; ///< target size of a leaf file
  std::uint64_t file_bytes = 0;
  std::uint64_t data_bytes = 0; ///< positions and attributes, as they were given
  std::uint64_t largest_leaf_bytes = 0;
  double seconds_plan = 0;
  double seconds_sort = 0; ///< bringing the particles of each leaf file together
  double seconds_build = 0;
  double seconds_write = 0;
};

/// Writes a dataset from pieces of any number, order and size in a bounded amount of memory.
/// Particles that do not fit wait in an unnamed file next to the dataset, which takes their size on
/// disk. Leaf files are as large as memory allows, with disjoint boxes unless more particles share
/// one position than a leaf file can hold. Use one thread at a time: a call during another one is
/// refused, and its piece is lost. Not collective.
class PieceWriter
{
public:
  static constexpr std::uint64_t kMinMemory = std::uint64_t{ 32 } << 20;
  static constexpr std::uint64_t kDefaultMemory = std::uint64_t{ 1 } << 30; ///< used for 0

  /// `memory_bytes` limits the memory, excluding the caller's pieces; 0 for kDefaultMemory. In
  /// `options`, target_bytes is a size of leaf files that the memory limit does not reduce further;
  /// mode must be adaptive and repeats Store. Throws Error{InvalidArgument}.
  PieceWriter(
    const std::filesystem::path& path, const WriteOptions& options, std::uint64_t memory_bytes = 0);
  PieceWriter(const PieceWriter&) = delete;
  PieceWriter& operator=(const PieceWriter&) = delete;
  ~PieceWriter();

  /// Copies the particles. All pieces have the attributes and types of the first one, in its order;
  /// time, step and metadata are those of the first. After an error the piece is lost, and finish()
  /// refuses to write a dataset without it. Throws Error: InvalidArgument, CannotOpen, NoSpace,
  /// WriteFailed.
  void add(const ParticleView& piece);

  /// Reports that the caller could not make a piece, which is lost as after an error of add().
  /// `why` goes into the message.
  void fail(const std::string& why);

  /// Writes the dataset, replacing an existing one as write_file() does. Calls `progress` of the
  /// options. Throws Error: InvalidArgument if there was no piece, or one was lost; CannotOpen if
  /// another writer writes the same dataset; Cancelled, and those of write_file(). A failure leaves
  /// nothing behind.
  PieceReport finish();

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};
}
