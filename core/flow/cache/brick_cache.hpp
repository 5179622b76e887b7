// SPDX-License-Identifier: BSD-3-Clause
// The slots that hold bricks, their users, and the threads that fill them.
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
#include <utility>
#include <vector>

namespace bat::flow
{
/// Waits for bricks. It must live until on_bricks_ready() has been called.
class Waiter
{
public:
  virtual ~Waiter() = default;
  /// Called once all bricks that acquire() lacked are in memory, or one of them cannot be read. The
  /// call comes once, from a reading thread, without locks.
  virtual void on_bricks_ready(const std::optional<Error>& error) noexcept = 0;
  /// Returns whether the bricks are not needed any more, so that reading them may be cancelled.
  /// Once true, it stays true. Called without locks of the waiter.
  [[nodiscard]] virtual bool is_abandoned() const noexcept { return false; }

private:
  friend class BrickCache;
  std::size_t missing_ = 0;
  std::optional<Error> error_;
};

/// A brick in memory: its points, and space for one layer of points after its upper faces. These
/// points are its ghosts, copied from its neighbours.
struct BrickSlot
{
  std::uint64_t key = 0;
  std::byte* values = nullptr;
  /// bit m: the points after the faces of the axes in m (1 x, 2 y, 4 z) are filled; bit 0 is set
  std::atomic<std::uint32_t> ghosts{ 1 };
  std::mutex filling; ///< locked while ghosts are filled

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
  bool prefetched = false; ///< prefetched and not used yet
  bool hinted = false;     ///< prefetched by hints
  bool spent = false;      ///< its last user does not need it soon
  std::uint32_t pins = 0;
  std::uint64_t ticket = 0;  ///< number of its last read request
  std::uint64_t used_at = 0; ///< turn in which it was last released
  BrickSlot* newer = nullptr;
  BrickSlot* older = nullptr;
  std::vector<Waiter*> waiters;
  std::optional<Error> error;
};

/// Counts since the cache was made.
struct CacheCounts
{
  std::uint64_t demanded = 0;   ///< bricks read because a trace needed them
  std::uint64_t prefetched = 0; ///< bricks read ahead
  std::uint64_t used = 0;       ///< prefetched bricks that a trace needed later
  std::uint64_t wasted = 0;     ///< prefetched bricks that were evicted unused
  std::uint64_t hinted = 0;     ///< bricks read ahead by hints; these three counts
  std::uint64_t hints_used = 0; ///< are part of prefetched, used and wasted
  std::uint64_t hints_wasted = 0;
  std::uint64_t hits = 0;       ///< bricks that a trace needed and that were cached
  std::uint64_t looked = 0;     ///< bricks that acquire() and missing() were called for
  std::uint64_t bytes_read = 0; ///< bytes read from disk
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

  /// Returns the largest number of slots, which is raised to at least `slots`.
  std::size_t compute_capacity(std::size_t slots);

  enum class Acquired
  {
    Refused, ///< nothing is pinned: too many slots are in use
    Ready,   ///< all bricks are in memory
    Waiting  ///< `waiter` will be notified
  };
  /// Pins the slots of `count` bricks and requests those that are not in memory. The caller returns
  /// each pin with release(), but not before `waiter` was notified.
  [[nodiscard]] Acquired acquire(
    const std::uint64_t* keys, std::size_t count, BrickSlot** slots, Waiter& waiter);
  /// Unpins slots. If bit i of `spent` is set, slot i is evicted before others.
  void release(BrickSlot* const* slots, std::size_t count, std::uint32_t spent = 0) noexcept;
  /// Begins another turn: bricks unused for a whole turn are evicted first.
  void begin_turn() noexcept;
  /// Reads one demanded brick if reading takes no longer than waking a reading thread. Returns
  /// false if no brick is demanded.
  bool help() noexcept;
  /// Returns how many of the bricks are not in memory.
  [[nodiscard]] std::size_t missing(const std::uint64_t* keys, std::size_t count) const noexcept;
  /// The reason for a prefetch.
  enum class Ahead
  {
    Velocity, ///< needed soon: may take up to a quarter of the slots
    Hints     ///< needed much later: read when nothing else is, up to an eighth of the slots
  };
  /// Reads bricks ahead; failures are ignored. Moves the keys that were newly requested to the
  /// front and returns their number.
  std::size_t prefetch(
    std::uint64_t* keys, std::size_t count, Ahead ahead = Ahead::Velocity) noexcept;
  /// Returns how many of the bricks were prefetched and never needed.
  [[nodiscard]] std::size_t unused(const std::uint64_t* keys, std::size_t count) const noexcept;

  /// Fills the ghosts of `mask` and of its parts (subsets) where they are missing. For each part m
  /// of `mask`, `slots[m]` is the neighbour after the faces of the axes in m; slots[0] is the brick
  /// itself.
  void fill_ghosts(unsigned mask, const std::array<BrickSlot*, 8>& slots) const;

  [[nodiscard]] CacheCounts counts() const;
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t max_bytes() const;
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return this->slot_bytes_; }
  /// Distances in bytes, within a slot, from one point to the next along y and z.
  [[nodiscard]] std::size_t row_bytes() const noexcept { return this->row_bytes_; }
  [[nodiscard]] std::size_t plane_bytes() const noexcept { return this->plane_bytes_; }
  void clear() noexcept;

private:
  using State = BrickSlot::State;

  /// Unpinned slots, in the order of their last use.
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

    /// Returns whether it is the last request for the slot, and was not served yet.
    [[nodiscard]] bool is_valid() const noexcept
    {
      return this->slot->ticket == this->ticket && this->slot->state == State::Queued;
    }
  };

  /// Returns the list that holds a slot which is ready and not pinned.
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
  /// Requests for bricks of one level that are prefetched together before they are queued.
  struct Batch
  {
    std::uint64_t level = 0;
    std::vector<std::pair<Request, std::deque<Request>*>> requests;
  };
  [[nodiscard]] bool prefetch_batch(std::unique_lock<std::mutex>& lock);
  void gather(std::unique_lock<std::mutex>& lock);
  void enqueue(const Batch& batch);
  void wake_readers(std::size_t count);
  void note_read_time(std::chrono::nanoseconds taken);
  static constexpr std::size_t kSlotsPerRead = 8;
  /// The bricks that one thread is reading.
  struct Reader
  {
    std::size_t count = 0;
    std::array<BrickSlot*, kSlotsPerRead> slots{};
    std::array<std::uint64_t, kSlotsPerRead> bytes{};
    std::array<bool, kSlotsPerRead> abandoned{}; ///< nobody needs them any more
    std::array<std::optional<Error>, kSlotsPerRead> errors;
    std::vector<Waiter*> ready;

    void take(BrickSlot& slot) noexcept
    {
      slot.state = State::Reading;
      this->abandoned[this->count] = is_abandoned(slot);
      this->bytes[this->count] = 0;
      this->slots[this->count++] = &slot;
    }
  };
  void read(Reader& reader, std::unique_lock<std::mutex>& lock);
  void read_slot(Reader& reader, std::size_t i);
  [[nodiscard]] static bool is_abandoned(const BrickSlot& slot) noexcept;
  void read_bricks();
  void finish(BrickSlot& slot, std::optional<Error> error, std::uint64_t bytes,
    std::vector<Waiter*>& ready) noexcept;
  [[nodiscard]] std::optional<BrickSlot*> next_request(bool is_demanded = false) noexcept;

  std::shared_ptr<const BrickSource> source_;
  std::uint64_t bricks_; ///< bricks in a level
  std::size_t row_bytes_;
  std::size_t plane_bytes_;
  std::size_t value_bytes_; ///< bytes of values in a slot
  std::size_t slot_bytes_;  ///< bytes of a slot with its bookkeeping
  std::size_t max_threads_;
  bool can_prefetch_; ///< the source can

  mutable std::mutex mutex_;
  std::size_t capacity_;
  std::vector<std::unique_ptr<BrickSlot>> slots_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<BrickSlot*> free_;
  SlotTable<BrickSlot> table_;
  List used_;
  List spent_;            ///< used, and evicted first
  List unused_;           ///< prefetched, and ready
  std::size_t ahead_ = 0; ///< prefetched and not used yet, including those being read
  std::deque<Request> demanded_;
  std::deque<Request> prefetched_;
  std::deque<Request> hinted_;
  std::vector<Batch> gathered_; ///< requests that wait for more, by level, if the source prefetches
  std::deque<Batch> batches_;   ///< to be prefetched
  bool is_gathering_ = false;   ///< a thread waits for more requests
  std::uint64_t ticket_ = 0;
  std::uint64_t turn_ = 0;
  mutable CacheCounts counts_;
  std::condition_variable requested_;
  std::size_t idle_ = 0;  ///< threads that wait for requests
  std::size_t woken_ = 0; ///< threads that were notified and do not run yet
  double read_ns_ = 1e6;  ///< mean time of a read, weighted to the latest
  std::atomic<bool> ending_{ false };
  std::vector<std::thread> threads_;
};
}
