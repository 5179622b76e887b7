// SPDX-License-Identifier: BSD-3-Clause
// Particles of a rank that lie in several places, some of them left out.
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

namespace
{
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::rows;
using mpi_test::SharedDir;

clouds::Cloud make_cloud(std::uint64_t count, std::uint64_t seed)
{
  clouds::Random random(seed);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::uniform_positions<double>(count, random));
  cloud.add("id", bat::ScalarType::Int64,
    clouds::shuffled_ids(count, random, static_cast<std::int64_t>(seed << 40)));
  std::vector<float> velocity(3 * count);
  std::iota(velocity.begin(), velocity.end(), 0.5f);
  cloud.add("velocity", bat::ScalarType::Float32, velocity, 3);
  return cloud;
}

bat::mpi::Piece skipping(const clouds::Cloud& cloud, const std::vector<std::uint8_t>& marks)
{
  bat::mpi::Piece piece{ cloud.view(), {} };
  piece.skip = bat::ArrayView::packed(bat::ScalarType::UInt8, 1, marks.data());
  return piece;
}

std::vector<std::string> rows_of_all_ranks(std::vector<std::string> local)
{
  std::string bytes;
  for (const std::string& row : local)
  {
    bytes += row;
  }
  const std::size_t width = local.empty() ? 0 : local[0].size();
  int size = static_cast<int>(bytes.size());
  std::vector<int> sizes(static_cast<std::size_t>(ranks()));
  MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> first(sizes.size(), 0);
  std::partial_sum(sizes.begin(), sizes.end() - 1, first.begin() + 1);
  std::string all(static_cast<std::size_t>(first.back() + sizes.back()), '\0');
  MPI_Allgatherv(
    bytes.data(), size, MPI_CHAR, all.data(), sizes.data(), first.data(), MPI_CHAR, MPI_COMM_WORLD);
  std::uint64_t maximum = width;
  MPI_Allreduce(MPI_IN_PLACE, &maximum, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  std::vector<std::string> result;
  for (std::size_t at = 0; at < all.size(); at += maximum)
  {
    result.push_back(all.substr(at, maximum));
  }
  std::sort(result.begin(), result.end());
  return result;
}

TEST(Pieces, all_of_them_are_written)
{
  const SharedDir folder;
  const auto path = folder / "out.bat";
  for (const bat::PlanMode mode :
    { bat::PlanMode::Adaptive, bat::PlanMode::RankBorder, bat::PlanMode::Aug })
  {
    // None on rank 1, one on rank 0, three on the others, one of which is empty.
    const auto seed = static_cast<std::uint64_t>(rank());
    std::vector<clouds::Cloud> clouds;
    for (const std::uint64_t count : rank() == 0
        ? std::vector<std::uint64_t>{ 5000 }
        : (rank() == 1 ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{ 700, 0, 3000 }))
    {
      clouds.push_back(make_cloud(count, 10 * seed + clouds.size()));
    }
    std::vector<bat::mpi::Piece> pieces;
    std::vector<std::string> expected;
    for (const clouds::Cloud& cloud : clouds)
    {
      pieces.push_back({ cloud.view(), {} });
      const auto r = rows(cloud.view());
      expected.insert(expected.end(), r.begin(), r.end());
    }
    bat::mpi::WriteOptions options;
    options.mode = mode;
    options.target_bytes = 100000;
    const auto report = bat::mpi::write_pieces(MPI_COMM_WORLD, path, pieces, options);
    expected = rows_of_all_ranks(expected);
    EXPECT_EQ(report.particles, expected.size());
    EXPECT_EQ(report.skipped, 0u);
    EXPECT_TRUE(rows(mpi_test::read_alone(path).view()) == expected);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Names and types of a file's attributes, in order.
std::vector<std::string> columns_in(const std::filesystem::path& path)
{
  const bat::Dataset dataset = bat::Dataset::open(path);
  bat::validate(path);
  std::vector<std::string> columns{ std::string(bat::name_of(dataset.position_type())) };
  for (const bat::Attribute& a : dataset.attributes())
  {
    columns.push_back(a.name + " " + std::string(bat::name_of(a.type)) + "[" +
      std::to_string(a.components) + "]" + (a.alias ? " alias" : ""));
  }
  return columns;
}

bat::mpi::Piece nothing_with(bat::ScalarType positions, std::vector<bat::AttributeView> attributes)
{
  bat::mpi::Piece piece;
  piece.particles.positions = bat::ArrayView::packed(positions, 3, nullptr);
  piece.particles.attributes = std::move(attributes);
  return piece;
}

bat::AttributeView declared(const std::string& name, bat::ScalarType type, int components = 1)
{
  return { name, bat::ArrayView::packed(type, components, nullptr) };
}

// Only the last rank declares attributes, in two pieces; another piece has only ghosts.
TEST(Pieces, columns_that_any_rank_declares_are_kept_without_particles)
{
  using bat::ScalarType;
  const SharedDir folder;
  const auto path = folder / "out.bat";
  const bool is_last = rank() == ranks() - 1;
  std::vector<bat::mpi::Piece> pieces;
  if (is_last)
  {
    pieces = { nothing_with(ScalarType::Float64, {}),
      nothing_with(ScalarType::Float32, { declared("id", ScalarType::Int64) }),
      nothing_with(ScalarType::Float32,
        { declared("velocity", ScalarType::Float32, 3), declared("id", ScalarType::Int64) }) };
  }
  bat::mpi::WriteOptions options;
  options.build.sorted_indexes = { "id", "unknown" };
  options.build.stable_samples = { "id" };
  options.build.compression = bat::Compression::Lossless;
  bat::mpi::write_pieces(MPI_COMM_WORLD, path, pieces, options);
  EXPECT_EQ(columns_in(path),
    (std::vector<std::string>{ "float32", "id int64[1]", "velocity float32[3]" }));
  EXPECT_EQ(bat::Dataset::open(path).stable_samples(), std::vector<std::string>{ "id" });
  MPI_Barrier(MPI_COMM_WORLD);
  // Particles take precedence over declarations.
  const clouds::Cloud cloud = make_cloud(10, 1);
  pieces = { nothing_with(ScalarType::Float32, { declared("id", ScalarType::Int8) }) };
  if (is_last)
  {
    pieces.push_back({ cloud.view(), {} });
  }
  bat::mpi::write_pieces(MPI_COMM_WORLD, path, pieces);
  EXPECT_EQ(columns_in(path),
    (std::vector<std::string>{ "float64", "id int64[1]", "velocity float32[3]" }));
  MPI_Barrier(MPI_COMM_WORLD);
  // All of them are ghosts.
  const std::vector<std::uint8_t> marks(10, 1);
  pieces = {};
  if (is_last)
  {
    pieces = { skipping(cloud, marks) };
  }
  EXPECT_EQ(bat::mpi::write_pieces(MPI_COMM_WORLD, path, pieces).particles, 0U);
  EXPECT_EQ(columns_in(path),
    (std::vector<std::string>{ "float64", "id int64[1]", "velocity float32[3]" }));
}

TEST(Pieces, columns_of_nothing_that_contradict_each_other_are_refused)
{
  using bat::ScalarType;
  const SharedDir folder;
  const auto path = folder / "out.bat";
  const auto error = [&](const bat::mpi::Piece& first, const bat::mpi::Piece& last)
  {
    std::vector<bat::mpi::Piece> pieces;
    if (rank() == 0)
    {
      pieces.push_back(first);
    }
    if (rank() == ranks() - 1)
    {
      pieces.push_back(last);
    }
    return mpi_test::error_of([&] { bat::mpi::write_pieces(MPI_COMM_WORLD, path, pieces); });
  };
  const std::string where =
    ranks() == 1 ? "in another piece there" : "on rank " + std::to_string(ranks() - 1);
  const auto with_id = [](ScalarType type)
  { return nothing_with(ScalarType::Float32, { declared("id", type) }); };
  EXPECT_EQ(error(with_id(ScalarType::Int64), with_id(ScalarType::Float64)),
    "attribute 'id' is 1 x int64 on rank 0 and 1 x float64 " + where + "; all ranks must agree");
  EXPECT_EQ(error(with_id(ScalarType::Int64),
              nothing_with(ScalarType::Float64, { declared("id", ScalarType::Int64) })),
    "positions are float32 on rank 0 and float64 " + where + "; all ranks must agree");
  bat::mpi::Piece alias = nothing_with(ScalarType::Float32, {});
  alias.particles.aliases = { { "id", "", 2 } };
  EXPECT_EQ(error(with_id(ScalarType::Int64), alias),
    "attribute 'id' is 1 x int64 on rank 0 and an alias of component 2 of the positions " + where +
      "; all ranks must agree");
  EXPECT_FALSE(std::filesystem::exists(path));
}

// Flags of the particles to skip, by position, so that runs, holes and nothing at all are left.
TEST(Pieces, skipped_particles_are_not)
{
  const SharedDir folder;
  const auto path = folder / "out.bat";
  const auto seed = static_cast<std::uint64_t>(rank());
  const std::uint64_t count = 3000;
  const std::vector<std::function<bool(std::uint64_t)>> masks{
    [](std::uint64_t i) { return i >= 2900; },           // at the end
    [](std::uint64_t i) { return i < 100; },             // at the beginning
    [](std::uint64_t i) { return i < 50 || i >= 2000; }, // at both
    [](std::uint64_t i) { return i % 3 == 1; },          // everywhere
    [](std::uint64_t) { return true; },                  // all
    [](std::uint64_t) { return false; },                 // none
  };
  std::vector<clouds::Cloud> clouds;
  std::vector<std::vector<std::uint8_t>> marks;
  std::vector<std::string> expected;
  for (std::size_t m = 0; m != masks.size(); ++m)
  {
    clouds.push_back(make_cloud(count, 10 * seed + m));
    marks.emplace_back(count);
    for (std::uint64_t i = 0; i != count; ++i)
    {
      marks[m][i] = masks[m](i) ? static_cast<std::uint8_t>(1 + i % 2) : std::uint8_t{ 4 };
    }
    const auto kept =
      rows(mpi_test::subset(clouds[m], [&](std::uint64_t i) { return !masks[m](i); }).view());
    expected.insert(expected.end(), kept.begin(), kept.end());
  }
  std::vector<bat::mpi::Piece> pieces;
  for (std::size_t m = 0; m != masks.size(); ++m)
  {
    pieces.push_back(skipping(clouds[m], marks[m]));
    pieces.back().skip_bits = 3; // 4 flags nothing
  }
  bat::mpi::WriteOptions options;
  options.target_bytes = 100000;
  const auto report = bat::mpi::write_pieces(MPI_COMM_WORLD, path, pieces, options);
  const auto all = static_cast<std::uint64_t>(ranks()) * count * masks.size();
  expected = rows_of_all_ranks(expected);
  EXPECT_EQ(report.particles, expected.size());
  EXPECT_EQ(report.skipped, all - expected.size());
  EXPECT_TRUE(rows(mpi_test::read_alone(path).view()) == expected);
  EXPECT_NO_THROW(bat::validate(path));

  // Every piece alone, through every path it may take.
  for (std::size_t m = 0; m != masks.size(); ++m)
  {
    const auto alone = folder / ("alone" + std::to_string(m) + ".bat");
    (void)bat::mpi::write_pieces(MPI_COMM_WORLD, alone, { pieces[m] }, options);
    const auto kept = rows_of_all_ranks(
      rows(mpi_test::subset(clouds[m], [&](std::uint64_t i) { return !masks[m](i); }).view()));
    EXPECT_TRUE(rows(mpi_test::read_alone(alone).view()) == kept) << m;
  }
}

TEST(Pieces, wrong_ones_are_refused_on_all_ranks)
{
  const SharedDir folder;
  const clouds::Cloud cloud = make_cloud(100, 1);
  const clouds::Cloud other = mpi_test::subset(cloud, [](std::uint64_t i) { return i < 50; });
  const auto refusal = [&](const std::vector<bat::mpi::Piece>& of_last)
  {
    const std::vector<bat::mpi::Piece> good{ { cloud.view(), {} } };
    return mpi_test::error_of(
      [&]
      {
        (void)bat::mpi::write_pieces(
          MPI_COMM_WORLD, folder / "out.bat", rank() == ranks() - 1 ? of_last : good);
      });
  };
  bat::ParticleView lacking = other.view();
  lacking.attributes.pop_back();
  EXPECT_NE(refusal({ { cloud.view(), {} }, { lacking, {} } })
              .find("piece 1: attribute 'velocity' is missing"),
    std::string::npos);
  bat::ParticleView without = other.view();
  without.positions.component[1] = nullptr;
  EXPECT_NE(refusal({ { cloud.view(), {} }, { without, {} } })
              .find("piece 1: positions: component 1 has no data for 50 particles"),
    std::string::npos);
  bat::mpi::Piece piece{ cloud.view(), {} };
  const std::vector<double> doubles(100, 0);
  piece.skip = bat::ArrayView::packed(bat::ScalarType::Float64, 1, doubles.data());
  EXPECT_NE(
    refusal({ piece }).find("the mark of particles to skip is 1 x float64"), std::string::npos);
  piece.skip = bat::ArrayView::packed(bat::ScalarType::UInt8, 1, nullptr);
  EXPECT_NE(refusal({ piece }).find("has no data for 100 particles"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "out.bat"));
}

TEST(Names, union_is_in_order_of_ranks)
{
  const std::string local = "rank " + std::to_string(rank());
  std::vector<std::string> expected{ "common", "rank 0", "" };
  for (int r = 1; r != ranks(); ++r)
  {
    expected.push_back("rank " + std::to_string(r));
  }
  EXPECT_EQ(bat::mpi::gather_names(MPI_COMM_WORLD, { "common", local, "" }), expected);
  EXPECT_TRUE(bat::mpi::gather_names(MPI_COMM_WORLD, {}).empty());
}

TEST(Names, different_values_are_refused)
{
  EXPECT_EQ(mpi_test::error_of([] { bat::mpi::require_same(MPI_COMM_WORLD, 7, "the step"); }), "");
  const std::string error =
    mpi_test::error_of([] { bat::mpi::require_same(MPI_COMM_WORLD, rank(), "the step"); });
  EXPECT_EQ(
    error, ranks() == 1 ? "" : "rank 1: the step is 1 here and 0 on rank 0; all ranks must agree");
}
}
