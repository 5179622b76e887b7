// SPDX-License-Identifier: BSD-3-Clause
// Structured grids of a simulation are written as .idx datasets, next to its particles in .bat.
#include "simulation.hpp"

#include "bat/catalyst_bat.h"
#include "bat/idx/dataset.hpp"

#include <array>
#include <functional>

using namespace sim;

namespace
{
constexpr const char* kChannel = "catalyst/channels/grid";
constexpr const char* kData = "catalyst/channels/grid/data";
constexpr std::array<double, 3> kOrigin{ -1, 0.5, 2 };
constexpr std::array<double, 3> kSpacing{ 0.5, 0.25, 2 };
constexpr std::int64_t kX = 12;
constexpr std::int64_t kY = 9;
constexpr std::int64_t kLayers = 4; // elements on each rank

double density_at(std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t step)
{
  return static_cast<double>(x + 100 * y + 10000 * z) + 0.5 * static_cast<double>(step);
}

std::int32_t kind_at(std::int64_t x, std::int64_t y, std::int64_t z)
{
  return static_cast<std::int32_t>(x - 7 * y + 50 * z);
}

// A rank's layers along z, with one ghost layer on each side that has a neighbour.
struct Slab
{
  explicit Slab(int rank)
    : own_first(kLayers * rank)
    , first(std::max<std::int64_t>(0, own_first - 1))
    , last(std::min(kLayers * mpi_test::ranks(), own_first + kLayers + 1))
  {
  }
  [[nodiscard]] bool is_own(std::int64_t element) const
  {
    return element >= this->own_first && element < this->own_first + kLayers;
  }

  std::int64_t own_first;
  std::int64_t first; // vertices
  std::int64_t last;
};

struct Arrays
{
  std::vector<double> density;
  std::array<std::vector<float>, 3> velocity;
  std::vector<std::int32_t> kind;
  std::vector<std::int32_t> ghosts; // one flag per element
};

// Values in ghosts must not be used.
Arrays arrays_of(const Slab& slab, std::int64_t step)
{
  Arrays arrays;
  for (std::int64_t z = slab.first; z <= slab.last; ++z)
  {
    const bool has_own = slab.is_own(z) || slab.is_own(z - 1);
    for (std::int64_t y = 0; y != kY; ++y)
    {
      for (std::int64_t x = 0; x != kX; ++x)
      {
        arrays.density.push_back(has_own ? density_at(x, y, z, step) : -77);
        for (std::size_t c = 0; c != 3; ++c)
        {
          arrays.velocity[c].push_back(has_own
              ? static_cast<float>(x + 20 * y + 300 * z) + 0.25F * static_cast<float>(c)
              : -77);
        }
        if (x != kX - 1 && y != kY - 1 && z != slab.last)
        {
          arrays.kind.push_back(slab.is_own(z) ? kind_at(x, y, z) : -77);
          arrays.ghosts.push_back(slab.is_own(z) ? 0 : 1);
        }
      }
    }
  }
  return arrays;
}

void publish_grid(Params& params, const Slab& slab, Arrays& arrays, double shift = 0)
{
  const std::string data = kData;
  params.set(std::string(kChannel) + "/type", "mesh");
  params.set(data + "/coordsets/c/type", "uniform");
  params.set(data + "/coordsets/c/dims/i", kX).set(data + "/coordsets/c/dims/j", kY);
  params.set(data + "/coordsets/c/dims/k", slab.last - slab.first + 1);
  constexpr std::array names = { "x", "y", "z" };
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const double begin = axis == 2 ? static_cast<double>(slab.first) + shift : 0;
    params.set(data + "/coordsets/c/origin/" + names[axis], kOrigin[axis] + begin * kSpacing[axis]);
    params.set(data + "/coordsets/c/spacing/d" + names[axis], kSpacing[axis]);
  }
  params.set(data + "/topologies/mesh/type", "uniform");
  params.set(data + "/topologies/mesh/coordset", "c");
  const auto field = [&](const std::string& name, const char* association)
  {
    params.set(data + "/fields/" + name + "/association", association);
    params.set(data + "/fields/" + name + "/topology", "mesh");
    return data + "/fields/" + name + "/values";
  };
  params.array(field("density", "vertex"), ScalarType::Float64, arrays.density);
  const std::string velocity = field("velocity", "vertex");
  for (std::size_t c = 0; c != 3; ++c)
  {
    params.array(velocity + "/" + "uvw"[c], ScalarType::Float32, arrays.velocity[c]);
  }
  params.array(field("kind", "element"), ScalarType::Int32, arrays.kind);
  params.array(field("ascent_ghosts", "element"), ScalarType::Int32, arrays.ghosts);
}

template <class T>
std::vector<T> read(const bat::idx::Dataset& dataset, const char* field, std::int64_t step)
{
  const std::size_t index = dataset.field_index(field);
  const bat::idx::Lattice lattice = dataset.lattice(dataset.levels());
  std::vector<T> values(
    lattice.samples() * static_cast<std::uint64_t>(dataset.fields()[index].components));
  dataset.read({ index, dataset.levels(), {}, step }, values.data(), values.size() * sizeof(T));
  return values;
}

// On rank 0.
void expect_grid(const std::filesystem::path& path, const std::vector<std::int64_t>& steps)
{
  if (mpi_test::rank() != 0)
  {
    return;
  }
  SCOPED_TRACE(path.string());
  const bat::idx::Dataset dataset = bat::idx::Dataset::open(path);
  EXPECT_EQ(dataset.steps(), steps);
  EXPECT_EQ(dataset.times().back(), 0.5 * static_cast<double>(steps.back()));
  const std::int64_t nz = kLayers * mpi_test::ranks() + 1;
  EXPECT_EQ(dataset.box(), (bat::idx::LogicalBox{ {}, { kX - 1, kY - 1, nz - 1 } }));
  EXPECT_EQ(dataset.geometry().origin, kOrigin);
  EXPECT_EQ(dataset.geometry().spacing, kSpacing);
  for (const std::int64_t step : steps)
  {
    const std::vector<double> density = read<double>(dataset, "density", step);
    const std::vector<float> velocity = read<float>(dataset, "velocity", step);
    std::size_t i = 0;
    std::size_t wrong = 0;
    for (std::int64_t z = 0; z != nz; ++z)
    {
      for (std::int64_t y = 0; y != kY; ++y)
      {
        for (std::int64_t x = 0; x != kX; ++x, ++i)
        {
          wrong += density[i] != density_at(x, y, z, step) ? 1 : 0;
          wrong += velocity[3 * i + 1] != static_cast<float>(x + 20 * y + 300 * z) + 0.25F ? 1 : 0;
        }
      }
    }
    EXPECT_EQ(wrong, 0U) << "values at step " << step;
  }
}

void expect_elements(const std::filesystem::path& path, std::int64_t step)
{
  if (mpi_test::rank() != 0)
  {
    return;
  }
  SCOPED_TRACE(path.string());
  const bat::idx::Dataset dataset = bat::idx::Dataset::open(path);
  EXPECT_EQ(dataset.geometry().origin,
    (std::array<double, 3>{ kOrigin[0] + 0.5 * kSpacing[0], kOrigin[1] + 0.5 * kSpacing[1],
      kOrigin[2] + 0.5 * kSpacing[2] }));
  const std::vector<std::int32_t> kind = read<std::int32_t>(dataset, "kind", step);
  std::size_t i = 0;
  std::size_t wrong = 0;
  for (std::int64_t z = 0; z != kLayers * mpi_test::ranks(); ++z)
  {
    for (std::int64_t y = 0; y != kY - 1; ++y)
    {
      for (std::int64_t x = 0; x != kX - 1; ++x, ++i)
      {
        wrong += kind[i] != kind_at(x, y, z) ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(i, kind.size());
  EXPECT_EQ(wrong, 0U);
}
}

// The published data of a step; tests change it.
struct GridStep
{
  explicit GridStep(std::int64_t number, double shift = 0)
    : slab(mpi_test::rank())
    , arrays(arrays_of(this->slab, number))
  {
    publish_grid(this->params.step(number), this->slab, this->arrays, shift);
  }

  Slab slab;
  Arrays arrays;
  Params params;
};

void expect_files(const Session& run, const std::vector<std::string>& names)
{
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(run.files(), names);
  }
}

TEST(Grids, are_written_beside_the_particles_of_the_same_simulation)
{
  Session run;
  Memory memory;
  const std::vector<std::int64_t> steps{ 3, 4, 10 };
  for (const std::int64_t number : steps)
  {
    GridStep step(number);
    publish_channel(step.params, particles(mpi_test::rank(), 40), memory);
    EXPECT_EQ(run.execute(step.params), 0) << run.reported;
    EXPECT_EQ(run.reported, "");
  }
  expect_grid(run / "grid.idx", steps);
  expect_elements(run / "grid_elements.idx", 10);
  expect_file(
    run / "particles_000010.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
  expect_files(run,
    { "grid", "grid.idx", "grid_elements", "grid_elements.idx", "particles.bat.series",
      "particles.vtkhdf.series", "particles_000003.bat", "particles_000004.bat",
      "particles_000010.bat" });

  Params results;
  EXPECT_EQ(catalyst_results(results.get()), 0);
  conduit_node* grids = conduit_node_fetch(results.get(), "catalyst/bat/last_step/grids");
  ASSERT_EQ(conduit_node_number_of_children(grids), 2);
  conduit_node* elements = conduit_node_child(grids, 1);
  EXPECT_STREQ(conduit_node_fetch_path_as_char8_str(elements, "grid"), "grid_elements");
  EXPECT_EQ(
    conduit_node_fetch_path_as_char8_str(elements, "file"), (run / "grid_elements.idx").string());
  EXPECT_EQ(conduit_node_fetch_path_as_int64(elements, "samples"),
    (kX - 1) * (kY - 1) * kLayers * mpi_test::ranks());
}

TEST(Grids, of_a_run_that_goes_back_replace_later_steps)
{
  Session run;
  for (const std::int64_t number : { 3, 4, 10, 4 })
  {
    EXPECT_EQ(run.execute(GridStep(number).params), 0) << run.reported;
  }
  expect_grid(run / "grid.idx", { 3, 4 });
}

TEST(Grids, go_where_a_pipeline_or_an_option_says)
{
  for (const bool is_pipeline : { true, false })
  {
    Session run(
      [&](Params& params, const std::string& folder)
      {
        if (is_pipeline)
        {
          params.set("catalyst/pipelines/p/type", "io").set("catalyst/pipelines/p/channel", "grid");
          params.set("catalyst/pipelines/p/filename", folder + "made/here_%04ts_{name}.idx");
          return;
        }
        params.set("catalyst/bat/output", folder + "made/here_{timestep:04d}_{name}.idx");
        params.set("catalyst/bat/grid_codec", "lz4").set("catalyst/bat/grid_bits_per_block", 6);
        params.set("catalyst/bat/exchange", "flat");
      });
    ASSERT_EQ(run.status, 0);
    EXPECT_EQ(run.execute(GridStep(7).params), 0) << run.reported;
    expect_grid(run / "made/here_0007_grid.idx", { 7 });
    expect_elements(run / "made/here_0007_grid_elements.idx", 7);
    if (mpi_test::rank() == 0 && !is_pipeline)
    {
      const auto dataset = bat::idx::Dataset::open(run / "made/here_0007_grid.idx");
      EXPECT_EQ(dataset.header().bits_per_block, 6);
    }
  }
}

TEST(Grids, whose_names_would_be_the_same_have_their_own_added)
{
  Session run([](Params& params, const std::string& folder)
    { params.set("catalyst/bat/grid_output", folder + "run.idx"); });
  EXPECT_EQ(run.execute(GridStep(1).params), 0) << run.reported;
  EXPECT_EQ(run.execute(GridStep(2).params), 0) << run.reported;
  expect_grid(run / "run.idx", { 1, 2 });
  expect_elements(run / "run_grid_elements.idx", 2);
}

TEST(Grids, of_elements_alone_have_the_name_of_their_channel)
{
  Session run(
    [](Params& params, const std::string& folder)
    {
      params.set("catalyst/bat/grid_output", folder + "{name}.idx");
      params.set("catalyst/bat/fields/a", "kind");
    });
  EXPECT_EQ(run.execute(GridStep(1).params), 0) << run.reported;
  EXPECT_EQ(run.reported, "");
  expect_elements(run / "grid.idx", 1);
  expect_files(run, { "grid", "grid.idx" });
}

TEST(Grids, that_are_no_grid_are_an_error_and_keep_particles_from_nothing)
{
  if (mpi_test::ranks() == 1)
  {
    GTEST_SKIP() << "one domain is a grid by itself";
  }
  Session run;
  Memory memory;
  GridStep step(1, mpi_test::rank() == 1 ? 0.25 : 0);
  publish_channel(step.params, particles(mpi_test::rank(), 40), memory);
  EXPECT_EQ(run.execute(step.params), CATALYST_BAT_BAD_NODE);
  EXPECT_NE(run.reported.find("all domains must lie on one lattice"), std::string::npos)
    << run.reported;
  EXPECT_EQ(lines_in(run.reported), 1U) << run.reported;
  expect_file(
    run / "particles_000001.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
  expect_files(run, { "particles.bat.series", "particles.vtkhdf.series", "particles_000001.bat" });
}

TEST(Grids, with_a_hole_are_an_error_unless_zeros_are_wanted)
{
  if (mpi_test::ranks() < 3)
  {
    GTEST_SKIP() << "what few ranks have is a box";
  }
  for (const bool zeros : { false, true })
  {
    Session run(
      [&](Params& params, const std::string& folder)
      {
        params.set("catalyst/bat/grid_output", folder + "{name}.idx");
        params.set("catalyst/bat/grid_missing", zeros ? "zero" : "refuse");
      });
    GridStep step(1);
    if (mpi_test::rank() == 1)
    {
      step.params.remove("catalyst/channels/grid/data");
    }
    EXPECT_EQ(run.execute(step.params), zeros ? 0 : CATALYST_BAT_BAD_NODE);
    EXPECT_EQ(run.reported.find("no rank has") != std::string::npos, !zeros) << run.reported;
  }
}

TEST(Grids, of_several_spacings_are_left_out_with_one_warning)
{
  if (mpi_test::ranks() == 1)
  {
    GTEST_SKIP() << "one domain has one spacing";
  }
  Session run;
  Memory memory;
  for (std::int64_t number = 0; number != 2; ++number)
  {
    GridStep step(number);
    publish_channel(step.params, particles(mpi_test::rank(), 40), memory);
    if (mpi_test::rank() == 1)
    {
      step.params.set(std::string(kData) + "/coordsets/c/spacing/dx", 0.5 * kSpacing[0]);
    }
    EXPECT_EQ(run.execute(step.params), 0) << run.reported;
    EXPECT_EQ(lines_in(run.reported), number == 0 ? 2U : 0U) << run.reported; // vertices, elements
  }
  expect_file(
    run / "particles_000001.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
}

TEST(Grids, have_no_field_that_one_rank_cannot_hand_over)
{
  struct Case
  {
    const char* field;
    std::function<void(Params&, const std::string& path)> damage;
    const char* words;
  };
  static double few[3] = { 1, 2, 3 };
  const std::vector<Case> cases = {
    { "density",
      [](Params& p, const std::string& path)
      { p.array(path + "/values", ScalarType::Float64, few, 3, 0, 8); },
      "fields/density/values has 3 values, but the topology has" },
    { "density", [](Params& p, const std::string& path) { p.set(path + "/values", "text"); },
      "field density has type" },
    { "velocity", [](Params& p, const std::string& path) { p.remove(path); },
      "missing on another" },
  };
  for (const Case& c : cases)
  {
    SCOPED_TRACE(c.words);
    const bool is_missing = std::string(c.words).find("missing") != std::string::npos;
    if (is_missing && mpi_test::ranks() == 1)
    {
      continue;
    }
    Session run;
    for (const std::int64_t number : { 1, 2 })
    {
      GridStep step(number);
      if (mpi_test::rank() == mpi_test::ranks() - 1)
      {
        c.damage(step.params, std::string(kData) + "/fields/" + c.field);
      }
      EXPECT_EQ(run.execute(step.params), 0) << run.reported;
      EXPECT_EQ(lines_in(run.reported), number == 1 ? 1U : 0U) << run.reported;
      EXPECT_EQ(run.reported.find(c.words) != std::string::npos, number == 1) << run.reported;
    }
    if (mpi_test::rank() == 0)
    {
      const auto dataset = bat::idx::Dataset::open(run / "grid.idx");
      ASSERT_EQ(dataset.fields().size(), 1U);
      EXPECT_NE(dataset.fields()[0].name, c.field);
    }
    expect_elements(run / "grid_elements.idx", 2);
  }
}

TEST(Grids, have_fields_under_names_that_idx_allows)
{
  Session run;
  for (const std::int64_t number : { 1, 2 })
  {
    GridStep step(number);
    const std::string field = std::string(kData) + "/fields/Tiff Scalars";
    step.params.set(field + "/association", "vertex");
    step.params.set(field + "/topology", "mesh");
    step.params.array(field + "/values", ScalarType::Float64, step.arrays.density);
    EXPECT_EQ(run.execute(step.params), 0) << run.reported;
    EXPECT_EQ(lines_in(run.reported), number == 1 ? 1U : 0U) << run.reported;
    EXPECT_EQ(run.reported.find("'Tiff Scalars' is called 'Tiff_Scalars'") != std::string::npos,
      number == 1)
      << run.reported;
  }
  expect_grid(run / "grid.idx", { 1, 2 });
  if (mpi_test::rank() == 0)
  {
    const auto dataset = bat::idx::Dataset::open(run / "grid.idx");
    EXPECT_EQ(read<double>(dataset, "Tiff_Scalars", 2), read<double>(dataset, "density", 2));
  }
}

TEST(Grids, that_cannot_be_placed_are_an_error_that_names_the_node)
{
  const std::vector<std::pair<std::function<void(Params&, const std::string& coords)>, const char*>>
    cases = {
      { [](Params& p, const std::string& coords) { p.set(coords + "/spacing/dx", -1.0); },
        "spacing/dx is -1; a spacing must be above 0" },
      { [](Params& p, const std::string& coords) { p.set(coords + "/origin/theta", 0.5); },
        "origin/theta is given; allowed are origin/x, origin/y and origin/z" },
      { [](Params& p, const std::string& coords) { p.set(coords + "/dims/i", 1 << 22); },
        "dims/i is 4194304; allowed are 0 to 2097151 vertices" },
      { [](Params& p, const std::string& coords) { p.set(coords + "/type", "explicit"); },
        "a uniform topology needs 'uniform'" },
      { [](Params& p, const std::string&)
        {
          static std::vector<std::int32_t> marks(static_cast<std::size_t>((kX - 1) * (kY - 1) * 8));
          marks[1] = 1;
          const std::string topology = std::string(kData) + "/coordsets/c/dims/k";
          const auto layers = static_cast<std::size_t>(p.integer(topology)) - 1;
          p.array(std::string(kData) + "/fields/ascent_ghosts/values", ScalarType::Int32,
            marks.data(), static_cast<std::size_t>((kX - 1) * (kY - 1)) * layers, 0, 4);
        },
        "marks ghosts between others" },
    };
  for (const auto& [damage, words] : cases)
  {
    SCOPED_TRACE(words);
    Session run;
    GridStep step(1);
    if (mpi_test::rank() == mpi_test::ranks() - 1)
    {
      damage(step.params, std::string(kData) + "/coordsets/c");
    }
    EXPECT_EQ(run.execute(step.params), CATALYST_BAT_BAD_NODE);
    EXPECT_NE(run.reported.find(words), std::string::npos) << run.reported;
    EXPECT_EQ(lines_in(run.reported), 1U) << run.reported;
    expect_files(run, {});
  }
}
