#include "agreement.hpp"

#include "bat/mpi.hpp"
#include "comm.hpp"

#include <fmt/format.h>

#include <array>
#include <climits>

namespace bat::mpi
{
void agree(MPI_Comm comm, const std::optional<Failure>& mine)
{
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int here = mine ? rank : INT_MAX;
  int first = INT_MAX;
  MPI_Allreduce(&here, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == INT_MAX)
  {
    return;
  }
  std::string text;
  std::array<int, 2> head{};
  if (rank == first)
  {
    text = ranks == 1 ? mine->text : fmt::format("rank {}: {}", rank, mine->text);
    head = { static_cast<int>(mine->code), static_cast<int>(text.size()) };
  }
  MPI_Bcast(head.data(), 2, MPI_INT, first, comm);
  text.resize(static_cast<std::size_t>(head[1]));
  MPI_Bcast(text.data(), head[1], MPI_CHAR, first, comm);
  throw Error(static_cast<ErrorCode>(head[0]), text);
}

void agree(MPI_Comm comm, const Error* mine)
{
  const OwnComm own(comm);
  agree(own.get(), mine ? std::optional<Failure>({ mine->code(), mine->what() }) : std::nullopt);
}
}
