// SPDX-License-Identifier: BSD-3-Clause
// Particles as AMReX passes them: structs and arrays with packed ids, two species in one channel;
// and grids with levels, as AMReX's nodes describe them.
#include "simulation.hpp"

#include "bat/follow.hpp"
#include "bat/ids.hpp"
#include "bat/series.hpp"
#include "bat/tracks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

using namespace sim;

namespace
{
const std::string kBat = "catalyst/bat/";
const std::string kChannel = "catalyst/channels/particles";

std::uint64_t pack(std::int64_t id, std::int32_t cpu)
{
  const std::uint64_t sign = id < 0 ? 0 : std::uint64_t{ 1 } << 63;
  return sign | static_cast<std::uint64_t>(std::abs(id)) << 24 | static_cast<std::uint64_t>(cpu);
}

// Each rank's particles of each species: the same ids on all ranks, created by two ranks.
std::vector<bat::AmrexId> parse_ids(int rank)
{
  return { { 17, 2 * rank }, { 17, 2 * rank + 1 }, { -5, rank },
    { (std::int64_t{ 1 } << 39) - 1 - rank, (1 << 24) - 1 } };
}

struct Dust
{
  double x, y, z, mass;
  std::uint64_t idcpu;
};

void publish_points(Params& params, const std::string& mesh, const std::string& topology)
{
  params.set(mesh + "/coordsets/" + topology + "_coords/type", "explicit");
  params.set(mesh + "/topologies/" + topology + "/type", "points");
  params.set(mesh + "/topologies/" + topology + "/coordset", topology + "_coords");
}

void publish_field(Params& params, const std::string& field, const std::string& topology)
{
  params.set(field + "/association", "element");
  params.set(field + "/topology", topology);
}

// Two species in one channel: dust in structs and ions in arrays, in separate domains.
Params step_of(int number, Memory& memory, std::size_t gap = 4, bool is_empty = false)
{
  const int rank = mpi_test::rank();
  const std::vector<bat::AmrexId> ids = is_empty ? std::vector<bat::AmrexId>() : parse_ids(rank);
  Params params;
  params.step(number);
  params.set(kChannel + "/type", "multimesh");
  const std::string dust = kChannel + "/data/domain_00000" + std::to_string(2 * rank);
  const std::string ions = kChannel + "/data/domain_00000" + std::to_string(2 * rank + 1);
  publish_points(params, dust, "dust");
  publish_points(params, ions, "ions");
  const std::size_t n = ids.size();
  std::byte* structs = room(memory, n * sizeof(Dust) + gap);
  std::byte* positions = room(memory, 3 * n * sizeof(double));
  std::byte* packed = room(memory, n * sizeof(std::uint64_t));
  for (std::size_t i = 0; i != n; ++i)
  {
    const auto at = static_cast<double>(i) + 10 * rank;
    const Dust one{ at, at + 1, at + number, at / 4, pack(ids[i].id, ids[i].cpu) };
    std::memcpy(structs + i * sizeof(one), &one, sizeof(one));
    std::memcpy(positions + 3 * i * sizeof(double), &one, 3 * sizeof(double));
    std::memcpy(packed + i * sizeof(one.idcpu), &one.idcpu, sizeof(one.idcpu));
  }
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    params.array(dust + "/coordsets/dust_coords/values/" + "xyz"[axis], ScalarType::Float64,
      structs, n, axis * sizeof(double), sizeof(Dust));
    params.array(ions + "/coordsets/ions_coords/values/" + "xyz"[axis], ScalarType::Float64,
      positions, n, axis * sizeof(double), 3 * sizeof(double));
  }
  for (const char* field : { "mass", "dust_id", "dust_cpu" })
  {
    publish_field(params, dust + "/fields/" + field, "dust");
  }
  const std::size_t at = offsetof(Dust, idcpu);
  params.array(dust + "/fields/mass/values", ScalarType::Float64, structs, n, 24, sizeof(Dust));
  params.array(dust + "/fields/dust_id/values", ScalarType::Int32, structs, n, at, sizeof(Dust));
  params.array(
    dust + "/fields/dust_cpu/values", ScalarType::Int32, structs, n, at + gap, sizeof(Dust));
  publish_field(params, ions + "/fields/ions_idcpu", "ions");
  params.array(ions + "/fields/ions_idcpu/values", ScalarType::UInt64, packed, n, 0, 8);
  return params;
}

// The required contents of a file: positions, ids, and for dust the mass.
Cloud expected(int rank, int number, bool is_dust)
{
  Cloud cloud;
  std::vector<double> positions;
  std::vector<double> masses;
  std::vector<std::int64_t> ids;
  std::vector<std::int32_t> cpus;
  for (const bat::AmrexId& one : parse_ids(rank))
  {
    const auto at = static_cast<double>(ids.size()) + 10 * rank;
    positions.insert(positions.end(), { at, at + 1, at + number });
    masses.push_back(at / 4);
    ids.push_back(one.id);
    cpus.push_back(one.cpu);
  }
  cloud.set_positions(positions);
  if (is_dust)
  {
    cloud.add("mass", ScalarType::Float64, masses);
  }
  cloud.add("id", ScalarType::Int64, ids);
  cloud.add("cpu", ScalarType::Int32, cpus);
  return cloud;
}

Session session(const std::function<void(Params&)>& describe)
{
  return Session(
    [&](Params& params, const std::string& folder)
    {
      params.set(kBat + "output", folder + "{name}_{timestep:06d}.bat");
      describe(params);
    });
}

std::vector<std::string> attributes_of(const std::filesystem::path& path)
{
  std::vector<std::string> names = bat::Dataset::open(path).attribute_names();
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

TEST(Amrex, packed_ids_are_unpacked_and_said_once_for_each_series)
{
  Session run;
  for (int number = 0; number != 2; ++number)
  {
    Memory memory;
    EXPECT_EQ(run.execute(step_of(number, memory)), 0) << run.reported;
    EXPECT_EQ(lines_in(run.reported), number == 0 ? 2U : 0U) << run.reported;
    if (number == 0)
    {
      EXPECT_NE(run.reported.find("series particles_dust: id and cpu were written, unpacked from "
                                  "dust_id and dust_cpu of AMReX;"),
        std::string::npos)
        << run.reported;
      EXPECT_NE(run.reported.find("unpacked from ions_idcpu of AMReX;"), std::string::npos)
        << run.reported;
    }
    for (const bool is_dust : { true, false })
    {
      expect_file(run /
          ((is_dust ? "particles_dust_00000" : "particles_ions_00000") + std::to_string(number) +
            ".bat"),
        of_all_ranks([&](int rank) { return expected(rank, number, is_dust); }));
    }
  }
}

TEST(Amrex, an_empty_first_step_has_the_columns_of_the_others)
{
  Session run = session([](Params& p) { p.set(kBat + "tracks/every_id", 17); });
  for (int number = 0; number != 2; ++number)
  {
    Memory memory;
    EXPECT_EQ(run.execute(step_of(number, memory, 4, number == 0)), 0) << run.reported;
    if (mpi_test::rank() == 0)
    {
      const std::string end = "_00000" + std::to_string(number) + ".bat";
      EXPECT_EQ(attributes_of(run / ("particles_dust" + end)),
        (std::vector<std::string>{ "cpu", "id", "mass" }));
      EXPECT_EQ(
        attributes_of(run / ("particles_ions" + end)), (std::vector<std::string>{ "cpu", "id" }));
    }
  }
  if (mpi_test::rank() == 0)
  {
    const bat::Tracks dust = bat::Tracks::open(run / "particles_dust.tracks.bat");
    EXPECT_EQ(dust.samples.size(), 2U);
    EXPECT_EQ(dust.ids.size(), 2 * static_cast<std::size_t>(mpi_test::ranks()));
  }
}

TEST(Amrex, an_option_keeps_the_packed_numbers)
{
  Session run = session([](Params& p) { p.set(kBat + "species/dust/amrex_ids", "keep"); });
  Memory memory;
  EXPECT_EQ(run.execute(step_of(0, memory)), 0) << run.reported;
  EXPECT_EQ(lines_in(run.reported), 1U) << run.reported;
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(
      attributes_of(run / "particles_dust_000000.bat"), (Names{ "dust_cpu", "dust_id", "mass" }));
    EXPECT_EQ(attributes_of(run / "particles_ions_000000.bat"), (Names{ "cpu", "id" }));
  }
}

TEST(Amrex, int32_fields_that_are_not_neighbours_are_no_halves)
{
  Session run;
  Memory memory;
  EXPECT_EQ(run.execute(step_of(0, memory, mpi_test::rank() == 0 ? 0 : 4)), 0) << run.reported;
  EXPECT_EQ(lines_in(run.reported), 1U) << run.reported; // the message about the ions
  if (mpi_test::rank() == 0)
  {
    const Names names = attributes_of(run / "particles_dust_000000.bat");
    EXPECT_NE(std::find(names.begin(), names.end(), "dust_id"), names.end());
  }
}

// AMReX domains belong to one mesh, and species have fields with the same names.
TEST(Amrex, a_field_that_one_species_cannot_hand_over_stays_in_the_others)
{
  Session run;
  for (int number = 0; number != 2; ++number)
  {
    Memory memory;
    Params params = step_of(number, memory);
    const std::size_t n = parse_ids(0).size();
    const std::string domain = kChannel + "/data/domain_00000";
    const std::string dust = domain + std::to_string(2 * mpi_test::rank()) + "/fields/weight";
    const std::string ions = domain + std::to_string(2 * mpi_test::rank() + 1) + "/fields/weight";
    publish_field(params, dust, "dust");
    publish_field(params, ions, "ions");
    std::byte* weights = room(memory, n * sizeof(double));
    std::memset(weights, 0, n * sizeof(double));
    params.array(dust + "/values", ScalarType::Float64, weights, n, 0, sizeof(double));
    params.array(ions + "/values", ScalarType::Float64, weights, n - 1, 0, sizeof(double));
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    EXPECT_EQ(lines_in(run.reported), number == 0 ? 3U : 0U) << run.reported;
    if (number == 0)
    {
      EXPECT_NE(run.reported.find("series particles_ions, field weight was not written: "),
        std::string::npos)
        << run.reported;
    }
    if (mpi_test::rank() == 0)
    {
      const std::string end = "_00000" + std::to_string(number) + ".bat";
      EXPECT_EQ(
        attributes_of(run / ("particles_dust" + end)), (Names{ "cpu", "id", "mass", "weight" }));
      EXPECT_EQ(attributes_of(run / ("particles_ions" + end)), (Names{ "cpu", "id" }));
    }
  }
}

TEST(Amrex, fields_may_be_chosen_by_either_name)
{
  for (const char* name : { "id", "cpu", "dust_id", "dust_cpu" })
  {
    Session run = session([&](Params& p) { p.set(kBat + "fields", Names{ name }); });
    Memory memory;
    EXPECT_EQ(run.execute(step_of(0, memory)), 0) << run.reported;
    if (mpi_test::rank() == 0)
    {
      EXPECT_EQ(attributes_of(run / "particles_dust_000000.bat"), (Names{ "cpu", "id" })) << name;
    }
  }
}

TEST(Amrex, fields_that_are_not_unpacked_are_those_that_are_listed)
{
  for (const bool are_apart : { true, false })
  {
    Session run = session(
      [&](Params& p)
      {
        p.set(kBat + "fields", Names{ "dust_id" });
        if (!are_apart)
        {
          p.set(kBat + "species/dust/amrex_ids", "keep");
        }
      });
    Memory memory;
    EXPECT_EQ(run.execute(step_of(0, memory, are_apart ? 0 : 4)), 0) << run.reported;
    EXPECT_EQ(run.reported, "");
    if (mpi_test::rank() == 0)
    {
      EXPECT_EQ(attributes_of(run / "particles_dust_000000.bat"), Names{ "dust_id" });
      EXPECT_EQ(attributes_of(run / "particles_ions_000000.bat"), Names());
    }
  }
}

TEST(Amrex, names_of_fields_are_known_once_a_species_has_had_them)
{
  Session run = session([](Params& p) { p.set(kBat + "sorted_indexes", Names{ "mass", "load" }); });
  for (int number = 0; number != 2; ++number)
  {
    Memory memory;
    EXPECT_EQ(run.execute(step_of(number, memory, 4, number == 0)),
      number == 0 ? 0 : CATALYST_BAT_BAD_OPTIONS)
      << run.reported;
    EXPECT_EQ(run.reported.find("unknown field load in the option sorted_indexes; available: cpu, "
                                "id, mass") == std::string::npos,
      number == 0)
      << run.reported;
  }
}

// Ids are found automatically, and are unique together with the rank that created the particle.
TEST(Amrex, indexes_samples_and_tracks_find_the_ids)
{
  for (const bool keeps : { false, true })
  {
    Session run = session(
      [&](Params& p)
      {
        p.set(kBat + "sorted_indexes", Names{ "id" });
        p.set(kBat + "stable_samples", Names{ "id" });
        p.set(kBat + "tracks/every_id", 17);
        p.set(kBat + "amrex_ids", keeps ? "keep" : "unpack");
      });
    for (int number = 0; number != 2; ++number)
    {
      Memory memory;
      EXPECT_EQ(run.execute(step_of(number, memory)), 0) << run.reported;
    }
    if (mpi_test::rank() == 0)
    {
      const auto samples = [&](const std::string& species) {
        return bat::Dataset::open(run / ("particles_" + species + "_000001.bat")).stable_samples();
      };
      EXPECT_EQ(samples("dust"), keeps ? (Names{ "dust_id", "dust_cpu" }) : (Names{ "id", "cpu" }));
      EXPECT_EQ(samples("ions"), keeps ? (Names{ "ions_idcpu" }) : (Names{ "id", "cpu" }));
      const bat::Tracks dust = bat::Tracks::open(run / "particles_dust.tracks.bat");
      EXPECT_EQ(dust.schema.id_attribute, keeps ? "dust_id" : "id");
      EXPECT_EQ(dust.schema.second_attribute, keeps ? "dust_cpu" : "cpu");
      if (!keeps)
      {
        EXPECT_EQ(dust.ids.size(), 2 * static_cast<std::size_t>(mpi_test::ranks()));
        bat::FollowRequest request;
        request.ids = { std::int64_t{ 17 } };
        request.second = { std::int64_t{ 1 } };
        for (const char* of : { "particles_dust.tracks.bat", "particles_dust.bat.series" })
        {
          const bat::Trails trails = bat::follow(bat::read_series(run / of), request);
          EXPECT_EQ(trails.counts, (std::vector<std::uint32_t>{ 1, 1 })) << of;
          EXPECT_EQ(trails.steps_without_index, 0U) << of;
        }
      }
    }
  }
}

// Tracks that name a field which only one of two species has.
TEST(Amrex, tracks_by_a_field_are_those_of_the_species_that_have_it)
{
  Session run = session(
    [](Params& p)
    {
      p.set(kBat + "channels/particles/tracks/id", "dust_id");
      p.set(kBat + "channels/particles/tracks/ids", 17);
      p.set(kBat + "channels/particles/tracks/attributes", Names{ "mass" });
    });
  for (int number = 0; number != 2; ++number)
  {
    Memory memory;
    EXPECT_EQ(run.execute(step_of(number, memory)), 0) << run.reported;
  }
  if (mpi_test::rank() == 0)
  {
    const bat::Tracks dust = bat::Tracks::open(run / "particles_dust.tracks.bat");
    EXPECT_EQ(dust.samples.size(), 2U);
    EXPECT_EQ(dust.ids.size(), 2 * static_cast<std::size_t>(mpi_test::ranks()));
    EXPECT_EQ(dust.schema.attributes.size(), 1U);
    EXPECT_FALSE(std::filesystem::exists(run / "particles_ions.tracks.bat"));
    EXPECT_TRUE(std::filesystem::exists(run / "particles_ions_000001.bat"));
  }
}

TEST(Amrex, species_of_one_channel_have_options_of_their_own)
{
  Session run = session(
    [](Params& p)
    {
      p.set(kBat + "tracks/every_id", 17);
      p.set(kBat + "species/dust/tracks/ids/a/a", 17);
      p.set(kBat + "species/dust/tracks/ids/a/b", 1);
      p.set(kBat + "channels/particles/species/dust/sorted_indexes", Names{ "dust_id" });
      p.set(kBat + "channels/particles/species/ions/every", 2);
      p.set(kBat + "channels/particles/species/ions/stable_samples", Names{ "ions_idcpu" });
    });
  for (int number = 0; number != 2; ++number)
  {
    Memory memory;
    EXPECT_EQ(run.execute(step_of(number, memory)), 0) << run.reported;
    EXPECT_EQ(run.reported.find("warning"), std::string::npos) << run.reported;
  }
  if (mpi_test::rank() == 0)
  {
    EXPECT_TRUE(std::filesystem::exists(run / "particles_dust_000001.bat"));
    EXPECT_FALSE(std::filesystem::exists(run / "particles_ions_000001.bat"));
    EXPECT_EQ(bat::Dataset::open(run / "particles_ions_000000.bat").stable_samples(),
      (Names{ "id", "cpu" }));
    EXPECT_EQ(bat::Dataset::open(run / "particles_dust_000000.bat").stable_samples(), Names());
    EXPECT_EQ(bat::Tracks::open(run / "particles_dust.tracks.bat").ids.size(), 1U);
    const bat::Tracks ions = bat::Tracks::open(run / "particles_ions.tracks.bat");
    EXPECT_EQ(ions.samples.size(), 2U); // every step, regardless of the files' interval
    EXPECT_EQ(ions.ids.size(), 2 * static_cast<std::size_t>(mpi_test::ranks()));
  }
}

TEST(Amrex, wrong_options_of_species_are_errors_and_species_that_are_not_there_are_warned_of)
{
  {
    Params p;
    p.set("catalyst_load/implementation", "bat");
    p.set(kBat + "species/dust/ghosts", "keep");
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(catalyst_initialize(p.get()), CATALYST_BAT_BAD_OPTIONS);
    const std::string reported = mpi_test::of_root(::testing::internal::GetCapturedStderr());
    EXPECT_NE(
      reported.find("catalyst/bat/species/dust/ghosts is not a species option"), std::string::npos)
      << reported;
    EXPECT_EQ(catalyst_finalize(Params().get()), 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  Session run = session([](Params& p) { p.set(kBat + "species/dusst/every", 2); });
  Memory memory;
  EXPECT_EQ(run.execute(step_of(0, memory)), 0);
  EXPECT_NE(run.reported.find(
              "unknown species dusst in the options; did you mean 'dust'? Available: dust, ions"),
    std::string::npos)
    << run.reported;
}

TEST(Amrex, tracks_by_a_field_that_no_species_has_are_an_error)
{
  Session run = session(
    [](Params& p)
    {
      p.set(kBat + "tracks/id", "number");
      p.set(kBat + "tracks/every_id", 1);
    });
  Memory memory;
  EXPECT_EQ(run.execute(step_of(0, memory)), CATALYST_BAT_BAD_NODE);
  EXPECT_NE(run.reported.find("unknown attribute 'number'"), std::string::npos) << run.reported;
}

using json = nlohmann::json;

// Numbers as in Conduit's untyped JSON.
void put(Params& params, const std::string& path, const json& node, Memory& memory)
{
  if (node.is_object())
  {
    for (const auto& [name, child] : node.items())
    {
      put(params, path + "/" + name, child, memory);
    }
  }
  else if (node.is_array())
  {
    const auto values = node.get<std::vector<double>>();
    std::byte* data = room(memory, values.size() * sizeof(double));
    std::memcpy(data, values.data(), values.size() * sizeof(double));
    params.array(path, ScalarType::Float64, data, values.size(), 0, sizeof(double));
  }
  else if (node.is_number_integer())
  {
    params.set(path, node.get<int>());
  }
  else if (node.is_number())
  {
    params.set(path, node.get<double>());
  }
  else
  {
    params.set(path, node.get<std::string>());
  }
}

// Written by AMReX 24.10 on two ranks: three levels, with windows to parents and children.
TEST(Amrex, levels_are_left_out_with_one_warning)
{
  Session run;
  for (int number = 0; number != 2; ++number)
  {
    Params params;
    Memory memory;
    params.step(number);
    params.set("catalyst/channels/mesh/type", "multimesh");
    for (int writer = 0; writer != 2; ++writer)
    {
      if (writer % mpi_test::ranks() == mpi_test::rank())
      {
        std::ifstream file(
          std::string(BAT_TEST_AMREX) + "/mesh_node_rank" + std::to_string(writer) + ".json");
        put(params, "catalyst/channels/mesh/data", json::parse(file), memory);
      }
    }
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    EXPECT_EQ(lines_in(run.reported), number == 0 ? 1U : 0U) << run.reported;
    if (number == 0)
    {
      EXPECT_NE(run.reported.find("grid mesh was not written: domains have spacings of 0.25 and "
                                  "0.125 along x, as in refined meshes"),
        std::string::npos)
        << run.reported;
    }
  }
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(run.files(), Names());
  }
}
}
