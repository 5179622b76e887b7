// SPDX-License-Identifier: BSD-3-Clause
// From cell to cell with steps that end on their faces, and Runge-Kutta 4 across them. Compiled for
// several processors, always to the same bits.
//
// Inside of a cell and an interval the field is one polynomial, which Dormand and Prince's pair of
// orders 5 and 4 follows with few steps; on faces it has kinks, across which no step is long. A
// step that leaves its cell is cut where its curve of degree 4 leaves it. A particle counts as
// outside only beyond a little more than the face: so one that slides along a face, or begins on
// it, goes on in its cell, and one that turns back at it does not cross.
#pragma once

#include "flow/walk/cell_field.hpp"
#include "flow/walk/curve.hpp"
#include "flow/walk/particle.hpp"
#include "flow/walk/vector4.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bat::flow
{
namespace loops
{
inline constexpr double kFace = 1e-13;     // beyond a face that a particle may be, in cells
inline constexpr double kSameTime = 1e-9;  // crossings so near each other, in steps, are one
inline constexpr double kMostStride = 1.5; // cells of a step
inline constexpr double kPrecise = 1e-7;   // tolerances below: steps to faces are taken again
inline constexpr double kStill = 1e-12;    // cells in an interval that are no movement

/// x^(1/5) for x > 0, from what is the same on all processors.
[[nodiscard]] BAT_INLINE double fifth_root(double x)
{
  std::uint64_t bits;
  std::memcpy(&bits, &x, 8);
  bits = bits / 5 + 0x3330000000000000u; // a fifth of the exponent: within a few percent
  double y;
  std::memcpy(&y, &bits, 8);
  for (int i = 0; i != 3; ++i)
  {
    const double y2 = y * y;
    y = (4 * y + x / (y2 * y2)) / 5;
  }
  return y;
}

/// One step of Dormand and Prince, and the curve between its ends.
struct Step
{
  Vector4 end;
  double error = 0; ///< length, in cells
  std::array<Vector4, 7> k;

  /// At the end.
  [[nodiscard]] BAT_INLINE const Vector4& last_slope() const { return this->k[6]; }

  BAT_INLINE void take(
    const CellField& f, const Vector4& u, double s, double h, const Vector4& first)
  {
    this->k[0] = first;
    const Vector4 u2 = u + h * (1.0 / 5 * k[0]);
    k[1] = f.at(u2, s + 1.0 / 5 * h);
    const Vector4 u3 = u + h * (3.0 / 40 * k[0] + 9.0 / 40 * k[1]);
    k[2] = f.at(u3, s + 3.0 / 10 * h);
    const Vector4 u4 = u + h * (44.0 / 45 * k[0] - 56.0 / 15 * k[1] + 32.0 / 9 * k[2]);
    k[3] = f.at(u4, s + 4.0 / 5 * h);
    const Vector4 u5 = u +
      h *
        (19372.0 / 6561 * k[0] - 25360.0 / 2187 * k[1] + 64448.0 / 6561 * k[2] -
          212.0 / 729 * k[3]);
    k[4] = f.at(u5, s + 8.0 / 9 * h);
    const Vector4 u6 = u +
      h *
        (9017.0 / 3168 * k[0] - 355.0 / 33 * k[1] + 46732.0 / 5247 * k[2] + 49.0 / 176 * k[3] -
          5103.0 / 18656 * k[4]);
    k[5] = f.at(u6, s + h);
    this->end = u +
      h *
        (35.0 / 384 * k[0] + 500.0 / 1113 * k[2] + 125.0 / 192 * k[3] - 2187.0 / 6784 * k[4] +
          11.0 / 84 * k[5]);
    k[6] = f.at(this->end, s + h);
    const Vector4 e = h *
      (71.0 / 57600 * k[0] - 71.0 / 16695 * k[2] + 71.0 / 1920 * k[3] - 17253.0 / 339200 * k[4] +
        22.0 / 525 * k[5] - 1.0 / 40 * k[6]);
    this->error = std::sqrt(squared_length(e));
  }

  [[nodiscard]] BAT_INLINE Curve curve(const Vector4& u, double h) const
  {
    const Vector4 r2 = this->end - u;
    const Vector4 r3 = h * k[0] - r2;
    const Vector4 r4 = r2 - h * k[6] - r3;
    const Vector4 r5 = h *
      (-12715105075.0 / 11282082432 * k[0] + 87487479700.0 / 32700410799 * k[2] -
        10690763975.0 / 1880347072 * k[3] + 701980252875.0 / 199316789632 * k[4] -
        1453857185.0 / 822651844 * k[5] + 69997945.0 / 29380423 * k[6]);
    Curve c;
    c.b[0] = u;
    c.b[1] = u + (r2 + r3) * 0.25;
    c.b[2] = u + r2 * 0.5 + r3 * (1.0 / 3) + r4 * (1.0 / 6) + r5 * (1.0 / 6);
    c.b[3] = u + r2 * 0.75 + (r3 + r4) * 0.25;
    c.b[4] = this->end;
    return c;
  }
};

/// The state of one walk.
template <class T>
struct Walker
{
  const WalkFrame& run;
  const IntervalFrame& interval;
  const BrickPair& bricks;
  Particle& p;
  WalkLog& log;
  CellField cell;

  [[nodiscard]] BAT_INLINE double time_at(double share) const
  {
    return share == interval.stop ? interval.stop_time
                                  : interval.begin + share * (interval.end - interval.begin);
  }

  BAT_INLINE void note(const Vector4& u, double share, const Vector4& slope)
  {
    if (!run.notes_points || p.is_noted)
    {
      return;
    }
    NotedPoint point;
    point.line = p.line;
    point.number = p.points++;
    point.time = this->time_at(share);
    for (std::size_t a = 0; a != 3; ++a)
    {
      const auto cell_number =
        static_cast<double>(p.cell[a] + std::int64_t{ p.turns[a] } * run.cells[a]);
      point.position[a] = run.origin[a] + (cell_number + u[static_cast<int>(a)]) * run.spacing[a];
      point.velocity[a] = slope[static_cast<int>(a)] * interval.per_cell[a];
    }
    log.points.push_back(point);
    p.is_noted = true;
  }

  /// Where the particle is, with the velocity that it came with: its cell may have none.
  BAT_INLINE void note_end()
  {
    this->note(
      Vector4{ p.at[0], p.at[1], p.at[2], 0 }, p.share, Vector4{ p.sum[0], p.sum[1], p.sum[2], 0 });
  }

  BAT_INLINE void keep(const Vector4& u, double share)
  {
    for (std::size_t a = 0; a != 3; ++a)
    {
      p.at[a] = u[static_cast<int>(a)];
    }
    p.share = share;
  }

  enum class Found : std::uint8_t
  {
    Cell,
    Brick,
    Ghosts,
    Blank
  };
  /// The polynomial of a cell, if the brick has it.
  BAT_INLINE Found enter(const std::array<std::int32_t, 3>& at)
  {
    std::size_t offset = 0;
    unsigned mask = 0;
    for (std::size_t a = 0; a != 3; ++a)
    {
      const std::int32_t local = at[a] - bricks.first[a];
      if (local < 0 || local >= bricks.points[a])
      {
        return Found::Brick;
      }
      offset += static_cast<std::size_t>(local) * run.stride[a];
      mask |= static_cast<unsigned>(local == bricks.points[a] - 1 && !run.is_flat[a]) << a;
    }
    if ((bricks.there >> mask & 1) == 0)
    {
      return Found::Ghosts;
    }
    return load_cell<T>(run, interval, bricks, offset, this->cell) ? Found::Cell : Found::Blank;
  }

  /// The seed is on faces of this cell, which is without flow: others that have the face may have
  /// flow. Goes on to the next of them; false if there is none.
  BAT_INLINE bool try_beside()
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
          (void)this->cross(a, p.at[a] == 1);
        }
      }
      p.tries = static_cast<std::uint8_t>(axes);
      return true;
    }
    return false;
  }

  /// To the neighbour behind a face; false if there is none.
  BAT_INLINE bool cross(std::size_t a, bool upper)
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
    p.at[a] = upper ? 0 : 1;
    return true;
  }

  [[nodiscard]] BAT_INLINE bool is_no_movement(const Vector4& v) const
  {
    double square = 0;
    for (std::size_t a = 0; a != 3; ++a)
    {
      const double w = v[static_cast<int>(a)] * interval.per_cell[a];
      square += w * w;
    }
    return squared_length(v) <= kStill * kStill ||
      square <= run.terminal_speed * run.terminal_speed;
  }

  /// Whether nothing in the cell moves during the whole interval.
  [[nodiscard]] BAT_INLINE bool is_still(const Vector4& here) const
  {
    if (!this->is_no_movement(here))
    {
      return false;
    }
    // Speed is largest at a corner, at one of the ends of the interval.
    for (int corner = 0; corner != 16; ++corner)
    {
      const Vector4 at{ static_cast<double>(corner & 1), static_cast<double>(corner >> 1 & 1),
        static_cast<double>(corner >> 2 & 1), 0 };
      if (!this->is_no_movement(this->cell.at(at, corner >> 3)))
      {
        return false;
      }
    }
    return true;
  }

  /// Where a curve from the particle's cell is in the destination first, up to `end`.
  [[nodiscard]] BAT_INLINE std::optional<double> arrival(const Curve& curve, double end) const
  {
    Vector4 lower = all_of(-1);
    Vector4 upper = all_of(2);
    for (std::size_t a = 0; a != 3; ++a)
    {
      if (!run.is_flat[a])
      {
        const auto first = static_cast<double>(p.cell[a]);
        lower[static_cast<int>(a)] = run.destination_lower[a] - first;
        upper[static_cast<int>(a)] = run.destination_upper[a] - first;
      }
    }
    const Vector4 low = curve.lowest();
    const Vector4 high = curve.highest();
    if (low[0] > upper[0] || high[0] < lower[0] || low[1] > upper[1] || high[1] < lower[1] ||
      low[2] > upper[2] || high[2] < lower[2])
    {
      return std::nullopt;
    }
    return first_inside(curve, lower, upper, end);
  }

  /// Notes where the curve enters the destination before `end`; true if the walk ends there.
  BAT_INLINE bool arrive(const Curve& curve, double end, double h)
  {
    const std::optional<double> at = this->arrival(curve, end);
    if (!at)
    {
      return false;
    }
    p.has_arrived = true;
    const double share = p.share + *at * h;
    log.arrivals.push_back({ p.line, this->time_at(share) });
    if (!run.stops_on_arrival)
    {
      return false;
    }
    const Vector4 u = this->inside(curve.at(*at));
    this->keep(u, share);
    this->note(u, share, this->cell.at(u, share));
    return true;
  }

  [[nodiscard]] BAT_INLINE Vector4 inside(const Vector4& u) const
  {
    return smaller(larger(u, all_of(0)), all_of(1));
  }

  /// What is done once where a particle comes to an interval, in its cell. True if it ends there.
  BAT_INLINE bool begin_interval(const Vector4& u, const Vector4& slope, WalkEnd& end)
  {
    p.is_new = false;
    p.cells = 0;
    p.steps = 0;
    for (std::size_t a = 0; a != 3; ++a)
    {
      log.ahead[a] = slope[static_cast<int>(a)];
    }
    log.has_ahead = true;
    if (!p.has_begun)
    {
      p.has_begun = true;
      this->note(u, p.share, slope);
      if (run.has_destination)
      {
        Curve here;
        here.b.fill(u);
        if (this->arrive(here, 0, 0))
        {
          end = WalkEnd::Arrived;
          return true;
        }
      }
    }
    if (p.share < interval.stop && this->is_still(slope))
    {
      end = WalkEnd::Still;
      return true;
    }
    return false;
  }

  /// At the share where the walk stops.
  BAT_INLINE WalkEnd stop_here(const Vector4& u, const Vector4& slope)
  {
    if (p.share < interval.stop)
    {
      return WalkEnd::Interval; // a step of Runge-Kutta 4 that was walked instead
    }
    this->note(u, p.share, slope);
    return interval.is_last ? WalkEnd::Time : WalkEnd::Interval;
  }

  /// From cell to cell up to the share `stop`.
  BAT_INLINE WalkEnd walk_cells(double stop)
  {
    for (;;)
    {
      const Found found = this->enter(p.cell);
      if (found != Found::Cell)
      {
        if (found != Found::Blank)
        {
          return found == Found::Brick ? WalkEnd::Brick : WalkEnd::Ghosts;
        }
        if (p.has_begun)
        {
          this->note_end();
          return WalkEnd::Blank;
        }
        if (!this->try_beside())
        {
          return WalkEnd::BlankSeed;
        }
        continue;
      }
      ++log.cells;
      WalkEnd end = WalkEnd::Interval;
      if (this->walk_cell(stop, end))
      {
        return end;
      }
      if (++p.cells > kMostCells)
      {
        this->note_end();
        return WalkEnd::Cells;
      }
    }
  }

  /// Through one cell. False where the particle has crossed to another one.
  BAT_INLINE bool walk_cell(double stop, WalkEnd& end)
  {
    Vector4 u{ p.at[0], p.at[1], p.at[2], 0 };
    double s = p.share;
    Vector4 slope = this->cell.at(u, s);
    if (p.is_new && this->begin_interval(u, slope, end))
    {
      return true;
    }
    Step step;
    for (;;)
    {
      if (s >= stop)
      {
        end = this->stop_here(u, slope);
        return true;
      }
      double h = p.step;
      const double speed = largest_of(magnitude_of(slope));
      if (h * speed > kMostStride)
      {
        h = kMostStride / speed;
      }
      const bool to_stop = !(s + h < stop);
      if (to_stop)
      {
        h = stop - s;
      }
      ++log.steps;
      if (++p.steps > kMostSteps)
      {
        return this->give_up(u, s, slope, end);
      }
      step.take(this->cell, u, s, h, slope);
      // Up to five times longer or shorter, for an error of the order of the tolerance; a step
      // whose error is no number is too long.
      const double ratio = run.tolerance / step.error;
      double factor = 5;
      if (!(ratio >= 3125))
      {
        factor = 0.9 * fifth_root(ratio > 1e-15 ? ratio : 1e-15);
        factor = factor < 0.2 ? 0.2 : factor;
      }
      if (!(step.error <= run.tolerance))
      {
        if (!(s + h > s))
        {
          return this->give_up(u, s, slope, end); // there is no shorter one
        }
        p.step = h * (factor < 0.9 ? factor : 0.9);
        continue;
      }
      // A step to the end says little of how long a step may be.
      const double next = h * factor;
      p.step = to_stop && next < p.step ? p.step : next;
      p.step = p.step < 1 ? p.step : 1;

      const Curve curve = step.curve(u, h);
      double theta = 1;
      unsigned crossed = 0;
      unsigned upward = 0;
      const double low = -kFace;
      const double high = 1 + kFace;
      const Vector4 lowest = curve.lowest();
      const Vector4 highest = curve.highest();
      if (lowest[0] < low || lowest[1] < low || lowest[2] < low || highest[0] > high ||
        highest[1] > high || highest[2] > high)
      {
        this->first_crossing(curve, lowest, highest, theta, crossed, upward);
      }
      p.is_noted = false;
      if (run.has_destination && !p.has_arrived && this->arrive(curve, theta, h))
      {
        end = WalkEnd::Arrived;
        return true;
      }
      if (crossed == 0)
      {
        u = this->inside(step.end);
        s = to_stop ? stop : s + h;
        slope = step.last_slope();
        this->keep(u, s);
        continue;
      }
      const double cut = theta * h;
      if (run.tolerance < kPrecise)
      {
        step.take(this->cell, u, s, cut, slope);
        u = this->inside(step.end);
      }
      else
      {
        u = this->inside(curve.at(theta));
      }
      s = s + cut;
      s = s < stop ? s : stop;
      return this->cross_faces(u, s, crossed, upward, end);
    }
  }

  /// The particle stays where it is: the flow is too fast to be followed. Always true.
  BAT_INLINE bool give_up(const Vector4& u, double s, const Vector4& slope, WalkEnd& end)
  {
    this->note(u, s, slope);
    end = WalkEnd::Cells;
    return true;
  }

  /// Where the curve first leaves the cell, and through which faces.
  BAT_INLINE void first_crossing(const Curve& curve, const Vector4& lowest, const Vector4& highest,
    double& theta, unsigned& crossed, unsigned& upward) const
  {
    std::array<double, 3> at{ 2, 2, 2 };
    for (std::size_t a = 0; a != 3; ++a)
    {
      for (const bool upper : { false, true })
      {
        const int axis = static_cast<int>(a);
        if (upper ? highest[axis] <= 1 + kFace : lowest[axis] >= -kFace)
        {
          continue;
        }
        std::array<double, 5> outside{};
        for (std::size_t i = 0; i != 5; ++i)
        {
          const double x = curve.b[i][axis];
          outside[i] = (upper ? x - 1 : -x) - kFace;
        }
        const std::optional<double> root = first_root(outside);
        if (root && *root < at[a])
        {
          at[a] = *root;
          upward = upper ? upward | 1u << a : upward & ~(1u << a);
        }
      }
    }
    double first = 2;
    for (const double t : at)
    {
      first = t < first ? t : first;
    }
    if (first > 1)
    {
      return; // the control points were beyond, the curve is not
    }
    theta = first;
    for (std::size_t a = 0; a != 3; ++a)
    {
      crossed |= static_cast<unsigned>(at[a] <= 1 && at[a] - first <= kSameTime) << a;
    }
  }

  /// Puts the particle on the faces, in the cell behind them. True if it left the domain.
  BAT_INLINE bool cross_faces(Vector4 u, double s, unsigned crossed, unsigned upward, WalkEnd& end)
  {
    for (int a = 0; a != 3; ++a)
    {
      if ((crossed >> a & 1) != 0)
      {
        u[a] = (upward >> a & 1) != 0 ? 1 : 0;
      }
    }
    this->keep(u, s);
    const auto leaves = [&](std::size_t a)
    {
      const bool upper = (upward >> a & 1) != 0;
      return (crossed >> a & 1) != 0 && !run.cyclic[a] &&
        p.cell[a] == (upper ? run.cells[a] - 1 : 0);
    };
    const bool left = leaves(0) || leaves(1) || leaves(2);
    if (run.notes_points)
    {
      const Vector4 slope = this->cell.at(u, s);
      for (std::size_t a = 0; a != 3; ++a)
      {
        p.sum[a] = slope[static_cast<int>(a)];
      }
      if (left || run.notes_faces)
      {
        this->note(u, s, slope);
      }
    }
    if (left)
    {
      end = WalkEnd::Left;
      return true;
    }
    for (std::size_t a = 0; a != 3; ++a)
    {
      if ((crossed >> a & 1) != 0)
      {
        (void)this->cross(a, (upward >> a & 1) != 0);
      }
    }
    return false;
  }

  /// Steps of Runge-Kutta 4. Where a slope would be taken outside of the flow, the step is walked
  /// from cell to cell instead, which finds where the particle leaves.
  BAT_INLINE WalkEnd step_by_step()
  {
    for (;;)
    {
      if (p.walks)
      {
        const WalkEnd end = this->walk_cells(p.until);
        if (end != WalkEnd::Interval)
        {
          return end;
        }
        p.walks = false;
        if (p.share >= interval.stop)
        {
          return end;
        }
      }
      if (p.slopes == 0 && (p.is_new || !p.has_begun))
      {
        // Begins as others do, in its own cell.
        p.until = p.share;
        const WalkEnd end = this->walk_cells(p.share);
        if (end != WalkEnd::Interval || p.share >= interval.stop)
        {
          return end;
        }
      }
      const double left = interval.stop - p.share;
      const bool to_stop = !(run.step_share < left);
      const double h = to_stop ? left : run.step_share;
      const double until = to_stop ? interval.stop : p.share + h;
      PlaceOfSlope place = place_of_slope(run, p);
      if (place.inside)
      {
        const Found found = this->enter(place.cell);
        if (found == Found::Brick || found == Found::Ghosts)
        {
          return found == Found::Brick ? WalkEnd::Brick : WalkEnd::Ghosts;
        }
        place.inside = found == Found::Cell;
      }
      if (!place.inside)
      {
        p.slopes = 0;
        p.move = {};
        p.walks = true;
        p.until = until;
        continue;
      }
      ++log.cells;
      this->add_slope(Vector4{ place.at[0], place.at[1], place.at[2], 0 }, h, until);
      if (p.slopes != 0)
      {
        continue;
      }
      ++log.steps;
      WalkEnd end = WalkEnd::Interval;
      if (this->end_step(h, until, end))
      {
        return end;
      }
    }
  }

  /// Takes a slope, and says where the next one is taken. After the fourth, `move` is the step.
  BAT_INLINE void add_slope(const Vector4& at, double h, double until)
  {
    const double share = p.slopes == 0 ? p.share : p.slopes == 3 ? until : p.share + 0.5 * h;
    const Vector4 slope = this->cell.at(at, share);
    const double weight = p.slopes == 0 || p.slopes == 3 ? 1 : 2;
    const double next = p.slopes == 2 ? h : 0.5 * h;
    for (std::size_t a = 0; a != 3; ++a)
    {
      const double v = slope[static_cast<int>(a)];
      p.sum[a] = (p.slopes == 0 ? 0 : p.sum[a]) + weight * v;
      p.move[a] = p.slopes == 3 ? h * p.sum[a] / 6 : next * v;
    }
    p.slopes = p.slopes == 3 ? 0 : static_cast<std::uint8_t>(p.slopes + 1);
  }

  /// Moves by `move`. True if the walk ends.
  BAT_INLINE bool end_step(double h, double until, WalkEnd& end)
  {
    if (!place_of_slope(run, p).inside)
    {
      p.move = {};
      p.walks = true;
      p.until = until;
      return false;
    }
    p.is_noted = false;
    double part = 1;
    if (run.has_destination && !p.has_arrived)
    {
      // Along the straight way, as lines are drawn.
      Curve way;
      const Vector4 from{ p.at[0], p.at[1], p.at[2], 0 };
      const Vector4 move{ p.move[0], p.move[1], p.move[2], 0 };
      for (std::size_t i = 0; i != way.b.size(); ++i)
      {
        way.b[i] = from + (0.25 * static_cast<double>(i)) * move;
      }
      const std::optional<double> at = this->arrival(way, 1);
      if (at)
      {
        p.has_arrived = true;
        log.arrivals.push_back({ p.line, this->time_at(p.share + *at * h) });
        part = run.stops_on_arrival ? *at : 1;
      }
    }
    const bool arrives = part < 1 || (p.has_arrived && run.stops_on_arrival);
    const Vector4 mean{ p.move[0] / h, p.move[1] / h, p.move[2] / h, 0 };
    for (std::size_t a = 0; a != 3; ++a)
    {
      p.sum[a] = mean[static_cast<int>(a)];
      p.move[a] *= part;
    }
    const PlaceOfSlope place = place_of_slope(run, p);
    p.at = place.at;
    p.cell = place.cell;
    p.turns = place.turns;
    p.move = {};
    p.share = arrives ? p.share + part * h : until;
    if (arrives)
    {
      this->note(Vector4{ p.at[0], p.at[1], p.at[2], 0 }, p.share, mean);
      end = WalkEnd::Arrived;
      return true;
    }
    if (until >= interval.stop)
    {
      // Its velocity there is that of its cell.
      p.walks = true;
      p.until = until;
    }
    return false;
  }
};
}
}
