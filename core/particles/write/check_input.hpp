// SPDX-License-Identifier: BSD-3-Clause
// Checks the input of a writer.
#pragma once

#include "bat/particles.hpp"
#include "bat/writer.hpp"
#include "particles/format/layout.hpp"
#include "particles/write/particle_parts.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bat::write
{
/// Throws Error{InvalidArgument} if the particles or the options violate the contract of
/// writer.hpp.
void check_input(const ParticleParts& particles, const BuildOptions& options);
void check_input(const ParticleView& particles, const BuildOptions& options);

/// Throws Error{InvalidArgument} if it is not a JSON object that may be written.
void check_metadata(const std::string& metadata);

/// Returns names of ids in options, resolved by resolve_id_names() for these particles.
[[nodiscard]] std::vector<std::string> resolve_ids(
  const ParticleView& particles, const std::vector<std::string>& names, bool with_second);

/// Numbers of the keys that get a sorted index, ascending. Throws Error{InvalidArgument}.
[[nodiscard]] std::vector<std::size_t> indexed_keys(
  const ParticleView& particles, const BuildOptions& options);

/// Returns the ids that order levels of stable samples; empty if off. Throws
/// Error{InvalidArgument}.
[[nodiscard]] std::vector<format::SampleIdRecord> sample_ids(
  const ParticleView& particles, const BuildOptions& options);
}
