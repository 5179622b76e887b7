// SPDX-License-Identifier: BSD-3-Clause
// Makes all ranks continue together, or fail together.

#include "bat/ranks.hpp"

#include <fmt/format.h>

#include <climits>

namespace bat::mpi
{
void agree(MPI_Comm comm, const std::optional<Error>& local)
{
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int here = local ? rank : INT_MAX;
  int first = INT_MAX;
  MPI_Allreduce(&here, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == INT_MAX)
  {
    return;
  }
  // A fixed size that holds the longest Error text: no rank may fail to allocate another rank's
  // text.
  struct Message
  {
    int code;
    char text[8188];
  } message{};
  if (rank == first)
  {
    message.code = static_cast<int>(local->code());
    ranks == 1 ? fmt::format_to_n(message.text, sizeof(message.text) - 1, "{}", local->what())
               : fmt::format_to_n(
                   message.text, sizeof(message.text) - 1, "rank {}: {}", rank, local->what());
  }
  MPI_Bcast(&message, sizeof(message), MPI_BYTE, first, comm);
  throw Error(static_cast<ErrorCode>(message.code), message.text);
}
}
