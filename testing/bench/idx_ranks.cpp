// SPDX-License-Identifier: BSD-3-Clause
// Compares a collective grid write with one raw file per rank, alternately, from the same arrays.
// usage: mpirun -np R idx_ranks both|raw|idx FOLDER N FIELDS ROUNDS FLUSH(0|1) [CODEC [LAYOUT
// [DIALECT]]] prints per round "raw|idx WALL_SECONDS CPU_SECONDS BYTES MEMORY": all ranks together,
// and the maximum growth of a rank's memory so far, in bytes

#include "bat/error.hpp"
#include "bat/idx/parallel.hpp"
#include "bat/idx/write_options.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace
{
int rank_of_world()
{
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

double processor_seconds()
{
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double max_memory()
{
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

void measure(const char* name, const std::function<std::uint64_t()>& write)
{
  MPI_Barrier(MPI_COMM_WORLD);
  static const double before = max_memory();
  const double cpu = processor_seconds();
  const double begin = MPI_Wtime();
  std::uint64_t bytes = write();
  std::array<double, 2> local{ processor_seconds() - cpu, MPI_Wtime() - begin };
  double sum = 0;
  std::array<double, 2> maximum{};
  MPI_Reduce(&local[0], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  local[0] = max_memory() - before;
  MPI_Reduce(local.data(), maximum.data(), 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (rank_of_world() == 0)
  {
    std::printf("%s %.4f %.4f %llu %.0f\n", name, maximum[1], sum,
      static_cast<unsigned long long>(bytes), maximum[0]);
    std::fflush(stdout);
  }
}

void write_raw(const std::string& path, const bat::idx::Piece& piece, std::size_t bytes, bool flush)
{
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool is_well = file >= 0;
  for (const void* values : piece.values)
  {
    const char* at = static_cast<const char*>(values);
    for (std::size_t left = bytes; is_well && left != 0;)
    {
      const ssize_t done = ::write(file, at, left);
      is_well = done > 0;
      at += is_well ? done : 0;
      left -= is_well ? static_cast<std::size_t>(done) : 0;
    }
  }
  if (!is_well || (flush && ::fsync(file) != 0) || ::close(file) != 0)
  {
    std::perror(path.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

// Bricks: axes are halved cyclically, the last one first.
bat::idx::LogicalBox brick(std::int64_t n, int rank, int ranks)
{
  std::array<std::int64_t, 3> parts{ 1, 1, 1 };
  for (std::size_t axis = 2; ranks % 2 == 0; axis = (axis + 2) % 3, ranks /= 2)
  {
    parts[axis] *= 2;
  }
  parts[2] *= ranks;
  bat::idx::LogicalBox box;
  std::int64_t number = rank;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const std::int64_t i = number % parts[axis];
    number /= parts[axis];
    box.lower[axis] = n * i / parts[axis];
    box.upper[axis] = n * (i + 1) / parts[axis] - 1;
  }
  return box;
}

void run(int argc, char** argv)
{
  const std::string which = argv[1];
  const std::filesystem::path folder = argv[2];
  const std::int64_t n = std::atoll(argv[3]);
  const auto fields = static_cast<std::size_t>(std::atoi(argv[4]));
  const int rounds = std::atoi(argv[5]);
  bat::idx::WriteOptions options;
  options.flush = std::atoi(argv[6]) != 0;
  constexpr std::array<const char*, 3> kNames{ "codec", "layout", "dialect" };
  for (int i = 7; i < argc; ++i)
  {
    bat::idx::set_option(options, kNames[static_cast<std::size_t>(i - 7)], std::string(argv[i]));
  }
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bat::idx::GridPieces local;
  bat::idx::Piece piece;
  piece.box = brick(n, rank_of_world(), ranks);
  std::size_t samples = 1;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    samples *= static_cast<std::size_t>(piece.box.upper[axis] - piece.box.lower[axis] + 1);
  }
  std::vector<std::vector<float>> arrays(fields, std::vector<float>(samples));
  for (std::size_t f = 0; f != fields; ++f)
  {
    for (std::size_t i = 0; i != samples; ++i)
    {
      arrays[f][i] = static_cast<float>((i / 7 + 13 * f) % 1000); // compresses a little
    }
    local.fields.push_back({ "f" + std::to_string(f), bat::ScalarType::Float32, 1, nullptr });
    piece.values.push_back(arrays[f].data());
  }
  local.pieces.push_back(piece);
  for (int round = 0; round != rounds; ++round)
  {
    const std::filesystem::path own =
      folder / ("raw_" + std::to_string(rank_of_world()) + "_" + std::to_string(round));
    const std::string name = "n" + std::to_string(round);
    const auto raw = [&]
    {
      measure("raw",
        [&]
        {
          write_raw(own.string(), piece, samples * sizeof(float), options.flush);
          return static_cast<std::uint64_t>(n * n * n) * fields * sizeof(float);
        });
    };
    const auto grid = [&]
    {
      measure("idx",
        [&]
        {
          return bat::idx::write_collective(
            MPI_COMM_WORLD, folder / (name + ".idx"), local, options)
            .file_bytes;
        });
    };
    for (const bool is_raw : { round % 2 == 0, round % 2 != 0 })
    {
      if (which == "both" || (which == "raw") == is_raw)
      {
        is_raw ? raw() : grid();
      }
    }
    std::filesystem::remove(own);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of_world() == 0)
    {
      std::filesystem::remove_all(folder / name);
      std::filesystem::remove(folder / (name + ".idx"));
    }
  }
}
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  if (argc < 7 || argc > 10)
  {
    std::fprintf(stderr, "usage: see the source\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  try
  {
    run(argc, argv);
  }
  catch (const std::exception& error)
  {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
