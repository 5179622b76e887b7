// SPDX-License-Identifier: BSD-3-Clause
// How long the calling thread ran, excluding the processor time of other programs.
#pragma once

#include <time.h>

inline double thread_seconds()
{
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
