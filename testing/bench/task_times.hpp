// SPDX-License-Identifier: BSD-3-Clause
// Measures work and critical path of oneTBB's loops. Included before everything else (-include) in
// a second build of the measured code, in which tbb::parallel_for records the time of each of its
// tasks. Ranges are split as finely as they allow.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace task_times
{
/// Times of one call of parallel_for, in seconds.
struct Loop
{
  const char* file = nullptr;
  int line = 0;
  std::size_t tasks = 0;
  double work = 0; ///< sum over all tasks
  double span = 0; ///< the longest task, with unlimited threads
};

/// Outermost loops, in the order in which they ended. For one thread.
inline std::vector<Loop>& outer_loops()
{
  static std::vector<Loop> loops;
  return loops;
}

namespace detail
{
/// For the running task: the time that its inner loops took, and would take with unlimited threads.
struct Inner
{
  double work = 0;
  double span = 0;
};

inline Inner*& current()
{
  static Inner* inner = nullptr;
  return inner;
}

inline double now()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Task>
void note_task(Loop& loop, const Task& task)
{
  Inner inner;
  Inner* const outer = current();
  current() = &inner;
  const double begin = now();
  task();
  const double work = now() - begin;
  current() = outer;
  loop.tasks += 1;
  loop.work += work;
  loop.span = std::max(loop.span, work - inner.work + inner.span);
}

inline void end_loop(const Loop& loop)
{
  if (current())
  {
    current()->work += loop.work;
    current()->span += loop.span;
  }
  else
  {
    outer_loops().push_back(loop);
  }
}
}
}

namespace tbb
{
template <class Index, class F>
void timed_parallel_for(const char* file, int line, Index begin, Index end, const F& f)
{
  task_times::Loop loop{ file, line };
  tbb::parallel_for(
    begin, end, [&](Index i) { task_times::detail::note_task(loop, [&] { f(i); }); });
  task_times::detail::end_loop(loop);
}

template <class Range, class F>
void timed_parallel_for(const char* file, int line, const Range& range, const F& f)
{
  task_times::Loop loop{ file, line };
  tbb::parallel_for(
    range, [&](const Range& r) { task_times::detail::note_task(loop, [&] { f(r); }); },
    tbb::simple_partitioner());
  task_times::detail::end_loop(loop);
}
}

#define parallel_for(...) timed_parallel_for(__FILE__, __LINE__, __VA_ARGS__)
