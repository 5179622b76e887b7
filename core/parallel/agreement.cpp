#include "parallel/agreement.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <climits>
#include <exception>
#include <new>
#include <system_error>

namespace bat::mpi
{
Failure current_failure()
{
  try
  {
    throw;
  }
  catch (const Error& e)
  {
    return { e.code(), e.what() };
  }
  catch (const std::bad_alloc&)
  {
    return { ErrorCode::OutOfMemory, "out of memory" };
  }
  catch (const std::system_error& e) // of std::filesystem
  {
    const bool full = e.code() == std::errc::no_space_on_device ||
      e.code() == std::errc::file_too_large ||
      e.code() == std::error_code(EDQUOT, std::generic_category());
    return { full ? ErrorCode::NoSpace : ErrorCode::WriteFailed, e.what() };
  }
  catch (const std::exception& e)
  {
    return { ErrorCode::InvalidArgument, e.what() };
  }
  catch (...)
  {
    return { ErrorCode::InvalidArgument, "something that is no std::exception was thrown" };
  }
}

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
}
