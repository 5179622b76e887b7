// SPDX-License-Identifier: BSD-3-Clause
// Where loops run in parallel: the one place that turns a wanted number of threads into an arena.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bat
{
/// Calls f in an arena of at most `threads` threads, 0 for as many as there are. More than the
/// processors are no use, and oneTBB tells of them on stderr.
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
