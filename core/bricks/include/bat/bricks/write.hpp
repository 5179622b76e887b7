// SPDX-License-Identifier: BSD-3-Clause
// Writes one time level of a velocity field as a .bricks file.
#pragma once

#include "bat/bricks/file.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>

namespace bat::bricks
{
struct WriteOptions
{
  /// Compresses bricks, without loss, where that makes them shorter.
  bool compress = true;
  /// Maximum number of threads; 0 for as many as oneTBB finds. Does not change the bytes.
  int threads = 0;
  /// Waits until all bytes are on disk before the file gets its name.
  bool flush = true;
  /// Called from the calling thread with a fraction in [0, 1]; false cancels the write.
  std::function<bool(double)> progress;
  /// Called before anything is written, with the header that the file will have, on the first rank
  /// only. It may change origin and spacing. An exception from it fails the write.
  std::function<void(Header&)> settle;
  /// Called when all bytes are written and before the file gets its name, on the first rank only.
  /// An exception from it fails the write.
  std::function<void()> before_rename;
};

struct WriteReport
{
  std::uint64_t bricks = 0;
  std::uint64_t blank_bricks = 0; ///< bricks without flow
  std::uint64_t value_bytes = 0;
  std::uint64_t file_bytes = 0;
};

/// Writes the grid of `header` with its name, time, step and metadata; range and speed are
/// computed. `values` are those of all points: components interleaved, x fastest; the caller keeps
/// them. All bits of all values are kept; NaN means no flow. The file appears complete, by one
/// rename, or not at all. The same input gives the same bytes for any number of threads. Besides
/// the values, the call needs a few MiB per thread and 8 bytes per brick. Throws Error:
/// InvalidArgument (grid, texts, bytes), CannotOpen, WriteFailed, NoSpace, Cancelled.
WriteReport write(const std::filesystem::path& path, const Header& header, const void* values,
  std::size_t bytes, const WriteOptions& options = {});
}
