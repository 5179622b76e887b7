// Writes one file and touches nothing else.
#pragma once

#include "bat/writer.hpp"

namespace bat
{
/// As write_file, but does not clean up around it.
WriteReport write_leaf(
  const std::filesystem::path& path, const ParticleView& particles, const BuildOptions& options);
}
