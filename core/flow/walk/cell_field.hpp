// SPDX-License-Identifier: BSD-3-Clause
// The velocity in one cell of each lane during one interval: trilinear in space, linear in time.
#pragma once

#include "flow/walk/lanes.hpp"
#include "flow/walk/particle.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace bat::flow
{
/// Points to the values at the cells' first points.
using LaneValues = std::array<const std::byte*, kLanes>;

/// Loads four numbers of a file's type.
template <class T>
struct FourOf
{
  typedef T Type __attribute__((vector_size(4 * sizeof(T))));
};

/// Loads the velocities at two neighbouring points along x. These are six numbers, and no byte
/// after them is read, as other threads may be writing it. The last four numbers begin at the
/// third.
template <class T, bool plain>
BAT_INLINE void load_two(const WalkFrame& run, const std::byte* from,
  typename FourOf<T>::Type& first, typename FourOf<T>::Type& last)
{
  if constexpr (plain)
  {
    std::memcpy(&first, from, 4 * sizeof(T));
    std::memcpy(&last, from + 2 * sizeof(T), 4 * sizeof(T));
  }
  else
  {
    std::array<T, 6> six{};
    for (std::size_t point = 0; point != 2; ++point)
    {
      T* const to = six.data() + 3 * point;
      std::memcpy(
        to, from + point * run.stride[0], static_cast<std::size_t>(run.components) * sizeof(T));
      // Tests a point as a whole: a NaN in one component means that it has no velocity.
      if (run.no_slip && !(to[0] == to[0] && to[1] == to[1] && to[2] == to[2]))
      {
        to[0] = to[1] = to[2] = 0;
      }
    }
    std::memcpy(&first, six.data(), sizeof(first));
    std::memcpy(&last, six.data() + 2, sizeof(last));
  }
}

/// Loads the velocities of all lanes at two neighbouring points along x.
template <class T, bool plain>
BAT_INLINE void load_edge(
  const WalkFrame& run, const LaneValues& at, std::size_t offset, Vectors& lower, Vectors& upper)
{
  using Four = typename FourOf<T>::Type;
  std::array<Four, kLanes> a;
  std::array<Four, kLanes> b;
  for (unsigned k = 0; k != kLanes; ++k)
  {
    load_two<T, plain>(run, at[k] + offset, a[k], b[k]);
  }
  const Four xy01 = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5);
  const Four xy23 = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5);
  const Four zx01 = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7);
  const Four zx23 = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
  const Four yz01 = __builtin_shufflevector(b[0], b[1], 2, 6, 3, 7);
  const Four yz23 = __builtin_shufflevector(b[2], b[3], 2, 6, 3, 7);
  const Four x0 = __builtin_shufflevector(xy01, xy23, 0, 1, 4, 5);
  const Four y0 = __builtin_shufflevector(xy01, xy23, 2, 3, 6, 7);
  const Four z0 = __builtin_shufflevector(zx01, zx23, 0, 1, 4, 5);
  const Four x1 = __builtin_shufflevector(zx01, zx23, 2, 3, 6, 7);
  const Four y1 = __builtin_shufflevector(yz01, yz23, 0, 1, 4, 5);
  const Four z1 = __builtin_shufflevector(yz01, yz23, 2, 3, 6, 7);
  lower = { __builtin_convertvector(x0, Vector4), __builtin_convertvector(y0, Vector4),
    __builtin_convertvector(z0, Vector4) };
  upper = { __builtin_convertvector(x1, Vector4), __builtin_convertvector(y1, Vector4),
    __builtin_convertvector(z1, Vector4) };
}

[[nodiscard]] BAT_INLINE Vectors scaled(const IntervalFrame& interval, const Vectors& v)
{
  return { interval.scale[0] * v.x, interval.scale[1] * v.y, interval.scale[2] * v.z };
}

/// Returns the bits of the lanes whose values are all numbers.
[[nodiscard]] BAT_INLINE unsigned finite_lanes(const Vectors& v)
{
  const Vector4 sum = v.x + v.y + v.z;
  return bits_of(sum - sum == 0);
}

/// The velocity as one polynomial.
struct CellField
{
  std::array<Vectors, 8> q; ///< coefficients of x, y, z products (bits 1, 2, 4), at the beginning
  std::array<Vectors, 8> r; ///< the same, times the share of the interval

  /// Returns the velocity in cells per interval.
  [[nodiscard]] BAT_INLINE Vectors at(const Vectors& p, const Vector4& t) const
  {
    const auto& f = *this;
    const Vectors a0 = (f.q[0] + t * f.r[0]) + p.z * (f.q[4] + t * f.r[4]);
    const Vectors a1 = (f.q[1] + t * f.r[1]) + p.z * (f.q[5] + t * f.r[5]);
    const Vectors a2 = (f.q[2] + t * f.r[2]) + p.z * (f.q[6] + t * f.r[6]);
    const Vectors a3 = (f.q[3] + t * f.r[3]) + p.z * (f.q[7] + t * f.r[7]);
    return (a0 + p.y * a2) + p.x * (a1 + p.y * a3);
  }
};

template <class T, bool plain>
[[nodiscard]] BAT_INLINE unsigned load_cells(const WalkFrame& run, const IntervalFrame& interval,
  const LaneValues& before, const LaneValues& after, CellField& cells)
{
  for (std::size_t edge = 0; edge != 4; ++edge)
  {
    const std::size_t offset =
      ((edge & 1) != 0 ? run.stride[1] : 0) + ((edge & 2) != 0 ? run.stride[2] : 0);
    Vectors lower;
    Vectors upper;
    load_edge<T, plain>(run, before, offset, lower, upper);
    cells.q[2 * edge] = scaled(interval, lower);
    cells.q[2 * edge + 1] = scaled(interval, upper - lower);
    Vectors lower_after;
    Vectors upper_after;
    load_edge<T, plain>(run, after, offset, lower_after, upper_after);
    cells.r[2 * edge] = scaled(interval, lower_after - lower);
    cells.r[2 * edge + 1] = scaled(interval, (upper_after - upper) - (lower_after - lower));
  }
  for (std::size_t bit = 2; bit != 8; bit *= 2)
  {
    for (std::size_t k = 0; k != 8; ++k)
    {
      if ((k & bit) != 0)
      {
        cells.q[k] = cells.q[k] - cells.q[k - bit];
        cells.r[k] = cells.r[k] - cells.r[k - bit];
      }
    }
  }
  // The sum contains all corners, so it is finite if they are.
  return finite_lanes(cells.q[7] + cells.r[7]);
}

/// Loads the cells that begin with these values. Returns the bits of the lanes whose cell has flow.
template <class T>
[[nodiscard]] BAT_INLINE unsigned load_cells(const WalkFrame& run, const IntervalFrame& interval,
  const LaneValues& before, const LaneValues& after, CellField& cells)
{
  return run.stride[0] == 3 * sizeof(T) && run.components == 3 && !run.no_slip
    ? load_cells<T, true>(run, interval, before, after, cells)
    : load_cells<T, false>(run, interval, before, after, cells);
}

template <class T, bool plain>
[[nodiscard]] BAT_INLINE Vectors velocity_once(const WalkFrame& run, const LaneValues& before,
  const LaneValues& after, const Vectors& p, const Vector4& t)
{
  std::array<Vectors, 4> edges;
  for (std::size_t edge = 0; edge != 4; ++edge)
  {
    const std::size_t offset =
      ((edge & 1) != 0 ? run.stride[1] : 0) + ((edge & 2) != 0 ? run.stride[2] : 0);
    Vectors lower;
    Vectors upper;
    load_edge<T, plain>(run, before, offset, lower, upper);
    Vectors lower_after;
    Vectors upper_after;
    load_edge<T, plain>(run, after, offset, lower_after, upper_after);
    lower = lower + t * (lower_after - lower);
    upper = upper + t * (upper_after - upper);
    edges[edge] = lower + p.x * (upper - lower);
  }
  const Vectors front = edges[0] + p.y * (edges[1] - edges[0]);
  const Vectors back = edges[2] + p.y * (edges[3] - edges[2]);
  return front + p.z * (back - front);
}

/// Returns the velocity in cells per interval, for callers that evaluate a cell only once. It is
/// not finite if the cell has no flow.
template <class T>
[[nodiscard]] BAT_INLINE Vectors velocity_in_cells(const WalkFrame& run,
  const IntervalFrame& interval, const LaneValues& before, const LaneValues& after,
  const Vectors& p, const Vector4& t)
{
  return scaled(interval,
    run.stride[0] == 3 * sizeof(T) && run.components == 3 && !run.no_slip
      ? velocity_once<T, true>(run, before, after, p, t)
      : velocity_once<T, false>(run, before, after, p, t));
}
}
