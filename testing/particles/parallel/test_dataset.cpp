// SPDX-License-Identifier: BSD-3-Clause
// Datasets written and read by many ranks. Every test runs on all ranks; the oracle is the whole
// cloud, which every rank generates.
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <numeric>

namespace
{
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::rows;
using mpi_test::SharedDir;

constexpr std::uint64_t kParticles = 30000;
constexpr std::uint64_t kTarget = 200000; // bytes: about 6 leaf files

// Clustered, with a sheet of equal coordinates, exact ids, a vector and a few NaN values.
clouds::Cloud make_cloud(std::uint64_t count = kParticles)
{
  clouds::Random random(7);
  std::vector<float> positions;
  std::vector<std::int64_t> ids;
  std::vector<double> heat;
  std::vector<float> velocity;
  for (std::uint64_t i = 0; i != count; ++i)
  {
    const double spread = i % 3 == 0 ? 1.0 : 0.01;
    for (int axis = 0; axis != 3; ++axis)
    {
      const double x = 0.5 + spread * clouds::normal(random);
      positions.push_back(i % 50 == 0 && axis == 2 ? 0.5f : static_cast<float>(x));
      velocity.push_back(static_cast<float>(clouds::normal(random)));
    }
    ids.push_back((std::int64_t{ 1 } << 60) + static_cast<std::int64_t>(i));
    heat.push_back(i % 997 == 0 ? std::numeric_limits<double>::quiet_NaN() : clouds::unit(random));
  }
  clouds::Cloud cloud;
  cloud.set_positions(positions);
  cloud.add("id", bat::ScalarType::Int64, ids);
  cloud.add("heat", bat::ScalarType::Float64, heat);
  cloud.add("velocity", bat::ScalarType::Float32, velocity, 3);
  return cloud;
}

// Rows of a file dealt out, so that every rank's box is the whole domain.
clouds::Cloud dealt(const clouds::Cloud& all)
{
  return mpi_test::subset(all,
    [](std::uint64_t i)
    { return static_cast<int>(i % static_cast<std::uint64_t>(ranks())) == rank(); });
}

bat::mpi::WriteOptions with_target(std::uint64_t target)
{
  bat::mpi::WriteOptions options;
  options.target_bytes = target;
  return options;
}

std::map<std::string, std::vector<std::byte>> files_of(const std::filesystem::path& path)
{
  std::map<std::string, std::vector<std::byte>> files{ { "top", read_bytes(path) } };
  const std::filesystem::path folder = path.string() + ".leaves";
  if (std::filesystem::exists(folder))
  {
    for (const std::string& name : names_in(folder))
    {
      files[name] = read_bytes(folder / name);
    }
  }
  return files;
}

bool overlap(const bat::Box& a, const bat::Box& b)
{
  bool inside = true;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    inside = inside && a.lower[axis] <= b.upper[axis] && b.lower[axis] <= a.upper[axis];
  }
  return inside;
}

TEST(Dataset, holds_what_all_ranks_gave)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud();
  const clouds::Cloud local = dealt(all);
  const auto path = folder / "out.bat";
  const bat::mpi::DatasetReport report =
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, local.view(), with_target(kTarget));
  EXPECT_EQ(report.particles, all.count);
  EXPECT_EQ(report.data_bytes, all.count * 40);
  EXPECT_GE(report.leaf_files, 5u);
  EXPECT_LE(static_cast<double>(report.largest_leaf_bytes),
    1.15 * static_cast<double>(report.data_bytes) / static_cast<double>(report.leaf_files));
  if (rank() == 0)
  {
    const bat::Dataset dataset = bat::Dataset::open(path);
    EXPECT_EQ(dataset.leaves().size(), report.leaf_files);
    EXPECT_EQ(dataset.file_bytes(), report.file_bytes);
    EXPECT_NO_THROW(bat::validate(path));
    EXPECT_EQ(rows(mpi_test::read_alone(path).view()), rows(all.view()));
    for (std::size_t i = 0; i != dataset.leaves().size(); ++i)
    {
      for (std::size_t j = 0; j != i; ++j)
      {
        EXPECT_FALSE(overlap(*dataset.leaves()[i].bounds, *dataset.leaves()[j].bounds));
      }
    }
  }
}

// Ranks that own slabs of space, the last one with `surplus` times the particles of the others.
clouds::Cloud slabs(int first, int end, double surplus, bool with_nan)
{
  std::vector<double> positions;
  std::vector<std::int64_t> ids;
  for (int slab = first; slab != end; ++slab)
  {
    clouds::Random random(static_cast<std::uint64_t>(slab) + 1);
    const auto count = static_cast<int>(1000 * (slab == ranks() - 1 ? surplus : 1.0));
    for (int i = 0; i != count; ++i)
    {
      positions.insert(positions.end(),
        { slab + 0.999 * clouds::unit(random), clouds::unit(random), clouds::unit(random) });
      ids.push_back(1000000 * slab + i);
    }
    if (with_nan)
    {
      positions[positions.size() - 2] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  clouds::Cloud cloud;
  cloud.set_positions(positions);
  cloud.add("id", bat::ScalarType::Int64, ids);
  return cloud;
}

TEST(Dataset, ranks_of_equal_numbers_move_nothing)
{
  const auto number = static_cast<std::uint64_t>(ranks());
  for (const double surplus : { 1.05, 2.0 })
  {
    for (const bool with_nan : { false, true })
    {
      const SharedDir folder;
      const auto path = folder / "out.bat";
      const clouds::Cloud all = slabs(0, ranks(), surplus, with_nan);
      const clouds::Cloud local = slabs(rank(), rank() + 1, surplus, with_nan);
      const bat::mpi::DatasetReport report = bat::mpi::write_dataset(
        MPI_COMM_WORLD, path, local.view(), with_target(all.count * 32 / number));
      EXPECT_EQ(report.leaf_files, number);
      EXPECT_EQ(report.particles, all.count);
      if (surplus < 1.08 && !with_nan)
      {
        EXPECT_EQ(report.moved_bytes, 0u);
      }
      else if (surplus > 1.08 && ranks() > 1)
      {
        EXPECT_GT(report.moved_bytes, 0u);
      }
      EXPECT_LE(static_cast<double>(report.largest_leaf_bytes),
        1.15 * static_cast<double>(report.data_bytes) / static_cast<double>(number));
      if (rank() == 0)
      {
        EXPECT_NO_THROW(bat::validate(path));
        EXPECT_EQ(rows(mpi_test::read_alone(path).view()), rows(all.view()));
      }
    }
  }
}

TEST(Dataset, same_ranks_same_bytes)
{
  const SharedDir folder;
  const clouds::Cloud local = dealt(make_cloud());
  bat::mpi::WriteOptions options = with_target(kTarget);
  bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "a", local.view(), options);
  options.build.threads = 2;
  bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "b", local.view(), options);
  if (rank() == 0)
  {
    auto a = files_of(folder / "a");
    auto b = files_of(folder / "b");
    a.erase("top"); // names its own folder
    b.erase("top");
    EXPECT_TRUE(a == b);
    EXPECT_GE(a.size(), 5u);
  }
}

TEST(Dataset, restarts_on_parts_and_on_boxes)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud();
  const auto path = folder / "out.bat";
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(all).view(), with_target(kTarget));
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
  // The dataset is as if written by 1 to 11 ranks.
  for (std::uint32_t parts : { 1u, 2u, 3u, 5u, 11u })
  {
    std::vector<std::string> combined;
    for (std::uint32_t part = 0; part != parts; ++part)
    {
      bat::Query query;
      query.part = part;
      query.parts = parts;
      const bat::mpi::Particles particles =
        bat::mpi::read_particles(MPI_COMM_WORLD, dataset, query);
      EXPECT_NEAR(
        static_cast<double>(particles.count), static_cast<double>(all.count) / parts, 1.0);
      const auto r = rows(particles.view());
      combined.insert(combined.end(), r.begin(), r.end());
    }
    std::sort(combined.begin(), combined.end());
    EXPECT_TRUE(combined == rows(all.view())) << parts << " parts";
  }
  // A tiling of space; exactly 0.5 is the coordinate of many particles.
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> cuts{ -inf, 0.49, 0.5, 0.51, inf };
  std::vector<std::string> combined;
  for (std::size_t z = 0; z + 1 != cuts.size(); ++z)
  {
    bat::Query query;
    query.box = bat::Box{ { -inf, -inf, cuts[z] }, { inf, inf, cuts[z + 1] } };
    query.half_open = true;
    const auto r = rows(bat::mpi::read_particles(MPI_COMM_WORLD, dataset, query).view());
    combined.insert(combined.end(), r.begin(), r.end());
  }
  std::sort(combined.begin(), combined.end());
  EXPECT_TRUE(combined == rows(all.view()));
}

TEST(Dataset, queries_equal_a_scan)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud();
  const auto path = folder / "out.bat";
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(all).view(), with_target(kTarget));
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
  clouds::Random random(static_cast<std::uint64_t>(rank()) + 1);
  const auto* p = reinterpret_cast<const float*>(all.positions.data());
  const auto* heat = reinterpret_cast<const double*>(all.columns[1].bytes.data());
  for (int q = 0; q != 40; ++q)
  {
    bat::Query query;
    bat::Box box;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const double a = 0.5 + 0.05 * clouds::normal(random);
      box.lower[axis] = a;
      box.upper[axis] = a + 0.1 * clouds::unit(random);
    }
    query.box = box;
    const double low = clouds::unit(random);
    query.ranges.push_back({ "heat", {}, low, low + 0.5 });
    const auto expected = rows(mpi_test::subset(all,
      [&](std::uint64_t i)
      {
        bool match = heat[i] >= low && heat[i] <= low + 0.5;
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          const auto x = static_cast<double>(p[3 * i + axis]);
          match = match && x >= box.lower[axis] && x <= box.upper[axis];
        }
        return match;
      }).view());
    const bat::DatasetSelection selection = dataset.select(query);
    ASSERT_EQ(selection.count, expected.size());
    ASSERT_GE(dataset.upper_bound(query), selection.count);
    ASSERT_TRUE(rows(mpi_test::read_alone(path, query).view()) == expected);
  }
  // Progressive steps: every particle once; a quality is accurate to one particle per leaf file.
  std::uint64_t sum = 0;
  double before = 0;
  for (const double quality : { 0.001, 0.01, 0.1, 0.35, 0.9, 1.0 })
  {
    bat::Query query;
    query.after_quality = before;
    query.quality = quality;
    sum += dataset.select(query).count;
    EXPECT_EQ(sum, dataset.particles_at(quality));
    EXPECT_NEAR(static_cast<double>(sum), quality * static_cast<double>(all.count),
      static_cast<double>(dataset.leaves().size()));
    before = quality;
  }
}

TEST(Dataset, empty_ranks)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud(3000);
  const auto path = folder / "out.bat";
  for (int owner : { 0, ranks() - 1 })
  {
    // The others do not know the attributes.
    const bat::ParticleView local = rank() == owner ? all.view() : bat::ParticleView{};
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, local, with_target(30000));
    if (rank() == 0)
    {
      EXPECT_NO_THROW(bat::validate(path));
      EXPECT_EQ(rows(mpi_test::read_alone(path).view()), rows(all.view()));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Dataset, aliases_are_what_repeats_on_all_ranks)
{
  const SharedDir folder;
  clouds::Cloud all = make_cloud();
  const auto floats = [](const std::vector<std::byte>& bytes)
  { return reinterpret_cast<const float*>(bytes.data()); };
  std::vector<float> y;
  std::vector<float> v;
  for (std::uint64_t i = 0; i != all.count; ++i)
  {
    y.push_back(floats(all.positions)[3 * i + 1]);
    v.push_back(floats(all.columns[2].bytes)[3 * i]);
  }
  all.add("y", bat::ScalarType::Float32, y);
  all.add("v", bat::ScalarType::Float32, v);
  all.columns.push_back(all.columns[0]);
  all.columns.back().name = "number";
  clouds::Cloud local = dealt(all);
  const auto path = folder / "out.bat";
  bat::mpi::WriteOptions options = with_target(kTarget);
  options.build.compare_values = true;
  const auto targets = [&](bat::Repeats repeats)
  {
    options.build.repeats = rank() == 0 ? repeats : bat::Repeats::Store; // rank 0 decides
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, local.view(), options);
    const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
    if (rank() == 0)
    {
      EXPECT_NO_THROW(bat::validate(dataset));
    }
    std::map<std::string, std::string> found;
    for (const bat::Attribute& a : dataset.attributes())
    {
      found[a.name] = a.alias ? bat::to_string(*a.alias, dataset.attributes()) : "";
    }
    bat::mpi::Particles particles =
      bat::mpi::read_particles(MPI_COMM_WORLD, dataset, {}, { "id", "heat", "velocity" });
    EXPECT_EQ(particles.count, all.count);
    return found;
  };
  using Targets = std::map<std::string, std::string>;
  EXPECT_EQ(targets(bat::Repeats::Link),
    (Targets{ { "id", "" }, { "heat", "" }, { "velocity", "" }, { "y", "position[1]" },
      { "v", "velocity[0]" }, { "number", "id" } }));
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
  EXPECT_GT(dataset.leaves().size(), 3u);
  bat::Query half;
  half.ranges = { { "y", {}, 0.4, 0.6 }, { "v", {}, -1.0, 0.5 } };
  half.part = static_cast<std::uint32_t>(rank());
  half.parts = static_cast<std::uint32_t>(ranks());
  const bat::mpi::Particles part = bat::mpi::read_particles(
    MPI_COMM_WORLD, dataset, half, { "id", "heat", "velocity", "y", "v", "number" });
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i != all.count; ++i)
  {
    const auto in = [](float x, double a, double b)
    { return a <= static_cast<double>(x) && static_cast<double>(x) <= b; };
    expected += in(y[i], 0.4, 0.6) && in(v[i], -1.0, 0.5);
  }
  std::uint64_t found = 0;
  MPI_Allreduce(&part.count, &found, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(found, expected);
  const std::vector<std::string> known = rows(all.view());
  for (const std::string& row : rows(part.view()))
  {
    ASSERT_TRUE(std::binary_search(known.begin(), known.end(), row));
  }

  EXPECT_EQ(
    targets(bat::Repeats::LeaveOut), (Targets{ { "id", "" }, { "heat", "" }, { "velocity", "" } }));
  // An array that differs on one rank is stored; a rank without particles does not count.
  if (rank() == ranks() - 1)
  {
    local.columns[3].bytes[0] ^= std::byte{ 1 };
  }
  EXPECT_EQ(targets(bat::Repeats::Link).at("y"), "");
  if (ranks() > 1)
  {
    local = rank() == 0 ? all : clouds::Cloud();
    EXPECT_EQ(targets(bat::Repeats::Link).at("y"), "position[1]");
  }
  bat::ParticleView nothing = all.view();
  nothing.count = 0;
  for (const bat::Repeats repeats : { bat::Repeats::Link, bat::Repeats::LeaveOut })
  {
    options.build.repeats = repeats;
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, nothing, options);
    const bat::Dataset empty = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
    EXPECT_EQ(empty.attribute_names().size(), all.columns.size());
  }
}

TEST(Dataset, aliases_that_differ_between_ranks_are_refused)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud(100);
  bat::ParticleView local = all.view();
  local.aliases = { { "height", "", rank() == ranks() - 1 ? 1 : 2 } };
  const std::string error =
    mpi_test::error_of([&] { bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "out.bat", local); });
  if (ranks() == 1)
  {
    EXPECT_EQ(error, "");
    return;
  }
  EXPECT_NE(error.find("alias 'height' is component 1 of the positions here and component 2 of the "
                       "positions on rank 0"),
    std::string::npos)
    << error;
}

TEST(Dataset, sorted_indexes)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud();
  const auto path = folder / "out.bat";
  bat::mpi::WriteOptions options = with_target(kTarget);
  // Rank 0 decides, and the others do not know the attributes.
  options.build.sorted_indexes = { rank() == 0 ? "id" : "nothing" };
  const bat::ParticleView local = rank() == 0 ? all.view() : bat::ParticleView{};
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, local, options);
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
  for (const bat::LeafInfo& leaf : dataset.leaves())
  {
    const bat::File file = bat::File::open(leaf.path);
    EXPECT_TRUE(file.attributes()[file.attribute_index("id")].keys[0].has_sorted_index);
    EXPECT_FALSE(file.attributes()[file.attribute_index("heat")].keys[0].has_sorted_index);
    bat::validate(file);
  }
  std::vector<std::int64_t> ids(all.count);
  std::memcpy(ids.data(), all.columns[0].bytes.data(), 8 * all.count);
  bat::Query query;
  query.values = { { "id", {}, { ids[7], ids[all.count - 1], ids[7], std::int64_t{ -1 } } } };
  const bat::mpi::Particles found = bat::mpi::read_particles(MPI_COMM_WORLD, dataset, query);
  EXPECT_EQ(found.count, 2u);
  EXPECT_EQ(dataset.select(query).tested, 0u);

  options.build.sorted_indexes = { rank() == 0 ? "nothing" : "id" };
  try
  {
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, local, options);
    ADD_FAILURE() << "a sorted index of an attribute that is not there";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), bat::ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(error.what()).find("'nothing'"), std::string::npos) << error.what();
  }
  options.build.sorted_indexes = { std::string("id\0heat", 7) };
  EXPECT_NE(
    mpi_test::error_of([&] { bat::mpi::write_dataset(MPI_COMM_WORLD, path, local, options); }), "");
  options.build.sorted_indexes = { "nothing" };
  // Without particles nothing can be looked up, and no rank knows the attributes.
  EXPECT_NO_THROW(bat::mpi::write_dataset(MPI_COMM_WORLD, path, bat::ParticleView{}, options));
}

TEST(Dataset, stable_samples)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud();
  const auto path = folder / "out.bat";
  bat::mpi::WriteOptions options = with_target(kTarget);
  options.build.stable_samples = { rank() == 0 ? "id" : "nothing" };
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(all).view(), options);
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
  EXPECT_EQ(dataset.stable_samples(), std::vector<std::string>{ "id" });
  bat::validate(dataset);
  bat::Query query;
  query.quality = 0.25;
  std::uint64_t expected = 0;
  for (const bat::LeafInfo& leaf : dataset.leaves())
  {
    expected += bat::File::open(leaf.path).particles_at(query.quality);
  }
  EXPECT_EQ(bat::mpi::read_particles(MPI_COMM_WORLD, dataset, query).count, expected);
  options.build.stable_samples = { "heat" };
  EXPECT_NE(mpi_test::error_of(
              [&] { bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(all).view(), options); })
              .find("only integer attributes are allowed"),
    std::string::npos);
  options.build.stable_samples = { "nothing" };
  EXPECT_NO_THROW(bat::mpi::write_dataset(MPI_COMM_WORLD, path, bat::ParticleView{}, options));
}

TEST(Dataset, options_that_do_not_fit_the_columns_are_errors_without_particles_too)
{
  const SharedDir folder;
  const clouds::Cloud none = mpi_test::subset(make_cloud(10), [](std::uint64_t) { return false; });
  const auto error = [&](std::vector<std::string> indexes, std::vector<std::string> samples)
  {
    bat::mpi::WriteOptions options;
    options.build.sorted_indexes = std::move(indexes);
    options.build.stable_samples = std::move(samples);
    return mpi_test::error_of(
      [&] { bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "out.bat", none.view(), options); });
  };
  EXPECT_EQ(error({ "nothing", "heat", "velocity[2]" }, { "nothing", "id" }), "");
  EXPECT_NE(error({ "velocity[3]" }, {}).find("allowed are components 0 to 2"), std::string::npos);
  EXPECT_NE(error({}, { "heat" }).find("only integer attributes are allowed"), std::string::npos);
}

TEST(Dataset, ranks_that_read_different_attributes_all_hear_of_it)
{
  const SharedDir folder;
  const auto path = folder / "out.bat";
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(make_cloud(1000)).view());
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
  const bool last = rank() == ranks() - 1;
  const auto error =
    [&](const std::vector<std::string>& others, const std::vector<std::string>& local)
  {
    return mpi_test::error_of(
      [&] { (void)bat::mpi::read_particles(MPI_COMM_WORLD, dataset, {}, last ? local : others); });
  };
  EXPECT_EQ(error({ "id", "heat" }, { "heat", "id" }), "");
  EXPECT_EQ(error({ "id", "heat", "velocity" }, {}), "");
  if (ranks() > 1)
  {
    EXPECT_EQ(error({ "id" }, { "id", "heat" }),
      "rank " + std::to_string(ranks() - 1) +
        ": the attributes to read are 'heat', 'id' here and 'id' on rank 0; all ranks must agree");
  }
}

TEST(Dataset, no_particles_at_all)
{
  const SharedDir folder;
  const auto path = folder / "out.bat";
  const clouds::Cloud none = mpi_test::subset(make_cloud(10), [](std::uint64_t) { return false; });
  const auto report =
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, rank() == 0 ? none.view() : bat::ParticleView{});
  EXPECT_EQ(report.particles, 0u);
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
  EXPECT_EQ(dataset.particle_count(), 0u);
  EXPECT_EQ(dataset.attribute_names(), (std::vector<std::string>{ "id", "heat", "velocity" }));
  EXPECT_EQ(bat::mpi::read_particles(MPI_COMM_WORLD, dataset, {}).count, 0u);
  // A column that later steps of a series have is empty here.
  EXPECT_TRUE(dataset.is_absent_when_empty("later"));
  EXPECT_FALSE(dataset.is_absent_when_empty("heat"));
  const bat::mpi::Particles both =
    bat::mpi::read_particles(MPI_COMM_WORLD, dataset, {}, { "later", "heat" });
  ASSERT_EQ(both.columns.size(), 1u);
  EXPECT_EQ(both.columns[0].name, "heat");
}

TEST(Dataset, rank_border_and_aug_keep_ranks_whole)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud();
  const auto path = folder / "out.bat";
  for (const bat::PlanMode mode : { bat::PlanMode::RankBorder, bat::PlanMode::Aug })
  {
    bat::mpi::WriteOptions options = with_target(kTarget);
    options.mode = mode;
    const auto* p = reinterpret_cast<const float*>(all.positions.data());
    // Slabs in x, as owned by a simulation's ranks.
    const auto owner = [&](std::uint64_t i)
    {
      return std::clamp(
        static_cast<int>((static_cast<double>(p[3 * i]) + 2.5) / 6.0 * ranks()), 0, ranks() - 1);
    };
    const clouds::Cloud local =
      mpi_test::subset(all, [&](std::uint64_t i) { return owner(i) == rank(); });
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, local.view(), options);
    if (rank() == 0)
    {
      EXPECT_NO_THROW(bat::validate(path));
      EXPECT_EQ(rows(mpi_test::read_alone(path).view()), rows(all.view()));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Dataset, replaces_and_leaves_nothing_behind)
{
  const SharedDir folder;
  const auto path = folder / "out.bat";
  const clouds::Cloud first = make_cloud(20000);
  const clouds::Cloud second = make_cloud(5000);
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(first).view(), with_target(100000));
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(second).view(), with_target(50000));
  if (rank() == 0)
  {
    EXPECT_EQ(rows(mpi_test::read_alone(path).view()), rows(second.view()));
    EXPECT_EQ(names_in(path.string() + ".leaves").size(), bat::Dataset::open(path).leaves().size());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // One leaf file replaces several, and several replace one.
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(second).view(), with_target(1u << 30));
  if (rank() == 0)
  {
    EXPECT_EQ(names_in(path.parent_path()), std::vector<std::string>{ "out.bat" });
    EXPECT_EQ(rows(mpi_test::read_alone(path).view()), rows(second.view()));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(first).view(), with_target(100000));
  if (rank() == 0)
  {
    EXPECT_EQ(rows(mpi_test::read_alone(path).view()), rows(first.view()));
  }
}

TEST(Dataset, leaf_files_go_through_a_link_to_another_folder)
{
  const SharedDir folder;
  const SharedDir elsewhere;
  const auto path = folder / "out.bat";
  const clouds::Cloud all = make_cloud(20000);
  if (rank() == 0)
  {
    std::filesystem::create_directory_symlink(elsewhere / "", path.string() + ".leaves");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (const std::uint64_t target : { 100000u, 50000u })
  {
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(all).view(), with_target(target));
    if (rank() == 0)
    {
      EXPECT_TRUE(std::filesystem::is_symlink(path.string() + ".leaves"));
      EXPECT_EQ(names_in(elsewhere / "").size(), bat::Dataset::open(path).leaves().size());
      EXPECT_EQ(rows(mpi_test::read_alone(path).view()), rows(all.view()));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Dataset, datasets_that_share_a_folder_share_no_leaf_files)
{
  const SharedDir one;
  const SharedDir other;
  const SharedDir elsewhere;
  const clouds::Cloud all = make_cloud(20000);
  const auto write = [&](const SharedDir& folder, std::uint64_t target)
  {
    bat::mpi::write_dataset(
      MPI_COMM_WORLD, folder / "out.bat", dealt(all).view(), with_target(target));
  };
  // The number of leaf files in complete datasets.
  const auto expect_leaves = [&](std::size_t of_one, std::size_t of_other)
  {
    if (rank() == 0)
    {
      EXPECT_NO_THROW(bat::validate(one / "out.bat"));
      EXPECT_NO_THROW(bat::validate(other / "out.bat"));
      EXPECT_EQ(bat::Dataset::open(one / "out.bat").leaves().size(), of_one);
      EXPECT_EQ(bat::Dataset::open(other / "out.bat").leaves().size(), of_other);
      EXPECT_EQ(names_in(elsewhere / "").size(), of_one + of_other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  };
  std::size_t many = 0;
  if (rank() == 0)
  {
    for (const SharedDir* folder : { &one, &other })
    {
      std::filesystem::create_directory_symlink(elsewhere / "", *folder / "out.bat.leaves");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  write(one, 50000);
  if (rank() == 0)
  {
    many = bat::Dataset::open(one / "out.bat").leaves().size();
    EXPECT_GT(many, 1u);
  }
  write(other, 50000);
  expect_leaves(many, many);
  write(one, 50000); // the same again
  write(other, 50000);
  expect_leaves(many, many);
  write(other, 1u << 30);
  if (rank() == 0)
  {
    EXPECT_EQ(names_in(elsewhere / "").size(), many);
    EXPECT_NO_THROW(bat::validate(one / "out.bat"));
    EXPECT_NO_THROW(bat::validate(other / "out.bat"));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Dataset, a_link_to_no_folder_is_an_error_before_anything_is_written)
{
  const SharedDir folder;
  const auto path = folder / "out.bat";
  const clouds::Cloud all = make_cloud(20000);
  if (rank() == 0)
  {
    write_bytes(path, { std::byte{ 7 } });
    std::filesystem::create_directory_symlink("nowhere", path.string() + ".leaves");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  try
  {
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(all).view(), with_target(100000));
    ADD_FAILURE() << "no error";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), bat::ErrorCode::CannotOpen);
    EXPECT_NE(std::string(error.what()).find("a link to 'nowhere', which does not exist"),
      std::string::npos)
      << error.what();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(
    names_in(path.parent_path()), (std::vector<std::string>{ "out.bat", "out.bat.leaves" }));
  EXPECT_EQ(read_bytes(path).size(), 1u);
}

TEST(Dataset, under_a_new_name_keeps_its_leaf_files_whatever_is_written_under_the_old_one)
{
  const SharedDir folder;
  const auto path = folder / "out.bat";
  const auto before = folder / "before.bat";
  const clouds::Cloud first = make_cloud(20000);
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(first).view(), with_target(100000));
  if (rank() == 0)
  {
    std::filesystem::rename(path, before);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // The same particles would give the same file names.
  for (const clouds::Cloud& cloud : { first, first, make_cloud(5000), first })
  {
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(cloud).view(), with_target(100000));
    if (rank() == 0)
    {
      EXPECT_NO_THROW(bat::validate(path));
      EXPECT_NO_THROW(bat::validate(before));
      EXPECT_EQ(rows(mpi_test::read_alone(path).view()), rows(cloud.view()));
      EXPECT_EQ(names_in(path.string() + ".leaves").size(),
        bat::Dataset::open(path).leaves().size() + bat::Dataset::open(before).leaves().size());
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Dataset, leaf_files_have_the_permissions_of_the_file_that_is_replaced)
{
  using std::filesystem::perms;
  const SharedDir folder;
  const auto path = folder / "out.bat";
  const perms reference = perms::owner_read | perms::owner_write | perms::group_read;
  if (rank() == 0)
  {
    write_bytes(path, { std::byte{ 7 } });
    std::filesystem::permissions(path, reference);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  bat::mpi::write_dataset(
    MPI_COMM_WORLD, path, dealt(make_cloud(20000)).view(), with_target(100000));
  EXPECT_EQ(std::filesystem::status(path).permissions(), reference);
  const bat::Dataset dataset = bat::Dataset::open(path);
  ASSERT_GT(dataset.leaves().size(), 1u);
  for (const bat::LeafInfo& leaf : dataset.leaves())
  {
    EXPECT_EQ(std::filesystem::status(leaf.path).permissions(), reference);
  }
}

TEST(Dataset, time_step_and_metadata)
{
  const SharedDir folder;
  const auto path = folder / "out.bat";
  const clouds::Cloud local = dealt(make_cloud(5000));
  bat::ParticleView view = local.view();
  view.time = 0.125;
  view.step = -3;
  view.metadata = R"({"title":"dam"})";
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, view, with_target(50000));
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path);
  EXPECT_EQ(dataset.time(), 0.125);
  EXPECT_EQ(dataset.step(), -3);
  EXPECT_NE(dataset.metadata().find(R"("title":"dam")"), std::string::npos);
}

TEST(Dataset, leaf_files_are_the_ones_that_were_written)
{
  const SharedDir folder;
  const auto path = folder / "out.bat";
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(make_cloud()).view(), with_target(kTarget));
  if (rank() == 0)
  {
    const auto leaves = bat::Dataset::open(path).leaves();
    std::filesystem::copy_file(leaves[0].path, folder / "kept");
    std::filesystem::remove(leaves[0].path);
    const auto missing = mpi_test::error_of([&] { (void)mpi_test::read_alone(path); });
    EXPECT_NE(missing.find("does not exist; leaf file 1 of"), std::string::npos) << missing;
    std::filesystem::copy_file(leaves[1].path, leaves[0].path);
    const auto other = mpi_test::error_of([&] { (void)mpi_test::read_alone(path); });
    EXPECT_NE(other.find("differs from the file that was written"), std::string::npos) << other;
  }
}
}
