// SPDX-License-Identifier: BSD-3-Clause
// Particles of every layout and type, on some or no ranks, are written bit by bit.
#include "simulation.hpp"

#include <cmath>
#include <limits>
#include <tuple>

using namespace sim;

namespace
{
constexpr const char* kMesh = "catalyst/channels/particles/data";

class Layouts : public ::testing::TestWithParam<std::tuple<Layout, ScalarType, ScalarType, int>>
{
};

std::uint64_t count_of(int rank, int ranks_with_particles)
{
  return rank < ranks_with_particles ? 61 + 7 * static_cast<std::uint64_t>(rank) : 0;
}

TEST_P(Layouts, are_written_to_the_bit)
{
  const auto [layout, real, integer, with_particles] = GetParam();
  if (with_particles > mpi_test::ranks())
  {
    GTEST_SKIP() << "as many ranks there are not";
  }
  const auto of = [&, real = real, integer = integer, with = with_particles](int rank)
  { return particles(rank, count_of(rank, with), real, integer); };
  Session run;
  ASSERT_EQ(run.status, 0);
  Params params;
  Memory memory;
  publish_channel(params.step(12), of(mpi_test::rank()), memory, layout);
  EXPECT_EQ(run.execute(params), 0);
  EXPECT_EQ(run.reported, "");
  expect_file(run / "particles_000012.bat", of_all_ranks(of));
  if (mpi_test::rank() == 0)
  {
    const bat::Dataset dataset = bat::Dataset::open(run / "particles_000012.bat");
    EXPECT_EQ(dataset.step(), 12);
    EXPECT_EQ(dataset.time(), 6.0);
  }
}

std::string name_of_case(const ::testing::TestParamInfo<Layouts::ParamType>& info)
{
  const auto& [layout, real, integer, ranks] = info.param;
  constexpr const char* layouts[] = { "Separate", "Interleaved", "Records" };
  return layouts[static_cast<int>(layout)] + std::string("_") + std::string(bat::name_of(real)) +
    "_" + std::string(bat::name_of(integer)) + "_on_" + std::to_string(ranks);
}

INSTANTIATE_TEST_SUITE_P(All, Layouts,
  ::testing::Combine(::testing::Values(Layout::Separate, Layout::Interleaved, Layout::Records),
    ::testing::Values(ScalarType::Float32, ScalarType::Float64),
    ::testing::Values(ScalarType::Int32, ScalarType::Int64, ScalarType::UInt8),
    ::testing::Values(0, 1, 2, 4)),
  name_of_case);

// One coordinate or component after the other, from separately typed arrays.
void put(Params& params, const std::string& path, ScalarType type, Memory& memory, std::uint64_t n,
  std::size_t stride, const std::function<double(std::uint64_t)>& f)
{
  Cloud one;
  one.count = n;
  add_column(one, "", type, 1, f);
  const bat::ArrayView view = one.view().attributes[0].values;
  const Place place{ room(memory, stride * n + 8), 1, stride };
  copy(view, 0, n, place);
  params.array(path, type, place.data, n, place.offset, place.stride);
}

double some(std::uint64_t i)
{
  return static_cast<double>(i * i) - 20;
}

// The mesh of publish(), with its coordinates and no fields.
void describe(Params& params)
{
  params.set("catalyst/channels/particles/type", "mesh");
  params.set(std::string(kMesh) + "/topologies/particles/type", "points");
  params.set(std::string(kMesh) + "/topologies/particles/coordset", "coords");
  params.set(std::string(kMesh) + "/coordsets/coords/type", "explicit");
}

Cloud expected_positions(
  std::uint64_t n, const std::function<double(std::uint64_t particle, int axis)>& f, bool is_float)
{
  Cloud cloud;
  const auto at = [&](std::uint64_t i) { return f(i / 3, static_cast<int>(i % 3)); };
  is_float ? cloud.set_positions(numbers<float>(3 * n, at))
           : cloud.set_positions(numbers<double>(3 * n, at));
  return cloud;
}

TEST(Coordinates, of_different_strides_are_packed)
{
  Session run;
  Params params;
  Memory memory;
  describe(params.step(1));
  const std::string values = std::string(kMesh) + "/coordsets/coords/values/";
  put(params, values + "x", ScalarType::Float32, memory, 30, 4, some);
  put(params, values + "y", ScalarType::Float32, memory, 30, 9, some);
  put(params, values + "z", ScalarType::Float32, memory, 30, 16, some);
  EXPECT_EQ(run.execute(params), 0);
  const Cloud all = expected_positions(
    30, [](std::uint64_t i, int) { return some(i); }, true);
  expect_file(run / "particles_000001.bat", of_all_ranks([&](int) { return all; }));
}

TEST(Coordinates, of_different_types_become_float64)
{
  Session run;
  Params params;
  Memory memory;
  describe(params.step(1));
  const std::string values = std::string(kMesh) + "/coordsets/coords/values/";
  put(params, values + "x", ScalarType::Float32, memory, 30, 4, some);
  put(params, values + "y", ScalarType::Float64, memory, 30, 8, some);
  put(params, values + "z", ScalarType::Int32, memory, 30, 4, some);
  EXPECT_EQ(run.execute(params), 0);
  const Cloud all = expected_positions(
    30, [](std::uint64_t i, int) { return some(i); }, false);
  expect_file(run / "particles_000001.bat", of_all_ranks([&](int) { return all; }));
}

TEST(Coordinates, of_integers_become_float64)
{
  for (const ScalarType type : { ScalarType::Int32, ScalarType::Int64 })
  {
    Session run;
    Params params;
    Memory memory;
    describe(params.step(1));
    for (const char* axis : { "x", "y", "z" })
    {
      put(params, std::string(kMesh) + "/coordsets/coords/values/" + axis, type, memory, 30, 24,
        some);
    }
    EXPECT_EQ(run.execute(params), 0);
    const Cloud all = expected_positions(
      30, [](std::uint64_t i, int) { return some(i); }, false);
    expect_file(run / "particles_000001.bat", of_all_ranks([&](int) { return all; }));
  }
}

TEST(Coordinates, of_one_and_two_dimensions_are_filled_up_with_zeros)
{
  for (int dimensions = 1; dimensions != 3; ++dimensions)
  {
    Session run;
    Params params;
    Memory memory;
    describe(params.step(1));
    for (int axis = 0; axis != dimensions; ++axis)
    {
      put(params, std::string(kMesh) + "/coordsets/coords/values/" + "xyz"[axis],
        ScalarType::Float32, memory, 30, 4, some);
    }
    EXPECT_EQ(run.execute(params), 0);
    const Cloud all = expected_positions(
      30, [&](std::uint64_t i, int axis) { return axis < dimensions ? some(i) : 0; }, true);
    expect_file(run / "particles_000001.bat", of_all_ranks([&](int) { return all; }));
  }
}

TEST(Coordinates, and_values_that_are_nan_stay)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto of = [&](int rank)
  {
    Cloud cloud = particles(rank, 40);
    std::vector<double> positions(120, rank);
    positions[7] = nan;
    positions[50] = inf;
    cloud.set_positions(positions);
    std::vector<double> heat(40, nan);
    heat[3] = -inf;
    cloud.add("heat", ScalarType::Float64, heat);
    return cloud;
  };
  Session run;
  Params params;
  Memory memory;
  publish_channel(params.step(3), of(mpi_test::rank()), memory);
  EXPECT_EQ(run.execute(params), 0);
  expect_file(run / "particles_000003.bat", of_all_ranks(of));
}

TEST(Fields, of_components_of_different_types_and_strides_become_one_type_that_holds_them)
{
  using T = ScalarType;
  const std::vector<std::tuple<T, T, T>> cases = { { T::Int32, T::Int64, T::Int64 },
    { T::Int32, T::Float32, T::Float64 }, { T::UInt8, T::Int32, T::Int64 },
    { T::Float32, T::Float64, T::Float64 }, { T::Int32, T::Int32, T::Int32 } };
  for (const auto& [first, second, result] : cases)
  {
    Session run;
    Params params;
    Memory memory;
    const auto number = [](std::uint64_t i) { return static_cast<double>(i); };
    Cloud cloud = particles(mpi_test::rank(), 25);
    publish_channel(params.step(1), cloud, memory);
    const std::string field = std::string(kMesh) + "/fields/pair";
    params.set(field + "/association", "vertex").set(field + "/topology", "particles");
    put(params, field + "/values/a", first, memory, 25, 11, number);
    put(params, field + "/values/b", second, memory, 25, 17, number);
    EXPECT_EQ(run.execute(params), 0);
    const auto of = [&, type = result](int rank)
    {
      Cloud all = particles(rank, 25);
      add_column(all, "pair", type, 2, [](std::uint64_t i) { return static_cast<double>(i / 2); });
      return all;
    };
    expect_file(run / "particles_000001.bat", of_all_ranks(of));
  }
}

TEST(Fields, have_up_to_nine_components)
{
  for (const int components : { 1, 2, 6, 9 })
  {
    const auto of = [&](int rank)
    {
      Cloud cloud = particles(rank, 33);
      add_column(cloud, "tensor", ScalarType::Float32, components, some);
      return cloud;
    };
    Session run;
    Params params;
    Memory memory;
    publish_channel(params.step(1), of(mpi_test::rank()), memory, Layout::Interleaved);
    EXPECT_EQ(run.execute(params), 0);
    expect_file(run / "particles_000001.bat", of_all_ranks(of));
  }
}

TEST(Fields, keep_ids_of64_bits_exactly)
{
  const auto of = [](int)
  {
    Cloud cloud = particles(0, 2);
    cloud.add("big", ScalarType::UInt64,
      std::vector<std::uint64_t>{ std::numeric_limits<std::uint64_t>::max(), 1 });
    cloud.add("small", ScalarType::Int64,
      std::vector<std::int64_t>{ std::numeric_limits<std::int64_t>::min(), 9007199254740993 });
    return cloud;
  };
  Session run;
  Params params;
  Memory memory;
  publish_channel(params.step(1), of(0), memory, Layout::Records);
  EXPECT_EQ(run.execute(params), 0);
  expect_file(run / "particles_000001.bat", of_all_ranks(of));
}

TEST(Fields, that_are_texts_or_have_too_many_components_are_left_out_with_one_warning_each)
{
  Session run;
  Memory memory;
  for (std::int64_t step = 0; step != 2; ++step)
  {
    Params params;
    Cloud cloud = particles(mpi_test::rank(), 10);
    publish_channel(params.step(step), cloud, memory);
    const std::string fields = std::string(kMesh) + "/fields/";
    for (const char* field : { "name", "many", "deep" })
    {
      params.set(fields + field + "/association", "vertex");
      params.set(fields + field + "/topology", "particles");
    }
    params.set(fields + "name/values", "hydrogen");
    for (int c = 0; c != 10; ++c)
    {
      put(params, fields + "many/values/c" + std::to_string(c), ScalarType::Float32, memory, 10, 4,
        some);
    }
    put(params, fields + "deep/values/a/b", ScalarType::Float32, memory, 10, 4, some);
    EXPECT_EQ(run.execute(params), 0);
    if (step == 0)
    {
      EXPECT_EQ(lines_in(run.reported), 3U) << run.reported;
      EXPECT_NE(run.reported.find("field name has type text"), std::string::npos) << run.reported;
      EXPECT_NE(run.reported.find("field many has 10 components"), std::string::npos)
        << run.reported;
      EXPECT_NE(run.reported.find("field deep"), std::string::npos) << run.reported;
    }
    else
    {
      EXPECT_EQ(run.reported, "");
    }
    expect_file(run / ("particles_00000" + std::to_string(step) + ".bat"),
      of_all_ranks([](int rank) { return particles(rank, 10); }));
  }
}
}
