// SPDX-License-Identifier: BSD-3-Clause
// Velocities on a simulation's grids are written as series of .bricks.
#include "simulation.hpp"

#include "bat/bricks/series.hpp"
#include "bat/catalyst_bat.h"
#include "bat/idx/dataset.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

using namespace sim;

namespace
{
constexpr const char* kData = "catalyst/channels/flow/data";
constexpr std::array<double, 3> kOrigin{ -1, 0.5, 2 };
constexpr std::array<double, 3> kSpacing{ 0.5, 0.25, 2 };
constexpr std::int64_t kX = 11; // vertices
constexpr std::int64_t kY = 7;
constexpr std::int64_t kLayers = 4; // elements on each rank

double wind_at(std::int64_t x, std::int64_t y, std::int64_t z, int component, std::int64_t step)
{
  return 0.1 * static_cast<double>(x) - 0.03 * static_cast<double>(y * z) +
    10.0 * static_cast<double>(component) + 0.7 * static_cast<double>(step);
}
float drift_at(std::int64_t x, std::int64_t y, std::int64_t z, int component)
{
  return static_cast<float>(x + 20 * y + 300 * z) * (component == 0 ? 1.0F : -0.5F);
}
// A pillar across the borders of ranks.
bool is_blanked(std::int64_t x, std::int64_t y)
{
  return x >= 3 && x <= 5 && y == 2;
}

// A rank's published data: layers along z, with one ghost layer on each side that has a neighbour.
// Values in ghosts must not be used.
class FlowStep
{
public:
  explicit FlowStep(std::int64_t step)
    : own_first_(kLayers * mpi_test::rank())
    , first_(std::max<std::int64_t>(0, own_first_ - 1))
    , last_(std::min(kLayers * mpi_test::ranks(), own_first_ + kLayers + 1))
  {
    this->params.step(step);
    this->fill(step);
    const std::string data = kData;
    this->params.set("catalyst/channels/flow/type", "mesh");
    this->params.set(data + "/coordsets/c/type", "uniform");
    this->params.set(data + "/coordsets/c/dims/i", kX).set(data + "/coordsets/c/dims/j", kY);
    this->params.set(data + "/coordsets/c/dims/k", this->last_ - this->first_ + 1);
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const std::string name(1, "xyz"[axis]);
      const double begin = axis == 2 ? static_cast<double>(this->first_) : 0;
      this->params.set(
        data + "/coordsets/c/origin/" + name, kOrigin[axis] + begin * kSpacing[axis]);
      this->params.set(data + "/coordsets/c/spacing/d" + name, kSpacing[axis]);
    }
    this->params.set(data + "/topologies/mesh/type", "uniform");
    this->params.set(data + "/topologies/mesh/coordset", "c");
    constexpr std::size_t size = sizeof(double);
    for (std::size_t c = 0; c != 3; ++c)
    {
      this->params.array(this->field("wind", "vertex") + "/" + "uvw"[c], ScalarType::Float64,
        this->wind_.data(), this->wind_.size() / 3, c * size, 3 * size);
    }
    this->params.array(this->field("u", "element"), ScalarType::Float32, this->drift_[0]);
    this->params.array(this->field("v", "element"), ScalarType::Float32, this->drift_[1]);
    this->params.array(this->field("vtkGhostType", "element"), ScalarType::Int32, this->ghosts_);
  }

  std::string field(const std::string& name, const char* association)
  {
    const std::string path = std::string(kData) + "/fields/" + name;
    this->params.set(path + "/association", association).set(path + "/topology", "mesh");
    return path + "/values";
  }

  Params params;

private:
  void fill(std::int64_t step)
  {
    const auto is_own = [&](std::int64_t element)
    { return element >= this->own_first_ && element < this->own_first_ + kLayers; };
    for (std::int64_t z = this->first_; z <= this->last_; ++z)
    {
      for (std::int64_t y = 0; y != kY; ++y)
      {
        for (std::int64_t x = 0; x != kX; ++x)
        {
          for (int c = 0; c != 3; ++c)
          {
            this->wind_.push_back(is_own(z) || is_own(z - 1) ? wind_at(x, y, z, c, step) : -77);
          }
          if (x != kX - 1 && y != kY - 1 && z != this->last_)
          {
            this->drift_[0].push_back(is_own(z) ? drift_at(x, y, z, 0) : -77);
            this->drift_[1].push_back(is_own(z) ? drift_at(x, y, z, 1) : -77);
            this->ghosts_.push_back((is_own(z) ? 0 : 1) | (is_blanked(x, y) ? 32 : 0));
          }
        }
      }
    }
  }

  std::int64_t own_first_;
  std::int64_t first_; // vertices
  std::int64_t last_;
  std::vector<double> wind_;
  std::array<std::vector<float>, 2> drift_;
  std::vector<std::int32_t> ghosts_;
};

// On rank 0.
void expect_wind(const std::filesystem::path& list, const std::vector<std::int64_t>& steps)
{
  if (mpi_test::rank() != 0)
  {
    return;
  }
  SCOPED_TRACE(list.string());
  const auto series = bat::bricks::Series::open(list);
  ASSERT_EQ(series->times().size(), steps.size());
  const std::array<std::int64_t, 3> points{ kX, kY, kLayers * mpi_test::ranks() + 1 };
  for (std::size_t level = 0; level != steps.size(); ++level)
  {
    const bat::bricks::File& file = series->level(level);
    EXPECT_EQ(series->times()[level], 0.5 * static_cast<double>(steps[level]));
    EXPECT_EQ(file.header().time, series->times()[level]);
    EXPECT_EQ(file.header().step, steps[level]);
    EXPECT_EQ(file.header().field, "wind");
    EXPECT_EQ(file.grid().points, points);
    EXPECT_EQ(file.grid().origin, kOrigin);
    EXPECT_EQ(file.grid().spacing, kSpacing);
    std::vector<double> values(static_cast<std::size_t>(3 * points[0] * points[1] * points[2]));
    file.read_box({}, points, values.data(), values.size() * sizeof(double));
    std::size_t wrong = 0;
    auto value = values.begin();
    for (std::int64_t z = 0; z != points[2]; ++z)
    {
      for (std::int64_t y = 0; y != kY; ++y)
      {
        for (std::int64_t x = 0; x != kX; ++x)
        {
          for (int c = 0; c != 3; ++c)
          {
            wrong += *value++ != wind_at(x, y, z, c, steps[level]) ? 1 : 0;
          }
        }
      }
    }
    EXPECT_EQ(wrong, 0U) << "values at step " << steps[level];
  }
}

void expect_files(const Session& run, const std::vector<std::string>& names)
{
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(run.files(), names);
  }
}

TEST(Bricks, of_vertices_are_a_level_of_a_series_for_each_step)
{
  const mpi_test::SharedDir folder;
  const std::string path = (folder / "").string();
  const auto describe = [&](Params& params, const std::string&)
  { params.set("catalyst/bat/output", path + "{name}.bricks").set("catalyst/bat/flush", 0); };
  std::vector<std::int64_t> steps;
  for (const std::int64_t first : { 3, 7 }) // two runs
  {
    Session run(describe);
    for (const std::int64_t number : { first, first + 1, first + 3 })
    {
      steps.push_back(number);
      EXPECT_EQ(run.execute(FlowStep(number).params), 0) << run.reported;
      EXPECT_EQ(lines_in(run.reported), number == first ? 1U : 0U) << run.reported;
      EXPECT_EQ(run.reported.find("grid flow_elements was not written as .bricks: no field is "
                                  "suitable as a velocity") != std::string::npos,
        number == first)
        << run.reported;
      expect_wind(folder / "flow.bricks.series", steps);
    }
    Params results;
    EXPECT_EQ(catalyst_results(results.get()), 0);
    conduit_node* grids = conduit_node_fetch(results.get(), "catalyst/bat/last_step/grids");
    ASSERT_EQ(conduit_node_number_of_children(grids), 1);
    conduit_node* grid = conduit_node_child(grids, 0);
    EXPECT_STREQ(conduit_node_fetch_path_as_char8_str(grid, "grid"), "flow");
    EXPECT_EQ(conduit_node_fetch_path_as_char8_str(grid, "file"),
      path + (first == 3 ? "flow_000006.bricks" : "flow_000010.bricks"));
    EXPECT_EQ(conduit_node_fetch_path_as_int64(grid, "samples"),
      kX * kY * (kLayers * mpi_test::ranks() + 1));
  }
  // A third run, from a checkpoint.
  Session run(describe);
  EXPECT_EQ(run.execute(FlowStep(6).params), 0);
  EXPECT_NE(run.reported.find("returned to step 6: 3 steps from 7 to 10"), std::string::npos)
    << run.reported;
  expect_wind(folder / "flow.bricks.series", { 3, 4, 6 });
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(names_in(folder / ""),
      (std::vector<std::string>{ ".flow.bricks.series.lock", "flow.bricks.series",
        "flow_000003.bricks", "flow_000004.bricks", "flow_000006.bricks" }));
  }
}

TEST(Bricks, of_elements_are_at_their_centres_and_nan_where_they_are_blanked)
{
  Session run(
    [](Params& params, const std::string& folder)
    {
      params.set("catalyst/bat/grid_output", folder + "{name}_{time:.1f}_{timestep}.bricks");
      params.set("catalyst/bat/fields/a", "u").set("catalyst/bat/fields/b", "v");
      params.set("catalyst/bat/bricks_velocity/a", "u").set("catalyst/bat/bricks_velocity/b", "v");
      params.set("catalyst/bat/bricks_cyclic", "zx").set("catalyst/bat/bricks_compress", 0);
    });
  ASSERT_EQ(run.status, 0);
  EXPECT_EQ(run.execute(FlowStep(5).params), 0) << run.reported;
  EXPECT_EQ(run.reported, "");
  expect_files(run, { "flow.bricks.series", "flow_2.5_5.bricks" });
  if (mpi_test::rank() != 0)
  {
    return;
  }
  const auto file = bat::bricks::File::open(run / "flow_2.5_5.bricks");
  const std::array<std::int64_t, 3> points{ kX - 1, kY - 1, kLayers * mpi_test::ranks() };
  EXPECT_EQ(file.header().field, "u,v");
  EXPECT_EQ(file.grid().points, points);
  EXPECT_EQ(file.grid().components, 2);
  EXPECT_EQ(file.grid().cyclic, (std::array<bool, 3>{ true, false, true }));
  EXPECT_EQ(file.grid().origin,
    (std::array<double, 3>{ kOrigin[0] + 0.5 * kSpacing[0], kOrigin[1] + 0.5 * kSpacing[1],
      kOrigin[2] + 0.5 * kSpacing[2] }));
  std::vector<float> values(static_cast<std::size_t>(2 * points[0] * points[1] * points[2]));
  file.read_box({}, points, values.data(), values.size() * sizeof(float));
  std::size_t wrong = 0;
  std::size_t blanked = 0;
  auto value = values.begin();
  for (std::int64_t z = 0; z != points[2]; ++z)
  {
    for (std::int64_t y = 0; y != points[1]; ++y)
    {
      for (std::int64_t x = 0; x != points[0]; ++x)
      {
        for (int c = 0; c != 2; ++c, ++value)
        {
          blanked += is_blanked(x, y) ? 1 : 0;
          wrong += is_blanked(x, y) ? !std::isnan(*value) : *value != drift_at(x, y, z, c);
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(blanked, static_cast<std::size_t>(2 * 3 * points[2]));
}

// A grid that is blanked inside cannot be an .idx; its velocity, and everything else, is written.
// The same holds with pipelines.
TEST(Bricks, stand_beside_other_files_of_the_same_grid)
{
  for (const bool is_pipeline : { true, false })
  {
    Session run(
      [&](Params& params, const std::string& folder)
      {
        if (is_pipeline)
        {
          for (const std::string name : { "idx", "bricks" })
          {
            const std::string path = "catalyst/pipelines/" + name;
            params.set(path + "/type", "io").set(path + "/channel", "flow");
            params.set(path + "/filename", folder + "made/%04ts_{name}." + name);
          }
          return;
        }
        params.set("catalyst/bat/grid_output/a", folder + "made/{timestep:04d}_{name}.idx");
        params.set("catalyst/bat/grid_output/b", folder + "made/{timestep:04d}_{name}.bricks");
        params.set("catalyst/bat/bricks_velocity", "wind");
      });
    ASSERT_EQ(run.status, 0);
    EXPECT_EQ(run.execute(FlowStep(7).params), CATALYST_BAT_BAD_NODE);
    EXPECT_NE(run.reported.find("hidden samples between others"), std::string::npos)
      << run.reported;
    expect_wind(run / "made/flow.bricks.series", { 7 });

    FlowStep shown(8);
    shown.params.remove(std::string(kData) + "/fields/vtkGhostType");
    if (mpi_test::ranks() == 1) // otherwise ghosts would belong to no rank
    {
      EXPECT_EQ(run.execute(shown.params), 0) << run.reported;
      expect_wind(run / "made/flow.bricks.series", { 7, 8 });
      EXPECT_EQ(bat::idx::Dataset::open(run / "made/0008_flow.idx").steps().size(), 1U);
    }
  }
}

TEST(Bricks, without_a_velocity_are_left_out_with_one_warning)
{
  struct Case
  {
    std::vector<std::string> velocity;
    std::function<void(FlowStep&)> change;
    const char* words;
  };
  static std::vector<double> gust(static_cast<std::size_t>(3 * kX * kY * 100), 1.5);
  const std::vector<Case> cases = {
    { {},
      [](FlowStep& step)
      {
        const auto layers =
          static_cast<std::size_t>(step.params.integer(std::string(kData) + "/coordsets/c/dims/k"));
        for (std::size_t c = 0; c != 3; ++c)
        {
          step.params.array(step.field("gust", "vertex") + "/" + "uvw"[c], ScalarType::Float64,
            gust.data(), layers * static_cast<std::size_t>(kX * kY), c * sizeof(double),
            3 * sizeof(double));
        }
      },
      "gust, wind can be its velocity; set bricks_velocity" },
    { { "wnid" }, {},
      "unknown field wnid in bricks_velocity; did you mean 'wind'? Available: wind" },
    { { "wind", "wind" }, {}, "field wind has type float64 x 3; a velocity is one field" },
  };
  for (const Case& c : cases)
  {
    SCOPED_TRACE(c.words);
    Session run(
      [&](Params& params, const std::string& folder)
      {
        params.set("catalyst/bat/grid_output", folder + "{name}.bricks");
        params.set("catalyst/bat/bricks_velocity", c.velocity);
      });
    ASSERT_EQ(run.status, 0);
    for (const std::int64_t number : { 1, 2 })
    {
      FlowStep step(number);
      if (c.change)
      {
        c.change(step);
      }
      EXPECT_EQ(run.execute(step.params), 0) << run.reported;
      EXPECT_EQ(lines_in(run.reported), number == 1 ? 2U : 0U)
        << run.reported; // vertices, elements
      EXPECT_EQ(run.reported.find(c.words) != std::string::npos, number == 1) << run.reported;
    }
    expect_files(run, {});
  }
}

TEST(Bricks, that_leave_a_hole_are_an_error_and_the_series_stays)
{
  if (mpi_test::ranks() < 3)
  {
    GTEST_SKIP() << "what few ranks have is a box";
  }
  Session run([](Params& params, const std::string& folder)
    { params.set("catalyst/bat/grid_output", folder + "{name}.bricks"); });
  EXPECT_EQ(run.execute(FlowStep(1).params), 0) << run.reported;
  FlowStep step(2);
  if (mpi_test::rank() == 1)
  {
    step.params.remove("catalyst/channels/flow/data");
  }
  EXPECT_EQ(run.execute(step.params), CATALYST_BAT_BAD_NODE);
  EXPECT_NE(run.reported.find("no rank has the point"), std::string::npos) << run.reported;
  expect_wind(run / "flow.bricks.series", { 1 });
  EXPECT_EQ(run.execute(FlowStep(3).params), 0) << run.reported;
  expect_wind(run / "flow.bricks.series", { 1, 3 });
  expect_files(run, { "flow.bricks.series", "flow_000001.bricks", "flow_000003.bricks" });
}
}
