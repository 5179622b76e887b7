// SPDX-License-Identifier: BSD-3-Clause
// Runs loops in parallel: the only place that turns a requested number of threads into an arena.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bat
{
/// Calls f in an arena of at most `threads` threads; 0 means all processors. The number is limited
/// to the processors: more do not help, and oneTBB warns about them on stderr.
template <class F>
decltype(auto) in_arena(int threads, F&& f)
{
  int maximum = tbb::task_arena::automatic;
  if (threads > 0)
  {
    const std::size_t there_are =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    maximum = static_cast<int>(std::min(static_cast<std::size_t>(threads), there_are));
  }
  tbb::task_arena arena(maximum);
  return arena.execute(std::forward<F>(f));
}
}
