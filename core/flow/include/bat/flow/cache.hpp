// SPDX-License-Identifier: BSD-3-Clause
// Bricks of a source that are in memory. Traces that share a cache do not read them again.
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
  /// Most memory for bricks, in bytes; 0 for the usual. What is too little for the threads of a
  /// trace, 16 bricks for each and 32 at least (Cache::min_bytes()), is raised to that:
  /// Statistics::max_cache_bytes tells.
  std::uint64_t bytes = usual_bytes;
  /// Reads at the same time. They wait for the disk more than for processors; many hide its delay.
  int io_threads = 32;
  /// Where traces of this source find what earlier ones have learned (TraceOptions::hints), and
  /// leave what they learn: hints_beside(). If it cannot be written, or is something else, they
  /// leave it in `parabat` in the user's cache folder ($XDG_CACHE_HOME or ~/.cache). Empty: hints
  /// are forgotten with the cache. A file is never an error.
  std::filesystem::path hints_file;
};

/// NAME.bricks.hints of NAME.bricks.series: the file beside a series, or any other file, in which
/// hints are looked for.
[[nodiscard]] std::filesystem::path hints_beside(const std::filesystem::path& series);

/// Bricks in memory, and the threads that read them. All functions may be called concurrently; so
/// may traces that share it. Copies are the same cache.
class Cache
{
public:
  /// Throws Error{InvalidArgument} unless 1 <= io_threads <= 1024 and the source's grid and times
  /// are such as bat/brick_source.hpp says.
  explicit Cache(std::shared_ptr<const BrickSource> source, const CacheOptions& options = {});

  [[nodiscard]] const BrickSource& source() const noexcept;
  /// Bytes of memory for bricks: now, and at most.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] std::uint64_t max_bytes() const noexcept;
  /// Memory for 32 bricks, which one thread needs: programs refuse less than that.
  [[nodiscard]] std::uint64_t min_bytes() const noexcept;
  /// Forgets all bricks that no trace is using.
  void clear() const;

  [[nodiscard]] BrickCache& bricks() const noexcept { return *this->bricks_; }
  [[nodiscard]] HintStore& hints() const noexcept { return *this->hints_; }

private:
  std::shared_ptr<BrickCache> bricks_;
  std::shared_ptr<HintStore> hints_;
};
}
