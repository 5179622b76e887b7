// SPDX-License-Identifier: BSD-3-Clause
// Determines the leaf files to which a rank's particles go.
#pragma once

#include "bat/bytes.hpp"
#include "bat/plan.hpp"
#include "particles/parallel/rank_particles.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bat::mpi
{
/// One number per particle.
using Numbers = std::vector<std::uint32_t, UndefinedAllocator<std::uint32_t>>;

struct LeafAssignment
{
  std::uint32_t leaf = 0; ///< leaf of all particles
  Numbers each;           ///< leaf of each; empty if all go to the same
};

/// `bounds` contains all particles and is set only if all coordinates are finite. Not collective.
[[nodiscard]] LeafAssignment assign_leaves(
  const RankParticles& particles, const std::optional<Box>& bounds, const Plan& plan, int rank);

/// A rank's particles sorted by leaf; those of a leaf keep the rank's order.
struct LeafOrder
{
  Numbers order;                    ///< numbers of particles; empty: 0, 1, 2 and so on
  std::vector<std::uint64_t> first; ///< per leaf, and all
  [[nodiscard]] std::uint64_t count(std::size_t leaf) const
  {
    return this->first[leaf + 1] - this->first[leaf];
  }
};

/// Sorts a rank's particles by leaf file. Not collective.
[[nodiscard]] LeafOrder sort_by_leaf(
  const LeafAssignment& assignment, std::uint64_t particles, std::uint32_t leaf_count);
}
