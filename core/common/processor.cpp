// SPDX-License-Identifier: BSD-3-Clause
#include "common/processor.hpp"

#include "common/intrinsics.hpp"

#include <algorithm>
#include <atomic>

namespace bat::processor
{
namespace
{
Instructions best() noexcept
{
#ifdef BAT_AVX512
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
    !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt"))
  {
    return Instructions::Portable;
  }
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")
    ? Instructions::Avx512
    : Instructions::Avx2;
#else
  return Instructions::Portable;
#endif
}

std::atomic<Instructions>& usable() noexcept
{
  static std::atomic<Instructions> maximum{ best() };
  return maximum;
}

bool has(Instructions requested) noexcept
{
  return usable().load(std::memory_order_relaxed) >= requested;
}
}

bool has_avx2() noexcept
{
  return has(Instructions::Avx2);
}

bool has_avx512() noexcept
{
  return has(Instructions::Avx512);
}

void allow(Instructions maximum) noexcept
{
  usable() = std::min(maximum, best());
}
}
