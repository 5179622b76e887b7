// SPDX-License-Identifier: BSD-3-Clause
// Passes the wish of a thread's ScopedStop to other threads that work for it.
#pragma once

#include "bat/scoped_stop.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

namespace bat
{
/// A flag that threads share. const functions may be called concurrently.
class StopRelay
{
public:
  StopRelay()
    : flag_(std::make_shared<std::atomic<bool>>(false))
  {
  }

  void stop() const noexcept { *this->flag_ = true; }
  [[nodiscard]] bool is_stopped() const noexcept { return *this->flag_; }
  /// From now on, ScopedStop::is_requested() of the current thread includes the flag, as long as
  /// the relay lives. Replaces a relay that was joined before.
  void join() const noexcept;
  static void leave() noexcept;

private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

/// Calls `run` in another thread, which has joined the relay. Meanwhile, the current thread calls
/// its ScopedStop. Throws what `run` or the ScopedStop throws.
void run_stoppable(const std::function<void(const StopRelay&)>& run);

/// Calls `work` in `count` threads at the same time, for tasks that mostly wait for a server, and
/// waits for all. They heed the ScopedStop of the current thread. Throws what `work` throws first;
/// then `work` should end soon in the other threads.
void run_in_threads(std::size_t count, const std::function<void()>& work);
}
