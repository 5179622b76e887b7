// The nodes of a communicator, found once.
#pragma once

#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"

namespace bat::mpi
{
/// Those of the machine; kept with the communicator. Collective the first time.
[[nodiscard]] const Nodes& nodes_of(const OwnComm& comm);

/// As that of bat/ranks.hpp, which makes an OwnComm.
[[nodiscard]] int threads_per_rank(const OwnComm& comm);
}
