// SPDX-License-Identifier: BSD-3-Clause
// Processes treelets in parallel.
#pragma once

#include "common/arena.hpp"

#include <tbb/parallel_for.h>

#include <cstddef>

namespace bat::libbat
{
/// Calls f(0) to f(count - 1) on at most `threads` threads; 0 means all processors.
template <class F>
void for_each_parallel(std::size_t count, int threads, const F& f)
{
  // Creating an arena costs more than a small query.
  if (threads == 1 || count <= 1)
  {
    for (std::size_t i = 0; i != count; ++i)
    {
      f(i);
    }
    return;
  }
  in_arena(threads, [&] { tbb::parallel_for(std::size_t{ 0 }, count, f); });
}
}
