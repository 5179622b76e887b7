// SPDX-License-Identifier: BSD-3-Clause
// Writes one file and touches nothing else.
#pragma once

#include "bat/writer.hpp"
#include "common/io/atomic_file.hpp"
#include "particles/write/particle_parts.hpp"

namespace bat
{
/// Works as write_file, but without the last step: the caller commits, and cleans up around the
/// file.
WriteReport write_leaf(
  io::AtomicFile& file, const write::ParticleParts& particles, const BuildOptions& options);
}
