// SPDX-License-Identifier: BSD-3-Clause
#include "communicator.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <limits>

namespace bat::catalyst
{
namespace
{
bool is_initialized() noexcept
{
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}

bool is_finalized() noexcept
{
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

// catalyst_finalize does not do this: the simulation may initialize Catalyst again, but MPI only
// once.
void finalize_at_exit()
{
  if (!is_finalized())
  {
    MPI_Finalize();
  }
}

// Checks a handle, which comes from a node and may be any number.
bool is_usable(MPI_Comm comm)
{
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int is_inter = 0;
  const bool is_valid =
    comm != MPI_COMM_NULL && MPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
  return is_valid && !is_inter;
}

MPI_Comm comm_of(std::optional<std::int64_t> fortran_handle)
{
  if (is_finalized())
  {
    throw Error(ErrorCode::InvalidArgument, "MPI is finalized: no more files can be written");
  }
  if (!is_initialized())
  {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
    std::atexit(&finalize_at_exit);
    return MPI_COMM_SELF;
  }
  if (!fortran_handle)
  {
    return MPI_COMM_WORLD;
  }
  const bool fits = *fortran_handle >= std::numeric_limits<MPI_Fint>::min() &&
    *fortran_handle <= std::numeric_limits<MPI_Fint>::max();
  const MPI_Comm comm = fits ? MPI_Comm_f2c(static_cast<MPI_Fint>(*fortran_handle)) : MPI_COMM_NULL;
  if (!is_usable(comm))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("catalyst/mpi_comm is {}, which is not a communicator of these ranks; use the "
                  "result of MPI_Comm_c2f, or a Fortran communicator",
        *fortran_handle));
  }
  return comm;
}
}

bool Communicator::can_be_used() noexcept
{
  return is_initialized() && !is_finalized();
}

std::string Communicator::library()
{
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int size = 0;
  MPI_Get_library_version(text.data(), &size); // may be called at any time
  return { text.data(), static_cast<std::size_t>(size) };
}

Communicator::Communicator(std::optional<std::int64_t> fortran_handle)
  : comm_(comm_of(fortran_handle))
{
  MPI_Comm_rank(this->comm_, &this->rank_);
  MPI_Comm_size(this->comm_, &this->ranks_);
}

std::string Communicator::prefix() const
{
  return this->ranks_ == 1 ? "" : fmt::format("rank {}: ", this->rank_);
}

int Communicator::greatest(int local) const
{
  int greatest = local;
  MPI_Allreduce(&local, &greatest, 1, MPI_INT, MPI_MAX, this->comm_);
  return greatest;
}

std::vector<double> Communicator::minimum(std::vector<double> local) const
{
  MPI_Allreduce(
    MPI_IN_PLACE, local.data(), static_cast<int>(local.size()), MPI_DOUBLE, MPI_MIN, this->comm_);
  return local;
}

void Communicator::abort(int status) const
{
  if (can_be_used())
  {
    MPI_Barrier(this->comm_); // or another rank ends rank 0 before it has said why
    MPI_Abort(this->comm_, status);
  }
  std::abort();
}
}
