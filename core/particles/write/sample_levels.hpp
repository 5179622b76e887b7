// SPDX-License-Identifier: BSD-3-Clause
// Computes the levels of stable samples from the hashes of particle ids.
#pragma once

#include "common/memory/large_array.hpp"
#include "particles/format/layout.hpp"
#include "particles/format/levels.hpp"
#include "particles/write/particle_parts.hpp"

#include <cstdint>
#include <vector>

namespace bat::write
{
/// Computes the level of each particle. The particles in levels 0 to l have the lowest hashes;
/// among equal hashes, the lowest numbers. Needs 9 bytes per particle, of which 1 stays.
[[nodiscard]] LargeArray<std::uint8_t> sample_levels(const ParticleParts& particles,
  const std::vector<format::SampleIdRecord>& ids, const LevelTable& levels);
}
