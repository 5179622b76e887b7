// SPDX-License-Identifier: BSD-3-Clause
// Agreement among the ranks of a communicator before and after a collective call.
#pragma once

#include "bat/error.hpp"

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bat::mpi
{
/// Collective. Returns on all ranks, or throws on all ranks the error of the first rank that has
/// one.
void agree(MPI_Comm comm, const std::optional<Error>& local);

/// Collective. Calls f on this rank, then agrees on the result. For work that each rank does
/// separately before a collective call.
template <class F>
void collective(MPI_Comm comm, F&& f)
{
  agree(comm, attempt(std::forward<F>(f)));
}

/// Collective. Returns the names of all ranks, each once, in order of the first rank with it.
[[nodiscard]] std::vector<std::string> gather_names(
  MPI_Comm comm, const std::vector<std::string>& names);

/// Collective. Unless all ranks have the same `value`, throws Error{InvalidArgument} on all ranks,
/// naming `what` and two differing values.
void require_same(MPI_Comm comm, std::int64_t value, const std::string& what);
/// The same for names, in any order.
void require_same(MPI_Comm comm, std::vector<std::string> names, const std::string& what);

/// Collective over `comm`. Returns the number of processors that this rank can use without taking
/// them from ranks on the same node, at least 1.
[[nodiscard]] int threads_per_rank(MPI_Comm comm);
}
