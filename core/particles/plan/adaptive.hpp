// SPDX-License-Identifier: BSD-3-Clause
// The Aggregation Tree with cuts anywhere: PlanMode::Adaptive.
#pragma once

#include "bat/plan.hpp"

namespace bat::plan
{
/// Fills nodes and leaf_particles of `plan` with a tree of at most `leaves` leaves. `bounds` are
/// empty or belong to all ranks that have particles. Runs in the caller's task arena.
void plan_adaptive(const std::vector<WeightedCell>& cells, const std::vector<RankBounds>& bounds,
  std::uint32_t leaves, Plan& plan);
}
