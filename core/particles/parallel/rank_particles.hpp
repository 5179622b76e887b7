// SPDX-License-Identifier: BSD-3-Clause
// The particles of a rank, wherever they are in memory.
#pragma once

#include "bat/mpi.hpp"
#include "particles/write/particle_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bat::mpi
{
/// The particles that this rank writes, numbered piece by piece without the skipped
/// ones.
class RankParticles : public write::ParticleParts
{
public:
  /// Checks pieces that have particles, and reads skip masks, but no arrays of particles. Throws
  /// Error{InvalidArgument}: what write::check_input refuses, a mask of another shape or type, 2^32
  /// particles or more.
  explicit RankParticles(const std::vector<Piece>& pieces);
  RankParticles(const RankParticles&) = delete;
  RankParticles& operator=(const RankParticles&) = delete;

  [[nodiscard]] std::uint64_t skipped() const noexcept { return this->skipped_; }
  /// The columns that pieces without particles declare; empty if any piece has particles.
  [[nodiscard]] const std::vector<ParticleView>& declared() const noexcept
  {
    return this->declared_;
  }
  /// Gives all parts the attributes in `schema`, in its order; fit(view, part) returns a part's
  /// view with them.
  template <class Fit>
  void adopt(const ParticleView& schema, const Fit& fit)
  {
    ParticleParts adopted(schema);
    for (std::size_t i = 0; i != this->parts().size(); ++i)
    {
      const Part& part = this->parts()[i];
      adopted.add(fit(part.view, i), part.rows, part.count);
    }
    ParticleParts::operator=(std::move(adopted));
  }

private:
  void add_piece(const Piece& piece);

  std::vector<std::vector<std::uint32_t>> rows_; ///< for parts that need them
  std::vector<ParticleView> declared_;
  std::uint64_t skipped_ = 0;
};
}
