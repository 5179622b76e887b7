// SPDX-License-Identifier: BSD-3-Clause
// Processes buckets in the order of a sweep if particles are all over the domain.
#include "flow/schedule/buckets.hpp"

#include <algorithm>

namespace bat::flow
{
namespace
{
constexpr std::uint64_t kMaxSearchedBricks = 128; // few bricks: the best one is quickly found
constexpr std::uint64_t kMaxCachedBricks = 2048;  // even if memory holds all
constexpr std::uint64_t kAmpleSlotsPerBrick = 16; // slots for each of few bricks
}

// Plans a sweep for these particles; returns none if they are in few bricks.
std::optional<Sweep> Buckets::plan_sweep(const std::vector<Particle>& particles) const
{
  KeySet occupied;
  Sweep::Region region;
  region.lower = this->bricks_;
  std::int32_t first = this->frame_.last_interval();
  for (const Particle& particle : particles)
  {
    const BrickPlace place = this->place_of(particle.cell);
    occupied.insert(place.brick);
    first = std::min(first, particle.interval);
    for (std::size_t a = 0; a != 3; ++a)
    {
      region.lower[a] = std::min(region.lower[a], place.at[a]);
      region.upper[a] = std::max(region.upper[a], place.at[a]);
    }
  }
  const bool fits = !this->options_.in_step && occupied.size() <= kMaxCachedBricks &&
    this->capacity_ >= kAmpleSlotsPerBrick * occupied.size();
  if (occupied.size() <= kMaxSearchedBricks || fits)
  {
    return std::nullopt;
  }
  for (std::size_t a = 0; a != 3; ++a)
  {
    region.lower[a] = std::max<std::int64_t>(region.lower[a] - 1, 0);
    region.upper[a] = std::min(region.upper[a] + 1, this->bricks_[a] - 1);
  }
  return Sweep(this->grid_, region, occupied.size(), { first, this->frame_.last_interval() },
    this->capacity_, this->options_.in_step);
}

// Returns the bucket that particles may still join, or a new one.
Buckets::Bucket* Buckets::find_sweep_bucket(const BucketKey& key)
{
  const std::uint64_t listed = this->cache_.key(static_cast<std::size_t>(key.interval), key.brick);
  if (Bucket* const known = this->listed_.find(listed))
  {
    if (known->state == Bucket::State::Idle)
    {
      known->at.mask |= key.mask;
      return known;
    }
    if ((key.mask & ~known->at.mask) == 0)
    {
      return known;
    }
    // The bricks that this particle needs were not requested with the bucket.
    this->listed_.erase(known);
    known->is_listed = false;
  }
  Bucket* const bucket = this->new_bucket(key);
  bucket->key = listed;
  this->listed_.insert(bucket);
  bucket->is_listed = true;
  this->idle_.push_back({ key.turn, key.order, bucket });
  std::push_heap(this->idle_.begin(), this->idle_.end());
  return bucket;
}

// Returns the first bucket whose bricks were not requested. It stays in the heap until they are.
Buckets::Bucket* Buckets::pick_from_sweep()
{
  if (this->idle_.empty() || this->is_before_others(this->idle_.front().bucket->at.interval))
  {
    return nullptr;
  }
  Bucket* const bucket = this->idle_.front().bucket;
  if (this->sweep_->is_dense())
  {
    // Includes cached neighbours: some particle needs them before the interval ends.
    BucketKey all = bucket->at;
    const auto place = this->grid_.brick_place(all.brick);
    for (std::size_t a = 0; a != 3; ++a)
    {
      const bool has_next = place[a] + 1 < this->bricks_[a] || this->grid_.cyclic[a];
      all.mask |= static_cast<unsigned>(has_next && !this->frame_.walk().is_flat[a]) << a;
    }
    std::array<std::uint64_t, kMaxSlots> keys{};
    const std::size_t count = this->collect_keys(bucket->at, keys);
    const std::size_t missing = this->cache_.missing(keys.data(), count);
    if (all.mask != bucket->at.mask &&
      this->cache_.missing(keys.data(), this->collect_keys(all, keys)) == missing)
    {
      bucket->at.mask = all.mask;
    }
  }
  return bucket;
}

// Notes the position of the sweep and requests the bricks of rows that it is about to reach.
void Buckets::move_front(const Bucket& taken, Worker& worker)
{
  const Sweep::Turn turn{ taken.at.turn, taken.at.order };
  const bool is_new = turn.window > this->front_.window || this->occupied_.size() == 0;
  if (is_new)
  {
    this->occupied_ = {};
    for (const std::vector<Next>* const heap : { &this->idle_, &this->now_ready_ })
    {
      for (const Next& next : *heap)
      {
        if (next.turn == turn.window)
        {
          this->occupied_.insert(next.bucket->at.brick);
        }
      }
    }
  }
  if (is_new || (turn.window == this->front_.window && turn.order > this->front_.order))
  {
    if (is_new || this->sweep_->plane_of(turn) != this->sweep_->plane_of(this->front_))
    {
      this->cache_.begin_turn();
    }
    this->front_ = turn;
  }
  if (!this->sweep_->is_dense() || this->options_.prefetch == Prefetch::None)
  {
    return;
  }
  const std::uint64_t row = this->sweep_->row_of(turn);
  const std::uint64_t last = row + this->sweep_->rows_ahead();
  for (this->rows_requested_ = std::max(this->rows_requested_, row); this->rows_requested_ <= last;
       ++this->rows_requested_)
  {
    this->sweep_->collect_visits(this->rows_requested_, this->visits_);
    for (const Sweep::Visit& visit : this->visits_)
    {
      const std::uint64_t brick = this->brick_at(visit.place);
      if (this->occupied_.contains(brick))
      {
        worker.rows.push_back(this->cache_.key(this->frame_.level_before(visit.interval), brick));
        worker.rows.push_back(this->cache_.key(this->frame_.level_after(visit.interval), brick));
      }
    }
  }
}

// Returns the bits of the bucket's slots that no particle needs soon, given the sweep's position.
std::uint32_t Buckets::spent_of(const Bucket& bucket) const noexcept
{
  if (!this->sweep_ || bucket.at.turn != this->front_.window)
  {
    return 0;
  }
  const std::uint64_t front = this->sweep_->plane_of(this->front_);
  const std::int32_t interval = bucket.at.interval;
  const std::int32_t next = std::min(interval + 1, this->sweep_->end_of_window(interval));
  const std::size_t axis = this->sweep_->axis();
  const std::int64_t place = this->grid_.brick_place(bucket.at.brick)[axis];
  std::array<std::uint32_t, 2> spent{}; // in the bucket's plane, and after it
  for (std::int64_t behind = 0; behind != 2; ++behind)
  {
    const bool before = front >= this->sweep_->last_plane_of(interval, place + behind);
    const bool after = front >= this->sweep_->last_plane_of(next, place + behind);
    spent[static_cast<std::size_t>(behind)] =
      static_cast<unsigned>(before) | static_cast<unsigned>(after) << 1;
  }
  std::uint32_t bits = 0;
  unsigned slot = 0;
  for (unsigned part = 0; part != 8; ++part)
  {
    if ((part & ~bucket.at.mask) == 0)
    {
      bits |= spent[part >> axis & 1] << slot;
      slot += 2;
    }
  }
  return bits;
}
}
