// SPDX-License-Identifier: BSD-3-Clause
// Memory that a step takes in addition to the simulation's: core/insitu/INSITU.md, "Memory".
#include "bat/insitu.hpp"
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>

#include <sys/prctl.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <fstream>

namespace
{
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::SharedDir;

constexpr std::uint64_t kParticles = 600000; // per rank, of 68 bytes
constexpr std::uint64_t kFew = 200000;       // per rank, of a series
constexpr double kRowBytes = 68;

std::uint64_t bytes_of(const char* key)
{
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
  {
    if (word == key)
    {
      std::uint64_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes * 1024;
    }
  }
  return 0;
}

bool reset_peak()
{
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

/// Positions and seven attributes of a rank's slab of space.
struct Simulation
{
  std::vector<float> positions;
  std::vector<std::vector<double>> attributes;
  std::vector<std::uint8_t> ghosts;

  /// Slabs of length 1 follow each other; slabs as long as the number of ranks give all ranks
  /// particles everywhere.
  explicit Simulation(int length = 1)
    : positions(3 * kParticles)
    , attributes(7, std::vector<double>(kParticles))
    , ghosts(kParticles)
  {
    clouds::Random random(static_cast<std::uint64_t>(rank()) + 1);
    for (std::uint64_t i = 0; i != kParticles; ++i)
    {
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        this->positions[3 * i + axis] = static_cast<float>(clouds::unit(random)) *
            (axis == 0 ? static_cast<float>(length) : 1.0f) +
          (axis == 0 && length == 1 ? static_cast<float>(rank()) : 0.0f);
      }
      for (auto& values : this->attributes)
      {
        values[i] = clouds::unit(random);
      }
    }
  }

  /// Particles [begin, end).
  [[nodiscard]] bat::mpi::Piece piece(std::uint64_t begin, std::uint64_t end) const
  {
    bat::mpi::Piece piece;
    piece.particles.count = end - begin;
    piece.particles.positions =
      bat::ArrayView::packed(bat::ScalarType::Float32, 3, &this->positions[3 * begin]);
    for (std::size_t a = 0; a != this->attributes.size(); ++a)
    {
      piece.particles.attributes.push_back({ "a" + std::to_string(a),
        bat::ArrayView::packed(bat::ScalarType::Float64, 1, &this->attributes[a][begin]) });
    }
    return piece;
  }
};

/// Peak beyond the memory before the step, relative to the bytes that this rank passed; negative if
/// it cannot be measured.
double peak_ratio(const std::vector<bat::mpi::Piece>& pieces, const std::filesystem::path& path,
  std::uint64_t target_bytes)
{
  bat::mpi::WriteOptions options;
  options.target_bytes = target_bytes;
  options.build.threads = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const std::uint64_t before = bytes_of("VmRSS:");
  if (!reset_peak())
  {
    return -1;
  }
  bat::insitu::SeriesWriter writer(bat::insitu::FilePattern(path.string()), options);
  const auto files = writer.write(MPI_COMM_WORLD, 0, 0, { { "", pieces } });
  const std::uint64_t peak = bytes_of("VmHWM:");
  return static_cast<double>(peak - std::min(peak, before)) /
    (kRowBytes * static_cast<double>(kParticles));
}

TEST(Memory, stays_within_its_share_of_what_is_handed_over)
{
  const SharedDir folder;
  Simulation simulation;
  for (std::uint64_t i = 0; i != kParticles; ++i)
  {
    simulation.ghosts[i] = i % 10 == 0;
  }
  bat::mpi::Piece masked = simulation.piece(0, kParticles);
  masked.skip = bat::ArrayView::packed(bat::ScalarType::UInt8, 1, simulation.ghosts.data());
  const struct
  {
    const char* name;
    std::vector<bat::mpi::Piece> pieces;
  } cases[] = {
    { "one piece", { simulation.piece(0, kParticles) } },
    { "three pieces",
      { simulation.piece(0, 100000), simulation.piece(100000, 350000),
        simulation.piece(350000, kParticles) } },
    { "ghosts", { masked } },
  };
  // Either each rank aggregates, or one rank does.
  const auto own = static_cast<std::uint64_t>(kRowBytes) * kParticles;
  for (const auto& [name, pieces] : cases)
  {
    for (const bool all : { true, false })
    {
      const std::uint64_t target = all ? own : 2 * static_cast<std::uint64_t>(ranks()) * own;
      const double ratio = peak_ratio(pieces, folder / "memory.bat", target);
      if (ratio < 0)
      {
        GTEST_SKIP() << "the peak of the resident memory cannot be reset here";
      }
      std::vector<double> ratios(static_cast<std::size_t>(ranks()));
      MPI_Allgather(&ratio, 1, MPI_DOUBLE, ratios.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
      if (rank() == 0)
      {
        std::printf("%-12s %-18s", name, all ? "all aggregate" : "one aggregates");
        for (const double r : ratios)
        {
          std::printf(" %.2f", r);
        }
        std::printf("\n");
      }
      if (all)
      {
        EXPECT_LE(ratio, 2.2) << name;
      }
      else
      {
        std::sort(ratios.begin(), ratios.end());
        // The aggregator has the particles of all ranks.
        EXPECT_LE(ratios.back(), 2.2 * ranks()) << name;
        EXPECT_LE(ratios[ratios.size() - 2], 1.3) << name;
      }
    }
  }
}

std::uint64_t page_faults()
{
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt);
}

/// Pages are small while it lives, so that their number shows how many bytes are touched for the
/// first time.
class SmallPages
{
public:
  SmallPages() { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }
  SmallPages(const SmallPages&) = delete;
  SmallPages& operator=(const SmallPages&) = delete;
  ~SmallPages() { prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0); }
};

TEST(Memory, that_a_step_took_serves_the_next_ones)
{
  const SmallPages small_pages;
  const SharedDir folder;
  const Simulation slabs;
  const Simulation everywhere(ranks());
  const auto own = static_cast<std::uint64_t>(kRowBytes) * kFew;
  const struct
  {
    const char* name;
    const Simulation& simulation;
    std::uint64_t target_bytes;
  } cases[] = {
    { "each rank aggregates its own", slabs, own },
    { "one aggregates", slabs, 2 * static_cast<std::uint64_t>(ranks()) * own },
    { "all exchange", everywhere, own / 2 },
  };
  for (const auto& [name, simulation, target] : cases)
  {
    bat::mpi::WriteOptions options;
    options.target_bytes = target;
    options.build.threads = 1;
    options.build.flush = false;
    bat::insitu::SeriesWriter writer(
      bat::insitu::FilePattern((folder / name).string() + ".bat"), options);
    writer.keep_memory(std::uint64_t{ 1 } << 40);
    std::vector<std::uint64_t> faults;
    for (int step = 0; step != 4; ++step)
    {
      // Some particles come and go.
      const std::uint64_t count = kFew - 300 * static_cast<std::uint64_t>(step % 3);
      MPI_Barrier(MPI_COMM_WORLD);
      const std::uint64_t before = page_faults();
      writer.write(MPI_COMM_WORLD, step, step, { { "", { simulation.piece(0, count) } } });
      std::uint64_t here = page_faults() - before;
      std::uint64_t all = 0;
      MPI_Allreduce(&here, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
      faults.push_back(all);
    }
    if (rank() == 0)
    {
      std::printf("%-30s page faults:", name);
      for (const std::uint64_t f : faults)
      {
        std::printf(" %llu", static_cast<unsigned long long>(f));
      }
      std::printf("\n");
    }
    for (std::size_t step = 1; step != faults.size(); ++step)
    {
      // The first step leaves its memory in runs that do not fit the second one everywhere.
      const double share = step == 1 ? 0.4 : 0.2;
      EXPECT_LE(static_cast<double>(faults[step]), share * static_cast<double>(faults[0]))
        << name << ", step " << step;
    }
  }
}

TEST(Memory, that_is_kept_goes_back_when_the_simulation_wants_it)
{
  const SharedDir folder;
  const Simulation simulation;
  bat::mpi::WriteOptions options;
  options.target_bytes = static_cast<std::uint64_t>(kRowBytes) * kFew;
  options.build.threads = 1;
  options.build.flush = false;
  bat::insitu::SeriesWriter writer(bat::insitu::FilePattern((folder / "s.bat").string()), options);
  writer.keep_memory(std::uint64_t{ 1 } << 40);
  for (int step = 0; step != 2; ++step)
  {
    writer.write(MPI_COMM_WORLD, step, step, { { "", { simulation.piece(0, kFew) } } });
  }
  const std::uint64_t kept = bytes_of("VmRSS:");
  writer.keep_memory(0);
  const std::uint64_t without = bytes_of("VmRSS:");
  EXPECT_GE(static_cast<double>(kept - std::min(kept, without)), 24.0 * kFew);
  writer.write(MPI_COMM_WORLD, 2, 2, { { "", { simulation.piece(0, kFew) } } });
  const std::uint64_t after = bytes_of("VmRSS:");
  EXPECT_LE(static_cast<double>(after - std::min(after, without)), 8.0 * kFew);
}
}
