// SPDX-License-Identifier: BSD-3-Clause
// The walk for every processor, and a version with AVX2 for those that support it.
#include "common/intrinsics.hpp"
#include "common/processor.hpp"
#include "flow/walk/cell_walk.hpp"
#include "flow/walk/particle.hpp"
#include "flow/walk/slope_walk.hpp"

#include <cmath>

namespace bat::flow
{
namespace
{
struct Walkers
{
  const WalkFrame& run;
  const IntervalFrame& interval;
  const BrickPair& bricks;
  Particle* particles;
  WalkEnd* ends;
  WalkLog& log;
};

// Alternates: particles that take steps may have to walk from cell to cell, and then take steps
// again.
template <class T>
BAT_INLINE void walk_values(const Walkers& all)
{
  std::vector<std::uint32_t>& walking = all.log.walking;
  std::vector<std::uint32_t>& stepping = all.log.stepping;
  for (;;)
  {
    CellWalk<T>(all.run, all.interval, all.bricks, all.particles, all.ends, all.log).walk(walking);
    if (all.run.step_share == 0)
    {
      return;
    }
    for (const std::uint32_t i : walking)
    {
      if (all.ends[i] == WalkEnd::Interval)
      {
        all.particles[i].walks = false;
        if (all.particles[i].share < all.interval.stop)
        {
          stepping.push_back(i);
        }
      }
    }
    walking.clear();
    SlopeWalk<T>(all.run, all.interval, all.bricks, all.particles, all.ends, all.log)
      .walk(stepping);
    for (const std::uint32_t i : stepping)
    {
      if (all.ends[i] == WalkEnd::Interval && all.particles[i].walks)
      {
        walking.push_back(i);
      }
    }
    stepping.clear();
    if (walking.empty())
    {
      return;
    }
  }
}

void walk_portable(const Walkers& all)
{
  all.run.is_double ? walk_values<double>(all) : walk_values<float>(all);
}

#ifdef BAT_AVX2
BAT_AVX2 void walk_avx2(const Walkers& all)
{
  all.run.is_double ? walk_values<double>(all) : walk_values<float>(all);
}
#endif
}

void walk(const WalkFrame& run, const IntervalFrame& interval, const BrickPair& bricks,
  Particle* particles, std::size_t count, WalkEnd* ends, WalkLog& log)
{
  log.walking.clear();
  log.stepping.clear();
  log.beginnings.clear();
  for (std::size_t i = 0; i != count; ++i)
  {
    Particle& p = particles[i];
    if (run.step_share > 0 && !p.has_begun && !p.walks)
    {
      p.walks = true; // begins as others do, in its own cell
      p.stop_at = p.share;
    }
    const bool steps = run.step_share > 0 && !p.walks;
    (steps ? log.stepping : log.walking).push_back(static_cast<std::uint32_t>(i));
  }
  const Walkers all{ run, interval, bricks, particles, ends, log };
#ifdef BAT_AVX2
  if (processor::has_avx2())
  {
    walk_avx2(all);
    return;
  }
#endif
  walk_portable(all);
}

PlaceOfSlope place_of_slope(const WalkFrame& run, const Particle& particle) noexcept
{
  PlaceOfSlope place;
  place.cell = particle.cell;
  place.turns = particle.turns;
  for (std::size_t a = 0; a != 3; ++a)
  {
    const double sum = particle.at[a] + particle.move[a];
    const double whole = std::floor(sum);
    const double cells = run.cells[a];
    double cell = particle.cell[a] + whole;
    place.at[a] = sum - whole;
    if (run.is_flat[a])
    {
      continue;
    }
    if (run.cyclic[a])
    {
      const double turns = std::floor(cell / cells);
      const double all = place.turns[a] + turns;
      if (!(all > -2e9 && all < 2e9))
      {
        place.inside = false; // too many to be counted, or NaN
        return place;
      }
      cell -= turns * cells;
      place.turns[a] = static_cast<std::int32_t>(all);
    }
    else if (cell == cells && place.at[a] == 0)
    {
      cell -= 1; // on the upper face
      place.at[a] = 1;
    }
    if (!(cell >= 0 && cell < cells))
    {
      place.inside = false;
      return place;
    }
    place.cell[a] = static_cast<std::int32_t>(cell);
  }
  return place;
}

std::array<std::int32_t, 3> needed_cell(const WalkFrame& run, const Particle& particle) noexcept
{
  const bool steps = run.step_share > 0 && !particle.walks && particle.has_begun;
  const bool is_at_upper = particle.at[0] == 1 || particle.at[1] == 1 || particle.at[2] == 1;
  if (steps && particle.slopes != Particle::kAtStop && (particle.slopes != 0 || is_at_upper))
  {
    const PlaceOfSlope place = place_of_slope(run, particle);
    if (place.inside)
    {
      return place.cell;
    }
  }
  return particle.cell;
}
}
