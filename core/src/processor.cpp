#include "processor.hpp"

#include "intrinsics.hpp"

#include <atomic>

namespace bat::processor
{
namespace
{
bool is_there() noexcept
{
#ifdef BAT_AVX512
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("popcnt");
#else
  return false;
#endif
}

std::atomic<bool>& usable() noexcept
{
  static std::atomic<bool> flag{ is_there() };
  return flag;
}
}

bool has_avx512() noexcept
{
  return usable().load(std::memory_order_relaxed);
}

void allow_avx512(bool allowed) noexcept
{
  usable() = allowed && is_there();
}
}
