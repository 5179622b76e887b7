// SPDX-License-Identifier: BSD-3-Clause
// Encodes particles as the bytes of a leaf file.
#pragma once

#include "bat/writer.hpp"
#include "particles/write/output.hpp"
#include "particles/write/particle_parts.hpp"

namespace bat::write
{
/// The input must have been checked. The time for output counts as encoding.
WriteReport encode_leaf(
  const ParticleParts& particles, const BuildOptions& options, Output& output);
}
