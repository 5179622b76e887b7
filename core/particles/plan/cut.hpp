// SPDX-License-Identifier: BSD-3-Clause
// Finds the plane that leaves a given number of particles on its left.
#pragma once

#include "particles/plan/pieces.hpp"

#include <optional>

namespace bat::plan
{
struct Cut
{
  double split = 0; ///< coordinate < split is left
  double left = 0;  ///< particles on the left
};

/// Plane across `axis` that leaves about `requested` of all `total` particles on the left: within
/// `tolerance` unless more than that share one place. Nothing if no plane has particles on both
/// sides. Linear in the number of pieces: histograms, each over the bin that the one before has
/// found.
[[nodiscard]] std::optional<Cut> find_cut(const std::vector<Piece>& pieces, const Extent& extent,
  std::size_t axis, double total, double requested, double tolerance);
}
