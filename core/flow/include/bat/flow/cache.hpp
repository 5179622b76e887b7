// SPDX-License-Identifier: BSD-3-Clause
// Bricks of a source that are in memory. Traces that share a cache do not read them again.
#pragma once

#include "bat/brick_source.hpp"

#include <cstdint>
#include <memory>

namespace bat::flow
{
class BrickCache;

struct CacheOptions
{
  /// Most memory for bricks, in bytes. What is too little for the threads of a trace is raised to
  /// the least, 16 bricks for each (Statistics::cache_bytes tells).
  std::uint64_t bytes = std::uint64_t{ 512 } << 20;
  /// Reads at the same time. They wait for the disk more than for processors; many hide its delay.
  int io_threads = 32;
};

/// Bricks in memory, and the threads that read them. All functions may be called concurrently; so
/// may traces that share it. Copies are the same cache.
class Cache
{
public:
  /// Throws Error{InvalidArgument} unless 1 <= io_threads <= 1024 and the source's grid and times
  /// are such as bat/brick_source.hpp says, with two times or more.
  explicit Cache(std::shared_ptr<const BrickSource> source, const CacheOptions& options = {});

  [[nodiscard]] const BrickSource& source() const noexcept;
  /// Bytes of memory for bricks: now, and at most.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] std::uint64_t most_bytes() const noexcept;
  /// Forgets all bricks that no trace is using.
  void clear() const;

  [[nodiscard]] BrickCache& bricks() const noexcept { return *this->bricks_; }

private:
  std::shared_ptr<BrickCache> bricks_;
};
}
