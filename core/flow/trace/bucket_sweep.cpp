// SPDX-License-Identifier: BSD-3-Clause
// Buckets of particles all over the domain: in the order of a sweep.
#include "flow/trace/buckets.hpp"

#include <algorithm>

namespace bat::flow
{
namespace
{
constexpr std::uint64_t kFewBricks = 128;   // of which the best one is soon found
constexpr std::uint64_t kManyBricks = 2048; // also where memory has room for all
constexpr std::uint64_t kRoomy = 16;        // slots for each of few bricks
constexpr std::size_t kSome = 3; // particles of a brick of which one needs each of its neighbours
constexpr std::uint64_t kRowsAhead = 2;
}

// The order of these particles; none where they are in few bricks.
std::optional<Sweep> Buckets::sweep_of(const std::vector<Particle>& particles) const
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
  const bool fits = !this->options_.in_step && occupied.size() <= kManyBricks &&
    this->capacity_ >= kRoomy * occupied.size();
  if (occupied.size() <= kFewBricks || fits)
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

// The one that particles may join, or a new one.
Buckets::Bucket* Buckets::bucket_of_sweep(const BucketKey& key)
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
    // Its bricks were asked for, without those that are needed here.
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

// The first one of those whose bricks were not asked for; it stays where it is until they are.
Buckets::Bucket* Buckets::pick_of_sweep()
{
  if (this->idle_.empty() || this->is_before_others(this->idle_.front().bucket->at.interval))
  {
    return nullptr;
  }
  Bucket* const bucket = this->idle_.front().bucket;
  if (this->sweep_->is_dense() && bucket->particles.size() >= kSome)
  {
    const auto place = this->grid_.brick_place(bucket->at.brick);
    for (std::size_t a = 0; a != 3; ++a)
    {
      const bool has_next = place[a] + 1 < this->bricks_[a] || this->grid_.cyclic[a];
      bucket->at.mask |= static_cast<unsigned>(has_next && !this->frame_.walk().is_flat[a]) << a;
    }
  }
  return bucket;
}

// Reads rows of bricks before the sweep comes to them.
void Buckets::ask_rows(std::uint64_t row, Worker& worker)
{
  for (this->rows_asked_ = std::max(this->rows_asked_, row); this->rows_asked_ <= row + kRowsAhead;
       ++this->rows_asked_)
  {
    this->sweep_->visits_of(this->rows_asked_, this->visits_);
    for (const Sweep::Visit& visit : this->visits_)
    {
      const std::uint64_t brick = this->brick_at(visit.place);
      worker.rows.push_back(this->cache_.key(this->frame_.level_before(visit.interval), brick));
      worker.rows.push_back(this->cache_.key(this->frame_.level_after(visit.interval), brick));
    }
  }
}

// Bits of its slots that nobody needs soon: of bricks that the sweep was in before, at the time
// that the interval begins with, or at which the next window begins.
std::uint32_t Buckets::spent_of(const Bucket& bucket) const noexcept
{
  if (!this->sweep_)
  {
    return 0;
  }
  const bool is_last = this->sweep_->end_of_window(bucket.at.interval) == bucket.at.interval;
  std::uint32_t spent = 0;
  unsigned slot = 0;
  for (unsigned part = 0; part != 8; ++part)
  {
    if ((part & ~bucket.at.mask) == 0)
    {
      if ((part >> this->sweep_->axis() & 1) != 0)
      {
        spent |= (is_last ? 3u : 1u) << slot;
      }
      slot += 2;
    }
  }
  return spent;
}
}
