#include "parallel/kept_nodes.hpp"

#include "bat/ranks.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bat::mpi
{
const Nodes& nodes_of(const OwnComm& comm)
{
  OwnComm::Kept& kept = comm.kept();
  if (!kept.more)
  {
    kept.more = new Nodes(comm);
    kept.free_more = [](void* nodes) { delete static_cast<Nodes*>(nodes); };
  }
  return *static_cast<const Nodes*>(kept.more);
}

int threads_per_rank(MPI_Comm comm)
{
  return threads_per_rank(OwnComm(comm));
}

int threads_per_rank(const OwnComm& comm)
{
  MPI_Comm const node = nodes_of(comm).comm();
  const int ranks = nodes_of(comm).size();
  cpu_set_t mine;
  CPU_ZERO(&mine);
  (void)::sched_getaffinity(0, sizeof(mine), &mine);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, node);
  // A processor that several ranks may use counts for its share.
  double share = 0;
  for (int cpu = 0; cpu != CPU_SETSIZE; ++cpu)
  {
    if (CPU_ISSET(cpu, &mine))
    {
      share += 1.0 /
        static_cast<double>(std::count_if(all.begin(), all.end(),
          [cpu](const cpu_set_t& set) { return CPU_ISSET(cpu, &set) != 0; }));
    }
  }
  return std::max(1, static_cast<int>(std::floor(share + 1e-9)));
}
}
