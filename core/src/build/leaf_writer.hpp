// Writes one file and touches nothing else.
#pragma once

#include "bat/writer.hpp"
#include "build/particle_parts.hpp"
#include "io/atomic_file.hpp"

namespace bat
{
/// As write_file, but does not clean up around it.
WriteReport write_leaf(const std::filesystem::path& path, const build::ParticleParts& particles,
  const BuildOptions& options);

/// The same, without the last step: the caller commits.
WriteReport write_leaf(
  io::AtomicFile& file, const build::ParticleParts& particles, const BuildOptions& options);
}
