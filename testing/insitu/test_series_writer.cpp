// Steps, species and the lists that ParaView opens.
#include "bat/insitu.hpp"
#include "mpi/mpi_support.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>

namespace
{
using bat::insitu::FilePattern;
using bat::insitu::SeriesWriter;
using bat::insitu::Species;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::rows;
using mpi_test::SharedDir;

// The same on every rank; what differs is how it is dealt out.
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

TEST(SeriesWriter, EveryStepIsThereWithItsTime)
{
  const SharedDir folder;
  SeriesWriter writer(FilePattern((folder / "out/dust").string()), {});
  Listed expected;
  for (std::int64_t step = 0; step != 4; ++step)
  {
    const clouds::Cloud all = make_cloud(2000, static_cast<std::uint64_t>(step));
    const clouds::Cloud mine = dealt(all);
    const auto files = writer.write(
      MPI_COMM_WORLD, 10 * step, 0.5 * static_cast<double>(step), { species("", mine) });
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
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// As after a restart from a checkpoint in the midst of the series.
TEST(SeriesWriter, AListIsContinued)
{
  const SharedDir folder;
  const FilePattern pattern((folder / "dust_{timestep}").string());
  const clouds::Cloud mine = dealt(make_cloud(100, 1));
  {
    SeriesWriter writer(pattern, {});
    for (const std::int64_t step : { 1, 2, 3, 4 })
    {
      (void)writer.write(MPI_COMM_WORLD, step, static_cast<double>(step), { species("", mine) });
    }
  }
  if (rank() == 0)
  {
    std::filesystem::remove(folder / "dust_1.bat");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  SeriesWriter writer(pattern, {});
  (void)writer.write(MPI_COMM_WORLD, 3, 2.75, { species("", mine) });
  EXPECT_EQ(listed(folder / "dust.bat.series"),
    (Listed{ { "dust_2.bat", 2 }, { "dust_3.bat", 2.75 }, { "dust_4.bat", 4 } }));
}

TEST(SeriesWriter, SpeciesBecomeSeriesOfTheirOwn)
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
  std::vector<Species> mine{ species("gas", my_gas) };
  if (rank() != 0 || ranks() == 1)
  {
    mine.insert(mine.begin(), species("stars", my_stars));
  }
  const auto files = writer.write(MPI_COMM_WORLD, 7, 0.5, mine);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_TRUE(rows(mpi_test::read_alone(folder / "gas_0007.bat").view()) == rows(gas.view()));
  EXPECT_TRUE(rows(mpi_test::read_alone(folder / "stars_0007.bat").view()) == rows(stars.view()));
  EXPECT_EQ(listed(folder / "gas.bat.series"), (Listed{ { "gas_0007.bat", 0.5 } }));
  EXPECT_EQ(listed(folder / "stars.bat.series"), (Listed{ { "stars_0007.bat", 0.5 } }));
}

TEST(SeriesWriter, WrongStepsAreRefusedOnAllRanks)
{
  const SharedDir folder;
  const clouds::Cloud mine = dealt(make_cloud(100, 1));
  SeriesWriter writer(FilePattern((folder / "dust_{timestep}").string()), {});
  const auto refusal = [&](std::int64_t step, double time, std::vector<Species> all)
  {
    return mpi_test::error_of(
      [&] { (void)writer.write(MPI_COMM_WORLD, step, time, std::move(all)); });
  };
  if (ranks() > 1)
  {
    EXPECT_NE(refusal(rank(), 0, { species("", mine) }).find("number of the step is 1 here and 0"),
      std::string::npos);
  }
  EXPECT_NE(refusal(1, std::numeric_limits<double>::quiet_NaN(), { species("", mine) })
              .find("the time of the step is nan"),
    std::string::npos);
  EXPECT_NE(refusal(1, 0, { species("a", mine), species("b", mine) }).find("'a' and 'b'"),
    std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "dust_1.bat"));
  EXPECT_FALSE(std::filesystem::exists(folder / "dust.bat.series"));
}

TEST(SeriesWriter, OneBadListDoesNotKeepOtherSpeciesBack)
{
  const SharedDir folder;
  const clouds::Cloud mine = dealt(make_cloud(100, 1));
  if (rank() == 0)
  {
    std::ofstream(folder / "a.bat.series") << "no list";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  SeriesWriter writer(FilePattern((folder / "{name}_{timestep}").string()), {});
  const std::string error = mpi_test::error_of(
    [&] {
      (void)writer.write(MPI_COMM_WORLD, 1, 1, { species("a", mine), species("b", mine) });
    });
  EXPECT_NE(error.find("a.bat.series: is no list"), std::string::npos);
  EXPECT_EQ(mpi_test::read_alone(folder / "a_1.bat").count, 100u);
  EXPECT_EQ(mpi_test::read_alone(folder / "b_1.bat").count, 100u);
  EXPECT_EQ(listed(folder / "b.bat.series"), (Listed{ { "b_1.bat", 1 } }));
}

TEST(SeriesWriter, FoldersThatChangeAndFoldersThatAreLinks)
{
  const SharedDir folder;
  const clouds::Cloud mine = dealt(make_cloud(100, 1));
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
      MPI_COMM_WORLD, static_cast<std::int64_t>(time), time, { species("", mine) });
  }
  EXPECT_EQ(listed(folder / "far/away/run_dust.bat.series"),
    (Listed{ { "run_1/dust.bat", 1 }, { "run_2/dust.bat", 2 } }));
}

TEST(SeriesWriter, TwoWritersOfOneListKeepBothFiles)
{
  const SharedDir folder;
  const clouds::Cloud mine = dealt(make_cloud(100, 1));
  SeriesWriter underscore(FilePattern((folder / "d_{timestep}").string()), {});
  SeriesWriter dash(FilePattern((folder / "d-{timestep}").string()), {});
  (void)underscore.write(MPI_COMM_WORLD, 1, 1, { species("", mine) });
  (void)dash.write(MPI_COMM_WORLD, 1, 1, { species("", mine) });
  (void)underscore.write(MPI_COMM_WORLD, 2, 2, { species("", mine) });
  EXPECT_EQ(listed(folder / "d.bat.series"),
    (Listed{ { "d-1.bat", 1 }, { "d_1.bat", 1 }, { "d_2.bat", 2 } }));
}

TEST(SeriesWriter, NamesThatAreNoUtf8AreRefusedBeforeAnythingIsWritten)
{
  const SharedDir folder;
  const clouds::Cloud mine = dealt(make_cloud(100, 1));
  SeriesWriter writer(FilePattern((folder / "{name}_{timestep}").string()), {});
  EXPECT_NE(
    mpi_test::error_of([&] { (void)writer.write(MPI_COMM_WORLD, 1, 1, { species("\xe9", mine) }); })
      .find("is no UTF-8"),
    std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "\xe9_1.bat"));
  EXPECT_NE(
    mpi_test::error_of(
      [&] { (void)writer.write(MPI_COMM_WORLD, 1, 1, { species(std::string("a\0b", 3), mine) }); }),
    "");
  // A folder may have any name.
  SeriesWriter other(FilePattern((folder / "\xe9/d").string()), {});
  const auto files = other.write(MPI_COMM_WORLD, 1, 1, { species("", mine) });
  EXPECT_TRUE(nlohmann::json::accept(to_json(files[0])));
}

TEST(SeriesWriter, AListThatIsNoneIsLeftAlone)
{
  const SharedDir folder;
  const clouds::Cloud mine = dealt(make_cloud(100, 1));
  if (rank() == 0)
  {
    std::ofstream(folder / "dust.bat.series") << "my notes";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  SeriesWriter writer(FilePattern((folder / "dust").string()), {});
  EXPECT_NE(
    mpi_test::error_of([&] { (void)writer.write(MPI_COMM_WORLD, 1, 1, { species("", mine) }); })
      .find("dust.bat.series: is no list"),
    std::string::npos);
  std::ifstream stream(folder / "dust.bat.series");
  std::string text;
  std::getline(stream, text);
  EXPECT_EQ(text, "my notes");
  EXPECT_EQ(mpi_test::read_alone(folder / "dust_000001.bat").count, 100u); // the step is there
}
}
