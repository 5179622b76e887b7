// SPDX-License-Identifier: BSD-3-Clause
// Writes a dataset and dies, or fills the disk, at a given point; see test_killed.py.
//
//   fault_writer PATH PARTICLES TARGET_BYTES SEED [FAULT]
//     --kill PHASE RANK       when that rank enters the phase
//     --kill-progress N       rank 0, at the Nth call of progress
//     --kill-rename N RANK    before the Nth file gets its name on that rank
//     --fill PHASE            rank 0 fills the disk when it enters the phase
//   Exit status 0, or 3 with "RANK<tab>CODE<tab>TEXT" from every rank; time of death in
//   PATH.killed.
//
//   fault_writer --check PATH PARTICLES SEED...
//     A line of JSON: "seed" whose particles the dataset holds, all of them and no others, and the
//     names of its "files". Exit status 1 if it is invalid, or matches no seed.
#include "bat/bat.hpp"
#include "bat/mpi.hpp"
#include "particles/parallel/mpi_support.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace
{
std::string stamp_file;
int die_at_rename = 0;
int renames = 0;

[[noreturn]] void die()
{
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  std::ofstream(stamp_file) << std::to_string(now.count()) << std::flush;
  ::kill(::getpid(), SIGKILL);
  std::abort();
}
}

// Replaces the C library's function for everything in this process.
extern "C" __attribute__((visibility("default"))) int rename(
  const char* from, const char* to) noexcept
{
  if (die_at_rename != 0 && ++renames == die_at_rename)
  {
    die();
  }
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace
{
clouds::Cloud make_cloud(std::uint64_t count, std::uint64_t seed)
{
  clouds::Random random(seed);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::uniform_positions<float>(count, random));
  cloud.add("id", bat::ScalarType::Int64,
    clouds::shuffled_ids(count, random, static_cast<std::int64_t>(seed) << 32));
  return cloud;
}

void fill_disk(const std::string& path)
{
  const int file = ::open((path + ".ballast").c_str(), O_WRONLY | O_CREAT, 0666);
  const std::vector<char> bytes(4096, 'x');
  while (::write(file, bytes.data(), bytes.size()) > 0)
  {
  }
  while (::write(file, bytes.data(), 1) > 0)
  {
  }
  ::close(file);
}

int check(const std::string& path, std::uint64_t particles, const std::vector<std::string>& seeds)
{
  bat::validate(path);
  const bat::Dataset dataset = bat::Dataset::open(path);
  const bat::DatasetSelection selection = dataset.select({});
  bat::mpi::Particles found;
  found.count = selection.count;
  found.position_type = dataset.position_type();
  found.positions.resize(12 * selection.count);
  dataset.read_positions(selection, found.positions.data());
  found.columns.push_back({ "id", bat::ScalarType::Int64, 1, {} });
  found.columns[0].values.resize(8 * selection.count);
  dataset.read_attribute(dataset.attribute_index("id"), selection, found.columns[0].values.data());
  const auto rows = mpi_test::rows(found.view());
  for (const std::string& seed : seeds)
  {
    if (rows == mpi_test::rows(make_cloud(particles, std::stoull(seed)).view()))
    {
      std::cout << R"({"seed": )" << seed << R"(, "files": [")" << path << '"';
      for (const bat::LeafInfo& leaf : dataset.leaves())
      {
        std::cout << ", \"" << leaf.path.string() << '"';
      }
      std::cout << "]}\n";
      return 0;
    }
  }
  std::cerr << path << ": " << selection.count << " particles of no seed\n";
  return 1;
}

// mpirun may mix the output of two ranks within a line.
void print_from_first_rank(const std::string& reported)
{
  std::array<char, 1024> local{};
  reported.copy(local.data(), local.size());
  std::vector<char> all(local.size() * static_cast<std::size_t>(mpi_test::ranks()));
  MPI_Gather(local.data(), static_cast<int>(local.size()), MPI_CHAR, all.data(),
    static_cast<int>(local.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  if (mpi_test::rank() == 0)
  {
    all.erase(std::remove(all.begin(), all.end(), '\0'), all.end());
    std::cout.write(all.data(), static_cast<std::streamsize>(all.size()));
  }
}

int write(const std::vector<std::string>& words)
{
  const std::string& path = words.at(0);
  const clouds::Cloud all = make_cloud(std::stoull(words.at(1)), std::stoull(words.at(3)));
  const int ranks = mpi_test::ranks();
  const int rank = mpi_test::rank();
  const clouds::Cloud local = mpi_test::subset(all,
    [&](std::uint64_t i) { return static_cast<int>(i % static_cast<unsigned>(ranks)) == rank; });
  stamp_file = path + ".killed";
  bat::mpi::WriteOptions options;
  options.target_bytes = std::stoull(words.at(2));
  const std::string fault = words.size() > 4 ? words[4] : "";
  const std::string where = words.size() > 5 ? words[5] : "";
  const int who = words.size() > 6 ? std::stoi(words[6]) : 0;
  int calls = 0;
  if (fault == "--kill-rename" && rank == who)
  {
    die_at_rename = std::stoi(where);
  }
  options.build.progress = [&](double)
  {
    if (fault == "--kill-progress" && ++calls == std::stoi(where))
    {
      die();
    }
    return true;
  };
  options.on_phase = [&](bat::mpi::Phase phase)
  {
    if (where != bat::mpi::name_of(phase) || rank != who)
    {
      return;
    }
    if (fault == "--kill")
    {
      die();
    }
    if (fault == "--fill")
    {
      fill_disk(path);
    }
  };
  std::string reported;
  try
  {
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, local.view(), options);
  }
  catch (const bat::Error& error)
  {
    reported = std::to_string(rank) + '\t' + std::to_string(static_cast<int>(error.code())) + '\t' +
      error.what() + '\n';
  }
  print_from_first_rank(reported);
  return reported.empty() ? 0 : 3;
}
}

int main(int argc, char** argv)
{
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() >= 3 && words[0] == "--check")
  {
    try
    {
      return check(words[1], std::stoull(words[2]), { words.begin() + 3, words.end() });
    }
    catch (const std::exception& error)
    {
      std::cerr << error.what() << '\n';
      return 1;
    }
  }
  MPI_Init(&argc, &argv);
  const int status = write(words);
  MPI_Finalize();
  return status;
}
