// SPDX-License-Identifier: BSD-3-Clause
// Caches unpacked blocks: the most recently used ones, within a budget.
#pragma once

#include "idx/format/order.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace bat::idx
{
struct BlockKey
{
  std::size_t step = 0; ///< number in the list of steps
  std::size_t field = 0;
  std::uint64_t block = 0;

  friend bool operator==(const BlockKey& a, const BlockKey& b) noexcept
  {
    return a.step == b.step && a.field == b.field && a.block == b.block;
  }
};

/// The samples of a block inside the dataset's box, in row-major order.
struct BlockSamples
{
  format::LevelBlocks shape;     ///< one block, of these samples
  std::vector<std::byte> values; ///< empty: the block is absent
};

/// All functions may be called concurrently.
class BlockCache
{
public:
  /// `block_bytes` is the size of an unpacked block. A budget too small for reading one block is
  /// raised.
  BlockCache(std::uint64_t budget, std::uint64_t block_bytes);

  using Read = std::function<BlockSamples()>;
  /// Calls use(samples) with a block, which read() creates if it is not cached; other threads that
  /// need it wait for that. Uses do not nest. Throws what the functions throw; a block whose read()
  /// has thrown is read again.
  void use(
    const BlockKey& key, const Read& read, const std::function<void(const BlockSamples&)>& use);

  [[nodiscard]] std::uint64_t max_bytes() const;

private:
  struct Entry
  {
    BlockKey key;
    std::mutex reading;
    BlockSamples samples;
    bool is_there = false;
    std::size_t users = 0;
    std::uint64_t bytes = 0;       ///< counted size
    std::list<Entry*> own{ this }; ///< its node, which is in the unused list while unused
    std::list<Entry*>::iterator place;
  };
  struct Hash
  {
    std::size_t operator()(const BlockKey& key) const noexcept;
  };

  [[nodiscard]] Entry& pin(const BlockKey& key);
  void unpin(Entry& entry) noexcept;
  void fill(Entry& entry, const Read& read);
  void take_room(std::uint64_t bytes);
  void release(std::uint64_t bytes) noexcept;

  const std::uint64_t reading_bytes_; ///< memory for a read: entry, block, and unpacking source
  const std::uint64_t budget_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::unordered_map<BlockKey, std::unique_ptr<Entry>, Hash> entries_;
  std::list<Entry*> unused_; ///< oldest first
  std::uint64_t bytes_ = 0;
  std::uint64_t max_bytes_ = 0;
};
}
