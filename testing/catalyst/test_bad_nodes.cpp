// SPDX-License-Identifier: BSD-3-Clause
// Invalid nodes on one rank: its channel is written on no rank, with one message, and that of the
// next step is written; an invalid field alone is left out.
#include "simulation.hpp"

#include <algorithm>
#include <limits>

using namespace sim;

namespace
{
const std::string kChannel = "catalyst/channels/particles";
const std::string kMesh = kChannel + "/data";
const std::string kTopology = kMesh + "/topologies/particles";
const std::string kCoords = kMesh + "/coordsets/particles_coords";

std::vector<double>& doubles()
{
  static std::vector<double> values(100, 0.5);
  return values;
}

void remove(Params& params, const std::string& path)
{
  const std::size_t slash = path.rfind('/');
  conduit_node_remove_child_by_name(conduit_node_fetch(params.get(), path.substr(0, slash).c_str()),
    path.substr(slash + 1).c_str());
}

void set_doubles(Params& params, const std::string& path, std::uint64_t n)
{
  params.array(path, ScalarType::Float64, doubles().data(), n, 0, 8);
}

struct BadNode
{
  const char* name;
  std::function<void(Params&)> spoil; // a step with 40 particles
  std::vector<std::string> words;     // expected in the message
};

const std::vector<BadNode> kBadNodes = {
  { "CoordinatesOfDifferentLengths", [](Params& p) { set_doubles(p, kCoords + "/values/y", 39); },
    { kCoords + "/values/x has 40 values", "values/y has 39" } },
  { "FieldOnNoParticles",
    [](Params& p)
    {
      for (const char* axis : { "x", "y", "z" })
      {
        set_doubles(p, kCoords + "/values/" + axis, 0);
      }
    },
    { "has 40 values, but the topology has 0 vertices" } },
  { "NoCoordset", [](Params& p) { remove(p, kCoords); },
    { "topologies/particles/coordset is 'particles_coords'", "has" } },
  { "NoCoordsets", [](Params& p) { remove(p, kMesh + "/coordsets"); },
    { kMesh + "/coordsets is missing" } },
  { "NoNameOfTheCoordset", [](Params& p) { remove(p, kTopology + "/coordset"); },
    { kTopology + "/coordset is missing; ", "has type" } },
  { "NoValuesOfCoordinates", [](Params& p) { remove(p, kCoords + "/values"); },
    { kCoords + "/values is missing" } },
  { "NoAxes",
    [](Params& p)
    {
      remove(p, kCoords + "/values");
      set_doubles(p, kCoords + "/values/r", 40);
    },
    { kCoords + "/values has r; allowed are x, y and z" } },
  { "CoordinatesInOneArray", [](Params& p) { set_doubles(p, kCoords + "/values", 100); },
    { kCoords + "/values has no components; allowed are x, y and z" } },
  { "CoordsetOfAnotherType", [](Params& p) { p.set(kCoords + "/type", "uniform"); },
    { kCoords + "/type is 'uniform'; particles need 'explicit'" } },
  { "CoordinatesThatAreTexts", [](Params& p) { p.set(kCoords + "/values/x", "1.0"); },
    { kCoords + "/values/x has type text" } },
  { "NullPointer",
    [](Params& p) { p.array(kCoords + "/values/z", ScalarType::Float64, nullptr, 40, 0, 8); },
    { kCoords + "/values/z has 40 values at a null pointer" } },
  { "NoTypeOfTheTopology", [](Params& p) { remove(p, kTopology + "/type"); },
    { kTopology + "/type is missing" } },
  { "TypeOfTheTopologyIsANumber", [](Params& p) { p.set(kTopology + "/type", 3); },
    { kTopology + "/type has type int32; it must be a string" } },
  { "NoTopologies", [](Params& p) { remove(p, kMesh + "/topologies"); },
    { kMesh + "/topologies is missing" } },
  { "NoConnectivity",
    [](Params& p)
    { p.set(kTopology + "/type", "unstructured").set(kTopology + "/elements/shape", "point"); },
    { kTopology + "/elements/connectivity is missing" } },
  { "ConnectivityOutOfRange",
    [](Params& p)
    {
      static std::vector<std::int32_t> indices = { 0, 39, 40 };
      p.set(kTopology + "/type", "unstructured").set(kTopology + "/elements/shape", "point");
      p.array(kTopology + "/elements/connectivity", ScalarType::Int32, indices);
    },
    { "elements/connectivity has 40 at 2; allowed are indexes of 40 vertices" } },
  { "ConnectivityBelowZero",
    [](Params& p)
    {
      static std::vector<std::int64_t> indices = { -1 };
      p.set(kTopology + "/type", "unstructured").set(kTopology + "/elements/shape", "point");
      p.array(kTopology + "/elements/connectivity", ScalarType::Int64, indices);
    },
    { "elements/connectivity has -1 at 0" } },
  { "ConnectivityOfFloats",
    [](Params& p)
    {
      p.set(kTopology + "/type", "unstructured").set(kTopology + "/elements/shape", "point");
      set_doubles(p, kTopology + "/elements/connectivity", 40);
    },
    { "elements/connectivity has type float64; it must contain integers" } },
  { "NoTypeOfTheChannel", [](Params& p) { remove(p, kChannel + "/type"); },
    { kChannel + "/type is missing" } },
  { "MeshThatIsANumber", [](Params& p) { p.set(kMesh, 3); },
    { kMesh + " has type int32; it must be a mesh" } },
  { "DomainThatIsNone", [](Params& p) { p.set(kMesh, 0).set(kMesh + "/domain_0/rubbish", 3); },
    { kMesh + "/domain_0 is neither a mesh nor a domain" } },
  { "TimestepIsAText", [](Params& p) { p.set("catalyst/state/timestep", "7"); },
    { "catalyst/state/timestep has type text; it must be a whole number" } },
  { "TimestepIsNoWholeNumber", [](Params& p) { p.set("catalyst/state/timestep", 7.5); },
    { "catalyst/state/timestep has type float64; it must be a whole number" } },
  { "TimeIsNaN",
    [](Params& p) { p.set("catalyst/state/time", std::numeric_limits<double>::quiet_NaN()); },
    { "catalyst/state/time has type float64 with nan; it must be a finite number" } },
  { "NameThatIsNoUtf8", [](Params& p) { p.touch(kMesh + "/topologies/\xff"); },
    { "the name of a species is not valid UTF-8" } },
  { "FieldNameThatIsNoUtf8",
    [](Params& p)
    {
      const std::string field = kMesh + "/fields/\xff";
      p.set(field + "/association", "vertex").set(field + "/topology", "particles");
      set_doubles(p, field + "/values", 40);
    },
    { "UTF-8" } },
  { "GhostsOfTwoComponents",
    [](Params& p)
    {
      const std::string field = kMesh + "/fields/vtkGhostType";
      p.set(field + "/association", "vertex").set(field + "/topology", "particles");
      set_doubles(p, field + "/values/a", 40);
      set_doubles(p, field + "/values/b", 40);
    },
    { "fields/vtkGhostType marks ghosts with 2 components" } },
  { "MemoryOfAGpuByItsName", [](Params& p) { p.set(kChannel + "/memoryspace", "cuda"); },
    { kChannel + "/memoryspace is 'cuda'; arrays must be in host memory" } },
  { "GhostsAtANullPointer",
    [](Params& p)
    {
      const std::string field = kMesh + "/fields/vtkGhostType";
      p.set(field + "/association", "vertex").set(field + "/topology", "particles");
      p.array(field + "/values", ScalarType::UInt8, nullptr, 40, 0, 1);
    },
    { "fields/vtkGhostType/values has 40 values at a null pointer" } },
  { "TimestepOfTheChannelIsAText", [](Params& p) { p.set(kChannel + "/state/timestep", "7"); },
    { kChannel + "/state/timestep has type text; it must be a whole number" } },
};

class BadNodes : public ::testing::TestWithParam<BadNode>
{
};

TEST_P(BadNodes, on_one_rank_fail_the_step_on_all)
{
  const BadNode& bad = GetParam();
  Session run;
  for (std::int64_t step = 1; step != 4; ++step)
  {
    Params params;
    Memory memory;
    publish_channel(params.step(step), particles(mpi_test::rank(), 40), memory);
    const bool is_bad = step == 2;
    if (is_bad && mpi_test::rank() == mpi_test::ranks() - 1)
    {
      bad.spoil(params);
    }
    EXPECT_EQ(run.execute(params), is_bad ? CATALYST_BAT_BAD_NODE : 0) << run.reported;
    EXPECT_EQ(lines_in(run.reported), is_bad ? 1U : 0U) << run.reported;
    for (std::size_t i = 0; is_bad && i != bad.words.size(); ++i)
    {
      EXPECT_NE(run.reported.find(bad.words[i]), std::string::npos)
        << run.reported << "lacks " << bad.words[i];
    }
    if (is_bad && mpi_test::ranks() > 1)
    {
      const std::string rank = "rank " + std::to_string(mpi_test::ranks() - 1) + ": ";
      EXPECT_NE(run.reported.find(rank), std::string::npos) << run.reported;
    }
  }
  const auto all = of_all_ranks([](int rank) { return particles(rank, 40); });
  expect_file(run / "particles_000001.bat", all);
  expect_file(run / "particles_000003.bat", all);
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(run.files(),
      (std::vector<std::string>{ "particles.bat.series", "particles.vtkhdf.series",
        "particles_000001.bat", "particles_000003.bat" }));
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadNodes, ::testing::ValuesIn(kBadNodes),
  [](const auto& info) { return std::string(info.param.name); });

TEST(BadChannels, do_not_take_others_with_them)
{
  Session run;
  for (std::int64_t step = 1; step != 3; ++step)
  {
    Params params;
    Memory memory;
    publish_channel(params.step(step), particles(mpi_test::rank(), 40), memory);
    publish_channel(params, particles(mpi_test::rank() + 50, 30), memory, Layout::Records, "gas");
    if (mpi_test::rank() == 0)
    {
      remove(params, kMesh + "/coordsets");
    }
    EXPECT_EQ(run.execute(params), CATALYST_BAT_BAD_NODE);
    EXPECT_EQ(lines_in(run.reported), 1U) << run.reported;
    EXPECT_NE(run.reported.find("channel particles was not written: "), std::string::npos)
      << run.reported;
    Params results;
    EXPECT_EQ(catalyst_results(results.get()), 0);
    EXPECT_EQ(results.integer("catalyst/bat/status"), CATALYST_BAT_BAD_NODE);
    EXPECT_EQ(results.integer("catalyst/bat/total/failed_steps"), step);
    conduit_node* left_out = conduit_node_fetch(results.get(), "catalyst/bat/left_out");
    ASSERT_EQ(conduit_node_number_of_children(left_out), 1);
    conduit_node* channel = conduit_node_child(left_out, 0);
    EXPECT_STREQ(conduit_node_fetch_path_as_char8_str(channel, "channel"), "particles");
    EXPECT_FALSE(conduit_node_has_child(channel, "field"));
    expect_file(run / ("gas_00000" + std::to_string(step) + ".bat"),
      of_all_ranks([](int rank) { return particles(rank + 50, 30); }));
  }
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(run.files(),
      (std::vector<std::string>{
        "gas.bat.series", "gas.vtkhdf.series", "gas_000001.bat", "gas_000002.bat" }));
  }
}

const std::vector<BadNode> kBadFields = {
  { "FieldTooShort", [](Params& p) { set_doubles(p, kMesh + "/fields/mass/values", 39); },
    { "fields/mass/values has 39 values, but the topology has 40 vertices" } },
  { "FieldTooLong", [](Params& p) { set_doubles(p, kMesh + "/fields/mass/values", 41); },
    { "fields/mass/values has 41 values, but the topology has 40 vertices" } },
  { "ComponentTooShort",
    [](Params& p)
    {
      remove(p, kMesh + "/fields/mass/values");
      set_doubles(p, kMesh + "/fields/mass/values/c0", 40);
      set_doubles(p, kMesh + "/fields/mass/values/c1", 3);
    },
    { "fields/mass/values/c1 has 3 values" } },
  { "FieldOfElementsTooShort",
    [](Params& p)
    {
      p.set(kMesh + "/fields/mass/association", "element");
      set_doubles(p, kMesh + "/fields/mass/values", 39);
    },
    { "fields/mass/values has 39 values, but the topology has 40 elements" } },
  { "OtherOrderOfBytes",
    [](Params& p)
    {
      p.array(kMesh + "/fields/mass/values", ScalarType::Float64, doubles().data(), 40, 0, 8,
        CONDUIT_ENDIANNESS_BIG_ID);
    },
    { "fields/mass/values has a different byte order" } },
  { "NoValuesOfAField", [](Params& p) { remove(p, kMesh + "/fields/mass/values"); },
    { "fields/mass/values is missing" } },
  { "NoComponentsOfAField",
    [](Params& p)
    {
      p.touch(kMesh + "/fields/mass/values/c0");
      remove(p, kMesh + "/fields/mass/values/c0");
    },
    { "fields/mass/values has no components" } },
  { "NoAssociation", [](Params& p) { remove(p, kMesh + "/fields/mass/association"); },
    { "fields/mass/association is missing" } },
  { "AnotherAssociation", [](Params& p) { p.set(kMesh + "/fields/mass/association", "face"); },
    { "fields/mass/association is 'face'; allowed are 'vertex' and 'element'" } },
  { "NoTopologyOfAField", [](Params& p) { remove(p, kMesh + "/fields/mass/topology"); },
    { "fields/mass/topology is missing" } },
  { "TopologyThatIsNotThere", [](Params& p) { p.set(kMesh + "/fields/mass/topology", "grid"); },
    { "fields/mass/topology is 'grid'; the topologies are particles" } },
  { "NullPointerOfAField",
    [](Params& p)
    { p.array(kMesh + "/fields/mass/values", ScalarType::Float64, nullptr, 40, 0, 8); },
    { "fields/mass/values has 40 values at a null pointer" } },
  { "NullPointerAndAnOffset",
    [](Params& p)
    { p.array(kMesh + "/fields/mass/values", ScalarType::Float64, nullptr, 40, 81920, 8); },
    { "fields/mass/values has 40 values at 0x14000, where this process has no memory" } },
  { "AnotherType",
    [](Params& p)
    {
      static std::vector<float> floats(40);
      p.array(kMesh + "/fields/mass/values", ScalarType::Float32, floats);
    },
    { "it has type float", "of type float", "all must agree" } },
  { "NotThere", [](Params& p) { remove(p, kMesh + "/fields/mass"); },
    { "it has type float64 on one rank or domain, and missing on another" } },
};

class BadFields : public ::testing::TestWithParam<BadNode>
{
};

Cloud without_mass(int rank)
{
  Cloud cloud = particles(rank, 40);
  cloud.columns.erase(std::find_if(cloud.columns.begin(), cloud.columns.end(),
    [](const Cloud::Column& column) { return column.name == "mass"; }));
  return cloud;
}

TEST_P(BadFields, on_one_rank_are_left_out_on_all_with_one_warning)
{
  const BadNode& bad = GetParam();
  const bool takes_two =
    std::string(bad.name) == "AnotherType" || std::string(bad.name) == "NotThere";
  if (takes_two && mpi_test::ranks() == 1)
  {
    GTEST_SKIP() << "one rank agrees with itself";
  }
  Session run;
  for (std::int64_t step = 1; step != 4; ++step)
  {
    Params params;
    Memory memory;
    publish_channel(params.step(step), particles(mpi_test::rank(), 40), memory);
    if (step != 3 && mpi_test::rank() == mpi_test::ranks() - 1)
    {
      bad.spoil(params);
    }
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    EXPECT_EQ(lines_in(run.reported), step == 1 ? 1U : 0U) << run.reported;
    Params results;
    EXPECT_EQ(catalyst_results(results.get()), 0);
    EXPECT_EQ(results.integer("catalyst/bat/total/steps"), step);
    conduit_node* left_out = conduit_node_fetch(results.get(), "catalyst/bat/left_out");
    ASSERT_EQ(conduit_node_number_of_children(left_out), step == 3 ? 0 : 1);
    if (step == 1)
    {
      EXPECT_NE(run.reported.find("warning: channel particles, field mass was not written: "),
        std::string::npos)
        << run.reported;
      for (const std::string& word : bad.words)
      {
        EXPECT_NE(run.reported.find(word), std::string::npos) << run.reported << "lacks " << word;
      }
    }
    if (step != 3)
    {
      conduit_node* field = conduit_node_child(left_out, 0);
      EXPECT_STREQ(conduit_node_fetch_path_as_char8_str(field, "field"), "mass");
      EXPECT_NE(
        std::string(conduit_node_fetch_path_as_char8_str(field, "reason")).find(bad.words[0]),
        std::string::npos);
    }
  }
  const auto all = of_all_ranks([](int rank) { return particles(rank, 40); });
  expect_file(run / "particles_000001.bat", of_all_ranks(&without_mass));
  expect_file(run / "particles_000002.bat", of_all_ranks(&without_mass));
  expect_file(run / "particles_000003.bat", all);
}

INSTANTIATE_TEST_SUITE_P(All, BadFields, ::testing::ValuesIn(kBadFields),
  [](const auto& info) { return std::string(info.param.name); });

TEST(BadFields, that_are_not_wanted_are_not_looked_at)
{
  Session run(
    [](Params& params, const std::string& folder)
    {
      params.set("catalyst/bat/output", folder + "{name}_{timestep:06d}.bat");
      params.set("catalyst/bat/fields", std::vector<std::string>{ "id", "type", "velocity" });
    });
  Params params;
  Memory memory;
  publish_channel(params.step(1), particles(mpi_test::rank(), 40), memory);
  params.array(kMesh + "/fields/mass/values", ScalarType::Float64, nullptr, 40, 0, 8);
  EXPECT_EQ(run.execute(params), 0);
  EXPECT_EQ(run.reported, "");
  expect_file(run / "particles_000001.bat", of_all_ranks(&without_mass));
}

TEST(Disagreement, on_the_step_fails_on_all_ranks)
{
  if (mpi_test::ranks() == 1)
  {
    GTEST_SKIP() << "one rank agrees with itself";
  }
  Session run;
  Params params;
  Memory memory;
  publish_channel(params.step(mpi_test::rank()), particles(mpi_test::rank(), 4), memory);
  EXPECT_EQ(run.execute(params), CATALYST_BAT_BAD_NODE);
  EXPECT_NE(run.reported.find("catalyst/state/timestep is 0 on one rank and 1 on another"),
    std::string::npos)
    << run.reported;
}

// Stands in for the answers of the CUDA and HIP drivers about an address.
const void* on_cuda = nullptr;
const void* managed = nullptr;
const void* on_hip = nullptr;
}

extern "C"
{
  __attribute__((visibility("default"))) int cuPointerGetAttribute(
    void* value, int attribute, std::uintptr_t address)
  {
    const auto* pointer = reinterpret_cast<const void*>(address);
    const bool is_known = pointer && (pointer == on_cuda || pointer == managed);
    *static_cast<unsigned*>(value) = attribute == 2 ? 2 : (pointer == managed ? 1 : 0);
    return is_known ? 0 : 1;
  }

  struct HipPointerAttributes
  {
    int type;
    int device;
    void* device_pointer;
    void* host_pointer;
    int is_managed;
    unsigned flags;
  };
  __attribute__((visibility("default"))) int hipPointerGetAttributes(
    HipPointerAttributes* found, const void* address)
  {
    if (!address || address != on_hip)
    {
      return 1;
    }
    *found = { 1, 0, const_cast<void*>(address), nullptr, 0, 0 };
    return 0;
  }
}

namespace
{
TEST(MemoryOfAGpu, is_refused_and_managed_memory_is_taken)
{
  Params params;
  Memory memory;
  publish_channel(params.step(1), particles(mpi_test::rank(), 40), memory);
  std::vector<double> heat(40, 0.25);
  const std::string field = kMesh + "/fields/heat";
  params.set(field + "/association", "vertex").set(field + "/topology", "particles");
  params.array(field + "/values", ScalarType::Float64, heat);
  for (const void** driver : { &on_cuda, &on_hip })
  {
    *driver = heat.data();
    Session other;
    EXPECT_EQ(other.execute(params), 0);
    EXPECT_NE(other.reported.find(field + "/values is in GPU memory"), std::string::npos)
      << other.reported;
    expect_file(
      other / "particles_000001.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
    *driver = nullptr;
  }
  Session run;
  managed = heat.data();
  EXPECT_EQ(run.execute(params), 0) << run.reported;
  managed = nullptr;
}
}
