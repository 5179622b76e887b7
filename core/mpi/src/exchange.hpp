// Moves particles to the ranks that aggregate them.
#pragma once

#include "bat/particles.hpp"
#include "bat/plan.hpp"
#include "comm.hpp"
#include "large_array.hpp"
#include "rank_particles.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bat::mpi
{
/// The particles of a leaf file, on its aggregator.
struct AggregatedLeaf
{
  std::uint32_t leaf = 0;
  build::ParticleParts particles;             ///< in `columns`, and in this rank's own arrays
  std::vector<LargeArray<std::byte>> columns; ///< positions, then attributes
};

struct ExchangeResult
{
  std::vector<AggregatedLeaf> leaves; ///< of this rank, ascending
  std::vector<std::uint32_t> rows;    ///< of own arrays that leaves refer to
  std::uint64_t sent_bytes = 0;       ///< to other ranks
};

/// Where a rank's particles go.
struct LeafAssignment
{
  std::uint32_t leaf = 0;          ///< of all
  std::vector<std::uint32_t> each; ///< of each; empty if all are known to go to the same
};

/// `bounds`: around all particles, if none has a coordinate that is not finite.
[[nodiscard]] LeafAssignment assign_leaves(
  const RankParticles& particles, const std::optional<Box>& bounds, const Plan& plan, int rank);

/// Collective. Schemas are agreed. Particles of a leaf come ordered by rank, then as the rank had
/// them; own ones stay where they are, unless few of what lies between them is of the leaf.
/// `aggregators` ascend. Throws on all ranks. Messages have at most `message_bytes` bytes
/// (and fewer than 2^31), or one particle.
[[nodiscard]] ExchangeResult exchange(const OwnComm& comm, const RankParticles& particles,
  const LeafAssignment& assignment, std::uint32_t leaf_count,
  const std::vector<std::uint32_t>& aggregators,
  std::size_t message_bytes = std::size_t{ 1 } << 21);
}
