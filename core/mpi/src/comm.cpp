#include "comm.hpp"

#include "bat/error.hpp"
#include "bat/mpi.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>

namespace bat::mpi
{
OwnComm::OwnComm(MPI_Comm comm)
{
  int running = 0;
  int finished = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&finished);
  if (!running || finished)
  {
    throw Error(ErrorCode::InvalidArgument,
      running ? "MPI was finalized before this call" : "MPI is not initialized");
  }
  if (comm == MPI_COMM_NULL)
  {
    throw Error(ErrorCode::InvalidArgument, "the communicator is MPI_COMM_NULL");
  }
  MPI_Comm_dup(comm, &this->comm_);
  MPI_Comm_rank(this->comm_, &this->rank_);
  MPI_Comm_size(this->comm_, &this->size_);
}

OwnComm::~OwnComm()
{
  MPI_Comm_free(&this->comm_);
}

RecordType::RecordType(std::size_t bytes)
{
  MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &this->type_);
  MPI_Type_commit(&this->type_);
}

RecordType::~RecordType()
{
  MPI_Type_free(&this->type_);
}

void broadcast_text(const OwnComm& comm, std::string& text, int root)
{
  std::uint64_t size = text.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, root, comm.get());
  text.resize(size);
  MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, root, comm.get());
}

int threads_per_rank(MPI_Comm comm)
{
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks = 1;
  MPI_Comm_size(node, &ranks);
  cpu_set_t mine;
  CPU_ZERO(&mine);
  (void)::sched_getaffinity(0, sizeof(mine), &mine);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, node);
  MPI_Comm_free(&node);
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
