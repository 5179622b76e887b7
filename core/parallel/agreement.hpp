// All ranks go on together, or fail together.
#pragma once

#include "bat/error.hpp"

#include <mpi.h>

#include <optional>
#include <string>
#include <utility>

namespace bat::mpi
{
/// What a rank has to say at the end of a phase.
struct Failure
{
  ErrorCode code = ErrorCode::InvalidArgument;
  std::string text;
};

/// What is being thrown, whatever it is. For use in a catch block.
[[nodiscard]] Failure current_failure();

/// Calls f; what it throws becomes a failure.
template <class F>
[[nodiscard]] std::optional<Failure> attempt(F&& f)
{
  try
  {
    f();
    return std::nullopt;
  }
  catch (...)
  {
    return current_failure();
  }
}

/// Collective. Returns if no rank failed; else throws the failure of the lowest failing rank on
/// all.
void agree(MPI_Comm comm, const std::optional<Failure>& mine);

/// Collective. Calls f on this rank, then agrees.
template <class F>
void together(MPI_Comm comm, F&& f)
{
  agree(comm, attempt(std::forward<F>(f)));
}
}
