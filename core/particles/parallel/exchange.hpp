// SPDX-License-Identifier: BSD-3-Clause
// Moves particles to the ranks that aggregate them.
#pragma once

#include "bat/particles.hpp"
#include "bat/routing.hpp"
#include "common/memory/large_array.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"
#include "particles/parallel/assignment.hpp"
#include "particles/parallel/rank_particles.hpp"
#include "particles/parallel/run_report.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::mpi
{
/// The particles of a leaf file, on its aggregator.
struct AggregatedLeaf
{
  std::uint32_t leaf = 0;
  write::ParticleParts particles;             ///< in `columns` and in this rank's own arrays
  std::vector<LargeArray<std::byte>> columns; ///< positions, then attributes
};

struct ExchangeResult
{
  std::vector<AggregatedLeaf> leaves; ///< this rank's leaves, ascending
  Numbers rows;                       ///< rows of own arrays to which leaves refer
  std::uint64_t sent_bytes = 0;       ///< bytes sent to other ranks
  Route route = Route::Flat;          ///< route taken
  std::uint32_t leaders = 0;          ///< leaders on all nodes; 0 for a flat exchange
  MessageCounter messages;            ///< all messages of this rank
};

/// Collective. Schemas have been agreed on. Particles of a leaf are ordered by rank, then in the
/// rank's order, whatever the route; own ones stay in place, unless few of the particles between
/// them belong to the leaf. All ranks throw the same Error. Messages have at most `message_bytes`
/// bytes (and fewer than 2^31), or one particle; for those of leaders see
/// exchange_through_leaders().
[[nodiscard]] ExchangeResult exchange(const OwnComm& comm, Nodes& nodes,
  const RankParticles& particles, const LeafAssignment& assignment, std::uint32_t leaf_count,
  const std::vector<std::uint32_t>& aggregators, const Routing& routing = {},
  std::size_t message_bytes = std::size_t{ 1 } << 21);
}
