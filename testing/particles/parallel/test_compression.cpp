// SPDX-License-Identifier: BSD-3-Clause
// Compressed datasets of many ranks: bounds that all leaf files share, bytes, and restored values.
#include "codec/snap.hpp"
#include "particles/parallel/mpi_support.hpp"
#include "particles/tree/file_impl.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace
{
using bat::format::SectionKind;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::rows;
using mpi_test::SharedDir;

constexpr std::uint64_t kParticles = 8000;
constexpr double kPositionBound = 0.001 * 16; // relative to the longest side
constexpr double kHeatBound = 0.01 * 8;

// Sides of 16, 8 and 4, and heat from 0 to 8, so that relative bounds are known. A single leaf file
// has smaller ranges, and some heat values are NaN.
clouds::Cloud make_cloud()
{
  clouds::Random random(3);
  std::vector<float> positions;
  std::vector<double> heat;
  for (std::uint64_t i = 0; i != kParticles; ++i)
  {
    const double corner = i == 0 ? 0.0 : i == 1 ? 1.0 : -1.0;
    const auto x = [&] { return corner >= 0 ? corner : clouds::unit(random); };
    for (const double side : { 16.0, 8.0, 4.0 })
    {
      positions.push_back(static_cast<float>(side * x()));
    }
    const double hot = corner >= 0 ? 8 * corner : positions[3 * i] / 2;
    heat.push_back(i % 97 == 5 ? std::numeric_limits<double>::quiet_NaN() : hot);
  }
  clouds::Cloud cloud;
  cloud.set_positions(positions);
  cloud.add("id", bat::ScalarType::Int64,
    clouds::shuffled_ids(kParticles, random, std::int64_t{ 1 } << 60));
  cloud.add("heat", bat::ScalarType::Float64, heat);
  cloud.add("same", bat::ScalarType::UInt16, std::vector<std::uint16_t>(kParticles, 7));
  return cloud;
}

// Returns the particles as they are stored.
clouds::Cloud snapped(clouds::Cloud cloud)
{
  bat::codec::snap(
    { bat::ScalarType::Float32, 3 }, kPositionBound, cloud.positions.data(), cloud.count);
  bat::codec::snap(
    { bat::ScalarType::Float64, 1 }, kHeatBound, cloud.columns[1].bytes.data(), cloud.count);
  return cloud;
}

bat::mpi::WriteOptions parse_options(std::uint64_t target)
{
  bat::mpi::WriteOptions options;
  options.target_bytes = target;
  options.build.compression = bat::Compression::Bounded;
  options.build.error_bounds = { "positions=0.1%", "heat=1%" };
  options.build.chunk_particles = 256;
  options.build.sorted_indexes = { "id" };
  return options;
}

// Consecutive particles of `all`, in the order of the ranks of a communicator.
clouds::Cloud share(const clouds::Cloud& all, int rank, int ranks)
{
  return mpi_test::subset(all,
    [&](std::uint64_t i)
    { return static_cast<int>(i * static_cast<std::uint64_t>(ranks) / all.count) == rank; });
}

TEST(Compression, one_leaf_file_has_the_same_bytes_from_any_number_of_ranks)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud();
  std::vector<std::byte> expected;
  for (const int writers : { 1, 2, 4 })
  {
    MPI_Comm comm = MPI_COMM_NULL;
    const bool writes = writers <= ranks() && rank() < writers;
    MPI_Comm_split(MPI_COMM_WORLD, writes ? 0 : MPI_UNDEFINED, rank(), &comm);
    if (!writes)
    {
      continue;
    }
    const auto path = folder / ("by" + std::to_string(writers) + ".bat");
    const clouds::Cloud local = share(all, rank(), writers);
    const auto report =
      bat::mpi::write_dataset(comm, path, local.view(), parse_options(std::uint64_t{ 1 } << 40));
    EXPECT_EQ(report.leaf_files, 1U);
    if (rank() == 0)
    {
      const std::vector<std::byte> bytes = read_bytes(path);
      expected = writers == 1 ? bytes : expected;
      EXPECT_TRUE(bytes == expected) << writers << " ranks";
    }
    MPI_Comm_free(&comm);
  }
}

TEST(Compression, leaf_files_share_bounds_and_give_back_what_is_within_them)
{
  const SharedDir folder;
  const auto path = folder / "out.bat";
  const clouds::Cloud all = snapped(make_cloud());
  const clouds::Cloud local = mpi_test::subset(make_cloud(),
    [](std::uint64_t i)
    { return static_cast<int>(i % static_cast<std::uint64_t>(ranks())) == rank(); });
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, local.view(), parse_options(60000));
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
  EXPECT_GE(dataset.leaves().size(), 3U);
  for (const bat::LeafInfo& leaf : dataset.leaves())
  {
    const bat::File file = bat::File::open(leaf.path);
    EXPECT_NO_THROW(bat::validate(file));
    EXPECT_TRUE(file.attributes()[file.attribute_index("id")].keys[0].has_sorted_index);
    const auto& positions = file.impl().column(SectionKind::Positions);
    const auto& heat = file.impl().column(
      SectionKind::Attribute, static_cast<std::uint32_t>(file.attribute_index("heat")));
    ASSERT_TRUE(positions.has_chunks() && heat.has_chunks());
    EXPECT_DOUBLE_EQ(positions.chunks().bound(), kPositionBound);
    EXPECT_DOUBLE_EQ(heat.chunks().bound(), kHeatBound);
  }
  EXPECT_TRUE(rows(mpi_test::read_alone(path).view()) == rows(all.view()));

  const auto* p = reinterpret_cast<const float*>(all.positions.data());
  const auto* heat = reinterpret_cast<const double*>(all.columns[1].bytes.data());
  clouds::Random random(static_cast<std::uint64_t>(rank()) + 1);
  for (int q = 0; q != 12; ++q)
  {
    bat::Query query;
    query.box.emplace();
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      // Ends coincide with a particle, so that its face decides.
      const auto a = static_cast<double>(p[3 * (random() % kParticles) + axis]);
      query.box->lower[axis] = a;
      query.box->upper[axis] = a + 4;
    }
    const double low = heat[2 + random() % 3];
    query.ranges.push_back({ "heat", {}, low, low + 4 });
    const clouds::Cloud expected = mpi_test::subset(all,
      [&](std::uint64_t i)
      {
        bool match = heat[i] >= low && heat[i] <= low + 4;
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          const auto x = static_cast<double>(p[3 * i + axis]);
          match = match && x >= query.box->lower[axis] && x <= query.box->upper[axis];
        }
        return match;
      });
    EXPECT_TRUE(rows(mpi_test::read_alone(path, query).view()) == rows(expected.view()));
  }
  std::vector<std::int64_t> ids(kParticles);
  std::memcpy(ids.data(), all.columns[0].bytes.data(), 8 * ids.size());
  bat::Query query;
  query.values = { { "id", {}, { ids[7], ids[4000], ids[kParticles - 1], std::int64_t{ -1 } } } };
  const clouds::Cloud expected = mpi_test::subset(
    all, [](std::uint64_t i) { return i == 7 || i == 4000 || i == kParticles - 1; });
  EXPECT_TRUE(rows(mpi_test::read_alone(path, query).view()) == rows(expected.view()));
  const auto combined = bat::mpi::read_particles(MPI_COMM_WORLD, dataset, query);
  EXPECT_EQ(combined.count, 3U);
}
}
