// Memory that a step takes beside the simulation's own: core/insitu/INSITU.md, "Memory".
#include "bat/insitu.hpp"
#include "bat/parallel/mpi_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

namespace
{
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::SharedDir;

constexpr std::uint64_t kParticles = 600000; // per rank, of 68 bytes
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

  Simulation()
    : positions(3 * kParticles)
    , attributes(7, std::vector<double>(kParticles))
    , ghosts(kParticles)
  {
    clouds::Random random(static_cast<std::uint64_t>(rank()) + 1);
    for (std::uint64_t i = 0; i != kParticles; ++i)
    {
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        this->positions[3 * i + axis] = static_cast<float>(clouds::unit(random)) +
          (axis == 0 ? static_cast<float>(rank()) : 0.0f);
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

/// Peak over what there was before the step, over the bytes that this rank handed over; negative if
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
  // Each rank aggregates; one rank of all does.
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
}
