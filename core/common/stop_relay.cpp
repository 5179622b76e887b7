// SPDX-License-Identifier: BSD-3-Clause
#include "common/stop_relay.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace bat
{
namespace
{
constexpr std::chrono::milliseconds kInterval(50);

thread_local ScopedStop* innermost = nullptr;
thread_local std::weak_ptr<const std::atomic<bool>> joined;

void throw_if(const std::optional<Error>& failure)
{
  if (failure)
  {
    throw Error(*failure);
  }
}

// Returns false if no thread could be started.
template <class Function>
bool start(std::vector<std::thread>& threads, const Function& function)
{
  return !attempt([&] { threads.emplace_back(function); });
}
}

ScopedStop::ScopedStop(std::function<bool()> is_stopped)
  : is_stopped_(std::move(is_stopped))
  , outer_(std::exchange(innermost, this))
{
}

ScopedStop::~ScopedStop()
{
  innermost = this->outer_;
}

bool ScopedStop::exists() noexcept
{
  return innermost != nullptr || !joined.expired();
}

bool ScopedStop::is_requested()
{
  for (const ScopedStop* stop = innermost; stop; stop = stop->outer_)
  {
    if (stop->is_stopped_ && call_user(stop->is_stopped_))
    {
      return true;
    }
  }
  const std::shared_ptr<const std::atomic<bool>> flag = joined.lock();
  return flag && *flag;
}

StoppableProgress::StoppableProgress(std::function<bool(double)> progress, bool may_wait)
  : progress_(std::move(progress))
{
  if (this->progress_ && may_wait)
  {
    this->stop_.emplace([this] { return !this->progress_(this->reached_); });
  }
}

bool StoppableProgress::operator()(double fraction)
{
  this->reached_ = fraction;
  return !this->progress_ || this->progress_(fraction);
}

void StopRelay::join() const noexcept
{
  joined = this->flag_;
}

void StopRelay::leave() noexcept
{
  joined.reset();
}

void run_stoppable(const std::function<void(const StopRelay&)>& run)
{
  const StopRelay relay;
  std::mutex mutex;
  std::condition_variable changed;
  bool has_ended = false;
  std::optional<Error> failure;
  std::vector<std::thread> threads;
  const bool has_thread = start(threads,
    [&]
    {
      relay.join();
      failure = attempt([&] { run(relay); });
      const std::lock_guard<std::mutex> lock(mutex);
      has_ended = true;
      changed.notify_one();
    });
  if (!has_thread)
  {
    run(relay);
    return;
  }
  std::optional<Error> stop_failure;
  std::unique_lock<std::mutex> lock(mutex);
  while (!changed.wait_for(lock, kInterval, [&] { return has_ended; }))
  {
    lock.unlock();
    bool is_stopped = relay.is_stopped();
    if (!is_stopped)
    {
      stop_failure = attempt([&] { is_stopped = ScopedStop::is_requested(); });
    }
    if (is_stopped || stop_failure)
    {
      relay.stop();
    }
    lock.lock();
  }
  lock.unlock();
  threads.front().join();
  throw_if(stop_failure);
  throw_if(failure);
}

void run_in_threads(std::size_t count, const std::function<void()>& work)
{
  run_stoppable(
    [&](const StopRelay& relay)
    {
      std::mutex mutex;
      std::optional<Error> failure;
      const auto run = [&]
      {
        relay.join();
        if (const std::optional<Error> failed = attempt(work))
        {
          const std::lock_guard<std::mutex> lock(mutex);
          failure = failure ? failure : failed;
        }
      };
      std::vector<std::thread> threads;
      for (std::size_t i = 1; i < count; ++i)
      {
        if (!start(threads, run))
        {
          break; // fewer threads take longer
        }
      }
      run();
      for (std::thread& thread : threads)
      {
        thread.join();
      }
      throw_if(failure);
    });
}
}
