// SPDX-License-Identifier: BSD-3-Clause
// Particles that have reached the end of a series which may continue.
#pragma once

#include "flow/walk/particle.hpp"

#include <vector>

namespace bat::flow
{
struct Resting
{
  std::vector<Particle> particles; ///< sorted by line
  double time = 0;                 ///< end of the run
};
}
