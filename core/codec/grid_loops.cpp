// SPDX-License-Identifier: BSD-3-Clause
#include "codec/grid_loops.hpp"

#include "common/intrinsics.hpp"
#include "common/processor.hpp"

namespace bat::codec
{
namespace
{
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// No branch depends on a number, so that compilers can vectorise the loops.
template <class T>
BAT_INLINE bool find_steps(
  const T* numbers, std::size_t count, double step, BitsOf<T>* steps) noexcept
{
  using U = BitsOf<T>;
  U differing = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    bool holds = false;
    const double found = steps_to(numbers[i], step, holds);
    const T point = grid_point<T>(found, step);
    U bits;
    U requested;
    std::memcpy(&bits, &point, sizeof(U));
    std::memcpy(&requested, &numbers[i], sizeof(U));
    differing |= bits ^ requested;
    if constexpr (sizeof(T) == 4)
    {
      steps[i] = static_cast<U>(static_cast<std::int32_t>(found));
    }
    else
    {
      // The sum contains the integer in its lower bits.
      const double sum = found + kRoundingConstant;
      std::uint64_t in_sum;
      std::uint64_t zero;
      std::memcpy(&in_sum, &sum, sizeof(in_sum));
      std::memcpy(&zero, &kRoundingConstant, sizeof(zero));
      steps[i] = in_sum - zero;
    }
  }
  return differing == 0;
}

template <class T>
BAT_INLINE std::size_t snap_all(double bound, T* numbers, std::size_t count) noexcept
{
  const double step = grid_step(bound);
  BitsOf<T> kept = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    bool holds = false;
    const T point = grid_point<T>(steps_to(numbers[i], step, holds), step);
    const bool near =
      holds & is_within(static_cast<double>(point), static_cast<double>(numbers[i]), bound);
    kept += near ? 0u : 1u;
    numbers[i] = near ? point : numbers[i];
  }
  return static_cast<std::size_t>(kept);
}

#ifdef BAT_AVX2
template <class T>
BAT_AVX2 bool find_steps_avx2(
  const T* numbers, std::size_t count, double step, BitsOf<T>* steps) noexcept
{
  return find_steps(numbers, count, step, steps);
}

template <class T>
BAT_AVX2 std::size_t snap_all_avx2(double bound, T* numbers, std::size_t count) noexcept
{
  return snap_all(bound, numbers, count);
}
#endif

template <class T>
bool steps_of(const T* numbers, std::size_t count, double step, BitsOf<T>* steps) noexcept
{
#ifdef BAT_AVX2
  if (processor::has_avx2())
  {
    return find_steps_avx2(numbers, count, step, steps);
  }
#endif
  return find_steps(numbers, count, step, steps);
}

template <class T>
std::size_t snap_in_parts(double bound, T* numbers, std::size_t count) noexcept
{
  constexpr std::size_t kNumbersPerPart = std::size_t{ 1 } << 20; // its count fits in 32 bits
  std::size_t kept = 0;
  for (std::size_t first = 0; first != count;)
  {
    const std::size_t part = count - first < kNumbersPerPart ? count - first : kNumbersPerPart;
#ifdef BAT_AVX2
    kept += processor::has_avx2() ? snap_all_avx2(bound, numbers + first, part)
                                  : snap_all(bound, numbers + first, part);
#else
    kept += snap_all(bound, numbers + first, part);
#endif
    first += part;
  }
  return kept;
}
}

bool to_steps(const float* numbers, std::size_t count, double step, std::uint32_t* steps) noexcept
{
  return steps_of(numbers, count, step, steps);
}

bool to_steps(const double* numbers, std::size_t count, double step, std::uint64_t* steps) noexcept
{
  return steps_of(numbers, count, step, steps);
}

std::size_t snap_numbers(double bound, float* numbers, std::size_t count) noexcept
{
  return snap_in_parts(bound, numbers, count);
}

std::size_t snap_numbers(double bound, double* numbers, std::size_t count) noexcept
{
  return snap_in_parts(bound, numbers, count);
}
}
