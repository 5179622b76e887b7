// SPDX-License-Identifier: BSD-3-Clause
// Streak surfaces: the surface of particles released continuously from a line, like smoke from a
// wire.
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
/// Processes that trace one surface collectively. All pass the same arguments and get the same
/// surface.
struct Collective
{
  int rank = 0;
  int ranks = 1;
  /// Collective: returns the particles of all ranks, in rank order, given those of this rank.
  /// Throws on all ranks if one has an error. It must not be called by one rank alone.
  std::function<std::vector<Line>(std::vector<Line> local, const std::optional<Error>& error)>
    gather;
};

struct StreakSurfaceOptions
{
  /// How particles are followed. end_time, max_age, destination and keep_points are not used. The
  /// fractions passed to progress are estimates.
  TraceOptions trace;
  /// The first release; by default the first time of the source or, backwards, its last.
  std::optional<double> start;
  /// Edges longer than this, above 0, are halved. So are edges longer than half of it where
  /// neighbours turn by more than 30 degrees, and longer stretches of the line whose two ends have
  /// both stopped.
  double max_edge = 0;
  /// The surface is torn where edges are longer than this factor times max_edge although points of
  /// the line and times of the source were halved ten times. At least 1; values below 2 count as 2,
  /// as diagonals of triangles may be twice as long as max_edge.
  double tear = 4;
  /// More vertices are an error. With stops_at_max, refining stops before the limit instead, and
  /// the surface is torn where edges are still too long.
  std::uint32_t max_vertices = std::uint32_t{ 1 } << 22;
  bool stops_at_max = false;
  Collective collective;
};

/// A surface of triangles. Vertices are particles at one time; each was followed from the line, and
/// none is interpolated.
struct StreakSurface
{
  std::vector<std::array<double, 3>> positions; ///< not wrapped along cyclic axes
  std::vector<std::array<double, 3>> normals;   ///< length 1; 0 where triangles have no area
  std::vector<double> line_places;              ///< place of release: 2.5 is between points 2 and 3
  std::vector<double> release_times;
  std::vector<std::array<std::uint32_t, 3>> triangles; ///< oriented alike
  Statistics statistics;                               ///< of this rank only, including `read`
  std::uint64_t followed = 0;                          ///< number of particles, on all ranks
  bool is_refined = true; ///< false if refining stopped at max_vertices
};

/// Computes the surface at `time` formed by particles that points of a line have released
/// continuously from `start` on. `line` has at least two points; points nearer than max_edge to
/// each other need not become vertices. Surfaces have holes where particles have ended. The result
/// has the same bits for any cache, number of threads and ranks, and prefetching. Throws Error as
/// trace() does; InvalidArgument (line, times, edges, too many vertices).
[[nodiscard]] StreakSurface streak_surface(const Cache& cache,
  const std::vector<std::array<double, 3>>& line, double time, const StreakSurfaceOptions& options);
}
