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
  /// Bricks are packed, without loss, where that makes them shorter.
  bool compress = true;
  /// Most threads to use; 0 for as many as oneTBB finds. Does not change the bytes.
  int threads = 0;
  /// Wait until all bytes are on disk before the file has its name.
  bool flush = true;
  /// Called from the calling thread with a fraction in [0, 1]; false cancels the write.
  std::function<bool(double)> progress;
  /// Called before anything is written, of many ranks on the first only, with the header that the
  /// file will have. May change origin and spacing. What it throws fails the write.
  std::function<void(Header&)> settle;
  /// Called when all bytes are written and before the file has its name, of many ranks on the first
  /// only. What it throws fails the write.
  std::function<void()> before_rename;
};

struct WriteReport
{
  std::uint64_t bricks = 0;
  std::uint64_t blank_bricks = 0; ///< of these: without flow
  std::uint64_t value_bytes = 0;
  std::uint64_t file_bytes = 0;
};

/// Writes the grid of `header` with its name, time, step and metadata; range and speed are
/// computed. `values` are those of all points: components interleaved, x fastest; they stay the
/// caller's. Any bits of any value are kept; NaN is where there is no flow. The file appears by one
/// rename, complete, or not at all; the same input gives the same bytes for any number of threads.
/// Needs, beyond the values, a few MiB per thread and 8 bytes for each brick. Throws Error:
/// InvalidArgument (grid, texts, bytes), CannotOpen, WriteFailed, NoSpace, Cancelled.
WriteReport write(const std::filesystem::path& path, const Header& header, const void* values,
  std::size_t bytes, const WriteOptions& options = {});
}
