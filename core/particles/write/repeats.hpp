// SPDX-License-Identifier: BSD-3-Clause
// Finds attributes whose values equal those of positions or of another attribute.
#pragma once

#include "bat/writer.hpp"
#include "particles/write/particle_parts.hpp"

#include <cstdint>
#include <vector>

namespace bat::write
{
/// The target of a repeat as a number that ranks can compare; kNoRepeat if there is none.
using Repeat = std::int64_t;
inline constexpr Repeat kNoRepeat = 0;

/// Finds the array that each attribute repeats in all of these particles, as options.repeats
/// requests: the first array with its values among the positions and the attributes, those with
/// most components first. Empty without particles. The input must have been checked.
[[nodiscard]] std::vector<Repeat> find_repeats(
  const ParticleParts& particles, const BuildOptions& options);

/// Returns the view without the attributes that repeat others, which become its aliases if `how` is
/// Repeats::Link.
[[nodiscard]] ParticleView without_repeats(
  const ParticleView& view, const std::vector<Repeat>& repeats, Repeats how);

/// Finds and links the repeats in one process. Throws as check_input unless it stores them.
[[nodiscard]] ParticleParts link_repeats(const ParticleView& view, const BuildOptions& options);
}
