// SPDX-License-Identifier: BSD-3-Clause
// Writes a grid whose samples all have one value, and dies at a given point; see
// check_killed_ranks.py. usage: mpirun -np R idx_fault_writer FILE.idx VALUE ROUTE STEP [--progress
// RANK N | --rename N]
//   --progress RANK N    that rank, at its Nth call of progress, from 1 on
//   --rename N           rank 0, before its Nth rename of a step's folder or of the text, from 1 on

#include "bat/error.hpp"
#include "bat/idx/parallel.hpp"
#include "bat/idx/write_options.hpp"

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

void count_rename(const std::string& to)
{
  const bool is_of_samples = to.size() > 4 && to.compare(to.size() - 4, 4, ".bin") == 0;
  if (die_at_rename != 0 && !is_of_samples && ++renames == die_at_rename)
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
extern "C" __attribute__((visibility("default"))) int renameat2(
  int from_folder, const char* from, int to_folder, const char* to, unsigned int flags) noexcept
{
  count_rename(to);
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 5)
  {
    std::fprintf(stderr, "usage: see the source\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  constexpr std::int64_t kSide = 36;
  bat::idx::GridPieces local;
  local.fields.push_back({ "p", bat::ScalarType::Float32, 1, nullptr });
  bat::idx::Piece piece;
  piece.box = { { 0, 0, kSide * rank / ranks },
    { kSide - 1, kSide - 1, kSide * (rank + 1) / ranks - 1 } };
  const std::vector<float> values(kSide * kSide * kSide, std::strtof(argv[2], nullptr));
  piece.values.push_back(values.data());
  local.pieces.push_back(piece);
  bat::idx::WriteOptions options;
  options.bits_per_block = 9;
  options.file_bytes = 15000;
  options.routing.ranks_per_node = 2;
  bat::idx::set_option(options, "exchange", std::string(argv[3]));
  options.step = std::atoi(argv[4]);
  options.mode = options.step == 0 ? bat::idx::WriteMode::Replace : bat::idx::WriteMode::AddStep;
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
  try
  {
    bat::idx::write_collective(MPI_COMM_WORLD, argv[1], local, options);
  }
  catch (const bat::Error& error)
  {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
