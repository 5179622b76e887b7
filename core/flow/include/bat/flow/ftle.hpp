// SPDX-License-Identifier: BSD-3-Clause
// Finite-time Lyapunov exponents: how fast neighbouring particles separate.
#pragma once

#include "bat/flow/trace.hpp"
#include "bat/types.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bat::flow
{
/// The nodes from which particles start, and the part of them that is requested.
struct FtleGrid
{
  std::array<double, 3> origin{};                ///< position of node 0 0 0
  std::array<double, 3> spacing{ 1, 1, 1 };      ///< greater than 0
  std::array<std::int64_t, 3> points{ 1, 1, 1 }; ///< all nodes; at least 2 along some axis
  std::array<std::int64_t, 3> first{};           ///< first requested node
  std::array<std::int64_t, 3> count{ 1, 1, 1 };  ///< number of requested nodes; 0 requests none

  [[nodiscard]] std::uint64_t node_count() const noexcept
  {
    return static_cast<std::uint64_t>(this->count[0] * this->count[1] * this->count[2]);
  }
};

/// Returns all nodes of a box, from face to face. An axis with one node, or without length, has its
/// node in the middle. Throws Error{InvalidArgument} unless the box has finite ends, the smaller
/// one first, and each axis has at least one node.
[[nodiscard]] FtleGrid ftle_grid(const Box& box, const std::array<std::int64_t, 3>& points);

/// Results for the requested nodes, x fastest.
struct Ftle
{
  /// ln sqrt(largest eigenvalue of F^T F) / length, per unit of time. NaN where a particle that
  /// F needs ends early or has no line. A particle below a terminal speed stays at its
  /// position.
  std::vector<double> exponents;
  std::vector<std::array<double, 3>> flow_map; ///< end positions of the particles; not wrapped
  std::vector<double> end_times;               ///< times at which they end
  Statistics statistics;
};

/// Computes the exponents of particles that start at `start_time` and are followed for `length`, a
/// time above 0. The gradient F of the flow map uses central differences between nodes, one-sided
/// ones at the faces of the grid. An axis with one node contributes no difference: on a slice, the
/// exponent describes particles that separate within its plane. Nodes on both sides of the
/// requested ones are traced too, so that parts of a grid have the same bits as the whole.
/// `options`: backward, and how particles are followed; end_time, max_age, destination and
/// keep_points are not used. Throws Error as trace() does; InvalidArgument (grid, times).
[[nodiscard]] Ftle ftle(const Cache& cache, const FtleGrid& grid, double start_time, double length,
  const TraceOptions& options = {});
}
