// SPDX-License-Identifier: BSD-3-Clause
// Cached bricks of a source. Traces that share a cache do not read them again.
#pragma once

#include "bat/brick_source.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace bat::flow
{
class BrickCache;
class HintStore;

struct CacheOptions
{
  static constexpr std::uint64_t usual_bytes = std::uint64_t{ 512 } << 20;
  /// Memory limit for bricks, in bytes; 0 for the default. It is raised if it is too small for the
  /// threads of a trace, which need 16 bricks each and at least 32 (Cache::min_bytes()).
  /// Statistics::max_cache_bytes reports the limit in use.
  std::uint64_t bytes = usual_bytes;
  /// Number of concurrent reads. Reading threads mostly wait for the disk; many hide its latency.
  int io_threads = 32;
  /// File in which traces of this source find what earlier ones have learned (TraceOptions::hints)
  /// and store what they learn; see hints_beside(). If it cannot be written or is not a hints file,
  /// they use `parabat` in the user's cache folder ($XDG_CACHE_HOME or ~/.cache). If it is empty,
  /// hints are forgotten with the cache. Problems with this file are never errors.
  std::filesystem::path hints_file;
};

/// Returns NAME.bricks.hints for NAME.bricks.series: the file next to a series, or to any other
/// file, in which hints are stored.
[[nodiscard]] std::filesystem::path hints_beside(const std::filesystem::path& series);

/// Bricks in memory, and the threads that read them. All functions may be called concurrently, and
/// traces that share a cache may run concurrently. Copies refer to the same cache.
class Cache
{
public:
  /// Throws Error{InvalidArgument} unless 1 <= io_threads <= 1024 and the source's grid and times
  /// satisfy the rules of bat/brick_source.hpp.
  explicit Cache(std::shared_ptr<const BrickSource> source, const CacheOptions& options = {});

  [[nodiscard]] const BrickSource& source() const noexcept;
  /// Returns the bytes of memory used for bricks: now, and the limit.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] std::uint64_t max_bytes() const noexcept;
  /// Returns the memory of 32 bricks, which one thread needs. Programs refuse a smaller limit.
  [[nodiscard]] std::uint64_t min_bytes() const noexcept;
  /// Evicts all bricks that no trace is using.
  void clear() const;

  [[nodiscard]] BrickCache& bricks() const noexcept { return *this->bricks_; }
  [[nodiscard]] HintStore& hints() const noexcept { return *this->hints_; }

private:
  std::shared_ptr<BrickCache> bricks_;
  std::shared_ptr<HintStore> hints_;
};
}
