// SPDX-License-Identifier: BSD-3-Clause
// Code shared by all walks: lanes with particles, their cells, and recorded points.
#pragma once

#include "flow/walk/cell_field.hpp"
#include "flow/walk/curve.hpp"
#include "flow/walk/lanes.hpp"
#include "flow/walk/particle.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bat::flow
{
/// Particles pass through four lanes; when a walk ends, its lane takes the next particle. Lanes are
/// independent of each other.
template <class T>
struct LaneWalk
{
  const WalkFrame& run;
  const IntervalFrame& interval;
  const BrickPair& bricks;
  Particle* particles;
  WalkEnd* ends;
  WalkLog& log;

  std::array<Particle*, kLanes> lanes{};
  unsigned active = 0; ///< bit k: lane k has a particle
  LaneValues before{}; ///< values of the lanes' cells
  LaneValues after{};

  BAT_INLINE LaneWalk(const WalkFrame& all, const IntervalFrame& now, const BrickPair& pair,
    Particle* first, WalkEnd* first_end, WalkLog& notes)
    : run(all)
    , interval(now)
    , bricks(pair)
    , particles(first)
    , ends(first_end)
    , log(notes)
  {
  }

  /// The share of the interval at which a particle reaches its maximum age; above 1 if not in this
  /// interval.
  [[nodiscard]] BAT_INLINE double last_share(const Particle& p) const
  {
    return (p.end_time - interval.begin) / (interval.end - interval.begin);
  }
  /// The share at which its walk ends.
  [[nodiscard]] BAT_INLINE double stop_of(const Particle& p) const
  {
    const double last = this->last_share(p);
    return last < interval.stop ? last : interval.stop;
  }
  [[nodiscard]] BAT_INLINE double time_at(const Particle& p, double share) const
  {
    return share == interval.stop    ? interval.stop_time
      : share == this->last_share(p) ? p.end_time
                                     : interval.begin + share * (interval.end - interval.begin);
  }

  BAT_INLINE void note(Particle& p, const std::array<double, 3>& u, double share,
    const std::array<double, 3>& slope) const
  {
    if (!run.notes_points || p.is_noted)
    {
      return;
    }
    NotedPoint point;
    point.line = p.line;
    point.number = p.points++;
    point.time = this->time_at(p, share);
    for (std::size_t a = 0; a != 3; ++a)
    {
      const auto cell = static_cast<double>(p.cell[a] + std::int64_t{ p.turns[a] } * run.cells[a]);
      point.position[a] = run.origin[a] + (cell + u[a]) * run.spacing[a];
      point.velocity[a] = slope[a] * interval.per_cell[a];
    }
    log.points.add(point);
    p.is_noted = true;
  }
  /// Records the particle's position with the velocity with which it arrived, since its cell may
  /// have none.
  BAT_INLINE void note_end(Particle& p) const { this->note(p, p.at, p.share, p.sum); }

  /// Removes the particle from the lane.
  BAT_INLINE void leave(unsigned lane, WalkEnd end)
  {
    this->ends[lanes[lane] - particles] = end;
    active &= ~(1u << lane);
  }

  enum class Found : std::uint8_t
  {
    Cell,
    Brick,
    Ghosts
  };
  /// Loads the values of a cell if the brick has it.
  BAT_INLINE Found enter(unsigned lane, const std::array<std::int32_t, 3>& cell)
  {
    std::size_t offset = 0;
    unsigned mask = 0;
    for (std::size_t a = 0; a != 3; ++a)
    {
      const std::int32_t local = cell[a] - bricks.first[a];
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
    before[lane] = bricks.before + offset;
    after[lane] = bricks.after + offset;
    return Found::Cell;
  }
  [[nodiscard]] static BAT_INLINE WalkEnd end_of(Found found)
  {
    return found == Found::Brick ? WalkEnd::Brick : WalkEnd::Ghosts;
  }
  /// Empty lanes get the cell of an occupied one.
  BAT_INLINE void fill_idle_lanes()
  {
    const unsigned busy = lowest_lane(active);
    for (unsigned idle = kAllLanes & ~active; idle != 0; idle &= idle - 1)
    {
      before[lowest_lane(idle)] = before[busy];
      after[lowest_lane(idle)] = after[busy];
    }
  }

  /// Returns whether a line ends because its particle has become too slow. Without a terminal
  /// speed, a particle that does not move rests, and moves again when the flow in its cell does.
  [[nodiscard]] BAT_INLINE bool stagnates(const std::array<double, 3>& slope) const
  {
    if (!(run.terminal_speed > 0))
    {
      return false;
    }
    double square = 0;
    for (std::size_t a = 0; a != 3; ++a)
    {
      const double w = slope[a] * interval.per_cell[a];
      square += w * w;
    }
    return square <= run.terminal_speed * run.terminal_speed;
  }

  /// Finds where a curve from the particle's cell first is in a destination, up to `end`.
  [[nodiscard]] BAT_INLINE std::optional<double> arrival(const Particle& p,
    const WalkFrame::Destination& to, const Curve& curve, const Vector4& low, const Vector4& high,
    double end) const
  {
    Vector4 lower = all_of(-1);
    Vector4 upper = all_of(2);
    for (std::size_t a = 0; a != 3; ++a)
    {
      if (!run.is_flat[a])
      {
        const auto first = static_cast<double>(p.cell[a]);
        lower[static_cast<int>(a)] = to.lower[a] - first;
        upper[static_cast<int>(a)] = to.upper[a] - first;
      }
    }
    if (low[0] > upper[0] || high[0] < lower[0] || low[1] > upper[1] || high[1] < lower[1] ||
      low[2] > upper[2] || high[2] < lower[2])
    {
      return std::nullopt;
    }
    return first_inside(curve, lower, upper, end);
  }
  /// Records where the curve of a step first is in a destination, as a share of the step of at most
  /// `end`.
  [[nodiscard]] BAT_INLINE std::optional<double> arrive(
    Particle& p, const Curve& curve, double end, double share, double h) const
  {
    const Vector4 low = curve.lowest();
    const Vector4 high = curve.highest();
    std::optional<double> first;
    std::int32_t number = 0;
    for (const WalkFrame::Destination& to : run.destinations)
    {
      const std::optional<double> at = this->arrival(p, to, curve, low, high, end);
      if (at && (!first || *at < *first))
      {
        first = at;
        number = to.number;
      }
    }
    if (first)
    {
      p.has_arrived = true;
      log.arrivals.push_back({ p.line, number, this->time_at(p, share + *first * h) });
    }
    return first;
  }

  /// Runs once when a particle enters an interval. Returns true if it ends there.
  [[nodiscard]] BAT_INLINE bool begin_interval(
    unsigned lane, const std::array<double, 3>& slope, WalkEnd& end)
  {
    Particle& p = *lanes[lane];
    p.is_new = false;
    p.cells = 0;
    p.steps = 0;
    if (run.notes_beginnings)
    {
      log.beginnings.push_back({ p.at, p.cell, p.share, slope });
    }
    if (!p.has_begun)
    {
      p.has_begun = true;
      this->note(p, p.at, p.share, slope);
      if (!run.destinations.empty())
      {
        Curve here;
        here.b.fill(Vector4{ p.at[0], p.at[1], p.at[2], 0 });
        if (this->arrive(p, here, 0, p.share, 0) && run.stops_on_arrival)
        {
          end = WalkEnd::Arrived;
          return true;
        }
      }
    }
    return false;
  }

  /// Handles the end of a walk's share. A Runge-Kutta 4 step that was walked instead continues.
  [[nodiscard]] BAT_INLINE WalkEnd stop_here(
    Particle& p, const std::array<double, 3>& u, double share, const std::array<double, 3>& slope)
  {
    if (share < this->stop_of(p))
    {
      return WalkEnd::Interval;
    }
    this->note(p, u, share, slope);
    if (share >= this->last_share(p))
    {
      return WalkEnd::Aged;
    }
    return interval.is_last ? WalkEnd::Time : WalkEnd::Interval;
  }
};
}
