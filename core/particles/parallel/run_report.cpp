// SPDX-License-Identifier: BSD-3-Clause
#include "particles/parallel/run_report.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace bat::mpi
{
namespace
{
std::uint64_t peak_memory()
{
  rusage used{};
  (void)::getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
}

std::uint64_t allowed_processors()
{
  cpu_set_t local;
  CPU_ZERO(&local);
  (void)::sched_getaffinity(0, sizeof(local), &local);
  return static_cast<std::uint64_t>(CPU_COUNT(&local));
}

// Advice for the node with the most idle processors, on all ranks.
std::string format_advice(const OwnComm& comm, int threads)
{
  const std::uint64_t allowed = allowed_processors();
  const auto there_are = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  std::uint64_t working = static_cast<std::uint64_t>(threads);
  MPI_Allreduce(MPI_IN_PLACE, &working, 1, MPI_UINT64_T, MPI_SUM, find_nodes(comm).comm());
  const bool bound = allowed < there_are && working < there_are;
  struct
  {
    double idle;
    int rank;
  } maximum{ bound ? static_cast<double>(there_are - working) : 0.0, comm.rank() };
  MPI_Allreduce(MPI_IN_PLACE, &maximum, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm.get());
  std::array<std::uint64_t, 3> numbers{ allowed, there_are, static_cast<std::uint64_t>(threads) };
  MPI_Bcast(numbers.data(), 3, MPI_UINT64_T, maximum.rank, comm.get());
  return maximum.idle == 0.0
    ? std::string()
    : fmt::format("rank {} may use {} of the {} processors of its node and used {} thread{}; if "
                  "mpirun bound it to them, use --bind-to none",
        maximum.rank, numbers[0], numbers[1], numbers[2], numbers[2] == 1 ? "" : "s");
}
}

void describe_run(const OwnComm& comm, const MessageCounter& messages, int threads, bool aggregates,
  RunReport& report)
{
  report.ranks = comm.size();
  report.nodes = static_cast<int>(messages.nodes().layout().node_count());
  const MessageCounts& local = messages.local();
  std::array<std::uint64_t, 5> sums{ local.within, local.bytes_within, local.between,
    local.bytes_between, aggregates ? 1u : 0u };
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 5, MPI_UINT64_T, MPI_SUM, comm.get());
  // The minimum of threads is negated, so that one reduction is enough.
  std::array<std::int64_t, 4> maximum{ static_cast<std::int64_t>(local.max_received),
    static_cast<std::int64_t>(local.max_received_bytes), static_cast<std::int64_t>(peak_memory()),
    -std::int64_t{ threads } };
  MPI_Allreduce(MPI_IN_PLACE, maximum.data(), 4, MPI_INT64_T, MPI_MAX, comm.get());
  report.messages = { sums[0], sums[1], sums[2], sums[3], static_cast<std::uint64_t>(maximum[0]),
    static_cast<std::uint64_t>(maximum[1]) };
  report.aggregators = static_cast<int>(sums[4]);
  report.peak_memory_bytes = static_cast<std::uint64_t>(maximum[2]);
  report.threads = static_cast<int>(-maximum[3]);
  report.advice = format_advice(comm, threads);
}
}
