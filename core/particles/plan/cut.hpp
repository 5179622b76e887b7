// SPDX-License-Identifier: BSD-3-Clause
// Finds the plane with a given number of particles on its left.
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

/// Finds a plane across `axis` with about `requested` of all `total` particles on its left: within
/// `tolerance`, unless more than that share one position. Empty if no plane has particles on both
/// sides. Linear in the number of pieces: it computes histograms, each over the bin found in the
/// previous one.
[[nodiscard]] std::optional<Cut> find_cut(const std::vector<Piece>& pieces, const Extent& extent,
  std::size_t axis, double total, double requested, double tolerance);
}
