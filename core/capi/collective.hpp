// SPDX-License-Identifier: BSD-3-Clause
// Runs collective calls, which end with the same status and text on all ranks.
#pragma once

#include "capi/status.hpp"

#include <mpi.h>

#include <optional>
#include <utility>

namespace bat::capi
{
/// Throws Error{InvalidArgument} if MPI does not run or `comm` is null.
void check_comm(MPI_Comm comm);

/// Collective. Returns the status and text of the lowest rank that failed; BAT_OK if none did.
int agree(MPI_Comm comm, int status) noexcept;
int agree(MPI_Comm comm, const std::optional<Error>& local) noexcept;

/// Collective. Calls f on this rank, then agrees on the result. A rank without MPI fails alone.
template <class F>
int collective(MPI_Comm comm, F&& f) noexcept
{
  if (const int status = guard([&] { check_comm(comm); }))
  {
    return status;
  }
  return agree(comm, attempt(std::forward<F>(f)));
}
}
