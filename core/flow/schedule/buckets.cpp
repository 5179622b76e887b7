// SPDX-License-Identifier: BSD-3-Clause
// Particles that need the same bricks in the same interval wait together, in a bucket.
//
// A particle that walked alone would wait for the disk at each new brick. Here it joins the bucket
// of its next brick and interval instead, and a worker takes another bucket whose bricks are ready:
//
//   particle --> bucket (interval, brick, neighbours) --acquire()--> Waiting --> Ready
//      ^                                                                           |
//      '---- leaves the brick or the interval <---- walks through cells <---- Taken by a worker
//
// Idle buckets are in the order of intervals and, within one, along a Z curve through space, so
// that bricks requested one after another are near each other. All particles of a bucket walk while
// its bricks are pinned: one read serves many particles. If slots are few, all buckets of a brick
// are merged first (pick_group). If particles fill much of the domain, a sweep (sweep.hpp) gives
// the order instead.
//
// The waiting particles show what is read next. Workers also look ahead along the velocity of the
// particles that begin an interval, and along hints of earlier runs, and prefetch those bricks.
#include "flow/schedule/buckets.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace bat::flow
{
namespace
{
constexpr std::size_t kParticlesPerPart = 256; // particles taken from a large bucket at a time
constexpr std::size_t kSlotsPerThread = 16;    // a cell at a corner of bricks needs 8, at two times
constexpr std::size_t kMaxCandidateBricks = 500; // bricks that pick() compares at most
constexpr int kIntervalsAhead = 3;
constexpr std::size_t kLookAheadParticles = 64; // particles of a part that are used to look ahead
constexpr std::size_t kSmallBucketParticles = 16;
constexpr std::uint64_t kPrefetchesPerCheck = 256; // prefetches between two checks of their use
constexpr auto kReportInterval = std::chrono::milliseconds(50);

// Spreads the lowest 21 bits of a number, so that two other numbers' bits fit between them.
std::uint64_t spread(std::uint64_t x)
{
  x &= 0x1FFFFF;
  x = (x | x << 32) & 0x1F00000000FFFFu;
  x = (x | x << 16) & 0x1F0000FF0000FFu;
  x = (x | x << 8) & 0x100F00F00F00F00Fu;
  x = (x | x << 4) & 0x10C30C30C30C30C3u;
  return (x | x << 2) & 0x1249249249249249u;
}

std::uint64_t order_of(const std::array<std::int64_t, 3>& place)
{
  return spread(static_cast<std::uint64_t>(place[0])) |
    spread(static_cast<std::uint64_t>(place[1])) << 1 |
    spread(static_cast<std::uint64_t>(place[2])) << 2;
}

Reason find_reason(WalkEnd end)
{
  switch (end)
  {
    case WalkEnd::Left:
      return Reason::LeftDomain;
    case WalkEnd::Cells:
      return Reason::TooManyCells;
    case WalkEnd::Still:
      return Reason::Stagnation;
    case WalkEnd::Arrived:
      return Reason::Arrived;
    case WalkEnd::Aged:
      return Reason::MaxAge;
    case WalkEnd::Blank:
      return Reason::Blanked;
    case WalkEnd::BlankSeed:
      return Reason::NoSeed;
    default:
      return Reason::EndTime;
  }
}
}

void Buckets::Bucket::on_bricks_ready(const std::optional<Error>& error) noexcept
{
  const std::lock_guard<std::mutex> lock(this->all->mutex_);
  --this->all->waiting_;
  if (error)
  {
    this->all->fail(*error);
  }
  this->all->add_ready(this);
  this->all->changed_.notify_all();
}

Buckets::Buckets(BrickCache& cache, const RunFrame& frame, const TraceOptions& options, int threads,
  HintUse hints, std::vector<Line>& lines)
  : cache_(cache)
  , grid_(cache.source().grid())
  , frame_(frame)
  , options_(options)
  , threads_(threads)
  , lines_(lines)
  , capacity_(cache.compute_capacity(kSlotsPerThread * static_cast<std::size_t>(threads)))
  , logs_(static_cast<std::size_t>(threads))
  , walked_(static_cast<std::size_t>(threads), kNoPlane)
  , checked_(cache.counts())
  , hints_(std::move(hints))
{
  if (this->hints_.max_learned != 0)
  {
    this->hint_logs_.assign(static_cast<std::size_t>(threads), HintLog(this->hints_.max_learned));
  }
  for (std::size_t a = 0; a != 3; ++a)
  {
    this->bricks_[a] = this->grid_.bricks(a);
  }
  while (1 << this->edge_shift_ < this->grid_.edge)
  {
    ++this->edge_shift_;
  }
  if (1 << this->edge_shift_ != this->grid_.edge)
  {
    this->edge_shift_ = 0;
  }
  constexpr std::size_t kMaxActiveBricks = 64; // more would request bricks earlier than needed
  this->max_active_ =
    std::max(static_cast<std::size_t>(threads), std::min(this->capacity_ / 32, kMaxActiveBricks));
}

Buckets::~Buckets()
{
  // Reading threads hold pointers to the buckets that wait, so their reads must end first.
  std::unique_lock<std::mutex> lock(this->mutex_);
  this->changed_.wait(lock, [this] { return this->waiting_ == 0; });
  for (const Bucket* const bucket : this->ready_)
  {
    this->cache_.release(bucket->slots.data(), bucket->slot_count);
  }
  for (const Next& next : this->now_ready_)
  {
    this->cache_.release(next.bucket->slots.data(), next.bucket->slot_count);
  }
}

void Buckets::fail(const Error& error) noexcept
{
  if (!this->error_)
  {
    this->error_ = error;
    this->has_failed_ = true;
  }
  this->changed_.notify_all();
}

Buckets::BrickPlace Buckets::place_of(const std::array<std::int32_t, 3>& cell) const noexcept
{
  BrickPlace place;
  for (std::size_t a = 0; a != 3; ++a)
  {
    place.at[a] =
      this->edge_shift_ != 0 ? cell[a] >> this->edge_shift_ : cell[a] / this->grid_.edge;
    const std::int64_t next = cell[a] + std::int64_t{ 1 };
    const bool last = next == this->grid_.points[a] || next == (place.at[a] + 1) * this->grid_.edge;
    place.mask |= static_cast<unsigned>(last && !this->frame_.walk().is_flat[a]) << a;
  }
  place.brick = this->brick_at(place.at);
  return place;
}

BucketKey Buckets::key_of(const Particle& particle) const noexcept
{
  const BrickPlace place = this->place_of(needed_cell(this->frame_.walk(), particle));
  BucketKey key;
  key.turn = particle.interval;
  key.interval = particle.interval;
  key.mask = place.mask;
  key.brick = place.brick;
  if (this->sweep_)
  {
    const Sweep::Turn turn = this->sweep_->find_turn(particle.interval, place.at);
    key.turn = turn.window;
    key.order = turn.order;
  }
  else
  {
    key.order = order_of(place.at);
  }
  return key;
}

std::size_t Buckets::collect_keys(
  const BucketKey& key, std::array<std::uint64_t, kMaxSlots>& keys) const noexcept
{
  return this->collect_keys(
    { this->grid_.brick_place(key.brick), key.brick, key.mask }, key.interval, keys);
}

std::size_t Buckets::collect_keys(const BrickPlace& place, std::int32_t interval,
  std::array<std::uint64_t, kMaxSlots>& keys) const noexcept
{
  std::size_t count = 0;
  for (unsigned part = 0; part != 8; ++part)
  {
    if ((part & ~place.mask) != 0)
    {
      continue;
    }
    std::array<std::int64_t, 3> at = place.at;
    for (std::size_t a = 0; a != 3; ++a)
    {
      if ((part >> a & 1) != 0)
      {
        // Along cyclic axes a neighbour exists after the last brick; elsewhere cells end at the
        // last point.
        at[a] = at[a] + 1 == this->bricks_[a] ? 0 : at[a] + 1;
      }
    }
    const std::uint64_t brick = this->brick_at(at);
    keys[count++] = this->cache_.key(this->frame_.level_before(interval), brick);
    keys[count++] = this->cache_.key(this->frame_.level_after(interval), brick);
  }
  return count;
}

// Returns whether the interval must wait until the walking particles have reached it.
bool Buckets::is_before_others(std::int32_t interval) const
{
  return this->options_.in_step &&
    interval > *std::min_element(this->walked_.begin(), this->walked_.end());
}

// Picks the next bucket whose bricks are requested.
Buckets::Bucket* Buckets::pick()
{
  if (this->sweep_)
  {
    return this->pick_from_sweep();
  }
  if (this->buckets_.empty() || this->is_before_others(this->buckets_.begin()->first.interval))
  {
    return nullptr;
  }
  if (this->ahead_intervals_ == 0)
  {
    return this->pick_group();
  }
  const std::int32_t last = this->buckets_.begin()->first.interval + this->ahead_intervals_;
  std::size_t looked = 0;
  for (const auto& [key, bucket] : this->buckets_)
  {
    if (key.interval > last || looked++ == kMaxCandidateBricks)
    {
      break;
    }
    if (bucket->state == Bucket::State::Idle)
    {
      return bucket;
    }
  }
  return nullptr;
}

// Groups the buckets of one brick whose bricks were not requested yet. Advances `at` to the next
// brick.
Buckets::Group Buckets::group_at(BucketMap::const_iterator& at) const
{
  Group group;
  group.key = at->first;
  group.key.mask = 0;
  for (; at != this->buckets_.end() && at->first.is_beside(group.key); ++at)
  {
    if (at->second->state == Bucket::State::Idle)
    {
      group.key.mask |= at->first.mask;
      group.particles += at->second->particles.size();
    }
  }
  if (group.particles != 0)
  {
    std::array<std::uint64_t, kMaxSlots> keys{};
    const std::size_t count = this->collect_keys(group.key, keys);
    group.missing = this->cache_.missing(keys.data(), count);
  }
  return group;
}

// Picks a group when slots are few. All particles that wait for one brick walk together, with the
// neighbours that any of them needs, so that the brick is read once. Groups whose bricks are cached
// come first, before those bricks are evicted. Then come groups with many particles per read, as
// more particles may still join the small ones.
Buckets::Bucket* Buckets::pick_group()
{
  const BucketMap& buckets = this->buckets_;
  const std::int32_t interval = buckets.begin()->first.interval;
  const auto end = buckets.lower_bound({ interval + 1, 0, 0, 0, 0 });
  auto begin = buckets.begin();
  if (this->cursor_.interval == interval)
  {
    begin = buckets.lower_bound(this->cursor_);
    begin = begin == end ? buckets.begin() : begin;
  }
  std::optional<Group> best;
  auto at = begin;
  for (std::size_t looked = 0; looked != kMaxCandidateBricks; ++looked)
  {
    const Group group = this->group_at(at);
    if (group.particles != 0 && (!best || group.is_before(*best)))
    {
      best = group;
    }
    at = at == end ? buckets.begin() : at;
    if (at == begin)
    {
      break;
    }
  }
  return best ? this->merged(best->key) : nullptr;
}

// Merges all idle buckets of the brick into the bucket of that key.
Buckets::Bucket* Buckets::merged(const BucketKey& key)
{
  this->cursor_ = key;
  this->cursor_.mask = 0;
  const auto first = this->buckets_.lower_bound(this->cursor_);
  const auto is_there = [&](const auto& at)
  { return at != this->buckets_.end() && at->first.is_beside(key); };
  if (const auto whole = this->buckets_.find(key);
      whole != this->buckets_.end() && whole->second->state != Bucket::State::Idle)
  {
    // The bricks of that bucket were already requested, so the others walk separately.
    auto at = first;
    while (at->second->state != Bucket::State::Idle)
    {
      ++at;
    }
    return at->second;
  }
  Bucket* const all = this->find_bucket(key);
  for (auto at = first; is_there(at);)
  {
    if (at->second->state != Bucket::State::Idle || at->second == all)
    {
      ++at;
      continue;
    }
    all->particles.insert(
      all->particles.end(), at->second->particles.begin(), at->second->particles.end());
    this->recycle(at->second);
    at = this->buckets_.erase(at);
  }
  return all;
}

Buckets::Bucket* Buckets::new_bucket(const BucketKey& key)
{
  if (this->spare_.empty())
  {
    this->made_.push_back(std::make_unique<Bucket>());
    this->made_.back()->all = this;
    this->spare_.reserve(this->made_.capacity()); // so that recycling never fails
    this->spare_.push_back(this->made_.back().get());
  }
  Bucket* const bucket = this->spare_.back();
  this->spare_.pop_back();
  bucket->at = key;
  bucket->state = Bucket::State::Idle;
  return bucket;
}

void Buckets::recycle(Bucket* bucket) noexcept
{
  constexpr std::size_t kMaxKeptParticles = 4 * kSmallBucketParticles; // larger buffers are freed
  if (bucket->particles.capacity() > kMaxKeptParticles)
  {
    std::vector<Particle>().swap(bucket->particles);
  }
  bucket->particles.clear();
  this->spare_.push_back(bucket);
}

Buckets::Bucket* Buckets::find_bucket(const BucketKey& key)
{
  if (this->sweep_)
  {
    return this->find_sweep_bucket(key);
  }
  Bucket*& place = this->buckets_[key];
  if (!place)
  {
    place = this->new_bucket(key);
    place->particles.reserve(kSmallBucketParticles);
  }
  return place;
}

void Buckets::announce()
{
  while (this->active_ < this->max_active_ && !this->error_)
  {
    Bucket* const bucket = this->pick();
    if (!bucket)
    {
      return;
    }
    (this->sweep_ ? this->now_ready_.reserve(this->active_ + 1)
                  : this->ready_.reserve(this->active_ + 1));
    std::array<std::uint64_t, kMaxSlots> keys{};
    const std::size_t count = this->collect_keys(bucket->at, keys);
    const BrickCache::Acquired acquired =
      this->cache_.acquire(keys.data(), count, bucket->slots.data(), *bucket);
    if (acquired == BrickCache::Acquired::Refused)
    {
      return;
    }
    if (this->sweep_)
    {
      std::pop_heap(this->idle_.begin(), this->idle_.end());
      this->idle_.pop_back();
    }
    bucket->slot_count = count;
    ++this->active_;
    for (std::size_t i = 0; i != count; ++i)
    {
      this->touched_.insert(keys[i]);
    }
    if (acquired == BrickCache::Acquired::Ready)
    {
      this->add_ready(bucket);
    }
    else
    {
      bucket->state = Bucket::State::Waiting;
      ++this->waiting_;
    }
  }
}

void Buckets::add_ready(Bucket* bucket) noexcept
{
  // announce() has reserved the space in ready_.
  bucket->state = Bucket::State::Ready;
  if (!this->sweep_)
  {
    this->ready_.push_back(bucket);
    return;
  }
  this->now_ready_.push_back({ bucket->at.turn, bucket->at.order, bucket });
  std::push_heap(this->now_ready_.begin(), this->now_ready_.end());
}

// Takes a ready bucket, and the particles of it that one worker walks at a time. With a sweep it is
// the first ready bucket, otherwise the one with most particles.
Buckets::Bucket* Buckets::take(Worker& worker)
{
  std::size_t maximum = 0;
  for (std::size_t i = 1; i < this->ready_.size(); ++i)
  {
    // Earlier intervals come first, so that no particle waits for those that are ahead.
    const Bucket& a = *this->ready_[i];
    const Bucket& b = *this->ready_[maximum];
    if (a.at.interval != b.at.interval ? a.at.interval < b.at.interval
                                       : a.particles.size() > b.particles.size())
    {
      maximum = i;
    }
  }
  Bucket* const bucket = this->sweep_ ? this->now_ready_.front().bucket : this->ready_[maximum];
  std::vector<Particle>& part = worker.part;
  if (this->sweep_)
  {
    this->move_front(*bucket, worker);
  }
  ++bucket->walking;
  part.clear();
  if (this->threads_ > 1 && bucket->particles.size() > kParticlesPerPart)
  {
    part.assign(bucket->particles.end() - kParticlesPerPart, bucket->particles.end());
    bucket->particles.resize(bucket->particles.size() - kParticlesPerPart);
    return bucket;
  }
  part.swap(bucket->particles);
  bucket->state = Bucket::State::Taken;
  if (!this->sweep_)
  {
    this->ready_.erase(this->ready_.begin() + static_cast<std::ptrdiff_t>(maximum));
    this->buckets_.erase(bucket->at);
    return bucket;
  }
  std::pop_heap(this->now_ready_.begin(), this->now_ready_.end());
  this->now_ready_.pop_back();
  if (bucket->is_listed)
  {
    this->listed_.erase(bucket);
    bucket->is_listed = false;
  }
  return bucket;
}

void Buckets::finish(Bucket* bucket) noexcept
{
  if (--bucket->walking == 0 && bucket->state == Bucket::State::Taken)
  {
    this->cache_.release(bucket->slots.data(), bucket->slot_count, this->spent_of(*bucket));
    --this->active_;
    this->recycle(bucket);
  }
}

void Buckets::end_line(const Particle& particle, Reason reason, Worker& worker)
{
  worker.done += static_cast<std::uint64_t>(this->frame_.last_interval() - particle.interval) + 1;
  ++worker.ended;
  if (reason == Reason::NoSeed)
  {
    return; // the line is unchanged
  }
  const IntervalFrame& interval = this->frame_.interval(particle.interval);
  Line& line = this->lines_[particle.line];
  line.reason = reason;
  line.end = this->frame_.compute_position(particle);
  line.end_time = reason == Reason::MaxAge ? particle.end_time
    : particle.share == interval.stop
    ? interval.stop_time
    : interval.begin + particle.share * (interval.end - interval.begin);
  if (reason == Reason::EndTime && this->options_.keep_resting && particle.share == 1)
  {
    worker.log->resting.push_back(particle);
  }
}

void Buckets::resume(std::size_t number, Worker& worker)
{
  Particle& particle = worker.part[number];
  const WalkEnd end = worker.ends[number];
  if (end == WalkEnd::Interval)
  {
    ++particle.interval;
    particle.share = 0;
    particle.is_new = true;
    ++worker.done;
  }
  else if (end != WalkEnd::Brick && end != WalkEnd::Ghosts)
  {
    worker.lost += end != WalkEnd::Time;
    this->end_line(particle, find_reason(end), worker);
    return;
  }
  worker.moved.push_back({ this->key_of(particle), number });
}

// Collects the bricks on the path of a particle that keeps the velocity it has at the beginning of
// an interval.
void Buckets::look_ahead(const WalkLog::Beginning& from, std::int32_t first, Worker& worker) const
{
  const WalkFrame& walk = this->frame_.walk();
  const std::array<double, 3>& velocity = from.velocity;
  std::array<double, 3> at{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    at[a] = from.cell[a] + from.at[a];
  }
  const double length = this->frame_.interval(first).end - this->frame_.interval(first).begin;
  std::int32_t last = std::min(this->frame_.last_interval(), first + this->depth_.load() - 1);
  if (this->sweep_)
  {
    last = std::min(last, this->sweep_->end_of_window(first)); // the next step begins much later
  }
  for (std::int32_t n = first; n <= last; ++n)
  {
    const IntervalFrame& interval = this->frame_.interval(n);
    const double share = n == first ? interval.stop - from.share : interval.stop;
    std::array<double, 3> way{};
    double longest = 0;
    for (std::size_t a = 0; a != 3; ++a)
    {
      way[a] = velocity[a] * share * ((interval.end - interval.begin) / length);
      longest = std::max(longest, std::abs(way[a]));
    }
    const int stops = static_cast<int>(std::min(longest / (0.5 * this->grid_.edge), 7.0)) + 1;
    for (int stop = n == first ? 1 : 0; stop <= stops; ++stop)
    {
      std::array<std::int32_t, 3> cell{};
      bool inside = true;
      for (std::size_t a = 0; a != 3; ++a)
      {
        double x = at[a] + way[a] * stop / stops;
        const double cells = walk.cells[a];
        if (walk.cyclic[a])
        {
          x -= std::floor(x / cells) * cells;
        }
        inside = inside && x >= 0 && x <= cells;
        cell[a] = inside ? static_cast<std::int32_t>(std::min(x, cells - 1)) : 0;
      }
      if (!inside)
      {
        break;
      }
      const BrickPlace place = this->place_of(cell);
      const std::uint64_t way_mark =
        (static_cast<std::uint64_t>(n) * this->cache_.key(1, 0) + place.brick) * 8 + place.mask + 1;
      std::uint64_t& passed = worker.passed[way_mark * 0x9E3779B97F4A7C15u >> 54];
      if (passed == way_mark)
      {
        continue;
      }
      passed = way_mark;
      std::array<std::uint64_t, kMaxSlots> keys{};
      const std::size_t count = this->collect_keys(place, n, keys);
      for (std::size_t i = 0; i != count; ++i)
      {
        std::uint64_t& requested = worker.requested[keys[i] * 0x9E3779B97F4A7C15u >> 54];
        if (requested != keys[i] + 1)
        {
          requested = keys[i] + 1;
          worker.ahead.push_back(keys[i]);
        }
      }
    }
    for (std::size_t a = 0; a != 3; ++a)
    {
      at[a] += way[a];
    }
  }
}

void Buckets::walk_part(const Bucket& bucket, Worker& worker)
{
  const auto place = this->grid_.brick_place(bucket.at.brick);
  const IntervalFrame& interval = this->frame_.interval(bucket.at.interval);
  BrickPair pair;
  std::array<std::array<BrickSlot*, 8>, 2> slots{};
  std::size_t next = 0;
  for (unsigned part = 0; part != 8; ++part)
  {
    if ((part & ~bucket.at.mask) == 0)
    {
      slots[0][part] = bucket.slots[next++];
      slots[1][part] = bucket.slots[next++];
    }
  }
  this->cache_.fill_ghosts(bucket.at.mask, slots[0]);
  this->cache_.fill_ghosts(bucket.at.mask, slots[1]);
  pair.before = slots[0][0]->values;
  pair.after = slots[1][0]->values;
  for (std::size_t a = 0; a != 3; ++a)
  {
    pair.first[a] = static_cast<std::int32_t>(place[a] * this->grid_.edge);
    pair.points[a] = this->grid_.brick_points(a, place[a]);
  }
  const std::uint32_t ghosts = slots[0][0]->ghosts.load(std::memory_order_acquire) &
    slots[1][0]->ghosts.load(std::memory_order_acquire);
  pair.there = 0;
  for (unsigned mask = 0; mask != 8; ++mask)
  {
    bool all = true;
    for (unsigned part = 1; part != 8; ++part)
    {
      all = all && ((part & ~mask) != 0 || (ghosts >> part & 1) != 0);
    }
    pair.there |= static_cast<unsigned>(all) << mask;
  }
  worker.ends.resize(worker.part.size());
  walk(this->frame_.walk(), interval, pair, worker.part.data(), worker.part.size(),
    worker.ends.data(), *worker.log);
  // A sample is enough: the particles of a part go to the same bricks.
  const std::vector<WalkLog::Beginning>& beginnings = worker.log->beginnings;
  const bool in_rows = this->sweep_ && this->sweep_->is_dense(); // requested as rows
  for (std::size_t i = 0; !in_rows && i < beginnings.size();
       i += beginnings.size() / kLookAheadParticles + 1)
  {
    this->look_ahead(beginnings[i], bucket.at.interval, worker);
  }
  for (std::size_t i = 0; i != worker.part.size(); ++i)
  {
    this->resume(i, worker);
  }
  if (worker.learned || this->hints_.graph)
  {
    this->note_ways(bucket, worker);
  }
}

void Buckets::add(const BucketKey& key, const Particle& particle, Worker& worker)
{
  for (const auto& [known, bucket] : worker.found)
  {
    if (known == key)
    {
      bucket->particles.push_back(particle);
      return;
    }
  }
  Bucket* const bucket = this->find_bucket(key);
  bucket->particles.push_back(particle);
  worker.found.emplace_back(key, bucket);
}

void Buckets::put(Worker& worker)
{
  worker.found.clear();
  for (const Moved& moved : worker.moved)
  {
    this->add(moved.key, worker.part[moved.particle], worker);
  }
  worker.moved.clear();
  worker.part.clear();
  this->done_ += worker.done;
  this->alive_ -= worker.ended;
  worker.done = 0;
  worker.ended = 0;
}

void Buckets::report_progress(
  const std::function<bool(std::uint64_t)>& report, std::unique_lock<std::mutex>& lock)
{
  const std::uint64_t done = this->done_;
  lock.unlock();
  const bool is_to_continue = report(done);
  lock.lock();
  if (!is_to_continue)
  {
    this->fail(Error(ErrorCode::Cancelled, "cancelled"));
  }
}

// Waits while no bucket is ready.
void Buckets::wait(bool is_reporting, std::unique_lock<std::mutex>& lock)
{
  using Clock = std::chrono::steady_clock;
  if (this->active_ != 0)
  {
    lock.unlock();
    const bool has_helped = this->cache_.help();
    lock.lock();
    if (has_helped || this->is_over() || this->has_ready())
    {
      return;
    }
  }
  const auto begin = Clock::now();
  ++this->waits_;
  if (this->active_ == 0)
  {
    // Waits with a timeout: another run may hold the slots, and releasing them wakes no thread of
    // this one.
    this->changed_.wait_for(lock, std::chrono::milliseconds(2));
  }
  else if (is_reporting)
  {
    this->changed_.wait_for(lock, kReportInterval);
  }
  else
  {
    this->changed_.wait(lock);
  }
  this->wait_seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

// Reports progress without the lock.
void Buckets::walk_and_prefetch(const Bucket& bucket, Worker& worker)
{
  if (!worker.rows.empty())
  {
    this->cache_.prefetch(worker.rows.data(), worker.rows.size());
    worker.rows.clear();
  }
  this->walk_part(bucket, worker);
  if (!worker.ahead.empty())
  {
    this->cache_.prefetch(worker.ahead.data(), worker.ahead.size());
    worker.ahead.clear();
  }
  if (!worker.hinted.empty())
  {
    worker.hinted.resize(
      this->cache_.prefetch(worker.hinted.data(), worker.hinted.size(), BrickCache::Ahead::Hints));
  }
}

// Looks less far ahead when too many of the bricks that were read ahead are dropped unused.
void Buckets::judge_depth()
{
  const CacheCounts counts = this->cache_.counts();
  const auto by_velocity = [&](std::uint64_t CacheCounts::*all, std::uint64_t CacheCounts::*hints)
  { return (counts.*all - counts.*hints) - (this->checked_.*all - this->checked_.*hints); };
  const std::uint64_t wasted = by_velocity(&CacheCounts::wasted, &CacheCounts::hints_wasted);
  const std::uint64_t used = by_velocity(&CacheCounts::used, &CacheCounts::hints_used);
  if (wasted + used >= kPrefetchesPerCheck)
  {
    if (10 * wasted > 3 * (wasted + used))
    {
      this->depth_ = this->depth_ / 2;
    }
    this->checked_ = counts;
  }
}

// Walks the particles of a ready bucket.
void Buckets::process(Worker& worker, std::unique_lock<std::mutex>& lock)
{
  Bucket* const bucket = this->take(worker);
  std::int32_t& walked = this->walked_[worker.number];
  walked = bucket->at.interval;
  if (this->has_ready())
  {
    this->changed_.notify_one();
  }
  lock.unlock();
  const auto failed = attempt([&] { this->walk_and_prefetch(*bucket, worker); });
  lock.lock();
  this->finish(bucket);
  if (failed)
  {
    throw *failed;
  }
  this->put(worker);
  walked = kNoPlane;
  if (this->hints_.graph)
  {
    this->hinted_.insert(this->hinted_.end(), worker.hinted.begin(), worker.hinted.end());
    worker.hinted.clear();
    this->judge_hints();
  }
  if (this->options_.prefetch != Prefetch::None && !(this->sweep_ && this->sweep_->is_dense()))
  {
    this->judge_depth();
  }
}

void Buckets::work(std::size_t number, const std::function<bool(std::uint64_t)>* report) noexcept
{
  using Clock = std::chrono::steady_clock;
  Worker worker;
  worker.number = number;
  worker.log = &this->logs_[number];
  worker.learned = this->hint_logs_.empty() ? nullptr : &this->hint_logs_[number];
  auto reported = Clock::now();
  std::unique_lock<std::mutex> lock(this->mutex_);
  const auto failure = attempt(
    [&]
    {
      while (!this->is_over())
      {
        if (report && Clock::now() - reported >= kReportInterval)
        {
          reported = Clock::now();
          this->report_progress(*report, lock);
          continue;
        }
        this->announce();
        if (!this->has_ready())
        {
          this->wait(report != nullptr, lock);
          continue;
        }
        this->process(worker, lock);
        if (this->is_over())
        {
          this->changed_.notify_all();
        }
      }
    });
  if (failure)
  {
    if (!lock.owns_lock())
    {
      lock.lock();
    }
    this->fail(*failure);
  }
  this->changed_.notify_all();
}

void Buckets::run(
  std::vector<Particle>&& particles, const std::function<bool(std::uint64_t)>& report)
{
  {
    const auto first = std::make_unique<Worker>();
    const std::lock_guard<std::mutex> lock(this->mutex_);
    Worker& worker = *first;
    this->alive_ = particles.size();
    this->sweep_ = this->plan_sweep(particles);
    if (this->sweep_)
    {
      this->hints_.graph = nullptr; // a sweep already knows what it needs
    }
    for (const Particle& particle : particles)
    {
      worker.found.clear();
      this->add(this->key_of(particle), particle, worker);
    }
    std::vector<Particle>().swap(particles);
    // If several intervals fit into memory, particles need not wait for each other, and threads
    // wait less.
    constexpr std::size_t kAmpleSlotsPerBucket = 16;
    const bool is_roomy = this->capacity_ >= kAmpleSlotsPerBucket * this->buckets_.size();
    this->ahead_intervals_ = is_roomy && !this->options_.in_step ? kIntervalsAhead : 0;
    if (this->hints_.graph)
    {
      this->announce(); // demanded bricks go first
      this->hint_from_seeds(worker);
    }
  }
  std::vector<std::thread> threads;
  const auto started = attempt(
    [&]
    {
      for (int i = 1; i < this->threads_; ++i)
      {
        threads.emplace_back([this, i] { this->work(static_cast<std::size_t>(i), nullptr); });
      }
    });
  (void)started; // with fewer threads the run is slower, but complete
  this->work(0, &report);
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  if (this->error_)
  {
    throw *this->error_;
  }
  // The buckets are empty: their memory is freed for what follows.
  this->spare_.clear();
  this->made_.clear();
}
}
