// SPDX-License-Identifier: BSD-3-Clause
// Reads with one rank per leaf file, which answers the others.
#pragma once

#include "bat/mpi.hpp"
#include "parallel/comm.hpp"
#include "particles/parallel/rank_query.hpp"
#include "particles/parallel/read_plan.hpp"
#include "particles/parallel/run_report.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::mpi
{
/// The plan that all ranks agree on before an aggregated read.
struct AggregatedRead
{
  std::vector<ReadTask> tasks; ///< ascending leaves
  std::uint32_t rounds = 0;
  std::uint64_t memory_bytes = 0;
  std::size_t message_bytes = std::size_t{ 1 } << 21;       ///< maximum, or one particle
  std::uint64_t selection_bytes = std::uint64_t{ 1 } << 26; ///< more are found anew when sent
};

/// The costs of this rank.
struct AggregatedCost
{
  std::uint64_t opens = 0;
  double load = 0; ///< seconds
  double select = 0;
  double fetch = 0;
};

/// Collective. Fills in the empty answer `particles`. All ranks throw the same Error.
AggregatedCost read_aggregated(const OwnComm& comm, const RankQuery& query,
  const AggregatedRead& read, const ReadOptions& options, const QueryOptions& query_options,
  Particles& particles, MessageCounter& messages);
}
