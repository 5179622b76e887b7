// SPDX-License-Identifier: BSD-3-Clause
// From particles to the bytes of a leaf file.
#pragma once

#include "bat/write/output.hpp"
#include "bat/write/particle_parts.hpp"
#include "bat/writer.hpp"

namespace bat::write
{
/// The input was checked. What the output takes counts as encoding.
WriteReport encode_leaf(
  const ParticleParts& particles, const BuildOptions& options, Output& output);
}
