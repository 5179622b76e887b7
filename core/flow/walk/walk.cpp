// SPDX-License-Identifier: BSD-3-Clause
// The walk for every processor, and with AVX2 for those that have it.
#include "common/intrinsics.hpp"
#include "common/processor.hpp"
#include "flow/walk/particle.hpp"
#include "flow/walk/walk_loops.hpp"

#include <cmath>

namespace bat::flow
{
namespace
{
template <class T>
BAT_INLINE WalkEnd walk_values(const WalkFrame& run, const IntervalFrame& interval,
  const BrickPair& bricks, Particle& particle, WalkLog& log)
{
  loops::Walker<T> walker{ run, interval, bricks, particle, log, {} };
  return run.step_share > 0 ? walker.step_by_step() : walker.walk_cells(interval.stop);
}

BAT_INLINE WalkEnd walk_any(const WalkFrame& run, const IntervalFrame& interval,
  const BrickPair& bricks, Particle& particle, WalkLog& log)
{
  return run.is_double ? walk_values<double>(run, interval, bricks, particle, log)
                       : walk_values<float>(run, interval, bricks, particle, log);
}

WalkEnd walk_portable(const WalkFrame& run, const IntervalFrame& interval, const BrickPair& bricks,
  Particle& particle, WalkLog& log)
{
  return walk_any(run, interval, bricks, particle, log);
}

#ifdef BAT_AVX2
BAT_AVX2 WalkEnd walk_avx2(const WalkFrame& run, const IntervalFrame& interval,
  const BrickPair& bricks, Particle& particle, WalkLog& log)
{
  return walk_any(run, interval, bricks, particle, log);
}
#endif
}

WalkEnd walk(const WalkFrame& run, const IntervalFrame& interval, const BrickPair& bricks,
  Particle& particle, WalkLog& log)
{
#ifdef BAT_AVX2
  if (processor::has_avx2())
  {
    return walk_avx2(run, interval, bricks, particle, log);
  }
#endif
  return walk_portable(run, interval, bricks, particle, log);
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
  if (run.step_share > 0 && !particle.walks && particle.has_begun && !particle.is_new)
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
