// SPDX-License-Identifier: BSD-3-Clause
#include "idx/read/block_cache.hpp"

#include <algorithm>
#include <utility>

namespace bat::idx
{
namespace
{
/// A block, its packed bytes, and the unpacked bytes before they are reordered.
constexpr std::uint64_t kBlocksPerRead = 3;
}

std::size_t BlockCache::Hash::operator()(const BlockKey& key) const noexcept
{
  constexpr std::uint64_t kHashMultiplier = 0x9E3779B97F4A7C15;
  std::uint64_t mixed = key.block * kHashMultiplier;
  mixed = (mixed ^ mixed >> 29 ^ key.step) * kHashMultiplier;
  mixed = (mixed ^ mixed >> 32 ^ key.field) * kHashMultiplier;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

BlockCache::BlockCache(std::uint64_t budget, std::uint64_t block_bytes)
  : reading_bytes_(sizeof(Entry) + kBlocksPerRead * block_bytes)
  , budget_(std::max(budget, this->reading_bytes_))
{
}

void BlockCache::use(
  const BlockKey& key, const Read& read, const std::function<void(const BlockSamples&)>& use)
{
  Entry& entry = this->pin(key);
  try
  {
    {
      const std::lock_guard<std::mutex> one(entry.reading);
      if (!entry.is_there)
      {
        this->fill(entry, read);
      }
    }
    use(entry.samples);
  }
  catch (...)
  {
    this->unpin(entry);
    throw;
  }
  this->unpin(entry);
}

std::uint64_t BlockCache::max_bytes() const
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  return this->max_bytes_;
}

BlockCache::Entry& BlockCache::pin(const BlockKey& key)
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  const auto found = this->entries_.find(key);
  if (found == this->entries_.end())
  {
    auto made = std::make_unique<Entry>();
    made->key = key;
    made->users = 1;
    return *this->entries_.emplace(key, std::move(made)).first->second;
  }
  Entry& entry = *found->second;
  if (entry.users++ == 0)
  {
    entry.own.splice(entry.own.end(), this->unused_, entry.place);
  }
  return entry;
}

void BlockCache::unpin(Entry& entry) noexcept
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  if (--entry.users != 0)
  {
    return;
  }
  if (entry.is_there)
  {
    entry.place = entry.own.begin();
    this->unused_.splice(this->unused_.end(), entry.own);
  }
  else
  {
    this->entries_.erase(BlockKey(entry.key));
  }
  this->room_.notify_all();
}

// A thread that waits for space holds no block, so that those that hold some can finish and release
// them.
void BlockCache::fill(Entry& entry, const Read& read)
{
  this->take_room(this->reading_bytes_);
  try
  {
    entry.samples = read();
  }
  catch (...)
  {
    this->release(this->reading_bytes_);
    throw;
  }
  entry.bytes = sizeof(Entry) + entry.samples.values.size();
  entry.is_there = true;
  this->release(this->reading_bytes_ - std::min(this->reading_bytes_, entry.bytes));
}

void BlockCache::take_room(std::uint64_t bytes)
{
  std::unique_lock<std::mutex> lock(this->mutex_);
  while (this->bytes_ + bytes > this->budget_)
  {
    if (!this->unused_.empty())
    {
      const Entry& oldest = *this->unused_.front();
      this->bytes_ -= oldest.bytes;
      this->unused_.pop_front();
      this->entries_.erase(BlockKey(oldest.key));
    }
    else if (this->bytes_ == 0)
    {
      break;
    }
    else
    {
      this->room_.wait(lock);
    }
  }
  this->bytes_ += bytes;
  this->max_bytes_ = std::max(this->max_bytes_, this->bytes_);
}

void BlockCache::release(std::uint64_t bytes) noexcept
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  this->bytes_ -= bytes;
  this->room_.notify_all();
}
}
