// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/kept_memory.hpp"

#include "common/round_up.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>

namespace bat
{
namespace
{
using Address = std::uintptr_t;

Address small_page() noexcept
{
  static const auto bytes = static_cast<Address>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// The size kept for an array: up to an eighth more, so that the arrays of the next step fit, whose
// number of particles differs slightly. Untouched pages take no memory.
std::size_t room_for(std::size_t bytes) noexcept
{
  std::size_t step = small_page();
  while (step <= bytes / 16)
  {
    step *= 2;
  }
  return round_up(bytes, step);
}

void* pointer(Address address) noexcept
{
  return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr)
}

void unmap(Address begin, std::size_t bytes) noexcept
{
  if (bytes != 0)
  {
    ASAN_UNPOISON_MEMORY_REGION(pointer(begin), bytes);
    (void)::munmap(pointer(begin), bytes);
  }
}

// Whole pages, none of which has been touched; 0 if there are none.
Address map(std::size_t bytes, std::size_t alignment) noexcept
{
  const std::size_t spare = alignment > small_page() ? alignment : 0;
  void* const mapped =
    ::mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
  {
    return 0;
  }
  const auto all = reinterpret_cast<Address>(mapped);
  const Address begin = round_up(all, alignment);
  unmap(all, begin - all);
  unmap(begin + bytes, all + spare - begin);
  return begin;
}

/// Runs of unused pages. Adjacent runs are merged.
class Runs
{
public:
  [[nodiscard]] std::uint64_t bytes() const noexcept { return this->bytes_; }

  /// Returns the pages to the system if memory for recording them is not available.
  void add(Address begin, std::size_t bytes) noexcept
  {
    if (bytes == 0)
    {
      return;
    }
    ASAN_POISON_MEMORY_REGION(pointer(begin), bytes);
    const auto after = this->by_address_.find(begin + bytes);
    if (after != this->by_address_.end())
    {
      bytes += after->second;
      this->remove(after);
    }
    const auto next = this->by_address_.lower_bound(begin);
    if (next != this->by_address_.begin())
    {
      const auto before = std::prev(next);
      if (before->first + before->second == begin)
      {
        begin = before->first;
        bytes += before->second;
        this->remove(before);
      }
    }
    try
    {
      const auto [run, is_new] = this->by_address_.emplace(begin, bytes);
      try
      {
        this->by_size_.emplace(bytes, begin);
        this->bytes_ += bytes;
      }
      catch (const std::bad_alloc&)
      {
        this->by_address_.erase(run);
        throw;
      }
    }
    catch (const std::bad_alloc&)
    {
      unmap(begin, bytes);
    }
  }

  /// Takes pages from the smallest run that has enough; returns 0 if none has.
  Address take(std::size_t bytes, std::size_t alignment) noexcept
  {
    for (auto found = this->by_size_.lower_bound({ bytes, 0 }); found != this->by_size_.end();
         ++found)
    {
      const auto [size, run] = *found;
      const Address begin = round_up(run, alignment);
      if (begin - run + bytes <= size)
      {
        this->remove(this->by_address_.find(run));
        this->add(run, begin - run);
        this->add(begin + bytes, size - bytes - (begin - run));
        return begin;
      }
    }
    return 0;
  }

  /// Returns pages to the system, small runs first, until the limit is met.
  void drop_to(std::uint64_t maximum) noexcept
  {
    while (this->bytes_ > maximum)
    {
      const auto [size, run] = *this->by_size_.begin();
      const std::uint64_t too_many = round_up(this->bytes_ - maximum, small_page());
      this->remove(this->by_address_.find(run));
      const std::size_t left =
        size - static_cast<std::size_t>(std::min<std::uint64_t>(size, too_many));
      unmap(run + left, size - left);
      this->add(run, left);
    }
  }

  /// The system may reclaim these pages if memory becomes short, because their contents are not
  /// needed.
  void let_the_system_take() const noexcept
  {
#ifdef MADV_FREE
    for (const auto& [run, size] : this->by_address_)
    {
      (void)::madvise(pointer(run), size, MADV_FREE);
    }
#endif
  }

private:
  using ByAddress = std::map<Address, std::size_t>;

  void remove(ByAddress::iterator run) noexcept
  {
    this->bytes_ -= run->second;
    this->by_size_.erase({ run->second, run->first });
    this->by_address_.erase(run);
  }

  ByAddress by_address_;
  std::set<std::pair<std::size_t, Address>> by_size_;
  std::uint64_t bytes_ = 0;
};

class Keeper
{
public:
  static Keeper& instance()
  {
    // Never destroyed: arrays may live as long as the process.
    static Keeper* const keeper = new Keeper();
    return *keeper;
  }

  /// Counts Uses and arrays in use. If both are 0, calls return early.
  static std::atomic<std::uint64_t> concerns;

  void add_limit(std::uint64_t maximum)
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    this->limits_.insert(maximum);
  }

  void replace_limit(std::uint64_t from, std::uint64_t to) noexcept
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    auto node = this->limits_.extract(this->limits_.find(from));
    node.value() = to;
    this->limits_.insert(std::move(node));
    this->trim();
  }

  void remove_limit(std::uint64_t maximum) noexcept
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    this->limits_.erase(this->limits_.find(maximum));
    if (this->limits_.empty())
    {
      this->max_before_ = 0; // another series begins
    }
    this->trim();
  }

  void begin_use() noexcept
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    ++this->uses_;
    ++concerns;
  }

  void end_use() noexcept
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    --concerns;
    if (--this->uses_ == 0)
    {
      this->max_before_ = this->max_;
      this->max_ = this->lent_;
      this->trim();
      this->kept_.let_the_system_take();
    }
  }

  std::uint64_t kept() noexcept
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    return this->kept_.bytes();
  }

  void* take(std::size_t bytes, std::size_t alignment) noexcept
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    if (this->uses_ == 0)
    {
      return nullptr;
    }
    const std::size_t room = room_for(bytes);
    Address memory = this->kept_.take(room, alignment);
    if (memory == 0)
    {
      // Kept memory is released down to an eighth more than the previous step needed, because some
      // of it is always in runs too small for the next array.
      const std::uint64_t maximum =
        std::max({ this->max_, this->max_before_ + this->max_before_ / 8, this->lent_ + room });
      this->kept_.drop_to(maximum - this->lent_ - room);
      memory = map(room, alignment);
    }
    if (memory == 0)
    {
      this->kept_.drop_to(0);
      memory = map(room, alignment);
    }
    if (memory == 0)
    {
      return nullptr;
    }
    try
    {
      this->used_.emplace(memory, room);
    }
    catch (const std::bad_alloc&)
    {
      unmap(memory, room);
      return nullptr;
    }
    ASAN_UNPOISON_MEMORY_REGION(pointer(memory), bytes);
    ASAN_POISON_MEMORY_REGION(pointer(memory + bytes), room - bytes);
    ++concerns;
    this->lent_ += room;
    this->max_ = std::max(this->max_, this->lent_);
    return pointer(memory);
  }

  bool give(void* memory) noexcept
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    const auto found = this->used_.find(reinterpret_cast<Address>(memory));
    if (found == this->used_.end())
    {
      return false;
    }
    const auto [begin, room] = *found;
    this->used_.erase(found);
    --concerns;
    this->lent_ -= room;
    if (this->uses_ != 0)
    {
      this->kept_.add(begin, room);
    }
    else
    {
      unmap(begin, room);
    }
    return true;
  }

private:
  Keeper()
  {
    // If a process forks while another thread is in here, the child could never enter.
    (void)::pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
      [] { instance().mutex_.unlock(); });
  }

  void trim() noexcept
  {
    if (this->uses_ == 0)
    {
      this->kept_.drop_to(this->limits_.empty() ? 0 : *this->limits_.rbegin());
    }
  }

  std::mutex mutex_;
  std::multiset<std::uint64_t> limits_;
  std::uint64_t uses_ = 0;
  std::map<Address, std::size_t> used_; ///< sizes of arrays
  Runs kept_;
  std::uint64_t lent_ = 0;
  std::uint64_t max_ = 0;        ///< maximum lent at the same time since the first Use began
  std::uint64_t max_before_ = 0; ///< the same for the previous step
};

std::atomic<std::uint64_t> Keeper::concerns{ 0 };
}

KeptMemory::KeptMemory(std::uint64_t max_bytes)
  : max_bytes_(max_bytes)
{
  Keeper::instance().add_limit(max_bytes);
}

KeptMemory::~KeptMemory()
{
  Keeper::instance().remove_limit(this->max_bytes_);
}

void KeptMemory::set_max_bytes(std::uint64_t bytes) noexcept
{
  Keeper::instance().replace_limit(this->max_bytes_, bytes);
  this->max_bytes_ = bytes;
}

std::uint64_t KeptMemory::bytes() noexcept
{
  return Keeper::instance().kept();
}

KeptMemory::Use::Use(const KeptMemory&) noexcept
{
  Keeper::instance().begin_use();
}

KeptMemory::Use::~Use()
{
  Keeper::instance().end_use();
}

namespace detail
{
void* take_from_kept(std::size_t bytes, std::size_t alignment) noexcept
{
  return Keeper::concerns.load(std::memory_order_relaxed) == 0
    ? nullptr
    : Keeper::instance().take(bytes, alignment);
}

bool give_to_kept(void* memory) noexcept
{
  return Keeper::concerns.load(std::memory_order_relaxed) != 0 && Keeper::instance().give(memory);
}
}
}
