// SPDX-License-Identifier: BSD-3-Clause
// The brick cache holds the bricks that traces are using, will soon use, or have used lately.
//
// Memory is divided into slots of one size. A slot holds the points of one brick and one more layer
// after its upper faces, the ghosts, so that every cell of the brick finds its corners in one slot.
// fill_ghosts() copies them from the neighbours' slots when a walk first needs them.
//
//   Free --acquire()/prefetch()--> Queued --> Reading --> Ready --evicted--> Free
//                                                 \-----> Failed --unpinned--> Free
//
// acquire() pins the slots of a few bricks and never blocks: bricks that are missing go into the
// queue of demanded reads, and the waiter is called when the last one has arrived. Reading threads
// serve three queues in this order: demanded bricks, prefetches by velocity, prefetches by hints.
// If the source can prefetch, because it is on a server, requests first wait a moment for others
// and are prefetched together, so that few requests to the server bring many bricks.
// A pinned slot is never evicted. Unpinned slots are in one of three lists, each in the order of
// last use: used bricks, spent bricks (used, and not needed soon), and unused prefetches. Unused
// prefetches beyond a quarter of the slots are evicted first, so that reading ahead cannot push
// out what traces use; then used bricks that a whole turn has not touched, spent ones, the others.
#include "flow/cache/brick_cache.hpp"

#include "bat/scoped_stop.hpp"
#include "flow/hints/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

namespace bat::flow
{
namespace
{
constexpr std::size_t kCacheLineBytes = 64;         // bytes of a line of the processor's cache
constexpr std::size_t kMinSlots = 32;               // one cell at two times can need 16 bricks
constexpr std::size_t kTableBytes = 48;             // per slot, for the table and the lists
constexpr double kSlowReadNanoseconds = 5e4;        // ns
constexpr std::chrono::milliseconds kGatherTime(2); // little compared with a server's answer

void check(const BrickSource& source, const CacheOptions& options)
{
  if (options.io_threads < 1 || options.io_threads > 1024)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("io_threads is {}; allowed are 1 to 1024", options.io_threads));
  }
  if (const std::string fault = find_fault(source.grid()); !fault.empty())
  {
    throw Error(ErrorCode::InvalidArgument, source.level_name(0) + ": " + fault);
  }
  const std::vector<double>& times = source.times();
  if (times.empty())
  {
    throw Error(ErrorCode::InvalidArgument, "the brick source has no time steps");
  }
  for (std::size_t i = 0; i != times.size(); ++i)
  {
    if (!std::isfinite(times[i]) || (i != 0 && !(times[i] > times[i - 1])))
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: the time {} of step {} is invalid; times must be finite and increase",
          source.level_name(i), times[i], i));
    }
  }
}
}

Cache::Cache(std::shared_ptr<const BrickSource> source, const CacheOptions& options)
{
  if (!source)
  {
    throw Error(ErrorCode::InvalidArgument, "the cache has no brick source");
  }
  check(*source, options);
  this->hints_ = std::make_shared<HintStore>(*source, options.hints_file);
  this->bricks_ = std::make_shared<BrickCache>(std::move(source), options);
}
const BrickSource& Cache::source() const noexcept
{
  return this->bricks_->source();
}
std::uint64_t Cache::bytes() const noexcept
{
  return this->bricks_->bytes();
}
std::uint64_t Cache::max_bytes() const noexcept
{
  return this->bricks_->max_bytes();
}
std::uint64_t Cache::min_bytes() const noexcept
{
  return kMinSlots * this->bricks_->slot_bytes();
}
void Cache::clear() const
{
  this->bricks_->clear();
}

void BrickCache::List::add(BrickSlot& slot) noexcept
{
  slot.newer = nullptr;
  slot.older = this->newest;
  (this->newest ? this->newest->newer : this->oldest) = &slot;
  this->newest = &slot;
  ++this->size;
}

void BrickCache::List::remove(BrickSlot& slot) noexcept
{
  (slot.newer ? slot.newer->older : this->newest) = slot.older;
  (slot.older ? slot.older->newer : this->oldest) = slot.newer;
  --this->size;
}

BrickCache::BrickCache(std::shared_ptr<const BrickSource> source, const CacheOptions& options)
  : source_(std::move(source))
  , bricks_(this->source_->grid().brick_count())
  , max_threads_(static_cast<std::size_t>(options.io_threads))
  , can_prefetch_(this->source_->can_prefetch())
{
  const BrickGrid& grid = this->source_->grid();
  const auto side = static_cast<std::size_t>(grid.edge) + 1;
  this->row_bytes_ = side * grid.point_bytes();
  this->plane_bytes_ = side * this->row_bytes_;
  this->value_bytes_ =
    (side * this->plane_bytes_ + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
  this->slot_bytes_ = this->value_bytes_ + kCacheLineBytes + sizeof(BrickSlot) + kTableBytes;
  const std::uint64_t bytes = options.bytes == 0 ? CacheOptions::usual_bytes : options.bytes;
  this->capacity_ = std::max<std::uint64_t>(kMinSlots, bytes / this->slot_bytes_);
  this->threads_.reserve(this->max_threads_);
  this->threads_.emplace_back([this] { this->read_bricks(); });
}

// This thread spins instead of sleeping: the lock is held briefly, and sleeping and waking take
// longer.
std::unique_lock<std::mutex> BrickCache::lock() const
{
  std::unique_lock<std::mutex> lock(this->mutex_, std::try_to_lock);
  for (int i = 0; i != 200 && !lock.owns_lock(); ++i)
  {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
    (void)lock.try_lock();
  }
  if (!lock.owns_lock())
  {
    lock.lock();
  }
  return lock;
}

BrickCache::~BrickCache()
{
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    this->ending_ = true;
    // All traces have ended, so the remaining requests are prefetches that no trace needs.
    this->demanded_.clear();
    this->prefetched_.clear();
    this->hinted_.clear();
    this->gathered_.clear();
    this->batches_.clear();
  }
  this->requested_.notify_all();
  for (std::thread& thread : this->threads_)
  {
    thread.join();
  }
}

std::size_t BrickCache::compute_capacity(std::size_t slots)
{
  const std::unique_lock<std::mutex> lock = this->lock();
  this->capacity_ = std::max(this->capacity_, slots);
  return this->capacity_;
}

BrickSlot* BrickCache::new_slot()
{
  auto memory = std::make_unique<std::byte[]>(this->value_bytes_ + kCacheLineBytes); // zeros
  auto slot = std::make_unique<BrickSlot>();
  const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
  slot->values = memory.get() + (kCacheLineBytes - address % kCacheLineBytes) % kCacheLineBytes;
  this->memory_.push_back(std::move(memory));
  try
  {
    this->free_.reserve(this->slots_.size() + 1); // so that returning a slot never fails
    this->slots_.push_back(std::move(slot));
  }
  catch (...)
  {
    this->memory_.pop_back();
    throw;
  }
  return this->slots_.back().get();
}

// Returns a slot for another brick, or null. `max_ahead` is 0 for a demanded brick, else the most
// prefetched bricks that may exist. At that limit, a prefetch may only replace a prefetched brick
// that has waited for a long time. Prefetched bricks beyond a quarter of the slots are evicted
// first.
BrickSlot* BrickCache::take_slot(std::size_t max_ahead)
{
  const std::size_t quarter = this->capacity_ / 4;
  if (max_ahead != 0 && this->ahead_ >= max_ahead)
  {
    BrickSlot* const oldest = this->unused_.oldest;
    if (!oldest || this->ticket_ - oldest->ticket < 2 * this->capacity_)
    {
      return nullptr;
    }
    this->forget(*oldest);
  }
  if (this->free_.empty())
  {
    if (this->slots_.size() < this->capacity_)
    {
      return this->new_slot();
    }
    BrickSlot* used = this->used_.oldest;
    const bool is_forgotten = used && used->used_at + 2 <= this->turn_;
    used = this->spent_.oldest && !is_forgotten ? this->spent_.oldest : used;
    const bool ahead_first = this->ahead_ > quarter || !used;
    BrickSlot* const oldest = ahead_first && this->unused_.oldest ? this->unused_.oldest : used;
    if (!oldest)
    {
      return nullptr;
    }
    this->forget(*oldest);
  }
  BrickSlot* const slot = this->free_.back();
  this->free_.pop_back();
  return slot;
}

// Evicts the brick of an unpinned slot, which is in one of the lists.
void BrickCache::forget(BrickSlot& slot) noexcept
{
  this->list_of(slot).remove(slot);
  if (slot.prefetched)
  {
    slot.prefetched = false;
    --this->ahead_;
    ++this->counts_.wasted;
    this->counts_.hints_wasted += slot.hinted;
  }
  this->table_.erase(&slot);
  slot.state = State::Free;
  this->free_.push_back(&slot);
}

void BrickCache::unpin(BrickSlot& slot) noexcept
{
  if (--slot.pins != 0)
  {
    return;
  }
  if (slot.state == State::Ready)
  {
    slot.used_at = this->turn_;
    this->list_of(slot).add(slot);
    return;
  }
  // The read failed. The slot is freed so that the next caller who needs the brick tries again.
  this->table_.erase(&slot);
  slot.state = State::Free;
  slot.error.reset();
  this->free_.push_back(&slot);
}

void BrickCache::ask(BrickSlot& slot, std::deque<Request>& queue)
{
  slot.ticket = ++this->ticket_;
  const Request request{ &slot, slot.ticket };
  if (!this->can_prefetch_)
  {
    queue.push_back(request);
    this->wake_readers(1);
    return;
  }
  const std::uint64_t level = slot.key / this->bricks_;
  auto batch = std::find_if(this->gathered_.begin(), this->gathered_.end(),
    [level](const Batch& b) { return b.level == level; });
  if (batch == this->gathered_.end())
  {
    batch = this->gathered_.insert(batch, Batch{ level, {} });
  }
  batch->requests.emplace_back(request, &queue);
  if (!this->is_gathering_)
  {
    this->wake_readers(1);
  }
}

// Waits for more requests, and makes batches of them. Called with the lock.
void BrickCache::gather(std::unique_lock<std::mutex>& lock)
{
  this->is_gathering_ = true;
  lock.unlock();
  std::this_thread::sleep_for(kGatherTime);
  lock = this->lock();
  this->is_gathering_ = false;
  for (Batch& batch : this->gathered_)
  {
    this->batches_.push_back(std::move(batch));
  }
  this->gathered_.clear();
  this->wake_readers(this->batches_.size());
}

// Moves the requests of a batch to their queues.
void BrickCache::enqueue(const Batch& batch)
{
  for (const auto& [request, queue] : batch.requests)
  {
    queue->push_back(request);
  }
  this->wake_readers(batch.requests.size());
}

// Prefetches a batch, or makes batches of the requests that were gathered. The lock is released
// meanwhile. Returns false if there are none.
bool BrickCache::prefetch_batch(std::unique_lock<std::mutex>& lock)
{
  if (this->batches_.empty())
  {
    const bool has_gathered = !this->gathered_.empty() && !this->is_gathering_;
    if (has_gathered)
    {
      this->gather(lock);
    }
    return has_gathered;
  }
  const Batch batch = std::move(this->batches_.front());
  this->batches_.pop_front();
  std::vector<std::uint64_t> bricks;
  for (const auto& [request, queue] : batch.requests)
  {
    if (request.is_valid())
    {
      bricks.push_back(request.slot->key % this->bricks_);
    }
  }
  lock.unlock();
  const auto is_unneeded = [&]
  {
    if (this->ending_)
    {
      return true;
    }
    const std::unique_lock<std::mutex> own = this->lock();
    bool is_any_abandoned = false;
    bool is_any_needed = false;
    for (const auto& [request, queue] : batch.requests)
    {
      const bool has_waiters = request.is_valid() && !request.slot->waiters.empty();
      (is_abandoned(*request.slot) ? is_any_abandoned : is_any_needed) |= has_waiters;
    }
    return is_any_abandoned && !is_any_needed;
  };
  {
    const ScopedStop stop(is_unneeded);
    this->source_->prefetch(static_cast<std::size_t>(batch.level), bricks);
  }
  lock = this->lock();
  this->enqueue(batch);
  return true;
}

// Starts or wakes threads for `count` more requests, but no more than reading them needs while
// another thread wakes up.
void BrickCache::wake_readers(std::size_t count)
{
  constexpr std::size_t kReadsPerWakeUp = 16; // number of fast reads
  const std::size_t requests = this->demanded_.size() + this->prefetched_.size() +
    this->hinted_.size() + this->gathered_.size() + this->batches_.size();
  for (std::size_t i = 0; i != std::min(count, requests); ++i)
  {
    const std::size_t awake = this->threads_.size() - this->idle_;
    const bool are_enough = this->read_ns_ < kSlowReadNanoseconds
      ? requests <= kReadsPerWakeUp * awake
      : requests <= this->woken_;
    if (are_enough)
    {
      return;
    }
    if (this->idle_ != 0)
    {
      --this->idle_;
      ++this->woken_;
      this->requested_.notify_one();
    }
    else if (this->threads_.size() < this->max_threads_)
    {
      try
      {
        this->threads_.emplace_back([this] { this->read_bricks(); });
      }
      catch (const std::exception&)
      {
        return; // one thread is running, which is enough
      }
    }
  }
}

// Releases the pins of an acquire() that is refused. Null entries are skipped.
void BrickCache::unpin_all(BrickSlot* const* slots, std::size_t count) noexcept
{
  for (std::size_t i = 0; i != count; ++i)
  {
    if (!slots[i])
    {
      continue;
    }
    if (!slots[i]->prefetched)
    {
      this->unpin(*slots[i]);
    }
    else if (--slots[i]->pins == 0 && slots[i]->state == State::Ready)
    {
      this->unused_.add(*slots[i]);
    }
  }
}

// Returns a pinned slot for a brick that has none, or nullptr if too many slots are in use.
BrickSlot* BrickCache::add_slot(std::uint64_t key)
{
  BrickSlot* slot = this->take_slot(0);
  if (!slot)
  {
    return nullptr;
  }
  slot->key = key;
  try
  {
    this->table_.insert(slot);
  }
  catch (...)
  {
    this->free_.push_back(slot);
    throw;
  }
  slot->spent = false;
  slot->state = State::Failed; // until it is requested, so that unpin() evicts it
  slot->pins = 1;
  slot->ghosts.store(1, std::memory_order_relaxed);
  return slot;
}

// Pins the slots of all bricks. Returns false, with no pins left, if too many slots are in use.
bool BrickCache::pin(
  const std::uint64_t* keys, std::size_t count, BrickSlot** slots, std::array<bool, 16>& is_new)
{
  // Cached bricks first: taking slots for the others must not drop them.
  for (std::size_t i = 0; i != count; ++i)
  {
    slots[i] = this->table_.find(keys[i]);
    if (slots[i] && slots[i]->pins++ == 0 && slots[i]->state == State::Ready)
    {
      this->list_of(*slots[i]).remove(*slots[i]);
    }
  }
  for (std::size_t i = 0; i != count; ++i)
  {
    if (slots[i])
    {
      continue;
    }
    slots[i] = this->table_.find(keys[i]); // the same brick twice
    if (slots[i])
    {
      ++slots[i]->pins;
      continue;
    }
    try
    {
      slots[i] = this->add_slot(keys[i]);
    }
    catch (...)
    {
      this->unpin_all(slots, count);
      throw;
    }
    if (!slots[i])
    {
      this->unpin_all(slots, count);
      return false;
    }
    is_new[i] = true;
  }
  return true;
}

BrickCache::Acquired BrickCache::acquire(
  const std::uint64_t* keys, std::size_t count, BrickSlot** slots, Waiter& waiter)
{
  const std::unique_lock<std::mutex> lock = this->lock();
  this->counts_.looked += count;
  std::array<bool, 16> is_new{};
  if (!this->pin(keys, count, slots, is_new))
  {
    return Acquired::Refused;
  }
  std::size_t missing = 0;
  waiter.error_.reset();
  for (std::size_t i = 0; i != count; ++i)
  {
    BrickSlot& slot = *slots[i];
    if (slot.prefetched)
    {
      slot.prefetched = false;
      --this->ahead_;
      ++this->counts_.used;
      this->counts_.hints_used += slot.hinted;
    }
    if (slot.state == State::Ready)
    {
      ++this->counts_.hits;
      continue;
    }
    if (slot.state == State::Failed && !is_new[i])
    {
      waiter.error_ = slot.error; // other waiters are just being notified
      continue;
    }
    slot.waiters.push_back(&waiter);
    ++missing;
    if (is_new[i])
    {
      slot.state = State::Queued;
      this->ask(slot, this->demanded_);
      ++this->counts_.demanded;
    }
    else if (slot.state == State::Queued)
    {
      this->ask(slot, this->demanded_); // ahead of prefetches; the older request is void
    }
  }
  waiter.missing_ = missing;
  if (missing != 0)
  {
    return Acquired::Waiting;
  }
  if (waiter.error_)
  {
    const Error error = *waiter.error_;
    this->unpin_all(slots, count);
    throw error;
  }
  return Acquired::Ready;
}

void BrickCache::release(BrickSlot* const* slots, std::size_t count, std::uint32_t spent) noexcept
{
  const std::unique_lock<std::mutex> lock = this->lock();
  for (std::size_t i = 0; i != count; ++i)
  {
    slots[i]->spent = (spent >> i & 1) != 0;
    this->unpin(*slots[i]);
  }
}

std::size_t BrickCache::missing(const std::uint64_t* keys, std::size_t count) const noexcept
{
  const std::unique_lock<std::mutex> lock = this->lock();
  this->counts_.looked += count;
  return static_cast<std::size_t>(std::count_if(keys, keys + count,
    [this](std::uint64_t key)
    {
      const BrickSlot* const slot = this->table_.find(key);
      return !slot || slot->state != State::Ready;
    }));
}

std::size_t BrickCache::prefetch(std::uint64_t* keys, std::size_t count, Ahead ahead) noexcept
{
  const std::unique_lock<std::mutex> lock = this->lock();
  const bool by_hints = ahead == Ahead::Hints;
  const std::size_t maximum = std::max<std::size_t>(this->capacity_ / (by_hints ? 8 : 4), 1);
  std::size_t requested = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    BrickSlot* slot = this->table_.find(keys[i]);
    try
    {
      if (slot)
      {
        if (!by_hints && slot->hinted && slot->prefetched && slot->state == State::Queued)
        {
          this->ask(*slot, this->prefetched_); // sooner; the older request is void
        }
        continue;
      }
      slot = this->take_slot(maximum);
      if (!slot)
      {
        return requested;
      }
      slot->key = keys[i];
      this->table_.insert(slot);
      slot->state = State::Queued;
      slot->spent = false;
      slot->pins = 0;
      slot->ghosts.store(1, std::memory_order_relaxed);
      this->ask(*slot, by_hints ? this->hinted_ : this->prefetched_);
      slot->prefetched = true;
      slot->hinted = by_hints;
      ++this->ahead_;
      ++this->counts_.prefetched;
      this->counts_.hinted += by_hints;
      keys[requested++] = keys[i];
    }
    catch (const std::exception&)
    {
      if (slot && slot->prefetched)
      {
        return requested; // its older request stays
      }
      if (slot && slot->state == State::Queued)
      {
        this->table_.erase(slot);
      }
      if (slot)
      {
        slot->state = State::Free;
        this->free_.push_back(slot);
      }
      return requested; // a prefetch is optional: lack of memory or threads is not an error
    }
  }
  return requested;
}

std::size_t BrickCache::unused(const std::uint64_t* keys, std::size_t count) const noexcept
{
  const std::unique_lock<std::mutex> lock = this->lock();
  return static_cast<std::size_t>(std::count_if(keys, keys + count,
    [this](std::uint64_t key)
    {
      const BrickSlot* const slot = this->table_.find(key);
      return slot && slot->prefetched;
    }));
}

void BrickCache::begin_turn() noexcept
{
  const std::unique_lock<std::mutex> lock = this->lock();
  ++this->turn_;
}

std::optional<BrickSlot*> BrickCache::next_request(bool is_demanded) noexcept
{
  for (std::deque<Request>* const queue : { &this->demanded_, &this->prefetched_, &this->hinted_ })
  {
    if (is_demanded && queue != &this->demanded_)
    {
      break;
    }
    while (!queue->empty())
    {
      const Request request = queue->front();
      queue->pop_front();
      if (request.is_valid())
      {
        return request.slot;
      }
    }
  }
  return std::nullopt;
}

void BrickCache::finish(BrickSlot& slot, std::optional<Error> error, std::uint64_t bytes,
  std::vector<Waiter*>& ready) noexcept
{
  this->counts_.bytes_read += bytes;
  slot.state = error ? State::Failed : State::Ready;
  for (Waiter* const waiter : slot.waiters)
  {
    if (error)
    {
      waiter->error_ = error;
    }
    if (--waiter->missing_ == 0)
    {
      ready.push_back(waiter);
    }
  }
  slot.waiters.clear();
  slot.error = std::move(error);
  if (slot.pins != 0)
  {
    return;
  }
  if (slot.state == State::Ready)
  {
    slot.used_at = this->turn_;
    this->list_of(slot).add(slot);
    return;
  }
  if (slot.prefetched)
  {
    slot.prefetched = false;
    --this->ahead_;
    ++this->counts_.wasted;
    this->counts_.hints_wasted += slot.hinted;
  }
  this->table_.erase(&slot);
  slot.state = State::Free;
  slot.error.reset();
  this->free_.push_back(&slot);
}

// Many threads hide the latency of a disk. If bricks are in the system's page cache, waking a
// thread takes longer than reading several of them.
void BrickCache::note_read_time(std::chrono::nanoseconds taken)
{
  if (this->can_prefetch_)
  {
    return; // the next read may wait for a server, however fast prefetched bricks are read
  }
  const bool was_slow = this->read_ns_ >= kSlowReadNanoseconds;
  this->read_ns_ += (static_cast<double>(taken.count()) - this->read_ns_) / 8;
  if (!was_slow && this->read_ns_ >= kSlowReadNanoseconds)
  {
    this->wake_readers(this->max_threads_);
  }
}

void BrickCache::read_bricks()
{
  Reader reader;
  std::unique_lock<std::mutex> lock = this->lock();
  for (;;)
  {
    if (this->can_prefetch_ && this->prefetch_batch(lock))
    {
      continue;
    }
    std::optional<BrickSlot*> next = this->next_request();
    if (!next)
    {
      if (this->ending_)
      {
        return;
      }
      ++this->idle_;
      this->requested_.wait(lock, [this] { return this->woken_ != 0 || this->ending_; });
      if (this->woken_ != 0)
      {
        --this->woken_;
      }
      continue;
    }
    // Prefetches are read several at a time if reads are fast.
    while (next)
    {
      reader.take(**next);
      const bool is_full = reader.count == kSlotsPerRead;
      const bool continues =
        !is_full && this->read_ns_ < kSlowReadNanoseconds && this->demanded_.empty();
      next = continues ? this->next_request() : std::nullopt;
    }
    this->read(reader, lock);
  }
}

// Returns whether somebody waited for a brick, and nobody needs it any more.
bool BrickCache::is_abandoned(const BrickSlot& slot) noexcept
{
  return !slot.waiters.empty() &&
    std::all_of(slot.waiters.begin(), slot.waiters.end(),
      [](const Waiter* waiter) { return waiter->is_abandoned(); });
}

// Reads a brick without the lock. A read from a server that takes long can be cancelled.
void BrickCache::read_slot(Reader& reader, std::size_t i)
{
  BrickSlot& slot = *reader.slots[i];
  const auto is_unneeded = [&]
  {
    if (!this->ending_)
    {
      const std::unique_lock<std::mutex> lock = this->lock();
      reader.abandoned[i] = is_abandoned(slot);
    }
    return this->ending_ || reader.abandoned[i];
  };
  if (this->ending_ || reader.abandoned[i])
  {
    reader.errors[i] = Error(ErrorCode::Cancelled, "no thread waits for the brick");
    return;
  }
  const ScopedStop stop(is_unneeded);
  reader.errors[i] = attempt(
    [&]
    {
      reader.bytes[i] = this->source_->read(static_cast<std::size_t>(slot.key / this->bricks_),
        slot.key % this->bricks_, { slot.values, this->row_bytes_, this->plane_bytes_ });
    });
}

// The lock is released while bricks are read and waiters are notified.
void BrickCache::read(Reader& reader, std::unique_lock<std::mutex>& lock)
{
  lock.unlock();
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i != reader.count; ++i)
  {
    this->read_slot(reader, i);
  }
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
  lock = this->lock();
  this->note_read_time(taken / static_cast<std::int64_t>(reader.count));
  for (std::size_t i = 0; i != reader.count; ++i)
  {
    BrickSlot& slot = *reader.slots[i];
    if (reader.errors[i] && reader.abandoned[i] && !this->ending_ && !slot.waiters.empty() &&
      !is_abandoned(slot))
    {
      slot.state = State::Queued; // another trace came to need it
      this->ask(slot, this->demanded_);
      reader.errors[i].reset();
      continue;
    }
    reader.ready.reserve(reader.ready.size() + slot.waiters.size());
    this->finish(
      *reader.slots[i], std::exchange(reader.errors[i], {}), reader.bytes[i], reader.ready);
  }
  reader.count = 0;
  if (reader.ready.empty())
  {
    return;
  }
  lock.unlock();
  for (Waiter* const waiter : reader.ready)
  {
    const std::optional<Error> failure = std::move(waiter->error_);
    waiter->on_bricks_ready(failure);
  }
  reader.ready.clear();
  lock = this->lock();
}

bool BrickCache::help() noexcept
{
  Reader reader;
  std::unique_lock<std::mutex> lock = this->lock();
  if (this->read_ns_ >= kSlowReadNanoseconds)
  {
    return false;
  }
  const std::optional<BrickSlot*> next = this->next_request(true);
  if (next)
  {
    reader.take(**next);
    this->read(reader, lock);
  }
  return next.has_value();
}

void BrickCache::fill_ghosts(unsigned mask, const std::array<BrickSlot*, 8>& slots) const
{
  const auto needed = [mask](unsigned part) { return part != 0 && (part & ~mask) == 0; };
  BrickSlot& brick = *slots[0];
  const auto is_done = [&]
  {
    const std::uint32_t there = brick.ghosts.load(std::memory_order_acquire);
    for (unsigned part = 1; part != 8; ++part)
    {
      if (needed(part) && (there >> part & 1) == 0)
      {
        return false;
      }
    }
    return true;
  };
  if (is_done())
  {
    return;
  }
  const BrickGrid& grid = this->source_->grid();
  const auto place = grid.brick_place(brick.key % this->bricks_);
  const std::size_t point = grid.point_bytes();
  const std::lock_guard<std::mutex> lock(brick.filling);
  for (unsigned part = 1; part != 8; ++part)
  {
    if (!needed(part) || (brick.ghosts.load(std::memory_order_relaxed) >> part & 1) != 0)
    {
      continue;
    }
    // Along the axes in `part`, one layer is copied from the neighbour's first points to the place
    // after the brick's last points.
    std::array<std::size_t, 3> count{};
    std::array<std::size_t, 3> to{};
    for (std::size_t a = 0; a != 3; ++a)
    {
      const auto points = static_cast<std::size_t>(grid.brick_points(a, place[a]));
      const bool behind = (part >> a & 1) != 0;
      count[a] = behind ? 1 : points;
      to[a] = behind ? points : 0;
    }
    const std::byte* const from = slots[part]->values;
    std::byte* const first =
      brick.values + to[0] * point + to[1] * this->row_bytes_ + to[2] * this->plane_bytes_;
    for (std::size_t z = 0; z != count[2]; ++z)
    {
      for (std::size_t y = 0; y != count[1]; ++y)
      {
        const std::size_t row = y * this->row_bytes_ + z * this->plane_bytes_;
        std::memcpy(first + row, from + row, count[0] * point);
      }
    }
    brick.ghosts.fetch_or(1u << part, std::memory_order_release);
  }
}

CacheCounts BrickCache::counts() const
{
  const std::unique_lock<std::mutex> lock = this->lock();
  return this->counts_;
}

std::uint64_t BrickCache::bytes() const
{
  const std::unique_lock<std::mutex> lock = this->lock();
  return this->slots_.size() * this->slot_bytes_;
}

std::uint64_t BrickCache::max_bytes() const
{
  const std::unique_lock<std::mutex> lock = this->lock();
  return this->capacity_ * this->slot_bytes_;
}

void BrickCache::clear() noexcept
{
  const std::unique_lock<std::mutex> lock = this->lock();
  while (this->used_.oldest)
  {
    this->forget(*this->used_.oldest);
  }
  while (this->spent_.oldest)
  {
    this->forget(*this->spent_.oldest);
  }
  while (this->unused_.oldest)
  {
    this->forget(*this->unused_.oldest);
  }
}
}
