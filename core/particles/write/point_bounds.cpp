// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/point_bounds.hpp"

#include "particles/write/positions.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace bat::write
{
namespace
{
// Number of positions that stay in the first cache while they are read twice.
constexpr std::size_t kParticlesPerBatch = 1024;

template <class T>
struct VectorOf;
template <>
struct VectorOf<float>
{
  typedef float Type __attribute__((vector_size(16)));
};
template <>
struct VectorOf<double>
{
  typedef double Type __attribute__((vector_size(16)));
};

// Three vectors hold whole positions. Compilers do not vectorise loops over single numbers.
template <class T>
struct Lanes
{
  using Vector = typename VectorOf<T>::Type;
  static constexpr std::size_t kOfVector = sizeof(Vector) / sizeof(T);
  static constexpr std::size_t kCount = 3 * kOfVector;

  static Lanes load(const T* values) noexcept
  {
    Lanes lanes;
    std::memcpy(lanes.vectors, values, sizeof(lanes.vectors));
    return lanes;
  }
  [[nodiscard]] std::array<T, kCount> numbers() const noexcept
  {
    std::array<T, kCount> numbers;
    std::memcpy(numbers.data(), this->vectors, sizeof(numbers));
    return numbers;
  }

  Vector vectors[3]{};
};

template <class T>
bool are_finite(const T* values, std::size_t count)
{
  Lanes<T> probe; // stays 0 until a value is not finite, and is NaN from then on
  std::size_t i = 0;
  for (; i + probe.kCount <= count; i += probe.kCount)
  {
    const auto some = Lanes<T>::load(values + i);
    for (std::size_t v = 0; v != 3; ++v)
    {
      probe.vectors[v] += some.vectors[v] * 0;
    }
  }
  const auto probes = probe.numbers();
  T all = std::accumulate(probes.begin(), probes.end(), T{ 0 });
  for (; i != count; ++i)
  {
    all += values[i] * 0;
  }
  return all == 0;
}
}

template <class T>
Box tight_box(const T* positions, std::size_t count)
{
  Box box = empty_box();
  std::size_t i = 0;
  constexpr std::size_t kLanes = Lanes<T>::kCount;
  if (3 * count >= kLanes)
  {
    Lanes<T> lower = Lanes<T>::load(positions);
    Lanes<T> upper = lower;
    for (i = kLanes; i + kLanes <= 3 * count; i += kLanes)
    {
      const auto some = Lanes<T>::load(positions + i);
      for (std::size_t v = 0; v != 3; ++v)
      {
        const auto x = some.vectors[v];
        lower.vectors[v] = x < lower.vectors[v] ? x : lower.vectors[v];
        upper.vectors[v] = x > upper.vectors[v] ? x : upper.vectors[v];
      }
    }
    const auto minimum = lower.numbers();
    const auto maximum = upper.numbers();
    for (std::size_t lane = 0; lane != kLanes; lane += 3)
    {
      extend(box, &minimum[lane]);
      extend(box, &maximum[lane]);
    }
  }
  for (; i != 3 * count; i += 3)
  {
    extend(box, positions + i);
  }
  return box;
}

template <class T>
FiniteBounds finite_bounds(
  const ArrayView& view, const std::uint32_t* rows, std::uint64_t begin, std::uint64_t end)
{
  const Positions<T> positions(view);
  const T* const packed = rows ? nullptr : positions.packed();
  std::array<T, 3 * kParticlesPerBatch> room;
  FiniteBounds found;
  while (begin != end)
  {
    const auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(kParticlesPerBatch, end - begin));
    const T* some = packed + (packed ? 3 * begin : 0);
    if (!packed)
    {
      for (std::size_t i = 0; i != count; ++i)
      {
        const auto point = positions[rows ? rows[begin + i] : begin + i];
        std::copy(point.begin(), point.end(), &room[3 * i]);
      }
      some = room.data();
    }
    if (are_finite(some, 3 * count))
    {
      extend(found.box, tight_box(some, count));
      found.count += count;
    }
    else
    {
      for (const T* point = some; point != some + 3 * count; point += 3)
      {
        if (are_finite(point, 3))
        {
          extend(found.box, point);
          ++found.count;
        }
      }
    }
    begin += count;
  }
  return found;
}

template Box tight_box(const float*, std::size_t);
template Box tight_box(const double*, std::size_t);
template FiniteBounds finite_bounds<float>(
  const ArrayView&, const std::uint32_t*, std::uint64_t, std::uint64_t);
template FiniteBounds finite_bounds<double>(
  const ArrayView&, const std::uint32_t*, std::uint64_t, std::uint64_t);
}
