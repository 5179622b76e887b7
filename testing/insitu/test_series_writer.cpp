// SPDX-License-Identifier: BSD-3-Clause
// Steps, species, and the lists that ParaView opens.
#include "bat/insitu.hpp"
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>

namespace
{
using bat::insitu::FilePattern;
using bat::insitu::SeriesWriter;
using bat::insitu::Species;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::rows;
using mpi_test::SharedDir;

// The same on every rank; only the distribution differs.
clouds::Cloud make_cloud(std::uint64_t count, std::uint64_t seed)
{
  clouds::Random random(seed);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::uniform_positions<float>(count, random));
  cloud.add("id", bat::ScalarType::Int64,
    clouds::shuffled_ids(count, random, static_cast<std::int64_t>(seed << 40)));
  return cloud;
}

clouds::Cloud dealt(const clouds::Cloud& all)
{
  return mpi_test::subset(all,
    [](std::uint64_t i)
    { return static_cast<int>(i % static_cast<std::uint64_t>(ranks())) == rank(); });
}

Species species(const std::string& name, const clouds::Cloud& cloud)
{
  return { name, { { cloud.view(), {} } } };
}

using Listed = std::vector<std::pair<std::string, double>>;

Listed listed(const std::filesystem::path& series)
{
  Listed result;
  std::ifstream stream(series);
  const nlohmann::json json = nlohmann::json::parse(stream);
  EXPECT_EQ(json.at("file-series-version"), "1.0");
  for (const nlohmann::json& file : json.at("files"))
  {
    result.emplace_back(file.at("name").get<std::string>(), file.at("time").get<double>());
  }
  return result;
}

TEST(SeriesWriter, every_step_is_there_with_its_time)
{
  const SharedDir folder;
  SeriesWriter writer(FilePattern((folder / "out/dust").string()), {});
  Listed expected;
  for (std::int64_t step = 0; step != 4; ++step)
  {
    const clouds::Cloud all = make_cloud(2000, static_cast<std::uint64_t>(step));
    const clouds::Cloud local = dealt(all);
    const auto files = writer.write(
      MPI_COMM_WORLD, 10 * step, 0.5 * static_cast<double>(step), { species("", local) });
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].report.particles, all.count);
    EXPECT_EQ(nlohmann::json::parse(to_json(files[0])).at("file"), files[0].path.string());
    const bat::Dataset dataset = bat::Dataset::open(files[0].path);
    EXPECT_EQ(dataset.step(), 10 * step);
    EXPECT_EQ(dataset.time(), 0.5 * static_cast<double>(step));
    EXPECT_TRUE(rows(mpi_test::read_alone(files[0].path).view()) == rows(all.view()));
    expected.emplace_back(
      "dust_0000" + std::string(step == 0 ? "0" : "") + std::to_string(10 * step) + ".bat",
      0.5 * static_cast<double>(step));
    EXPECT_EQ(listed(folder / "out/dust.bat.series"), expected);
    EXPECT_EQ(listed(folder / "out/dust.vtkhdf.series"), expected);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(SeriesWriter, compressed_steps_are_smaller_and_have_every_bit)
{
  const SharedDir folder;
  std::uint64_t bytes[2] = { 0, 0 };
  for (const bool compressed : { false, true })
  {
    bat::mpi::WriteOptions options;
    options.build.compression = compressed ? bat::Compression::Lossless : bat::Compression::None;
    const auto name = compressed ? "small" : "raw";
    SeriesWriter writer(FilePattern((folder / name).string()), options);
    for (std::int64_t step = 0; step != 2; ++step)
    {
      const clouds::Cloud all = make_cloud(2000, static_cast<std::uint64_t>(step));
      const clouds::Cloud local = dealt(all);
      const auto files =
        writer.write(MPI_COMM_WORLD, step, static_cast<double>(step), { species("", local) });
      ASSERT_EQ(files.size(), 1u);
      const bat::Dataset dataset = bat::Dataset::open(files[0].path);
      EXPECT_NO_THROW(bat::validate(dataset));
      EXPECT_TRUE(rows(mpi_test::read_alone(files[0].path).view()) == rows(all.view()));
      for (const bat::LeafInfo& leaf : dataset.leaves())
      {
        bytes[compressed ? 1 : 0] += std::filesystem::file_size(leaf.path);
      }
    }
    EXPECT_EQ(listed(folder / (std::string(name) + ".bat.series")).size(), 2u);
    EXPECT_EQ(
      std::filesystem::exists(folder / (std::string(name) + ".vtkhdf.series")), !compressed);
  }
  EXPECT_LT(bytes[1], bytes[0] * 9 / 10);
}

// The report on rank 0.
struct Notices
{
  std::shared_ptr<std::vector<std::string>> lines = std::make_shared<std::vector<std::string>>();

  void operator()(const std::string& line) const { this->lines->push_back(line); }
};

void write(SeriesWriter& writer, std::int64_t step, double time, std::uint64_t count = 100)
{
  const clouds::Cloud local = dealt(make_cloud(count, 1));
  (void)writer.write(MPI_COMM_WORLD, step, time, { species("", local) });
}

std::vector<std::string> names_in(const std::filesystem::path& folder)
{
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
  {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// As after a restart from a checkpoint in the middle of the series.
TEST(SeriesWriter, a_list_is_continued_without_what_was_written_after_the_step_it_comes_back_to)
{
  const SharedDir folder;
  const FilePattern pattern((folder / "dust_{timestep}").string());
  bat::mpi::WriteOptions options;
  options.target_bytes = 1000; // several leaf files
  {
    SeriesWriter writer(pattern, options);
    for (const std::int64_t step : { 1, 2, 3, 4, 5 })
    {
      write(writer, step, static_cast<double>(step), 2000);
    }
  }
  if (rank() == 0)
  {
    EXPECT_TRUE(std::filesystem::exists(folder / "dust_4.bat.leaves"));
    std::filesystem::remove(folder / "dust_1.bat");
    std::filesystem::remove_all(folder / "dust_1.bat.leaves");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const Notices notices;
  SeriesWriter writer(pattern, options, notices);
  write(writer, 3, 2.75);
  EXPECT_EQ(
    listed(folder / "dust.bat.series"), (Listed{ { "dust_2.bat", 2 }, { "dust_3.bat", 2.75 } }));
  write(writer, 7, 7);
  EXPECT_EQ(listed(folder / "dust.bat.series"),
    (Listed{ { "dust_2.bat", 2 }, { "dust_3.bat", 2.75 }, { "dust_7.bat", 7 } }));
  EXPECT_EQ(listed(folder / "dust.vtkhdf.series"), listed(folder / "dust.bat.series"));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0)
  {
    EXPECT_EQ(names_in(folder / ""),
      (std::vector<std::string>{ ".dust.bat.series.lock", "dust.bat.series", "dust.vtkhdf.series",
        "dust_2.bat", "dust_2.bat.leaves", "dust_3.bat", "dust_3.bat.leaves", "dust_7.bat",
        "dust_7.bat.leaves" }));
    ASSERT_EQ(notices.lines->size(), 1U);
    EXPECT_NE(
      notices.lines->front().find("returned to step 3: 2 steps from 4 to 5"), std::string::npos)
      << notices.lines->front();
  }
}

// ParaView would open an old picture as a new one.
TEST(SeriesWriter, the_list_for_paraview_goes_when_a_step_is_compressed)
{
  const SharedDir folder;
  const FilePattern pattern((folder / "dust").string());
  const std::filesystem::path list = folder / "dust.vtkhdf.series";
  bat::mpi::WriteOptions options;
  for (const bool compressed : { false, true, false })
  {
    options.build.compression = compressed ? bat::Compression::Lossless : bat::Compression::None;
    SeriesWriter writer(pattern, options, Notices());
    const std::int64_t step = compressed ? 2 : 1;
    write(writer, step, static_cast<double>(step), 3000);
    EXPECT_EQ(std::filesystem::exists(list), !compressed);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_EQ(listed(list), listed(folder / "dust.bat.series"));
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(SeriesWriter, a_list_of_someone_else_for_paraview_stays)
{
  const SharedDir folder;
  const std::filesystem::path list = folder / "dust.vtkhdf.series";
  const nlohmann::json theirs{ { "file-series-version", "1.0" },
    { "files", { { { "name", "other.vtkhdf" }, { "time", 5.0 } } } } };
  if (rank() == 0)
  {
    std::ofstream(list) << theirs;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  SeriesWriter writer(FilePattern((folder / "dust").string()), {});
  write(writer, 1, 1);
  EXPECT_EQ(listed(list), (Listed{ { "other.vtkhdf", 5 } }));
  EXPECT_EQ(listed(folder / "dust.bat.series").size(), 1U);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Steps between those of the previous run, in files whose names contain the time.
TEST(SeriesWriter, a_step_that_no_file_has_replaces_those_after_it_too)
{
  const SharedDir folder;
  const FilePattern pattern((folder / "d_{time:.2f}_{timestep:03d}").string());
  for (const auto& steps : { std::vector<std::int64_t>{ 0, 10, 20, 30 }, { 15, 25 } })
  {
    SeriesWriter writer(pattern, {}, Notices());
    for (const std::int64_t step : steps)
    {
      write(writer, step, 0.25 * static_cast<double>(step));
    }
  }
  EXPECT_EQ(listed(folder / "d.bat.series"),
    (Listed{ { "d_0.00_000.bat", 0 }, { "d_2.50_010.bat", 2.5 }, { "d_3.75_015.bat", 3.75 },
      { "d_6.25_025.bat", 6.25 } }));
  if (rank() == 0)
  {
    EXPECT_FALSE(std::filesystem::exists(folder / "d_5.00_020.bat"));
    EXPECT_FALSE(std::filesystem::exists(folder / "d_7.50_030.bat"));
  }
}

// LAMMPS of 2021 continues step numbers after a restart, but its time begins at 0.
TEST(SeriesWriter, a_clock_that_begins_again_is_listed_as_if_it_had_gone_on)
{
  const SharedDir folder;
  const FilePattern pattern((folder / "dust_{timestep:03d}").string());
  const Notices notices;
  const auto run = [&](std::int64_t first, std::int64_t last, std::int64_t begin_of_clock)
  {
    SeriesWriter writer(pattern, {}, notices);
    for (std::int64_t step = first; step <= last; step += 10)
    {
      write(writer, step, 0.125 * static_cast<double>(step - begin_of_clock));
    }
  };
  run(0, 60, 0);
  run(50, 80, 40);
  run(80, 100, 80);
  Listed expected;
  for (int step = 0; step <= 100; step += 10)
  {
    const std::string digits = std::to_string(1000 + step).substr(1);
    expected.emplace_back("dust_" + digits + ".bat", 0.125 * step);
  }
  EXPECT_EQ(listed(folder / "dust.bat.series"), expected);
  EXPECT_EQ(bat::Dataset::open(folder / "dust_060.bat").time(), 2.5) << "the file has the clock's";
  if (rank() == 0)
  {
    ASSERT_EQ(notices.lines->size(), 3U); // a lost step, and each clock that restarts
    EXPECT_NE(notices.lines->at(1).find("the time of step 50 is 1.25"), std::string::npos)
      << notices.lines->at(1);
  }
}

TEST(SeriesWriter, times_that_stand_still_are_listed_as_steps)
{
  const SharedDir folder;
  SeriesWriter writer(FilePattern((folder / "d_{timestep}").string()), {}, Notices());
  for (const std::int64_t step : { 5, 7, 8 })
  {
    write(writer, step, 0);
  }
  EXPECT_EQ(listed(folder / "d.bat.series"),
    (Listed{ { "d_5.bat", 0 }, { "d_7.bat", 2 }, { "d_8.bat", 3 } }));
}

// As in lists before they had steps, after a restart of a clock that began again.
TEST(SeriesWriter, a_list_out_of_order_is_put_in_order)
{
  const SharedDir folder;
  const FilePattern pattern((folder / "d_{timestep:02d}").string());
  {
    SeriesWriter writer(pattern, {});
    for (const std::int64_t step : { 0, 10, 20, 30 })
    {
      write(writer, step, static_cast<double>(step % 20));
    }
  }
  if (rank() == 0)
  {
    std::ofstream(folder / "d.bat.series") << R"({ "file-series-version": "1.0", "files": [
      { "name": "d_00.bat", "time": 0 }, { "name": "d_20.bat", "time": 0 },
      { "name": "d_10.bat", "time": 10 }, { "name": "d_30.bat", "time": 10 } ] })";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  SeriesWriter writer(pattern, {}, Notices());
  write(writer, 40, 20);
  EXPECT_EQ(listed(folder / "d.bat.series"),
    (Listed{ { "d_00.bat", 0 }, { "d_10.bat", 10 }, { "d_20.bat", 20 }, { "d_30.bat", 30 },
      { "d_40.bat", 40 } }));
}

TEST(SeriesWriter, files_that_are_not_of_this_series_stay)
{
  const SharedDir folder;
  {
    SeriesWriter writer(FilePattern((folder / "d_{timestep}").string()), {});
    write(writer, 5, 5);
  }
  if (rank() == 0)
  {
    std::filesystem::copy_file(folder / "d_5.bat", folder / "kept.bat");
    std::ofstream(folder / "notes.bat") << "no particles";
    std::ofstream(folder / "d.bat.series") << R"({ "file-series-version": "1.0", "files": [
      { "name": "d_5.bat", "time": 5 }, { "name": "kept.bat", "time": 6 },
      { "name": "notes.bat", "time": 7 } ] })";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  SeriesWriter writer(FilePattern((folder / "d_{timestep}").string()), {}, Notices());
  write(writer, 1, 1);
  EXPECT_EQ(listed(folder / "d.bat.series"),
    (Listed{ { "d_1.bat", 1 }, { "kept.bat", 6 }, { "notes.bat", 7 } }));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(std::filesystem::exists(folder / "kept.bat"));
  EXPECT_FALSE(std::filesystem::exists(folder / "d_5.bat"));
}

TEST(SeriesWriter, species_become_series_of_their_own)
{
  const SharedDir folder;
  SeriesWriter writer(FilePattern((folder / "{name}_{timestep:04d}.bat").string()), {});
  const clouds::Cloud gas = make_cloud(3000, 1);
  clouds::Cloud stars = make_cloud(500, 2);
  stars.add("age", bat::ScalarType::Float64, std::vector<double>(500, 0.125));
  // Rank 0 has no stars and does not know them; others name the species in another order.
  const clouds::Cloud my_gas = dealt(gas);
  const clouds::Cloud my_stars = mpi_test::subset(stars,
    [](std::uint64_t i)
    {
      return ranks() == 1 ||
        static_cast<int>(i % static_cast<std::uint64_t>(ranks() - 1)) + 1 == rank();
    });
  std::vector<Species> local{ species("gas", my_gas) };
  if (rank() != 0 || ranks() == 1)
  {
    local.insert(local.begin(), species("stars", my_stars));
  }
  const auto files = writer.write(MPI_COMM_WORLD, 7, 0.5, local);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_TRUE(rows(mpi_test::read_alone(folder / "gas_0007.bat").view()) == rows(gas.view()));
  EXPECT_TRUE(rows(mpi_test::read_alone(folder / "stars_0007.bat").view()) == rows(stars.view()));
  EXPECT_EQ(listed(folder / "gas.bat.series"), (Listed{ { "gas_0007.bat", 0.5 } }));
  EXPECT_EQ(listed(folder / "stars.bat.series"), (Listed{ { "stars_0007.bat", 0.5 } }));
}

std::vector<std::string> indexed_in(const bat::Dataset& dataset)
{
  std::vector<std::string> names;
  const bat::File leaf = bat::File::open(dataset.leaves().front().path);
  for (const bat::Attribute& attribute : leaf.attributes())
  {
    if (attribute.keys.front().has_sorted_index)
    {
      names.push_back(attribute.name);
    }
  }
  return names;
}

// Dust has a mass; gas, of which rank 0 has none, does not.
std::vector<Species> dust_and_gas(const clouds::Cloud& dust, const clouds::Cloud& gas)
{
  std::vector<Species> all{ species("dust", dust) };
  if (rank() != 0 || ranks() == 1)
  {
    all.push_back(species("gas", gas));
  }
  return all;
}

TEST(SeriesWriter, options_apply_to_the_species_that_have_what_they_name)
{
  const SharedDir folder;
  bat::mpi::WriteOptions options;
  options.build.sorted_indexes = { "mass", "id" };
  options.build.stable_samples = { "id" };
  options.build.compression = bat::Compression::Bounded;
  options.build.error_bounds = { "mass=0.125" };
  SeriesWriter writer(FilePattern((folder / "{name}_{timestep:04d}.bat").string()), options);
  clouds::Cloud dust = make_cloud(500, 2);
  dust.add("mass", bat::ScalarType::Float64, std::vector<double>(500, 0.25));
  const clouds::Cloud gas = make_cloud(3000, 1);
  const clouds::Cloud own_dust = dealt(dust);
  const clouds::Cloud own_gas = mpi_test::subset(gas,
    [](std::uint64_t i)
    {
      return ranks() == 1 ||
        static_cast<int>(i % static_cast<std::uint64_t>(ranks() - 1)) + 1 == rank();
    });
  const auto files = writer.write(MPI_COMM_WORLD, 0, 0, dust_and_gas(own_dust, own_gas));
  ASSERT_EQ(files.size(), 2u);
  const bat::Dataset of_dust = bat::Dataset::open(folder / "dust_0000.bat");
  const bat::Dataset of_gas = bat::Dataset::open(folder / "gas_0000.bat");
  EXPECT_EQ(indexed_in(of_dust), (std::vector<std::string>{ "id", "mass" }));
  EXPECT_EQ(indexed_in(of_gas), std::vector<std::string>{ "id" });
  EXPECT_EQ(of_dust.stable_samples(), std::vector<std::string>{ "id" });
  EXPECT_EQ(of_gas.stable_samples(), std::vector<std::string>{ "id" });
  EXPECT_TRUE(rows(mpi_test::read_alone(folder / "gas_0000.bat").view()) == rows(gas.view()));

  // Once a species has had the attribute, a step of others does not lack it.
  EXPECT_EQ(
    writer.write(MPI_COMM_WORLD, 1, 1, { species("gas", dealt(gas)), species("ice", dealt(gas)) })
      .size(),
    2u);
}

TEST(SeriesWriter, options_that_name_what_no_species_has_are_errors_before_anything_is_written)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud(100, 1);
  const clouds::Cloud own = dealt(all);
  for (const int option : { 0, 1, 2 })
  {
    bat::mpi::WriteOptions options;
    if (option == 0)
    {
      options.build.sorted_indexes = { "masss" };
    }
    else if (option == 1)
    {
      options.build.stable_samples = { "masss" };
    }
    else
    {
      options.build.compression = bat::Compression::Bounded;
      options.build.error_bounds = { "masss=1%" };
    }
    SeriesWriter writer(FilePattern((folder / "{name}.bat").string()), options);
    const clouds::Cloud none = make_cloud(0, 1);
    EXPECT_EQ(
      writer.write(MPI_COMM_WORLD, 0, 0, { species("a", none), species("b", none) }).size(), 2u);
    try
    {
      (void)writer.write(MPI_COMM_WORLD, 1, 1, { species("c", own), species("d", own) });
      FAIL() << option;
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::InvalidArgument);
      EXPECT_STREQ(
        error.what(), "no species has an attribute 'masss', which the options name; available: id");
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "c.bat"));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

std::vector<std::string> columns_in(const std::filesystem::path& path)
{
  const bat::Dataset dataset = bat::Dataset::open(path);
  bat::validate(path);
  std::vector<std::string> columns{ std::string(bat::name_of(dataset.position_type())) };
  for (const bat::Attribute& a : dataset.attributes())
  {
    columns.push_back(a.name + " " + std::string(bat::name_of(a.type)));
  }
  return columns;
}

// Also after a run is continued, and after the continued run was cut off.
TEST(SeriesWriter, steps_without_particles_or_declaration_have_the_columns_of_the_step_before)
{
  using Columns = std::vector<std::string>;
  const SharedDir folder;
  const FilePattern pattern((folder / "dust_{timestep}").string());
  const Columns with_id{ "float32", "id int64" };
  {
    SeriesWriter writer(pattern, {});
    (void)writer.write(MPI_COMM_WORLD, 0, 0, { { "", {} } });
    EXPECT_EQ(columns_in(folder / "dust_0.bat"), Columns{ "float64" });
    write(writer, 1, 1);
    (void)writer.write(MPI_COMM_WORLD, 2, 2, { { "", {} } });
    EXPECT_EQ(columns_in(folder / "dust_2.bat"), with_id);
    (void)writer.write(MPI_COMM_WORLD, 3, 3, { { "", { bat::mpi::Piece{} } } });
    EXPECT_EQ(columns_in(folder / "dust_3.bat"), with_id);
    EXPECT_EQ(bat::Dataset::open(folder / "dust_3.bat").step(), 3);
    EXPECT_EQ(bat::Dataset::open(folder / "dust_3.bat").time(), 3.0);
    // A declaration of one rank counts even if its kind differs from the previous step's.
    std::vector<bat::mpi::Piece> pieces;
    if (rank() == ranks() - 1)
    {
      pieces.emplace_back();
      pieces.back().particles.positions =
        bat::ArrayView::packed(bat::ScalarType::Float64, 3, nullptr);
      pieces.back().particles.attributes = { { "mass",
        bat::ArrayView::packed(bat::ScalarType::Float32, 1, nullptr) } };
    }
    (void)writer.write(MPI_COMM_WORLD, 4, 4, { { "", pieces } });
    EXPECT_EQ(columns_in(folder / "dust_4.bat"), (Columns{ "float64", "mass float32" }));
  }
  SeriesWriter continued(pattern, {}, Notices());
  (void)continued.write(MPI_COMM_WORLD, 5, 5, { { "", {} } });
  EXPECT_EQ(columns_in(folder / "dust_5.bat"), (Columns{ "float64", "mass float32" }));
  (void)continued.write(MPI_COMM_WORLD, 4, 4, { { "", {} } });
  EXPECT_EQ(columns_in(folder / "dust_4.bat"), with_id);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0)
  {
    std::ofstream(folder / "dust_4.bat") << "damaged";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  (void)continued.write(MPI_COMM_WORLD, 6, 6, { { "", {} } });
  EXPECT_EQ(columns_in(folder / "dust_6.bat"), Columns{ "float64" });
}

TEST(SeriesWriter, wrong_steps_are_refused_on_all_ranks)
{
  const SharedDir folder;
  const clouds::Cloud local = dealt(make_cloud(100, 1));
  SeriesWriter writer(FilePattern((folder / "dust_{timestep}").string()), {});
  const auto refusal = [&](std::int64_t step, double time, std::vector<Species> all)
  {
    return mpi_test::error_of(
      [&] { (void)writer.write(MPI_COMM_WORLD, step, time, std::move(all)); });
  };
  if (ranks() > 1)
  {
    EXPECT_NE(refusal(rank(), 0, { species("", local) }).find("the step number is 1 here and 0"),
      std::string::npos);
  }
  EXPECT_NE(refusal(1, std::numeric_limits<double>::quiet_NaN(), { species("", local) })
              .find("the time of the step is nan"),
    std::string::npos);
  EXPECT_NE(refusal(1, 0, { species("a", local), species("b", local) }).find("'a' and 'b'"),
    std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "dust_1.bat"));
  EXPECT_FALSE(std::filesystem::exists(folder / "dust.bat.series"));
}

TEST(SeriesWriter, one_bad_list_does_not_keep_other_species_back)
{
  const SharedDir folder;
  const clouds::Cloud local = dealt(make_cloud(100, 1));
  if (rank() == 0)
  {
    std::ofstream(folder / "a.bat.series") << "not a list";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  SeriesWriter writer(FilePattern((folder / "{name}_{timestep}").string()), {});
  const std::string error = mpi_test::error_of(
    [&] {
      (void)writer.write(MPI_COMM_WORLD, 1, 1, { species("a", local), species("b", local) });
    });
  EXPECT_NE(error.find("a.bat.series: is not a series list"), std::string::npos);
  EXPECT_EQ(mpi_test::read_alone(folder / "a_1.bat").count, 100u);
  EXPECT_EQ(mpi_test::read_alone(folder / "b_1.bat").count, 100u);
  EXPECT_EQ(listed(folder / "b.bat.series"), (Listed{ { "b_1.bat", 1 } }));
}

TEST(SeriesWriter, folders_that_change_and_folders_that_are_links)
{
  const SharedDir folder;
  const clouds::Cloud local = dealt(make_cloud(100, 1));
  if (rank() == 0)
  {
    std::filesystem::create_directories(folder / "far/away");
    std::filesystem::create_directory_symlink(folder / "far/away", folder / "link");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (const double time : { 1.0, 2.0 }) // the second writer continues the first one's list
  {
    SeriesWriter writer(FilePattern((folder / "link/./run_{timestep}/dust.bat").string()), {});
    (void)writer.write(
      MPI_COMM_WORLD, static_cast<std::int64_t>(time), time, { species("", local) });
  }
  EXPECT_EQ(listed(folder / "far/away/run_dust.bat.series"),
    (Listed{ { "run_1/dust.bat", 1 }, { "run_2/dust.bat", 2 } }));
}

TEST(SeriesWriter, two_writers_of_one_list_keep_both_files)
{
  const SharedDir folder;
  const clouds::Cloud local = dealt(make_cloud(100, 1));
  SeriesWriter underscore(FilePattern((folder / "d_{timestep}").string()), {});
  SeriesWriter dash(FilePattern((folder / "d-{timestep}").string()), {});
  (void)underscore.write(MPI_COMM_WORLD, 1, 1, { species("", local) });
  (void)dash.write(MPI_COMM_WORLD, 1, 1, { species("", local) });
  (void)underscore.write(MPI_COMM_WORLD, 2, 2, { species("", local) });
  // ParaView distinguishes files by their times.
  EXPECT_EQ(listed(folder / "d.bat.series"),
    (Listed{ { "d_1.bat", 1 }, { "d-1.bat", std::nextafter(1.0, 2.0) }, { "d_2.bat", 2 } }));
}

TEST(SeriesWriter, names_that_are_no_utf8_are_refused_before_anything_is_written)
{
  const SharedDir folder;
  const clouds::Cloud local = dealt(make_cloud(100, 1));
  SeriesWriter writer(FilePattern((folder / "{name}_{timestep}").string()), {});
  EXPECT_NE(mpi_test::error_of(
              [&] { (void)writer.write(MPI_COMM_WORLD, 1, 1, { species("\xe9", local) }); })
              .find("is not valid UTF-8"),
    std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "\xe9_1.bat"));
  EXPECT_NE(
    mpi_test::error_of([&]
      { (void)writer.write(MPI_COMM_WORLD, 1, 1, { species(std::string("a\0b", 3), local) }); }),
    "");
  // A folder may have any name.
  SeriesWriter other(FilePattern((folder / "\xe9/d").string()), {});
  const auto files = other.write(MPI_COMM_WORLD, 1, 1, { species("", local) });
  EXPECT_TRUE(nlohmann::json::accept(to_json(files[0])));
}

TEST(SeriesWriter, a_list_that_is_none_is_left_alone)
{
  const SharedDir folder;
  const clouds::Cloud local = dealt(make_cloud(100, 1));
  if (rank() == 0)
  {
    std::ofstream(folder / "dust.bat.series") << "my notes";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  SeriesWriter writer(FilePattern((folder / "dust").string()), {});
  EXPECT_NE(
    mpi_test::error_of([&] { (void)writer.write(MPI_COMM_WORLD, 1, 1, { species("", local) }); })
      .find("dust.bat.series: is not a series list"),
    std::string::npos);
  std::ifstream stream(folder / "dust.bat.series");
  std::string text;
  std::getline(stream, text);
  EXPECT_EQ(text, "my notes");
  EXPECT_EQ(mpi_test::read_alone(folder / "dust_000001.bat").count, 100u); // the step exists
}
}
