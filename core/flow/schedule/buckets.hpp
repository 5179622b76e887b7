// SPDX-License-Identifier: BSD-3-Clause
// Particles wait in buckets for the bricks that they need, and the particles of a bucket walk once
// its bricks are ready. The next reads are therefore known and requested in advance.
#pragma once

#include "bat/error.hpp"
#include "bat/flow/trace.hpp"
#include "flow/cache/brick_cache.hpp"
#include "flow/cache/slot_table.hpp"
#include "flow/hints/transitions.hpp"
#include "flow/schedule/frames.hpp"
#include "flow/schedule/key_set.hpp"
#include "flow/schedule/sweep.hpp"
#include "flow/walk/particle.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

namespace bat::flow
{
/// The place of a bucket in the order of walking: by interval, then by position in space; or by the
/// position in a sweep.
struct BucketKey
{
  std::int32_t turn = 0; ///< the interval, or the window of the sweep
  std::int32_t interval = 0;
  std::uint32_t mask = 0;  ///< axes after whose faces the neighbours are needed
  std::uint64_t order = 0; ///< position of the brick on a Z curve, or in the sweep
  std::uint64_t brick = 0;

  /// Returns whether both are of the same brick and interval.
  [[nodiscard]] bool is_beside(const BucketKey& other) const noexcept
  {
    return this->interval == other.interval && this->brick == other.brick;
  }
  friend bool operator<(const BucketKey& a, const BucketKey& b) noexcept
  {
    return std::tie(a.turn, a.order, a.brick, a.mask) < std::tie(b.turn, b.order, b.brick, b.mask);
  }
  friend bool operator==(const BucketKey& a, const BucketKey& b) noexcept
  {
    return std::tie(a.turn, a.order, a.brick, a.mask) == std::tie(b.turn, b.order, b.brick, b.mask);
  }
};

/// Walks one tile of particles from their seeds to their ends.
class Buckets
{
public:
  /// The known transitions between bricks, and how many more may be learned (0: none).
  struct HintUse
  {
    std::shared_ptr<const HintGraph> graph; ///< null: hints are not used
    std::size_t max_learned = 0;
  };
  /// Ends go to `lines`. Each line is one particle's, so no two threads write the same one.
  Buckets(BrickCache& cache, const RunFrame& frame, const TraceOptions& options, int threads,
    HintUse hints, std::vector<Line>& lines);
  Buckets(const Buckets&) = delete;
  Buckets& operator=(const Buckets&) = delete;
  ~Buckets();

  /// Walks until all particles have ended. `report` is called from the calling thread with the
  /// number of particle-intervals that are done; false cancels the run. Throws Error.
  void run(std::vector<Particle>&& particles, const std::function<bool(std::uint64_t)>& report);

  /// Returns what all workers have recorded, in no particular order.
  [[nodiscard]] std::vector<WalkLog>& logs() noexcept { return this->logs_; }
  /// Returns where particles went, one log per worker; empty if nothing is learned.
  [[nodiscard]] std::vector<HintLog>& hint_logs() noexcept { return this->hint_logs_; }
  /// Counts of the run: bricks needed, and waits.
  [[nodiscard]] const KeySet& touched() const noexcept { return this->touched_; }
  [[nodiscard]] std::uint64_t waits() const noexcept { return this->waits_; }
  [[nodiscard]] double wait_seconds() const noexcept { return this->wait_seconds_; }

private:
  static constexpr std::size_t kMaxSlots = 16;

  struct Bucket : Waiter
  {
    void on_bricks_ready(const std::optional<Error>& error) noexcept override;
    [[nodiscard]] bool is_abandoned() const noexcept override { return this->all->has_failed_; }

    Buckets* all = nullptr;
    std::uint64_t key = 0; ///< interval and brick, for a sweep's table
    BucketKey at;          ///< for a sweep, with all needed neighbours
    std::vector<Particle> particles;
    enum class State : std::uint8_t
    {
      Idle,    ///< its bricks were not requested
      Waiting, ///< its bricks are being read
      Ready,   ///< may be taken
      Taken    ///< removed from the buckets; walks
    };
    State state = State::Idle;
    bool is_listed = false; ///< in a sweep's table, so particles may join
    int walking = 0;        ///< workers that walk a part of it
    std::size_t slot_count = 0;
    std::array<BrickSlot*, kMaxSlots> slots{}; ///< pairs before and after, for each part of mask
  };
  using BucketMap = std::map<BucketKey, Bucket*>;
  /// An entry in a sweep's heap, whose front is the next bucket.
  struct Next
  {
    std::int32_t turn = 0;
    std::uint64_t order = 0;
    Bucket* bucket = nullptr;

    /// The order that std heaps require: whether `a` comes after `b`.
    friend bool operator<(const Next& a, const Next& b) noexcept
    {
      return std::tie(a.turn, a.order) > std::tie(b.turn, b.order);
    }
  };

  /// All buckets of one brick and interval.
  struct Group
  {
    BucketKey key; ///< with all needed neighbours
    std::size_t particles = 0;
    std::size_t missing = 0; ///< bricks that must be read

    [[nodiscard]] bool is_before(const Group& other) const noexcept
    {
      const auto square = [](std::size_t n)
      { return static_cast<double>(n) * static_cast<double>(n); };
      return static_cast<double>(this->particles) * square(other.missing) >
        static_cast<double>(other.particles) * square(this->missing);
    }
  };

  struct Moved
  {
    BucketKey key;
    std::size_t particle = 0; ///< index in the part
  };
  /// Bricks that contain, or are expected to contain, particles.
  struct Place
  {
    std::int32_t interval = 0;
    std::uint64_t brick = 0;
    double share = 0; ///< share of the beginning particles; or their number
  };
  /// The state of one worker.
  struct Worker
  {
    std::size_t number = 0;
    WalkLog* log = nullptr;
    HintLog* learned = nullptr;
    std::vector<Particle> part;
    std::vector<WalkEnd> ends; ///< ends of the part's particles
    std::vector<Moved> moved;
    std::vector<std::pair<BucketKey, Bucket*>> found;
    std::vector<std::uint64_t> ahead;
    std::vector<std::uint64_t> rows;             ///< bricks of rows that a sweep comes to
    std::array<std::uint64_t, 1024> requested{}; ///< keys that were asked for lately, plus one
    std::array<std::uint64_t, 1024> passed{};    ///< bricks, with faces and interval, likewise
    std::uint32_t lost = 0;                      ///< ended before the run did, of a part
    std::vector<std::uint64_t> hinted;
    std::vector<Place> arrived;
    std::vector<Place> expected;
    std::vector<Place> expected_next;
    std::array<std::uint64_t, 1024> hints_requested{};
    std::array<std::uint64_t, 1024> hints_followed{}; ///< nodes lately, with how many particles
    std::uint64_t done = 0;                           ///< particle-intervals
    std::uint64_t ended = 0;
  };
  static constexpr std::int32_t kNoPlane = std::numeric_limits<std::int32_t>::max();

  struct BrickPlace
  {
    std::array<std::int64_t, 3> at{}; ///< among the bricks
    std::uint64_t brick = 0;
    unsigned mask = 0; ///< axes after whose faces the neighbours are needed
  };
  [[nodiscard]] BrickPlace place_of(const std::array<std::int32_t, 3>& cell) const noexcept;
  [[nodiscard]] std::uint64_t brick_at(const std::array<std::int64_t, 3>& place) const noexcept
  {
    return static_cast<std::uint64_t>(
      place[0] + this->bricks_[0] * (place[1] + this->bricks_[1] * place[2]));
  }
  [[nodiscard]] BucketKey key_of(const Particle& particle) const noexcept;
  void work(std::size_t number, const std::function<bool(std::uint64_t)>* report) noexcept;
  [[nodiscard]] bool has_ready() const noexcept
  {
    return !this->ready_.empty() || !this->now_ready_.empty();
  }
  void report_progress(
    const std::function<bool(std::uint64_t)>& report, std::unique_lock<std::mutex>& lock);
  void wait(bool is_reporting, std::unique_lock<std::mutex>& lock);
  void process(Worker& worker, std::unique_lock<std::mutex>& lock);
  void walk_and_prefetch(const Bucket& bucket, Worker& worker);
  void judge_depth();
  void announce();
  [[nodiscard]] Bucket* pick();
  [[nodiscard]] bool is_before_others(std::int32_t interval) const;
  [[nodiscard]] Group group_at(BucketMap::const_iterator& at) const;
  [[nodiscard]] Bucket* pick_group();
  [[nodiscard]] Bucket* merged(const BucketKey& key);
  [[nodiscard]] Bucket* find_bucket(const BucketKey& key);
  [[nodiscard]] Bucket* find_sweep_bucket(const BucketKey& key);
  [[nodiscard]] Bucket* new_bucket(const BucketKey& key);
  void recycle(Bucket* bucket) noexcept;
  void add_ready(Bucket* bucket) noexcept;
  [[nodiscard]] Bucket* pick_from_sweep();
  [[nodiscard]] std::optional<Sweep> plan_sweep(const std::vector<Particle>& particles) const;
  void move_front(const Bucket& taken, Worker& worker);
  [[nodiscard]] std::uint32_t spent_of(const Bucket& bucket) const noexcept;
  [[nodiscard]] std::size_t collect_keys(
    const BucketKey& key, std::array<std::uint64_t, kMaxSlots>& keys) const noexcept;
  [[nodiscard]] std::size_t collect_keys(const BrickPlace& place, std::int32_t interval,
    std::array<std::uint64_t, kMaxSlots>& keys) const noexcept;
  [[nodiscard]] Bucket* take(Worker& worker);
  void walk_part(const Bucket& bucket, Worker& worker);
  void resume(std::size_t number, Worker& worker);
  void end_line(const Particle& particle, Reason reason, Worker& worker);
  void note_ways(const Bucket& from, Worker& worker) const;
  void follow_hints(const Place& from, Worker& worker) const;
  void expect(const Place& place, const HintGraph& graph, std::pair<std::size_t, std::size_t> known,
    double total, double minimum, Worker& worker) const;
  [[nodiscard]] std::optional<HintNode> find_node(
    std::int32_t interval, std::uint64_t brick) const noexcept;
  void hint_from_seeds(Worker& worker);
  void judge_hints();
  void look_ahead(const WalkLog::Beginning& from, std::int32_t first, Worker& worker) const;
  void put(Worker& worker);
  void add(const BucketKey& key, const Particle& particle, Worker& worker);
  void finish(Bucket* bucket) noexcept;
  void fail(const Error& error) noexcept;
  [[nodiscard]] bool is_over() const noexcept { return this->error_ || this->alive_ == 0; }

  BrickCache& cache_;
  const BrickGrid& grid_;
  const RunFrame& frame_;
  const TraceOptions& options_;
  int threads_;
  std::array<std::int64_t, 3> bricks_{}; ///< along each axis
  int edge_shift_ = 0;                   ///< log2 of a brick's edge, if that is a power of two
  std::vector<Line>& lines_;
  std::size_t capacity_; ///< slots of the cache
  std::size_t max_active_;
  std::vector<WalkLog> logs_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Bucket>> made_;
  std::vector<Bucket*> spare_; ///< unused buckets, to be recycled
  BucketMap buckets_;          ///< not empty, and not taken as a whole
  std::vector<Bucket*> ready_;
  std::optional<Sweep> sweep_;  ///< set if a sweep replaces `buckets_`:
  SlotTable<Bucket> listed_;    ///< buckets that particles may join
  std::vector<Next> idle_;      ///< a heap
  std::vector<Next> now_ready_; ///< another
  Sweep::Turn front_;           ///< the last turn that was taken
  KeySet occupied_;             ///< bricks at the beginning of its window
  std::uint64_t rows_requested_ = 0;
  std::vector<Sweep::Visit> visits_;
  BucketKey cursor_;
  std::size_t active_ = 0;           ///< buckets with pinned bricks
  std::size_t waiting_ = 0;          ///< active buckets that wait for bricks
  std::vector<std::int32_t> walked_; ///< intervals that workers are in, or kNoPlane
  std::uint64_t alive_ = 0;          ///< particles
  std::uint64_t done_ = 0;           ///< particle-intervals
  std::int32_t ahead_intervals_ = 0; ///< intervals that particles may be ahead of the slowest
  std::optional<Error> error_;
  std::atomic<bool> has_failed_{ false };
  KeySet touched_;
  std::uint64_t waits_ = 0;
  double wait_seconds_ = 0;
  std::atomic<int> depth_{ 3 }; ///< intervals to look ahead, with the one begun
  CacheCounts checked_;         ///< counts at the last check of the depth

  HintUse hints_;
  std::vector<HintLog> hint_logs_;
  std::atomic<int> hint_depth_{ 16 }; ///< steps from node to node that hints are followed
  std::vector<std::uint64_t> hinted_; ///< requested keys whose time has not passed
  std::int32_t hints_judged_to_ = 0;  ///< interval
  std::uint64_t hints_judged_ = 0;    ///< since the last check of their depth
  std::uint64_t hints_in_vain_ = 0;   ///< judged hints that were not needed
};
}
