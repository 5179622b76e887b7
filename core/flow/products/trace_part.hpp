// SPDX-License-Identifier: BSD-3-Clause
// One of the several traces of a run.
#pragma once

#include "bat/flow/trace.hpp"
#include "flow/schedule/key_set.hpp"
#include "flow/walk/particle.hpp"

#include <vector>

namespace bat::flow
{
/// Works as trace() does. Adds the bricks that it needs to `touched`; Statistics::touched is their
/// number afterwards. The particles in `resting`, whose `line` is the index of a seed, continue
/// from their place, and their lines contain only the continuation. `releases`: release times, if
/// they differ from the seeds'.
[[nodiscard]] PathLines trace_touching(const Cache& cache, const std::vector<Seed>& seeds,
  const TraceOptions& options, KeySet& touched, const std::vector<Particle>& resting = {},
  const std::vector<double>& releases = {});
}
