// SPDX-License-Identifier: BSD-3-Clause
// Combines the parts of a grid on all ranks into one dataset. Independent of MPI and Conduit.
#pragma once

#include "census.hpp"
#include "grid_reader.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bat::catalyst
{
/// A grid made up of domains on any ranks; the same on all ranks.
struct GridPlan
{
  std::string name;                         ///< file name
  std::vector<std::string> fields;          ///< at least one
  std::array<double, 3> origin{};           ///< position of its first sample
  std::array<double, 3> spacing{ 1, 1, 1 }; ///< distances of its samples
  /// Why the grid is not written: its domains have several spacings, as in refined meshes.
  std::string unsuited;

  /// Logical coordinates of a domain's sample 0. Throws Error{InvalidArgument} if it is off the
  /// lattice of the others.
  [[nodiscard]] std::array<std::int64_t, 3> place_of(const GridDomain& domain) const;
};

/// The position of the first sample in a domain's box.
[[nodiscard]] std::array<double, 3> begin_of(const GridDomain& domain, const idx::LogicalBox& box);

/// The velocity of a grid.
struct Velocity
{
  std::vector<std::string> fields; ///< one, or one for each component
  int components = 3;
  ScalarType type = ScalarType::Float32;
  std::string problem; ///< why it has none; else empty
};
/// Finds the velocity among a plan's fields: the `requested` fields, which are one with 2 or 3
/// components, or 2 or 3 with one component; if none is requested, the only candidate, or the one
/// called velocity. Their types are float32 or float64.
[[nodiscard]] Velocity find_velocity(
  const GridPlan& plan, const GridCensus& census, const std::vector<std::string>& requested);

/// Plans the grids that have fields, but not their origins. A grid is named like a species of its
/// topology; a grid of elements gets "_elements" added if one of vertices exists. Throws
/// Error{InvalidArgument} if two have one name.
[[nodiscard]] std::map<GridKey, GridPlan> plan_grids(const Census& census);
}
