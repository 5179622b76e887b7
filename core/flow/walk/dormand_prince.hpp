// SPDX-License-Identifier: BSD-3-Clause
// Steps of Dormand and Prince's pair of orders 5 and 4, the curves between their ends, and where
// these first leave the cell.
#pragma once

#include "flow/walk/cell_field.hpp"
#include "flow/walk/curve.hpp"
#include "flow/walk/lanes.hpp"

#include <array>
#include <optional>

namespace bat::flow
{
inline constexpr double kFace = 1e-13;         // beyond a face that a particle may be, in cells
inline constexpr double kTimeTolerance = 1e-9; // crossings so near each other, in steps, are one

/// One step of each lane.
struct Step
{
  Vectors end;
  Vector4 error; ///< length, in cells
  Vectors k1, k3, k4, k5, k6;
  Vectors k7; ///< slope at the end

  BAT_INLINE void take(
    const CellField& f, const Vectors& u, const Vector4& s, const Vector4& h, const Vectors& first)
  {
    k1 = first;
    const Vectors k2 = f.at(u + h * (1.0 / 5 * k1), s + 1.0 / 5 * h);
    k3 = f.at(u + h * (3.0 / 40 * k1 + 9.0 / 40 * k2), s + 3.0 / 10 * h);
    k4 = f.at(u + h * (44.0 / 45 * k1 - 56.0 / 15 * k2 + 32.0 / 9 * k3), s + 4.0 / 5 * h);
    k5 = f.at(
      u + h * (19372.0 / 6561 * k1 - 25360.0 / 2187 * k2 + 64448.0 / 6561 * k3 - 212.0 / 729 * k4),
      s + 8.0 / 9 * h);
    k6 = f.at(u +
        h *
          (9017.0 / 3168 * k1 - 355.0 / 33 * k2 + 46732.0 / 5247 * k3 + 49.0 / 176 * k4 -
            5103.0 / 18656 * k5),
      s + h);
    this->end = u +
      h *
        (35.0 / 384 * k1 + 500.0 / 1113 * k3 + 125.0 / 192 * k4 - 2187.0 / 6784 * k5 +
          11.0 / 84 * k6);
    k7 = f.at(this->end, s + h);
    const Vectors e = h *
      (71.0 / 57600 * k1 - 71.0 / 16695 * k3 + 71.0 / 1920 * k4 - 17253.0 / 339200 * k5 +
        22.0 / 525 * k6 - 1.0 / 40 * k7);
    this->error = compute_roots(e.x * e.x + e.y * e.y + e.z * e.z);
  }
};

/// The curves of one step: polynomials of degree 4 in the share of the step.
struct Curves
{
  Vectors c0, c1, c2, c3, c4;

  BAT_INLINE Curves(const Step& step, const Vectors& u, const Vector4& h)
  {
    const Vectors whole = step.end - u;
    c0 = u;
    c1 = h * step.k1;
    const Vectors bend = c1 - whole;
    const Vectors turn = whole - h * step.k7 - bend;
    c4 = h *
      (-12715105075.0 / 11282082432 * step.k1 + 87487479700.0 / 32700410799 * step.k3 -
        10690763975.0 / 1880347072 * step.k4 + 701980252875.0 / 199316789632 * step.k5 -
        1453857185.0 / 822651844 * step.k6 + 69997945.0 / 29380423 * step.k7);
    c2 = (turn + c4) - bend;
    c3 = -1.0 * (turn + 2 * c4);
  }
  [[nodiscard]] BAT_INLINE Vectors at(const Vector4& t) const
  {
    return c0 + t * (c1 + t * (c2 + t * (c3 + t * c4)));
  }
};

/// The coordinates along one axis as control points, whose range contains the curve.
struct AxisCurves
{
  Vector4 b0, b1, b2, b3, b4;

  BAT_INLINE AxisCurves(
    const Vector4& c0, const Vector4& c1, const Vector4& c2, const Vector4& c3, const Vector4& end)
    : b0(c0)
    , b1(c0 + 0.25 * c1)
    , b2((c0 + 0.5 * c1) + (1.0 / 6) * c2)
    , b3(((c0 + 0.75 * c1) + 0.5 * c2) + 0.25 * c3)
    , b4(end)
  {
  }
  [[nodiscard]] BAT_INLINE Vector4 lowest() const
  {
    return smaller(smaller(b1, b2), smaller(b3, b4)); // the first one is inside
  }
  [[nodiscard]] BAT_INLINE Vector4 highest() const
  {
    return larger(larger(b1, b2), larger(b3, b4));
  }
  [[nodiscard]] BAT_INLINE std::array<double, 5> of(unsigned lane) const
  {
    return { b0[lane], b1[lane], b2[lane], b3[lane], b4[lane] };
  }
};

/// The distance of each lane's polynomial beyond a face; it begins inside.
struct Beyond
{
  Vector4 p0, p1, p2, p3, p4;

  [[nodiscard]] BAT_INLINE Vector4 at(const Vector4& t) const
  {
    return p0 + t * (p1 + t * (p2 + t * (p3 + t * p4)));
  }
  BAT_INLINE void choose(const LaneMask& mask, const Beyond& other)
  {
    p0 = mask ? other.p0 : p0;
    p1 = mask ? other.p1 : p1;
    p2 = mask ? other.p2 : p2;
    p3 = mask ? other.p3 : p3;
    p4 = mask ? other.p4 : p4;
  }
  /// Finds the roots for lanes that rise from at most 0 to above 0.
  [[nodiscard]] BAT_INLINE Vector4 root(const Vector4& guess, const LaneMask& requested) const
  {
    constexpr int kMaxGuesses = 64;
    // A guess whose last change is this small has an error of about its cube. Guesses before a much
    // farther root, where the polynomial hardly rises yet, are an exception.
    constexpr double kGuessTolerance = 1e-7;
    Vector4 t = guess;
    Vector4 below = all_of(0);
    Vector4 above = all_of(1);
    LaneMask going = requested;
    for (int i = 0; i != kMaxGuesses; ++i)
    {
      const Vector4 value = this->at(t);
      const Vector4 slope = p1 + t * (2 * p2 + t * (3 * p3 + t * (4 * p4)));
      const Vector4 half_bend = p2 + t * (3 * p3 + t * (6 * p4));
      const LaneMask is_above = value > 0;
      above = is_above ? t : above;
      below = is_above ? below : t;
      // Halley's
      Vector4 next = t - value * slope / (slope * slope - value * half_bend);
      next = ((next >= below) & (next <= above)) ? next : 0.5 * (below + above);
      const Vector4 change = magnitude_of(next - t);
      t = going ? next : t;
      going &= change >= kGuessTolerance * next;
      if (bits_of(going) == 0)
      {
        break;
      }
    }
    return t;
  }
};

/// The points at which curves first leave the cells.
struct Crossings
{
  Vector4 theta = all_of(1);         ///< share of the step
  std::array<LaneMask, 3> crossed{}; ///< crosses a face of the axis
  std::array<LaneMask, 3> upper{};   ///< crosses the upper face
};

/// The ways to leave the cell along one axis.
struct AxisCrossing
{
  LaneMask may;   ///< control points are beyond
  LaneMask upper; ///< beyond the upper face
  LaneMask hard;  ///< needs halving
  Vector4 guess;
  Beyond beyond;

  BAT_INLINE AxisCrossing(const AxisCurves& b, const Vector4& c1, const Vector4& c2,
    const Vector4& c3, const Vector4& c4, const LaneMask& requested)
  {
    const LaneMask lower = b.lowest() < -kFace;
    this->upper = b.highest() > 1 + kFace;
    this->may = requested & (this->upper | lower);
    const Vector4 sign = this->upper ? all_of(1) : all_of(-1);
    const Vector4 face = this->upper ? all_of(1 + kFace) : all_of(kFace);
    const Vector4 begin = sign * b.b0 - face;
    const Vector4 end = sign * b.b4 - face;
    const LaneMask rises = (sign * (b.b1 - b.b0) >= 0) & (sign * (b.b2 - b.b1) >= 0) &
      (sign * (b.b3 - b.b2) >= 0) & (sign * (b.b4 - b.b3) >= 0);
    this->hard = this->may & ((this->upper & lower) | ~rises);
    this->guess = this->may ? begin / (begin - end) : all_of(2);
    this->beyond = { begin, sign * c1, sign * c2, sign * c3, sign * c4 };
  }
};

/// Finds the exit of one lane by halving.
BAT_INLINE void find_crossing(
  const std::array<AxisCurves, 3>& curves, unsigned lane, Crossings& crossings)
{
  std::array<double, 3> at{ 2, 2, 2 };
  std::array<bool, 3> upward{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    const std::array<double, 5> b = curves[a].of(lane);
    for (const bool upper : { false, true })
    {
      std::array<double, 5> outside{};
      for (std::size_t i = 0; i != 5; ++i)
      {
        outside[i] = (upper ? b[i] - 1 : -b[i]) - kFace;
      }
      const std::optional<double> root = first_root(outside);
      if (root && *root < at[a])
      {
        at[a] = *root;
        upward[a] = upper;
      }
    }
  }
  double first = at[0] < at[1] ? at[0] : at[1];
  first = first < at[2] ? first : at[2];
  crossings.theta[lane] = first > 1 ? 1 : first;
  for (std::size_t a = 0; a != 3; ++a)
  {
    // Without a root, control points lie beyond the face but the curve does not.
    crossings.crossed[a][lane] = first <= 1 && at[a] - first <= kTimeTolerance ? -1 : 0;
    crossings.upper[a][lane] = upward[a] ? -1 : 0;
  }
}

/// Finds the exits of the `requested` lanes.
[[nodiscard]] BAT_INLINE Crossings first_crossings(
  const Curves& c, const std::array<AxisCurves, 3>& curves, const LaneMask& requested)
{
  const AxisCrossing x(curves[0], c.c1.x, c.c2.x, c.c3.x, c.c4.x, requested);
  const AxisCrossing y(curves[1], c.c1.y, c.c2.y, c.c3.y, c.c4.y, requested);
  const AxisCrossing z(curves[2], c.c1.z, c.c2.z, c.c3.z, c.c4.z, requested);
  const LaneMask hard = x.hard | y.hard | z.hard;
  Crossings found;
  found.upper = { x.upper, y.upper, z.upper };
  LaneMask going = (x.may | y.may | z.may) & ~hard;
  if (bits_of(going) != 0)
  {
    // Tries the face that seems nearest, then checks whether another is crossed before it.
    LaneMask is_x = (x.guess <= y.guess) & (x.guess <= z.guess);
    LaneMask is_y = ~is_x & (y.guess <= z.guess);
    Vector4 guess = smaller(smaller(x.guess, y.guess), z.guess);
    for (int round = 0; round != 3; ++round)
    {
      Beyond beyond = z.beyond;
      beyond.choose(is_x, x.beyond);
      beyond.choose(is_y, y.beyond);
      const Vector4 root = beyond.root(guess, going);
      found.theta = going ? root : found.theta;
      const Vector4 late = smaller(found.theta + kTimeTolerance, all_of(1));
      const LaneMask is_z = ~is_x & ~is_y;
      const LaneMask also_x = x.may & (x.beyond.at(late) > 0);
      const LaneMask also_y = y.may & (y.beyond.at(late) > 0);
      const LaneMask also_z = z.may & (z.beyond.at(late) > 0);
      found.crossed[0] = going ? (also_x | is_x) : found.crossed[0];
      found.crossed[1] = going ? (also_y | is_y) : found.crossed[1];
      found.crossed[2] = going ? (also_z | is_z) : found.crossed[2];
      going &= (also_x & ~is_x) | (also_y & ~is_y) | (also_z & ~is_z);
      if (bits_of(going) == 0)
      {
        break;
      }
      const Vector4 early = found.theta - kTimeTolerance;
      const LaneMask before_x = going & x.may & ~is_x & (x.beyond.at(early) > 0);
      const LaneMask before_y = going & y.may & ~is_y & ~before_x & (y.beyond.at(early) > 0);
      const LaneMask before_z =
        going & z.may & ~is_z & ~before_x & ~before_y & (z.beyond.at(early) > 0);
      going = before_x | before_y | before_z;
      if (bits_of(going) == 0)
      {
        break;
      }
      is_x = going ? before_x : is_x;
      is_y = going ? before_y : is_y;
      guess = before_x ? x.guess : before_y ? y.guess : z.guess;
    }
  }
  for (unsigned left = bits_of(hard); left != 0; left &= left - 1)
  {
    find_crossing(curves, lowest_lane(left), found);
  }
  return found;
}
}
