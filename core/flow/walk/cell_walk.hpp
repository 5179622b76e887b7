// SPDX-License-Identifier: BSD-3-Clause
// Walks from cell to cell with steps that end on cell faces.
//
// Within a cell and an interval the field is one polynomial, which Dormand and Prince's pair of
// orders 5 and 4 follows in few steps. At faces the field has kinks, which no long step crosses. A
// step that leaves its cell is cut where its curve of degree 4 crosses the face. A particle counts
// as outside only slightly beyond the face: a particle that slides along a face, or begins on it,
// stays in its cell, and one that turns back at the face does not cross it.
#pragma once

#include "flow/walk/dormand_prince.hpp"
#include "flow/walk/lane_walk.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bat::flow
{
template <class T>
struct CellWalk : LaneWalk<T>
{
  using Base = LaneWalk<T>;
  using Base::active;
  using Base::after;
  using Base::before;
  using Base::interval;
  using Base::lanes;
  using Base::log;
  using Base::run;
  using typename Base::Found;

  static constexpr double kMaxStride = 1.5; ///< cells of a step
  static constexpr double kFaceTolerance =
    1e-7; ///< tolerances below: steps to faces are taken again

  Vectors u{ all_of(0.5), all_of(0.5), all_of(0.5) }; ///< positions of particles in their cells
  Vector4 s = all_of(0);                              ///< share of the interval
  Vector4 step = all_of(1);                           ///< length of the next one, likewise
  Vector4 stop = all_of(1);                           ///< ends of walks
  CellField field;

  using Base::Base;

  BAT_INLINE void keep(unsigned lane)
  {
    Particle& p = *lanes[lane];
    p.at = u.of(lane);
    p.share = s[lane];
    p.step = step[lane];
  }

  /// Puts a particle into a lane. Returns false if its walk ends before it begins.
  [[nodiscard]] BAT_INLINE bool seat(unsigned lane, Particle& p)
  {
    lanes[lane] = &p;
    const Found found = this->enter(lane, p.cell);
    if (found != Found::Cell)
    {
      this->leave(lane, this->end_of(found));
      return false;
    }
    active |= 1u << lane;
    u.set(lane, p.at);
    s[lane] = p.share;
    step[lane] = p.step;
    stop[lane] = run.step_share > 0 ? p.stop_at : this->stop_of(p);
    return true;
  }

  /// The seed lies on faces of this cell, which has no flow; another cell at the same faces may
  /// have it. Moves to the next such cell; returns false if none is left.
  BAT_INLINE bool try_beside(Particle& p) const
  {
    unsigned able = 0;
    for (std::size_t a = 0; a != 3; ++a)
    {
      const bool upper = p.at[a] == 1;
      const std::int32_t next = p.cell[a] + (upper ? 1 : -1);
      if (!run.is_flat[a] && (upper || p.at[a] == 0) &&
        ((next >= 0 && next < run.cells[a]) || run.cyclic[a]))
      {
        able |= 1u << a;
      }
    }
    for (unsigned axes = p.tries + 1u; axes != 8; ++axes)
    {
      if ((axes & ~able) != 0)
      {
        continue;
      }
      for (std::size_t a = 0; a != 3; ++a)
      {
        if (((axes ^ p.tries) >> a & 1) != 0)
        {
          const bool upper = p.at[a] == 1;
          (void)this->cross(p, a, upper);
          p.at[a] = upper ? 0 : 1;
        }
      }
      p.tries = static_cast<std::uint8_t>(axes);
      return true;
    }
    return false;
  }

  /// Moves to the neighbour across a face; returns false if none exists.
  BAT_INLINE bool cross(Particle& p, std::size_t a, bool upper) const
  {
    const std::int32_t next = p.cell[a] + (upper ? 1 : -1);
    if (next >= 0 && next < run.cells[a])
    {
      p.cell[a] = next;
    }
    else if (run.cyclic[a])
    {
      p.cell[a] = upper ? 0 : run.cells[a] - 1;
      p.turns[a] += upper ? 1 : -1;
    }
    else
    {
      return false;
    }
    return true;
  }

  /// Ends particles in cells without flow, or moves a seed on a face to the cell next to it.
  BAT_INLINE void leave_blank(unsigned blank)
  {
    for (; blank != 0; blank &= blank - 1)
    {
      const unsigned lane = lowest_lane(blank);
      Particle& p = *lanes[lane];
      if (p.has_begun)
      {
        this->keep(lane);
        this->note_end(p);
        this->leave(lane, WalkEnd::Blank);
      }
      else if (!this->try_beside(p))
      {
        this->leave(lane, WalkEnd::BlankSeed);
      }
      else
      {
        (void)this->seat(lane, p);
      }
    }
  }

  /// Leaves the particles where they are, since the flow is too fast to follow.
  BAT_INLINE void cancel(unsigned which, const Vectors& slope)
  {
    for (; which != 0; which &= which - 1)
    {
      const unsigned lane = lowest_lane(which);
      this->keep(lane);
      this->note(*lanes[lane], u.of(lane), s[lane], slope.of(lane));
      this->leave(lane, WalkEnd::Cells);
    }
  }

  /// Handles the particles that reach the next interval or the end of their share.
  BAT_INLINE void begin_or_end(unsigned which, const Vectors& slope)
  {
    for (; which != 0; which &= which - 1)
    {
      const unsigned lane = lowest_lane(which);
      Particle& p = *lanes[lane];
      WalkEnd end = WalkEnd::Interval;
      bool ends = false;
      if (p.is_new)
      {
        ends = this->begin_interval(lane, slope.of(lane), end);
      }
      if (!ends && s[lane] >= stop[lane])
      {
        ends = true;
        end = this->stop_here(p, u.of(lane), s[lane], slope.of(lane));
      }
      if (ends)
      {
        this->keep(lane);
        this->leave(lane, end);
      }
    }
  }

  /// Ends the particles that are not faster than the terminal speed.
  BAT_INLINE void stagnate(unsigned which, const Vectors& slope)
  {
    for (; which != 0; which &= which - 1)
    {
      const unsigned lane = lowest_lane(which);
      const std::array<double, 3> v = slope.of(lane);
      if (this->stagnates(v))
      {
        this->keep(lane);
        this->note(*lanes[lane], u.of(lane), s[lane], v);
        this->leave(lane, WalkEnd::Still);
      }
    }
  }

  /// Finds the particles whose curves enter the destination before theta. Those that stop there
  /// leave their lanes.
  BAT_INLINE void arrive(unsigned which, const std::array<AxisCurves, 3>& curves,
    const Curves& polynomials, const Vector4& theta, const Vector4& h)
  {
    for (; which != 0; which &= which - 1)
    {
      const unsigned lane = lowest_lane(which);
      Particle& p = *lanes[lane];
      if (p.has_arrived)
      {
        continue;
      }
      const std::array<double, 5> x = curves[0].of(lane);
      const std::array<double, 5> y = curves[1].of(lane);
      const std::array<double, 5> z = curves[2].of(lane);
      Curve curve;
      for (std::size_t i = 0; i != 5; ++i)
      {
        curve.b[i] = Vector4{ x[i], y[i], z[i], 0 };
      }
      const std::optional<double> at = Base::arrive(p, curve, theta[lane], s[lane], h[lane]);
      if (!at || !run.stops_on_arrival)
      {
        continue;
      }
      const Vectors here = inside(polynomials.at(all_of(*at)));
      const double share = s[lane] + *at * h[lane];
      u.set(lane, here.of(lane));
      s[lane] = share;
      this->keep(lane);
      this->note(p, p.at, share, field.at(here, all_of(share)).of(lane));
      this->leave(lane, WalkEnd::Arrived);
    }
  }

  /// Moves the particles on faces: they continue in the next cell or leave the domain.
  BAT_INLINE void cross_faces(unsigned which, const std::array<unsigned, 3>& crossed,
    const std::array<unsigned, 3>& upper, const Vectors& slope)
  {
    for (; which != 0; which &= which - 1)
    {
      const unsigned lane = lowest_lane(which);
      Particle& p = *lanes[lane];
      bool left = false;
      for (std::size_t a = 0; a != 3; ++a)
      {
        const bool up = (upper[a] >> lane & 1) != 0;
        left = left ||
          ((crossed[a] >> lane & 1) != 0 && !run.cyclic[a] &&
            p.cell[a] == (up ? run.cells[a] - 1 : 0));
      }
      if (run.notes_points)
      {
        p.sum = slope.of(lane);
        if (left || run.notes_faces)
        {
          this->note(p, u.of(lane), s[lane], p.sum);
        }
      }
      if (left)
      {
        this->keep(lane);
        this->leave(lane, WalkEnd::Left);
        continue;
      }
      for (std::size_t a = 0; a != 3; ++a)
      {
        if ((crossed[a] >> lane & 1) != 0)
        {
          (void)this->cross(p, a, (upper[a] >> lane & 1) != 0);
        }
      }
    }
  }

  /// Places the particles that have crossed at the faces of their new cells.
  BAT_INLINE void enter_cells(unsigned which)
  {
    for (; which != 0; which &= which - 1)
    {
      const unsigned lane = lowest_lane(which);
      Particle& p = *lanes[lane];
      if (++p.cells > kMaxCells)
      {
        this->keep(lane);
        this->note_end(p);
        this->leave(lane, WalkEnd::Cells);
        continue;
      }
      const Found found = this->enter(lane, p.cell);
      if (found != Found::Cell)
      {
        this->keep(lane);
        this->leave(lane, this->end_of(found));
      }
    }
  }

  BAT_INLINE void walk(const std::vector<std::uint32_t>& which)
  {
    std::size_t next = 0;
    unsigned entered = 0; // lanes whose cell is another one
    for (;;)
    {
      for (unsigned idle = kAllLanes & ~active; idle != 0 && next != which.size(); idle &= idle - 1)
      {
        const unsigned lane = lowest_lane(idle);
        while (next != which.size() && !this->seat(lane, this->particles[which[next++]]))
        {
        }
        entered |= active & 1u << lane;
      }
      if (active == 0)
      {
        return;
      }
      entered &= active;
      if (entered != 0)
      {
        this->fill_idle_lanes();
        const unsigned blank = active & ~load_cells<T>(run, interval, before, after, field);
        if (blank != 0)
        {
          this->leave_blank(blank);
          continue;
        }
        log.cells += lanes_in(entered);
      }
      const Vectors slope = field.at(u, s);
      const unsigned at_stop = active & bits_of(s >= stop);
      unsigned begins = entered;
      entered = 0;
      for (unsigned look = begins; look != 0; look &= look - 1)
      {
        begins &= ~(static_cast<unsigned>(!lanes[lowest_lane(look)]->is_new) << lowest_lane(look));
      }
      if ((begins | at_stop) != 0)
      {
        const unsigned there = active;
        this->begin_or_end(begins | at_stop, slope);
        if (active != there)
        {
          continue;
        }
      }
      if (run.terminal_speed > 0)
      {
        const unsigned there = active;
        this->stagnate(there, slope);
        if (active != there)
        {
          continue;
        }
      }
      entered = this->take_step(slope);
    }
  }

  /// Takes one step with each active lane.
  struct LaneSteps
  {
    Vector4 h;
    LaneMask to_stop; ///< ends at `stop`
    Step step;
    LaneMask is_good;
    unsigned good = 0;
  };

  /// Takes no step and returns false if lanes have exceeded the number of steps; these leave.
  [[nodiscard]] BAT_INLINE bool count_steps(const Vectors& slope)
  {
    unsigned overdue = 0;
    for (unsigned left = active; left != 0; left &= left - 1)
    {
      const unsigned lane = lowest_lane(left);
      overdue |= static_cast<unsigned>(lanes[lane]->steps >= kMaxSteps) << lane;
    }
    if (overdue != 0)
    {
      this->cancel(overdue, slope);
      return false;
    }
    for (unsigned left = active; left != 0; left &= left - 1)
    {
      ++lanes[lowest_lane(left)]->steps;
    }
    log.steps += lanes_in(active);
    return true;
  }

  /// Accepts the step in lanes whose error is within the tolerance, and sets the length of the next
  /// one.
  BAT_INLINE void try_step(const Vectors& slope, LaneSteps& now)
  {
    now.step.take(field, u, s, now.h, slope);
    // The length changes by a factor of five at most, for an error near the tolerance. A step whose
    // error is not a number is too long.
    const Vector4 ratio = run.tolerance / now.step.error;
    Vector4 factor = 0.9 * compute_fifth_roots(smaller(larger(ratio, all_of(1e-15)), all_of(3125)));
    factor = ratio >= 3125 ? all_of(5) : larger(factor, all_of(0.2));
    now.is_good = mask_of(active) & (now.step.error <= run.tolerance);
    now.good = bits_of(now.is_good);
    // A step that was cut to the end does not show how long a step may be.
    const Vector4 next = now.h * (now.is_good ? factor : smaller(factor, all_of(0.9)));
    const Vector4 longer = smaller(now.to_stop ? larger(next, step) : next, all_of(1));
    step = now.is_good ? longer : next;
    const unsigned bad = active & ~now.good;
    if (bad != 0)
    {
      this->cancel(bad & ~bits_of(s + now.h > s), slope); // there is no shorter one
    }
  }

  /// Finds where the curves of a step first leave their cells.
  [[nodiscard]] BAT_INLINE Crossings find_crossings(
    const LaneSteps& now, const Curves& polynomials, const std::array<AxisCurves, 3>& curves) const
  {
    const Vector4 low =
      smaller(smaller(curves[0].lowest(), curves[1].lowest()), curves[2].lowest());
    const Vector4 high =
      larger(larger(curves[0].highest(), curves[1].highest()), curves[2].highest());
    const LaneMask beyond = now.is_good & ((low < -kFace) | (high > 1 + kFace));
    Crossings crossings;
    if (bits_of(beyond) != 0)
    {
      crossings = first_crossings(polynomials, curves, beyond);
    }
    return crossings;
  }

  /// Moves the lanes whose step succeeded, to its end or to a face of the cell.
  BAT_INLINE void move(const LaneSteps& now, const Curves& polynomials, const Crossings& crossings,
    const Vectors& slope, bool is_crossing)
  {
    const LaneMask any = crossings.crossed[0] | crossings.crossed[1] | crossings.crossed[2];
    const Vector4 from = s;
    const LaneMask moves = now.is_good & ~any;
    Vectors to = inside(now.step.end);
    if (is_crossing)
    {
      const Vector4 cut = crossings.theta * now.h;
      Vectors on_face = polynomials.at(crossings.theta);
      if (run.tolerance < kFaceTolerance)
      {
        Step again;
        again.take(field, u, from, cut, slope);
        on_face = again.end;
      }
      to = chosen(any, inside(on_face), to);
      const Vector4 one = all_of(1);
      const Vector4 zero = all_of(0);
      to.x = crossings.crossed[0] ? (crossings.upper[0] ? one : zero) : to.x;
      to.y = crossings.crossed[1] ? (crossings.upper[1] ? one : zero) : to.y;
      to.z = crossings.crossed[2] ? (crossings.upper[2] ? one : zero) : to.z;
      s = any ? smaller(from + cut, stop) : s;
    }
    // Lanes that have left keep what was recorded for them.
    u = chosen(now.is_good, to, u);
    s = moves ? (now.to_stop ? stop : from + now.h) : s;
  }

  /// Moves the lanes on faces to the next cells. Returns the lanes that are still in the brick.
  [[nodiscard]] BAT_INLINE unsigned change_cells(unsigned crossing, const Crossings& crossings)
  {
    Vectors there{};
    if (run.notes_points)
    {
      there = field.at(u, s);
    }
    this->cross_faces(crossing,
      { bits_of(crossings.crossed[0]), bits_of(crossings.crossed[1]),
        bits_of(crossings.crossed[2]) },
      { bits_of(crossings.upper[0]), bits_of(crossings.upper[1]), bits_of(crossings.upper[2]) },
      there);
    u.x = crossings.crossed[0] ? 1 - u.x : u.x;
    u.y = crossings.crossed[1] ? 1 - u.y : u.y;
    u.z = crossings.crossed[2] ? 1 - u.z : u.z;
    this->enter_cells(crossing & active);
    return crossing & active;
  }

  /// Loads the cells of the lanes that entered another cell.
  [[nodiscard]] BAT_INLINE unsigned take_step(const Vectors& slope)
  {
    LaneSteps now;
    const Vector4 speed =
      larger(larger(magnitude_of(slope.x), magnitude_of(slope.y)), magnitude_of(slope.z));
    now.h = step * speed > kMaxStride ? kMaxStride / speed : step;
    now.to_stop = ~(s + now.h < stop);
    now.h = now.to_stop ? stop - s : now.h;
    if (!this->count_steps(slope))
    {
      return 0;
    }
    this->try_step(slope, now);
    if (now.good == 0)
    {
      return 0;
    }

    const Curves polynomials(now.step, u, now.h);
    const Vectors& end = now.step.end;
    const std::array<AxisCurves, 3> curves{ AxisCurves(polynomials.c0.x, polynomials.c1.x,
                                              polynomials.c2.x, polynomials.c3.x, end.x),
      AxisCurves(polynomials.c0.y, polynomials.c1.y, polynomials.c2.y, polynomials.c3.y, end.y),
      AxisCurves(polynomials.c0.z, polynomials.c1.z, polynomials.c2.z, polynomials.c3.z, end.z) };
    const Crossings crossings = this->find_crossings(now, polynomials, curves);
    for (unsigned left = now.good; left != 0; left &= left - 1)
    {
      lanes[lowest_lane(left)]->is_noted = false;
    }
    if (!run.destinations.empty())
    {
      this->arrive(now.good, curves, polynomials, crossings.theta, now.h);
    }
    const unsigned any =
      bits_of(crossings.crossed[0] | crossings.crossed[1] | crossings.crossed[2]);
    const unsigned crossing = now.good & active & any;
    const unsigned stopping = now.good & active & ~crossing & bits_of(now.to_stop);
    this->move(now, polynomials, crossings, slope, crossing != 0);
    for (unsigned left = stopping; left != 0; left &= left - 1)
    {
      const unsigned lane = lowest_lane(left);
      this->keep(lane);
      const WalkEnd reason =
        this->stop_here(*lanes[lane], u.of(lane), s[lane], now.step.k7.of(lane));
      this->leave(lane, reason);
    }
    return crossing == 0 ? 0 : this->change_cells(crossing, crossings);
  }
};
}
