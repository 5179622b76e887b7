// SPDX-License-Identifier: BSD-3-Clause
// What a line that releases particles all the time looks like later: the smoke of a wire.
#pragma once

#include "bat/error.hpp"
#include "bat/flow/trace.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace bat::flow
{
/// Processes that trace one surface together. All have the same arguments, and get the same
/// surface.
struct Collective
{
  int rank = 0;
  int ranks = 1;
  /// Collective: the particles of all ranks, in their order, from those of this one. Throws on all
  /// ranks if one has an error. Not called by a rank alone.
  std::function<std::vector<Line>(std::vector<Line> local, const std::optional<Error>& error)>
    gather;
};

struct StreakSurfaceOptions
{
  /// How particles are followed; end_time, max_age, destination and keep_points are not used.
  /// Shares that progress is told are estimates.
  TraceOptions trace;
  /// The first release; the first time of the source if not given, or its last one backwards.
  std::optional<double> start;
  /// Edges that are longer are halved; above 0. So are those of more than half of it where
  /// neighbours turn by more than 30 degrees, and stretches of the line that are longer and have
  /// both ends where no particle goes on.
  double max_edge = 0;
  /// The surface is torn where edges are longer than so many times max_edge, though points of the
  /// line and times of the source were halved ten times; 1 or more. As diagonals of triangles may
  /// be twice as long as max_edge, less than 2 is as 2.
  double tear = 4;
  /// More is an error; or, with stops_at_max, refining stops before there are more, and the
  /// surface is torn where edges are still too long.
  std::uint32_t max_vertices = std::uint32_t{ 1 } << 22;
  bool stops_at_max = false;
  Collective collective;
};

/// Triangles. Vertices are particles at one time; each was followed from the line, none is
/// interpolated.
struct StreakSurface
{
  std::vector<std::array<double, 3>> positions; ///< not wrapped along cyclic axes
  std::vector<std::array<double, 3>> normals;   ///< of length 1; 0 where triangles have no area
  std::vector<double> line_places;              ///< where released: 2.5 is between points 2 and 3
  std::vector<double> release_times;
  std::vector<std::array<std::uint32_t, 3>> triangles; ///< oriented alike
  Statistics statistics;                               ///< of this rank; of `read` bricks, too
  std::uint64_t followed = 0;                          ///< particles, of all ranks
  bool is_refined = true; ///< false where refining has stopped at max_vertices
};

/// The surface at `time` of particles that points of a line have released from `start` on, all the
/// time. `line` has two points or more, of which those that are nearer than max_edge need not be
/// vertices. Surfaces have holes where particles have ended. The same bits for any cache, number of
/// threads and ranks, and prefetching. Throws Error as trace(); InvalidArgument (line, times,
/// edges, too many vertices).
[[nodiscard]] StreakSurface streak_surface(const Cache& cache,
  const std::vector<std::array<double, 3>>& line, double time, const StreakSurfaceOptions& options);
}
