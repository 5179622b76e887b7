// SPDX-License-Identifier: BSD-3-Clause
// A series to which many ranks add levels: what readers find after each of them, and after a
// simulation has restarted.
#include "bat/bricks/parallel.hpp"
#include "bat/bricks/series.hpp"
#include "bat/error.hpp"
#include "bat/flow/trace.hpp"
#include "particles/parallel/mpi_support.hpp"
#include "support/file_size_limit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

namespace
{
using namespace bat;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::SharedDir;

constexpr std::array<std::int64_t, 3> kPoints{ 21, 17, 24 };
constexpr double kSpacing = 0.25;

// A turning and stretching wind in the run `run`.
std::array<float, 3> wind_at(const std::array<double, 3>& p, double time, int run)
{
  const double turn = 0.5 + 0.1 * run;
  return { static_cast<float>(turn * (2 - p[1]) + 0.1 * time),
    static_cast<float>(turn * (p[0] - 2.5)), static_cast<float>(0.05 * p[0] * std::cos(time)) };
}

// Levels of a simulation in which each rank has some layers.
class Simulation
{
public:
  explicit Simulation(const std::filesystem::path& folder, int run = 0)
    : run_(run)
    , folder_(folder)
    , series_(
        folder / "wind.bricks.series",
        [folder](std::int64_t step, double)
        { return folder / ("wind_" + std::to_string(step) + ".bricks"); },
        false, [this](const std::string& text) { this->reported.push_back(text); })
  {
  }

  void write(std::int64_t step, double time,
    const std::array<double, 3>& spacing = { kSpacing, kSpacing, kSpacing }, std::int64_t more = 0)
  {
    bricks::Header header;
    header.grid.points = { 1, 1, 1 };
    header.grid.spacing = spacing;
    header.field = "wind";
    header.step = step;
    header.time = time;
    bricks::Piece piece;
    piece.box = { { 0, 0, kPoints[2] * rank() / ranks() },
      { kPoints[0] - 1 + more, kPoints[1] - 1, kPoints[2] * (rank() + 1) / ranks() - 1 } };
    const std::vector<float> values = values_of(piece.box, time, this->run_);
    piece.values = values.data();
    if (rank() != 0)
    {
      header.step.reset(); // rank 0 prints it
    }
    bricks::write_collective(MPI_COMM_WORLD, this->series_, header, { piece });
  }

  static std::vector<float> values_of(const LogicalBox& box, double time, int run)
  {
    std::vector<float> values;
    for (std::int64_t z = box.lower[2]; z <= box.upper[2]; ++z)
    {
      for (std::int64_t y = box.lower[1]; y <= box.upper[1]; ++y)
      {
        for (std::int64_t x = box.lower[0]; x <= box.upper[0]; ++x)
        {
          const auto v =
            wind_at({ kSpacing * static_cast<double>(x), kSpacing * static_cast<double>(y),
                      kSpacing * static_cast<double>(z) },
              time, run);
          values.insert(values.end(), v.begin(), v.end());
        }
      }
    }
    return values;
  }

  std::vector<std::string> reported;

private:
  int run_;
  std::filesystem::path folder_;
  bricks::GrowingSeries series_;
};

struct Level
{
  std::int64_t step;
  double time; ///< as listed
  double clock;
  int run = 0;
};

// Checks on rank 0 the list, all values of all its files, and that there are no other files.
void expect_levels(const std::filesystem::path& folder, const std::vector<Level>& levels)
{
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0)
  {
    const auto list = bricks::read_list(folder / "wind.bricks.series");
    ASSERT_EQ(list.size(), levels.size());
    const LogicalBox box{ {}, { kPoints[0] - 1, kPoints[1] - 1, kPoints[2] - 1 } };
    for (std::size_t i = 0; i != levels.size(); ++i)
    {
      EXPECT_EQ(list[i].file, "wind_" + std::to_string(levels[i].step) + ".bricks");
      EXPECT_EQ(list[i].time, levels[i].time) << i;
      const auto file = bricks::File::open(folder / list[i].file);
      EXPECT_EQ(file.header().time, levels[i].clock);
      EXPECT_EQ(file.header().step, levels[i].step);
      const std::vector<float> expected =
        Simulation::values_of(box, levels[i].clock, levels[i].run);
      std::vector<float> found(expected.size());
      file.read_box({}, kPoints, found.data(), found.size() * sizeof(float));
      EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0) << i;
      (void)file.validate();
    }
    const bool is_locked = std::filesystem::exists(folder / ".wind.bricks.series.lock");
    EXPECT_EQ(names_in(folder).size(), levels.size() + (is_locked ? 2 : 1));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(GrowingSeries, is_whole_after_every_step_and_goes_on_with_the_next_run)
{
  const SharedDir shared;
  const auto folder = shared / "";
  std::vector<Level> levels;
  for (int run = 0; run != 2; ++run)
  {
    Simulation simulation(folder, run);
    for (int i = 0; i != 3; ++i)
    {
      const std::int64_t step = 10 * (3 * run + i);
      levels.push_back(
        { step, 0.5 * static_cast<double>(step), 0.5 * static_cast<double>(step), run });
      simulation.write(step, levels.back().time);
      expect_levels(folder, levels);
    }
    EXPECT_TRUE(simulation.reported.empty());
  }
}

TEST(GrowingSeries, has_levels_of_one_run_when_a_simulation_comes_back)
{
  const SharedDir shared;
  const auto folder = shared / "";
  {
    Simulation simulation(folder, 0);
    for (const std::int64_t step : { 0, 1, 2, 3, 4 })
    {
      simulation.write(step, static_cast<double>(step));
    }
    simulation.write(3, 3); // it replaces 3 and 4 itself
    expect_levels(folder, { { 0, 0, 0 }, { 1, 1, 1 }, { 2, 2, 2 }, { 3, 3, 3 } });
    EXPECT_EQ(simulation.reported.size(), rank() == 0 ? 1U : 0U);
  }
  Simulation simulation(folder, 1);
  simulation.write(1, 1);
  expect_levels(folder, { { 0, 0, 0 }, { 1, 1, 1, 1 } });
  ASSERT_EQ(simulation.reported.size(), rank() == 0 ? 1U : 0U);
  if (rank() == 0)
  {
    EXPECT_NE(
      simulation.reported[0].find("returned to step 1: 2 steps from 2 to 3"), std::string::npos)
      << simulation.reported[0];
  }
  simulation.write(0, 0); // starting over
  expect_levels(folder, { { 0, 0, 0, 1 } });
}

TEST(GrowingSeries, has_times_that_increase_where_the_clock_goes_back)
{
  const SharedDir shared;
  const auto folder = shared / "";
  Simulation simulation(folder);
  simulation.write(0, 4);
  simulation.write(2, 5);
  simulation.write(4, 0);
  simulation.write(6, 1);
  expect_levels(folder, { { 0, 4, 4 }, { 2, 5, 5 }, { 4, 6, 0 }, { 6, 7, 1 } });
  EXPECT_EQ(simulation.reported.size(), rank() == 0 ? 1U : 0U);
}

TEST(GrowingSeries, that_cannot_grow_is_an_error_on_all_ranks_and_stays_as_it_was)
{
  const SharedDir shared;
  const auto folder = shared / "";
  const auto fails = [&](const std::function<void()>& write, ErrorCode code, const char* words)
  {
    const std::optional<Error> failure = attempt(write);
    ASSERT_TRUE(failure) << words;
    EXPECT_EQ(failure->code(), code);
    EXPECT_NE(std::string(failure->what()).find(words), std::string::npos) << failure->what();
  };
  Simulation simulation(folder);
  simulation.write(0, 0);
  fails([&] { simulation.write(1, std::nan("")); }, ErrorCode::InvalidArgument, "time nan");
  {
    const FileSizeLimit full(2000);
    fails([&] { simulation.write(1, 1); }, ErrorCode::NoSpace, "wind_1.bricks");
    fails([&] { simulation.write(0, 0); }, ErrorCode::NoSpace, "wind_0.bricks");
  }
  expect_levels(folder, { { 0, 0, 0 } });
  simulation.write(1, 1);
  expect_levels(folder, { { 0, 0, 0 }, { 1, 1, 1 } });

  const auto list = folder / "wind.bricks.series";
  if (rank() == 0)
  {
    std::ofstream(list) << "a diary\n";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  fails([&] { Simulation(folder).write(2, 2); }, ErrorCode::Corrupt, "is not a series list");
  if (rank() == 0)
  {
    EXPECT_EQ(names_in(folder),
      (std::vector<std::string>{
        ".wind.bricks.series.lock", "wind.bricks.series", "wind_0.bricks", "wind_1.bricks" }));
    EXPECT_EQ(read_bytes(list).size(), 8U);
  }
}

TEST(GrowingSeries, has_one_grid_whatever_a_simulation_says)
{
  const SharedDir shared;
  const auto folder = shared / "";
  Simulation simulation(folder);
  simulation.write(0, 0);
  simulation.write(1, 1);
  for (const auto& [spacing, reported] : { std::pair(kSpacing, "22 x 17 x 24 points"),
         std::pair(1.01 * kSpacing, "21 x 17 x 24 points") })
  {
    const std::int64_t more = spacing == kSpacing ? 1 : 0;
    const std::array<double, 3> spacings{ spacing, spacing, spacing };
    const std::optional<Error> failure = attempt([&] { simulation.write(2, 2, spacings, more); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(failure->what()).find(reported), std::string::npos) << failure->what();
    EXPECT_NE(std::string(failure->what()).find("wind_1.bricks"), std::string::npos);
  }
  expect_levels(folder, { { 0, 0, 0 }, { 1, 1, 1 } });
  Simulation(folder, 1).write(1, 1); // whatever the folder is called
  const auto other = folder.parent_path() / "." / "";
  Simulation(other, 1).write(1, 1);
  expect_levels(folder, { { 0, 0, 0 }, { 1, 1, 1, 1 } });
}

TEST(GrowingSeries, has_the_grid_of_its_first_level_however_others_are_rounded)
{
  const SharedDir shared;
  const auto folder = shared / "";
  Simulation(folder).write(0, 0);
  const double other = std::nextafter(kSpacing, 1.0);
  Simulation(folder).write(1, 1, { other, kSpacing, std::nextafter(kSpacing, 0.0) });
  Simulation(folder).write(2, 2, { kSpacing * (1 + 1e-6), kSpacing, kSpacing });
  expect_levels(folder, { { 0, 0, 0 }, { 1, 1, 1 }, { 2, 2, 2 } });
  if (rank() == 0)
  {
    const auto series = bricks::Series::open(folder / "wind.bricks.series");
    EXPECT_EQ(series->grid().spacing, (std::array<double, 3>{ kSpacing, kSpacing, kSpacing }));
    EXPECT_EQ(bricks::File::open(folder / "wind_2.bricks").grid_id(), series->grid_id());
  }
}

// Following a running simulation gives the same lines as waiting for its end.
TEST(GrowingSeries, is_traced_while_it_grows)
{
  const SharedDir shared;
  const auto folder = shared / "";
  const auto list = folder / "wind.bricks.series";
  std::vector<flow::Seed> seeds;
  for (int i = 0; i != 60; ++i)
  {
    seeds.push_back({ { 1 + 0.05 * i, 2 + 0.02 * (i % 7), 1 + 0.06 * (i % 11) },
      i % 6 == 0      ? 0.7
        : i % 10 == 1 ? 2.1
                      : 0.0 }); // some are released while it runs
  }
  flow::PathLines lines;
  Simulation simulation(folder);
  std::uint64_t read_twice = 0;
  for (int step = 0; step != 8; ++step)
  {
    simulation.write(step, 0.4 * step + 0.01 * step * step);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0 && step == 2)
    {
      const flow::Cache cache(bricks::Series::open(list));
      lines = flow::trace(cache, seeds);
    }
    else if (rank() == 0 && step > 2)
    {
      const flow::Cache cache(bricks::Series::open(list));
      const flow::PathLines whole = flow::trace(cache, seeds);
      const flow::Cache anew(bricks::Series::open(list));
      lines = flow::resume(anew, lines, seeds);
      read_twice += lines.statistics.touched >= whole.statistics.touched ? 1 : 0;
      ASSERT_EQ(lines.lines.size(), whole.lines.size());
      for (std::size_t i = 0; i != seeds.size(); ++i)
      {
        const flow::Line& a = lines.lines[i];
        const flow::Line& b = whole.lines[i];
        ASSERT_EQ(a.reason, b.reason) << i;
        ASSERT_EQ(a.points, b.points) << i;
        ASSERT_NEAR(a.end_time, b.end_time, 1e-6) << i;
        for (std::uint64_t k = 0; k != a.points; ++k)
        {
          for (std::size_t c = 0; c != 3; ++c)
          {
            ASSERT_NEAR(lines.positions[a.first_point + k][c],
              whole.positions[b.first_point + k][c], 1e-5 * kSpacing);
          }
        }
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_EQ(read_twice, 0U);
}
}
