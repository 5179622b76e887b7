// SPDX-License-Identifier: BSD-3-Clause
// Runs loops in parallel: the only place that turns a requested number of threads into an arena.
#pragma once

#include "common/stop_relay.hpp"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace bat
{
/// Lets the threads of an arena join a relay.
class ArenaObserver : public tbb::task_scheduler_observer
{
public:
  ArenaObserver(tbb::task_arena& arena, const StopRelay& relay)
    : tbb::task_scheduler_observer(arena)
    , relay_(relay)
  {
    this->observe(true);
  }
  ArenaObserver(const ArenaObserver&) = delete;
  ArenaObserver& operator=(const ArenaObserver&) = delete;
  ~ArenaObserver() override { this->observe(false); }

  void on_scheduler_entry(bool) override { this->relay_.join(); }
  void on_scheduler_exit(bool) override { StopRelay::leave(); }

private:
  StopRelay relay_;
};

/// Calls f in an arena while the current thread, which has a ScopedStop, waits.
template <class F>
auto in_stoppable_arena(tbb::task_arena& arena, F&& f)
{
  using Result = std::decay_t<decltype(f())>;
  const auto run = [&](const auto& function)
  {
    run_stoppable(
      [&](const StopRelay& relay)
      {
        const ArenaObserver observer(arena, relay);
        arena.execute(function);
      });
  };
  if constexpr (std::is_void_v<Result>)
  {
    run(f);
  }
  else
  {
    std::optional<Result> result;
    run([&] { result.emplace(f()); });
    return std::move(*result);
  }
}

/// Calls f in an arena of at most `threads` threads; 0 means all processors. The number is limited
/// to the processors: more do not help, and oneTBB warns about them on stderr. If the current
/// thread has a ScopedStop, f is called in another thread, and f heeds it.
template <class F>
auto in_arena(int threads, F&& f)
{
  int maximum = tbb::task_arena::automatic;
  if (threads > 0)
  {
    const std::size_t there_are =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    maximum = static_cast<int>(std::min(static_cast<std::size_t>(threads), there_are));
  }
  tbb::task_arena arena(maximum);
  if (ScopedStop::exists())
  {
    return in_stoppable_arena(arena, std::forward<F>(f));
  }
  return arena.execute(std::forward<F>(f));
}
}
