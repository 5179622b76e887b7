// SPDX-License-Identifier: BSD-3-Clause
// Copies of bounded arrays with the values that a reader will find (FORMAT.md section
// 12).
#pragma once

#include "common/memory/large_array.hpp"
#include "particles/write/error_bounds.hpp"
#include "particles/write/particle_parts.hpp"

#include <vector>

namespace bat::write
{
/// Particles in which bounded arrays have the values that are stored. Owns these, and borrows all
/// other arrays.
class SnappedParticles
{
public:
  /// No bound may be relative. Runs in parallel.
  SnappedParticles(const ParticleParts& particles, const std::vector<ErrorBound>& bounds);

  [[nodiscard]] const ParticleParts& parts() const noexcept { return this->parts_; }

private:
  ParticleParts parts_;
  std::vector<LargeArray<std::byte>> arrays_;
};
}
