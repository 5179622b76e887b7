// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in which each rank sends directly to every rank for which it has data.
#pragma once

#include "parallel/comm.hpp"
#include "parallel/leader_exchange.hpp"
#include "parallel/nodes.hpp"

#include <cstddef>

namespace bat::mpi
{
/// Maximum size of a parcel that is sent separately, in bytes.
inline constexpr std::size_t kMaxParcelBytes = std::size_t{ 2 } << 20;

/// Collective. Sends the mail of exchange_through_leaders() with each parcel in its own message,
/// four in transit at a time, those for the next rank first. Takes the memory of four parcels and
/// of the arriving one. Calls MPI on the calling thread only. All ranks throw. Returns this rank's
/// traffic.
NodeTraffic exchange_flat(const OwnComm& comm, const Nodes& nodes, Mail mail);

/// Collective. Uses the route that choose_route() finds for all ranks. All ranks throw.
NodeTraffic exchange_parcels(
  const OwnComm& comm, Nodes& nodes, Route requested, int leaders_per_node, Mail mail);
}
