// SPDX-License-Identifier: BSD-3-Clause
// Runge-Kutta 4 steps across cells. If a slope would be taken outside the flow, the step is walked
// from cell to cell instead, which finds where the particle leaves.
#pragma once

#include "flow/walk/lane_walk.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bat::flow
{
template <class T>
struct SlopeWalk : LaneWalk<T>
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

  std::array<double, kLanes> lengths{};                ///< lengths of the lanes' current steps
  std::array<double, kLanes> stops{};                  ///< ends of these steps
  Vectors at{ all_of(0.5), all_of(0.5), all_of(0.5) }; ///< positions of slopes in their cells
  Vector4 shares = all_of(0);

  using Base::Base;

  /// The same as place_of_slope(), which is called where a position is not simply inside.
  [[nodiscard]] BAT_INLINE bool locate(
    const Particle& p, std::array<std::int32_t, 3>& cell, std::array<double, 3>& in_cell) const
  {
    bool simple = true;
    for (std::size_t a = 0; a != 3; ++a)
    {
      const double sum = p.at[a] + p.move[a];
      const bool near = sum > -1e6 && sum < 1e6;
      const auto truncated = static_cast<std::int32_t>(near ? sum : 0);
      const std::int32_t whole = truncated - (sum < truncated ? 1 : 0);
      in_cell[a] = sum - whole;
      cell[a] = p.cell[a] + whole;
      simple = simple && near && cell[a] >= 0 && cell[a] < run.cells[a];
    }
    return simple;
  }

  BAT_INLINE void begin_step(unsigned lane, const Particle& p)
  {
    const double stop = this->stop_of(p);
    const double left = stop - p.share;
    const bool to_stop = !(run.step_share < left);
    lengths[lane] = to_stop ? left : run.step_share;
    stops[lane] = to_stop ? stop : p.share + lengths[lane];
  }

  /// Switches the step to a walk from cell to cell.
  BAT_INLINE void walk_instead(unsigned lane)
  {
    Particle& p = *lanes[lane];
    p.slopes = 0;
    p.move = {};
    p.walks = true;
    p.stop_at = stops[lane];
    this->leave(lane, WalkEnd::Interval);
  }

  /// Computes where the particle in a lane needs the velocity. Returns false if the lane is left.
  [[nodiscard]] BAT_INLINE bool prepare(unsigned lane)
  {
    const Particle& p = *lanes[lane];
    std::array<std::int32_t, 3> cell{};
    std::array<double, 3> in_cell{};
    if (p.slopes == Particle::kAtStop)
    {
      cell = p.cell; // the velocity at the end is that of its cell
      in_cell = p.at;
    }
    else if (!this->locate(p, cell, in_cell))
    {
      const PlaceOfSlope place = place_of_slope(run, p);
      if (!place.inside)
      {
        this->walk_instead(lane);
        return false;
      }
      cell = place.cell;
      in_cell = place.at;
    }
    const Found found = this->enter(lane, cell);
    if (found != Found::Cell)
    {
      this->leave(lane, this->end_of(found));
      return false;
    }
    at.set(lane, in_cell);
    shares[lane] = p.slopes >= 3 ? stops[lane]
      : p.slopes == 0            ? p.share
                                 : p.share + 0.5 * lengths[lane];
    return true;
  }

  /// Takes a slope and computes where the next one is needed. After the fourth, `move` is the step.
  BAT_INLINE void add_slope(Particle& p, const std::array<double, 3>& slope, double h) const
  {
    const double weight = p.slopes == 0 || p.slopes == 3 ? 1 : 2;
    const double next = p.slopes == 2 ? h : 0.5 * h;
    for (std::size_t a = 0; a != 3; ++a)
    {
      p.sum[a] = (p.slopes == 0 ? 0 : p.sum[a]) + weight * slope[a];
      p.move[a] = p.slopes == 3 ? h * p.sum[a] / 6 : next * slope[a];
    }
    p.slopes = p.slopes == 3 ? 0 : static_cast<std::uint8_t>(p.slopes + 1);
  }

  /// Moves by `move`.
  BAT_INLINE void end_step(unsigned lane)
  {
    Particle& p = *lanes[lane];
    const double h = lengths[lane];
    const double stop_at = stops[lane];
    std::array<std::int32_t, 3> cell{};
    std::array<double, 3> in_cell{};
    PlaceOfSlope place;
    const bool simple = this->locate(p, cell, in_cell);
    if (!simple)
    {
      place = place_of_slope(run, p);
      if (!place.inside)
      {
        this->walk_instead(lane);
        return;
      }
    }
    p.is_noted = false;
    std::optional<double> arrived;
    if (!run.destinations.empty() && !p.has_arrived)
    {
      // Records points along the straight path, as lines are drawn.
      Curve way;
      const Vector4 from{ p.at[0], p.at[1], p.at[2], 0 };
      const Vector4 move{ p.move[0], p.move[1], p.move[2], 0 };
      for (std::size_t i = 0; i != way.b.size(); ++i)
      {
        way.b[i] = from + (0.25 * static_cast<double>(i)) * move;
      }
      arrived = this->arrive(p, way, 1, p.share, h);
    }
    const bool ends = arrived && run.stops_on_arrival;
    for (std::size_t a = 0; a != 3; ++a)
    {
      p.sum[a] = p.move[a] / h;
      p.move[a] *= ends ? *arrived : 1;
    }
    if (simple && !ends)
    {
      p.at = in_cell;
      p.cell = cell;
    }
    else
    {
      place = place_of_slope(run, p);
      p.at = place.at;
      p.cell = place.cell;
      p.turns = place.turns;
    }
    p.move = {};
    p.share = ends ? p.share + *arrived * h : stop_at;
    if (ends)
    {
      this->note(p, p.at, p.share, p.sum);
      this->leave(lane, WalkEnd::Arrived);
    }
    else if (stop_at >= this->stop_of(p))
    {
      p.slopes = Particle::kAtStop;
    }
    else
    {
      this->begin_step(lane, p);
    }
  }

  /// Processes the velocity at the position that a lane has requested.
  BAT_INLINE void use(unsigned lane, const std::array<double, 3>& slope)
  {
    Particle& p = *lanes[lane];
    ++log.cells;
    if (p.slopes == Particle::kAtStop)
    {
      p.slopes = 0;
      const WalkEnd end = this->stop_here(p, p.at, p.share, slope);
      this->leave(lane, end);
      return;
    }
    if (p.is_new)
    {
      WalkEnd end = WalkEnd::Arrived;
      if (this->begin_interval(lane, slope, end))
      {
        this->leave(lane, end);
        return;
      }
    }
    if (p.slopes == 0 && this->stagnates(slope))
    {
      this->note(p, p.at, p.share, slope);
      this->leave(lane, WalkEnd::Still);
      return;
    }
    this->add_slope(p, slope, lengths[lane]);
    if (p.slopes == 0)
    {
      ++log.steps;
      this->end_step(lane);
    }
  }

  /// Lanes whose steps continue from cell to cell end with Interval, and `walks` is set.
  BAT_INLINE void walk(const std::vector<std::uint32_t>& which)
  {
    std::size_t next = 0;
    for (;;)
    {
      for (unsigned lane = 0; lane != kLanes; ++lane)
      {
        bool is_there = (active >> lane & 1) != 0 && this->prepare(lane);
        while (!is_there && next != which.size())
        {
          Particle& p = this->particles[which[next++]];
          lanes[lane] = &p;
          active |= 1u << lane;
          this->begin_step(lane, p);
          is_there = this->prepare(lane);
        }
      }
      if (active == 0)
      {
        return;
      }
      this->fill_idle_lanes();
      const Vectors slopes = velocity_in_cells<T>(run, interval, before, after, at, shares);
      const unsigned finite = finite_lanes(slopes);
      for (unsigned left = active; left != 0; left &= left - 1)
      {
        const unsigned lane = lowest_lane(left);
        if ((finite >> lane & 1) != 0)
        {
          this->use(lane, slopes.of(lane));
        }
        else
        {
          this->walk_instead(lane);
        }
      }
    }
  }
};
}
