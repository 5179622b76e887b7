// The Aggregation Tree with cuts anywhere: PlanMode::Adaptive.
#pragma once

#include "bat/plan.hpp"

namespace bat::plan
{
/// Fills nodes and leaf_particles of `plan` with a tree of at most `leaves` leaves. Runs in the
/// caller's task arena.
void plan_adaptive(const std::vector<WeightedCell>& cells, std::uint32_t leaves, Plan& plan);
}
