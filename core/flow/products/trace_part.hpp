// SPDX-License-Identifier: BSD-3-Clause
// A trace that is one of several of a run.
#pragma once

#include "bat/flow/trace.hpp"
#include "flow/schedule/key_set.hpp"
#include "flow/walk/particle.hpp"

#include <vector>

namespace bat::flow
{
/// As trace(). Bricks that it needs are added to `touched`; Statistics::touched is how many there
/// are then. Those in `resting`, whose `line` is the number of a seed, go on from where they are:
/// of their lines there is what comes behind it. `releases`: when particles were released, where
/// that was not at their seed.
[[nodiscard]] PathLines trace_touching(const Cache& cache, const std::vector<Seed>& seeds,
  const TraceOptions& options, KeySet& touched, const std::vector<Particle>& resting = {},
  const std::vector<double>& releases = {});
}
