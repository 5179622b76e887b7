// SPDX-License-Identifier: BSD-3-Clause
// Adds steps with constant velocities to a series, and dies at a given point; see
// check_killed_bricks.py. usage: [mpirun -np R] bricks_fault_writer alone|together FOLDER FIRST
// LAST VALUE [--progress RANK N | --rename N]
//   --progress RANK N    that rank, at its Nth call of progress, from 1 on
//   --rename N           rank 0, before its Nth rename or removal of a file, from 1 on

#include "bat/bricks/parallel.hpp"
#include "bat/error.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace
{
int die_at_rename = 0;
int renames = 0;

void count_rename(const std::string& path)
{
  const bool is_of_series = path.find("/flow_") != std::string::npos ||
    path.find("/flow.bricks.series") != std::string::npos;
  if (die_at_rename != 0 && is_of_series && ++renames == die_at_rename)
  {
    ::kill(::getpid(), SIGKILL);
  }
}
}

// Replaces the C library's function for everything in this process.
extern "C" __attribute__((visibility("default"))) int rename(
  const char* from, const char* to) noexcept
{
  count_rename(to);
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
extern "C" __attribute__((visibility("default"))) int remove(const char* path) noexcept
{
  count_rename(path);
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int main(int argc, char** argv)
{
  if (argc < 6)
  {
    std::fprintf(stderr, "usage: see the source\n");
    return 2;
  }
  const bool collective = std::string(argv[1]) == "together";
  int rank = 0;
  int ranks = 1;
  if (collective)
  {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  ++argv;
  --argc;
  const std::filesystem::path folder = argv[1];
  bat::bricks::Header header;
  header.grid.edge = 4;
  const float value = std::strtof(argv[4], nullptr);
  // Several pages of index, so that there are rounds in which all ranks encode.
  constexpr std::int64_t kLength = 260;
  constexpr std::int64_t kSide = 12;
  bat::bricks::Piece piece;
  piece.box = { { kLength * rank / ranks, 0, 0 },
    { kLength * (rank + 1) / ranks - 1, kSide - 1, kSide - 1 } };
  const std::vector<float> values(3 * kLength * kSide * kSide, value);
  piece.values = values.data();
  bat::bricks::WriteOptions options;
  const std::string fault = argc > 5 ? argv[5] : "";
  int calls = 0;
  if (fault == "--progress" && rank == std::atoi(argv[6]))
  {
    options.progress = [&](double)
    {
      if (++calls == std::atoi(argv[7]))
      {
        ::kill(::getpid(), SIGKILL);
      }
      return true;
    };
  }
  else if (fault == "--rename" && rank == 0)
  {
    die_at_rename = std::atoi(argv[6]);
  }
  bat::bricks::GrowingSeries series(folder / "flow.bricks.series",
    [&](std::int64_t step, double)
    { return folder / ("flow_" + std::to_string(step) + ".bricks"); });
  try
  {
    for (std::int64_t step = std::atoi(argv[2]); step <= std::atoi(argv[3]); ++step)
    {
      header.step = step;
      header.time = 0.5 * static_cast<double>(step);
      if (collective)
      {
        bat::bricks::write_collective(MPI_COMM_WORLD, series, header, { piece }, options);
      }
      else
      {
        header.grid.points = { kLength, kSide, kSide };
        series.write(header, values.data(), values.size() * sizeof(float), options);
      }
    }
  }
  catch (const bat::Error& error)
  {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  if (collective)
  {
    MPI_Finalize();
  }
  return 0;
}
