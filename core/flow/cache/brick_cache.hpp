// SPDX-License-Identifier: BSD-3-Clause
// Slots of one size for bricks, who uses them, and the threads that fill them.
#pragma once

#include "bat/brick_source.hpp"
#include "bat/error.hpp"
#include "bat/flow/cache.hpp"
#include "flow/cache/slot_table.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace bat::flow
{
/// Whoever waits for bricks. Lives until it was told that they are there.
class Waiter
{
public:
  virtual ~Waiter() = default;
  /// All bricks that acquire() did not have are there, or one cannot be read. Called once, from a
  /// thread that reads, without locks.
  virtual void on_bricks_ready(const std::optional<Error>& error) noexcept = 0;

private:
  friend class BrickCache;
  std::size_t missing_ = 0;
  std::optional<Error> error_;
};

/// A brick in memory: its points, and room for one layer of points behind the upper faces, the
/// ghosts, which are those of its neighbours.
struct BrickSlot
{
  std::uint64_t key = 0;
  std::byte* values = nullptr;
  /// Bit m: the points behind the faces of the axes in m (1 x, 2 y, 4 z) are there; bit 0 is set.
  std::atomic<std::uint32_t> ghosts{ 1 };
  std::mutex filling; ///< of ghosts

private:
  friend class BrickCache;
  enum class State : std::uint8_t
  {
    Free,
    Queued,
    Reading,
    Ready,
    Failed
  };
  State state = State::Free;
  bool prefetched = false; ///< and not used yet
  bool hinted = false;     ///< prefetched by hints
  bool spent = false;      ///< who used it last does not need it soon
  std::uint32_t pins = 0;
  std::uint64_t ticket = 0;  ///< of its last read
  std::uint64_t used_at = 0; ///< when it was released last, in turns
  BrickSlot* newer = nullptr;
  BrickSlot* older = nullptr;
  std::vector<Waiter*> waiters;
  std::optional<Error> error;
};

/// Since the cache was made.
struct CacheCounts
{
  std::uint64_t demanded = 0;   ///< bricks read because a trace needed them
  std::uint64_t prefetched = 0; ///< bricks read ahead
  std::uint64_t used = 0;       ///< of these: a trace needed them later
  std::uint64_t wasted = 0;     ///< of these: dropped before
  std::uint64_t hinted = 0;     ///< bricks read ahead by hints; of prefetched, used, wasted they
  std::uint64_t hints_used = 0; ///< are a part
  std::uint64_t hints_wasted = 0;
  std::uint64_t hits = 0;       ///< that a trace needed and were there
  std::uint64_t looked = 0;     ///< bricks that acquire() and missing() were asked for
  std::uint64_t bytes_read = 0; ///< from disk
};

/// All functions may be called concurrently.
class BrickCache
{
public:
  BrickCache(std::shared_ptr<const BrickSource> source, const CacheOptions& options);
  BrickCache(const BrickCache&) = delete;
  BrickCache& operator=(const BrickCache&) = delete;
  ~BrickCache();

  [[nodiscard]] const BrickSource& source() const noexcept { return *this->source_; }
  [[nodiscard]] std::uint64_t key(std::size_t level, std::uint64_t brick) const noexcept
  {
    return level * this->bricks_ + brick;
  }

  /// Slots that there may be; at least `slots` from now on.
  std::size_t compute_capacity(std::size_t slots);

  enum class Acquired
  {
    Refused, ///< nothing is pinned: too many slots are in use
    Ready,   ///< all are there
    Waiting  ///< `waiter` will be told
  };
  /// Pins the slots of `count` bricks and asks for those that are not there. Each pin is given back
  /// by release(), but not before `waiter` was told.
  [[nodiscard]] Acquired acquire(
    const std::uint64_t* keys, std::size_t count, BrickSlot** slots, Waiter& waiter);
  /// Bit i of `spent`: slot i is dropped before those that somebody may need soon.
  void release(BrickSlot* const* slots, std::size_t count, std::uint32_t spent = 0) noexcept;
  /// Another turn begins: bricks that nobody has used during a whole one go first.
  void begin_turn() noexcept;
  /// Reads a brick that somebody waits for, if that takes no longer than to wake up who does it.
  /// False if there is none.
  bool help() noexcept;
  /// How many are not there.
  [[nodiscard]] std::size_t missing(const std::uint64_t* keys, std::size_t count) const noexcept;
  /// Who asks for bricks before they are needed.
  enum class Ahead
  {
    Velocity, ///< soon: as far as a quarter of the slots allows
    Hints     ///< in the far future: when nothing else is read, as far as half of that allows
  };
  /// Reads bricks ahead. What fails is forgotten. Keys of what is asked for now come first; returns
  /// how many there are.
  std::size_t prefetch(
    std::uint64_t* keys, std::size_t count, Ahead ahead = Ahead::Velocity) noexcept;
  /// How many are there, read ahead, and were never needed.
  [[nodiscard]] std::size_t unused(const std::uint64_t* keys, std::size_t count) const noexcept;

  /// Makes sure that the ghosts of `mask` and of the parts of it are there. `slots[m]` are the
  /// neighbours behind the faces of the axes in m, for all m that are parts of `mask`; slots[0] is
  /// the brick itself.
  void fill_ghosts(unsigned mask, const std::array<BrickSlot*, 8>& slots) const;

  [[nodiscard]] CacheCounts counts() const;
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t max_bytes() const;
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return this->slot_bytes_; }
  /// Distances in a slot: from a point to the next along y and z.
  [[nodiscard]] std::size_t row_bytes() const noexcept { return this->row_bytes_; }
  [[nodiscard]] std::size_t plane_bytes() const noexcept { return this->plane_bytes_; }
  void clear() noexcept;

private:
  using State = BrickSlot::State;

  /// Slots that nobody uses, in the order of their last use.
  struct List
  {
    BrickSlot* newest = nullptr;
    BrickSlot* oldest = nullptr;
    std::size_t size = 0;

    void add(BrickSlot& slot) noexcept;
    void remove(BrickSlot& slot) noexcept;
  };
  struct Request
  {
    BrickSlot* slot = nullptr;
    std::uint64_t ticket = 0;
  };

  /// Where a slot is that nobody uses and that is ready.
  [[nodiscard]] List& list_of(const BrickSlot& slot) noexcept
  {
    return slot.prefetched ? this->unused_ : slot.spent ? this->spent_ : this->used_;
  }
  [[nodiscard]] std::unique_lock<std::mutex> lock() const;
  [[nodiscard]] BrickSlot* take_slot(std::size_t max_ahead);
  [[nodiscard]] BrickSlot* new_slot();
  void forget(BrickSlot& slot) noexcept;
  void unpin(BrickSlot& slot) noexcept;
  void unpin_all(BrickSlot* const* slots, std::size_t count) noexcept;
  [[nodiscard]] BrickSlot* add_slot(std::uint64_t key);
  [[nodiscard]] bool pin(
    const std::uint64_t* keys, std::size_t count, BrickSlot** slots, std::array<bool, 16>& is_new);
  void ask(BrickSlot& slot, std::deque<Request>& queue);
  void wake_readers(std::size_t count);
  void note_read_time(std::chrono::nanoseconds taken);
  static constexpr std::size_t kSlotsPerRead = 8;
  /// What a thread reads.
  struct Reader
  {
    std::size_t count = 0;
    std::array<BrickSlot*, kSlotsPerRead> slots{};
    std::array<std::uint64_t, kSlotsPerRead> bytes{};
    std::array<std::optional<Error>, kSlotsPerRead> errors;
    std::vector<Waiter*> ready;

    void take(BrickSlot& slot) noexcept
    {
      slot.state = State::Reading;
      this->bytes[this->count] = 0;
      this->slots[this->count++] = &slot;
    }
  };
  void read(Reader& reader, std::unique_lock<std::mutex>& lock);
  void read_bricks();
  void finish(BrickSlot& slot, std::optional<Error> error, std::uint64_t bytes,
    std::vector<Waiter*>& ready) noexcept;
  [[nodiscard]] std::optional<BrickSlot*> next_request(bool is_demanded = false) noexcept;

  std::shared_ptr<const BrickSource> source_;
  std::uint64_t bricks_; ///< of a level
  std::size_t row_bytes_;
  std::size_t plane_bytes_;
  std::size_t value_bytes_; ///< of a slot
  std::size_t slot_bytes_;  ///< with all that belongs to it
  std::size_t max_threads_;

  mutable std::mutex mutex_;
  std::size_t capacity_;
  std::vector<std::unique_ptr<BrickSlot>> slots_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<BrickSlot*> free_;
  SlotTable<BrickSlot> table_;
  List used_;
  List spent_;            ///< used, and dropped first
  List unused_;           ///< prefetched, and ready
  std::size_t ahead_ = 0; ///< prefetched and not used yet, also those being read
  std::deque<Request> demanded_;
  std::deque<Request> prefetched_;
  std::deque<Request> hinted_;
  std::uint64_t ticket_ = 0;
  std::uint64_t turn_ = 0;
  mutable CacheCounts counts_;
  std::condition_variable requested_;
  std::size_t idle_ = 0;  ///< threads
  std::size_t woken_ = 0; ///< that were idle and do not run yet
  double read_ns_ = 1e6;  ///< that reads take, the last ones most
  std::atomic<bool> ending_{ false };
  std::vector<std::thread> threads_;
};
}
