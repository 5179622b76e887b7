// SPDX-License-Identifier: BSD-3-Clause
// Species, domains, elements, ghosts, and ranks without particles.
#include "simulation.hpp"

#include <map>
#include <numeric>

using namespace sim;

namespace
{
const std::string kChannel = "catalyst/channels/particles";
const std::string kMesh = kChannel + "/data";

Cloud local(std::uint64_t n = 40)
{
  return particles(mpi_test::rank(), n);
}

// Zero-length arrays with types that no other rank has.
void publish_placeholders(Params& params, const std::string& mesh)
{
  static std::int32_t nothing = 0;
  params.set(mesh + "/coordsets/particles_coords/type", "explicit");
  params.set(mesh + "/topologies/particles/type", "unstructured");
  params.set(mesh + "/topologies/particles/coordset", "particles_coords");
  params.set(mesh + "/topologies/particles/elements/shape", "point");
  const auto empty = [&](const std::string& path, ScalarType type)
  { params.array(path, type, type == ScalarType::Int32 ? &nothing : nullptr, 0, 0, 4); };
  empty(mesh + "/topologies/particles/elements/connectivity", ScalarType::Float32);
  for (const char* axis : { "x", "y", "z" })
  {
    empty(mesh + "/coordsets/particles_coords/values/" + axis, ScalarType::Int32);
  }
  for (const char* field : { "id", "type", "mass", "velocity", "unknown" })
  {
    params.set(mesh + "/fields/" + field + "/association", "element");
    params.set(mesh + "/fields/" + field + "/topology", "particles");
    empty(mesh + "/fields/" + field + "/values", ScalarType::Int32);
  }
}

TEST(EmptyRanks, with_placeholders_of_wrong_types_are_empty)
{
  for (int full = 0; full <= mpi_test::ranks(); ++full)
  {
    // Rank 0 is the first to be empty.
    const auto has = [&](int rank) { return rank >= mpi_test::ranks() - full; };
    Session run;
    Params params;
    Memory memory;
    params.step(5).set(kChannel + "/type", "mesh");
    has(mpi_test::rank()) ? publish(params, kMesh, local(), memory)
                          : publish_placeholders(params, kMesh);
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    EXPECT_EQ(run.reported, "");
    expect_file(run / "particles_000005.bat",
      of_all_ranks([&](int rank) { return particles(rank, has(rank) ? 40 : 0); }));
  }
}

std::map<std::string, std::string> columns_in(const std::filesystem::path& path)
{
  const bat::Dataset dataset = bat::Dataset::open(path);
  std::map<std::string, std::string> columns{ { "",
    std::string(bat::name_of(dataset.position_type())) } };
  for (const bat::Attribute& a : dataset.attributes())
  {
    columns[a.name] = std::string(bat::name_of(a.type)) + "[" + std::to_string(a.components) + "]";
  }
  return columns;
}

// Injection starts later: all ranks declare the later particles without having any, or only one
// rank does.
TEST(EmptyRanks, declare_the_columns_of_steps_without_particles)
{
  Session run;
  Memory memory;
  Params full;
  publish_channel(full.step(9), local(), memory);
  EXPECT_EQ(run.execute(full), 0) << run.reported;
  const auto expected = columns_in(run / "particles_000009.bat");
  EXPECT_GT(expected.size(), 3U);
  for (const bool only_last : { false, true })
  {
    Session other;
    Params params;
    params.step(0).set(kChannel + "/type", "mesh");
    const bool is_last = mpi_test::rank() == mpi_test::ranks() - 1;
    if (is_last || !only_last)
    {
      publish(params, kMesh, local(0), memory);
    }
    EXPECT_EQ(other.execute(params), 0) << other.reported;
    EXPECT_EQ(other.reported, "");
    EXPECT_EQ(columns_in(other / "particles_000000.bat"), expected);
    // The next one has not even a node.
    EXPECT_EQ(other.execute(Params().step(1).set(kChannel + "/type", "mesh").touch(kMesh)), 0);
    EXPECT_EQ(columns_in(other / "particles_000001.bat"), expected);
  }
}

// The same if ranks with particles do not agree.
TEST(EmptyRanks, that_declare_other_types_leave_the_field_out)
{
  if (mpi_test::ranks() == 1)
  {
    GTEST_SKIP() << "one rank agrees with itself";
  }
  Session run;
  Memory memory;
  Params params;
  params.step(0).set(kChannel + "/type", "mesh");
  publish(params, kMesh, local(0), memory);
  static std::int16_t nothing = 0;
  if (mpi_test::rank() == 1)
  {
    params.array(kMesh + "/fields/mass/values", ScalarType::Int16, &nothing, 0, 0, 2);
  }
  EXPECT_EQ(run.execute(params), 0) << run.reported;
  if (mpi_test::rank() == 0)
  {
    EXPECT_NE(run.reported.find("field mass was not written: it has type"), std::string::npos)
      << run.reported;
    EXPECT_NE(run.reported.find("int16"), std::string::npos) << run.reported;
  }
  EXPECT_EQ(columns_in(run / "particles_000000.bat").count("mass"), 0U);
  EXPECT_EQ(columns_in(run / "particles_000000.bat").count("id"), 1U);
}

TEST(EmptyRanks, may_have_empty_nodes_or_none)
{
  const std::vector<std::function<void(Params&)>> nothings = { [](Params&) {},
    [](Params& p) { p.touch("catalyst"); }, [](Params& p) { p.touch("catalyst/channels"); },
    [](Params& p) { p.touch(kChannel); }, [](Params& p) { p.touch(kMesh); },
    [](Params& p) { p.set(kChannel + "/type", "mesh").touch(kMesh + "/topologies"); },
    [](Params& p) { p.set(kChannel + "/type", "mesh").touch(kMesh + "/topologies/particles"); },
    [](Params& p) { p.set(kChannel + "/type", "mesh").touch(kMesh + "/domain_000007"); },
    [](Params& p) { p.set(kChannel + "/type", "mesh").set(kMesh + "/state/domain_id", 3); } };
  for (const auto& nothing : nothings)
  {
    Session run;
    Params params;
    Memory memory;
    const bool is_last = mpi_test::rank() == mpi_test::ranks() - 1;
    is_last ? publish_channel(params.step(5), local(), memory) : nothing(params);
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    expect_file(run / "particles_000005.bat", { particles(mpi_test::ranks() - 1, 40) });
  }
}

TEST(EmptyRanks, on_all_ranks_make_an_empty_step_of_the_same_species)
{
  Session run;
  Memory memory;
  for (std::int64_t step = 0; step != 4; ++step)
  {
    Params params;
    params.step(step).set(kChannel + "/type", "mesh").touch(kMesh);
    if (step == 1 || step == 3)
    {
      publish(params, kMesh, local(), memory);
    }
    EXPECT_EQ(run.execute(params), 0);
  }
  for (const std::string step : { "0", "2" })
  {
    expect_file(run / ("particles_00000" + step + ".bat"), {});
  }
  for (const std::string step : { "1", "3" })
  {
    expect_file(run / ("particles_00000" + step + ".bat"),
      of_all_ranks([](int rank) { return particles(rank, 40); }));
  }
}

// As in WarpX before it has created any particle; the ranks do not know the species' name.
TEST(EmptyRanks, with_placeholders_everywhere_write_steps_of_species_that_there_have_been)
{
  for (const char* type : { "mesh", "multimesh" })
  {
    Session run;
    Memory memory;
    for (std::int64_t step = 0; step != 3; ++step)
    {
      Params params;
      params.step(step).set(kChannel + "/type", type);
      if (step == 1 && mpi_test::rank() == 0)
      {
        publish(params, kMesh + "/domain_000003", local(), memory, Layout::Separate, "ions");
      }
      else
      {
        publish_placeholders(params, kMesh + "/domain_x000000");
        params.set(kMesh + "/domain_x000000/state/domain_id", 0);
      }
      EXPECT_EQ(run.execute(params), 0) << run.reported;
      EXPECT_EQ(run.reported, "");
    }
    expect_file(run / "particles_ions_000001.bat", { particles(0, 40) });
    expect_file(run / "particles_ions_000002.bat", {});
    if (mpi_test::rank() == 0)
    {
      EXPECT_EQ(run.files(),
        (std::vector<std::string>{ "particles_ions.bat.series", "particles_ions.vtkhdf.series",
          "particles_ions_000001.bat", "particles_ions_000002.bat" }));
    }
  }
}

TEST(EmptyRanks, without_channels_anywhere_nothing_is_written)
{
  Session run;
  EXPECT_EQ(run.execute(Params().step(1)), 0);
  if (mpi_test::rank() == 0)
  {
    EXPECT_TRUE(run.files().empty());
  }
}

Cloud electrons(int rank, std::uint64_t n = 30)
{
  return particles(rank + 10, n, ScalarType::Float32);
}

// As in AMReX: two kinds of particles in one mesh, with separate fields.
TEST(Species, of_two_topologies_have_files_of_their_own)
{
  Session run;
  Params params;
  Memory memory;
  params.step(1).set(kChannel + "/type", "mesh");
  publish(params, kMesh, local(), memory, Layout::Records, "ions", "");
  publish(params, kMesh, electrons(mpi_test::rank()), memory, Layout::Separate, "electrons", "e_");
  EXPECT_EQ(run.execute(params), 0);
  expect_file(
    run / "particles_ions_000001.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
  expect_file(run / "particles_electrons_000001.bat",
    of_all_ranks(
      [](int rank)
      {
        Cloud cloud = electrons(rank);
        for (auto& column : cloud.columns)
        {
          column.name = "e_" + column.name;
        }
        return cloud;
      }));
}

TEST(Species, that_only_some_ranks_know_have_the_same_names_on_all)
{
  Session run;
  Params params;
  Memory memory;
  params.step(1).set(kChannel + "/type", "mesh");
  const auto topology = [](int rank) { return rank % 2 == 0 ? "even" : "odd"; };
  publish(params, kMesh, local(), memory, Layout::Separate, topology(mpi_test::rank()));
  EXPECT_EQ(run.execute(params), 0);
  const auto of = [&](int parity)
  { return of_all_ranks([&](int rank) { return particles(rank, rank % 2 == parity ? 40 : 0); }); };
  expect_file(run / "particles_even_000001.bat", of(0));
  if (mpi_test::ranks() > 1)
  {
    expect_file(run / "particles_odd_000001.bat", of(1));
  }
}

TEST(Species, keep_their_names_when_others_come_and_go)
{
  Session run;
  Memory memory;
  const std::vector<std::vector<std::string>> steps = { { "a" }, { "a", "b" }, { "b" }, {} };
  for (std::size_t step = 0; step != steps.size(); ++step)
  {
    Params params;
    params.step(static_cast<std::int64_t>(step)).set(kChannel + "/type", "mesh").touch(kMesh);
    for (const std::string& topology : steps[step])
    {
      publish(params, kMesh, local(), memory, Layout::Separate, topology, "");
      break;
    }
    for (std::size_t i = 1; i < steps[step].size(); ++i)
    {
      publish(
        params, kMesh, electrons(mpi_test::rank()), memory, Layout::Separate, steps[step][i], "e_");
    }
    EXPECT_EQ(run.execute(params), 0);
  }
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(run.files(),
      (std::vector<std::string>{ "particles_a.bat.series", "particles_a.vtkhdf.series",
        "particles_a_000000.bat", "particles_a_000001.bat", "particles_a_000003.bat",
        "particles_b.bat.series", "particles_b.vtkhdf.series", "particles_b_000001.bat",
        "particles_b_000002.bat", "particles_b_000003.bat" }));
  }
  expect_file(
    run / "particles_b_000002.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
  expect_file(run / "particles_b_000003.bat", {});
}

// Regardless of the content of a run's first step.
TEST(Species, have_the_same_names_after_a_restart)
{
  const mpi_test::SharedDir folder;
  const std::vector<std::vector<std::string>> runs = { { "electrons", "ions" }, { "ions" },
    { "electrons" }, { "ions", "electrons" } };
  for (const std::string output : { "sim_{timestep}.bat", "{name}_{timestep}.bat" })
  {
    std::int64_t step = 0;
    for (const auto& topologies : runs)
    {
      Session run([&](Params& params, const std::string&)
        { params.set("catalyst/bat/output", (folder / output).string()); });
      Params params;
      Memory memory;
      params.step(++step).set(kChannel + "/type", "mesh").touch(kMesh);
      for (const std::string& topology : topologies)
      {
        publish(params, kMesh, local(), memory, Layout::Separate, topology, topology);
      }
      EXPECT_EQ(run.execute(params), 0) << run.reported;
    }
  }
  std::vector<std::string> lists;
  for (const std::string& name : names_in(folder / ""))
  {
    if (name.find(".bat.series") != std::string::npos && name.front() != '.') // no lock
    {
      lists.push_back(name);
    }
  }
  EXPECT_EQ(lists,
    (std::vector<std::string>{ "particles_electrons.bat.series", "particles_ions.bat.series",
      "sim_particles_electrons.bat.series", "sim_particles_ions.bat.series" }));
}

TEST(Species, whose_topology_has_no_name_of_its_own_have_the_channels)
{
  for (const std::string topology :
    { "main", "mesh", "particles", "points", "topo", "topology", "dust" })
  {
    Session run;
    Params params;
    Memory memory;
    params.step(1).set("catalyst/channels/dust/type", "mesh");
    publish(params, "catalyst/channels/dust/data", local(), memory, Layout::Separate, topology);
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    expect_file(
      run / "dust_000001.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
  }
}

TEST(Species, of_the_meshes_of_a_multimesh)
{
  Session run;
  Params params;
  Memory memory;
  params.step(1).set(kChannel + "/type", "multimesh");
  params.set(kChannel + "/assembly/all", "dust");
  publish(params, kMesh + "/dust", local(), memory);
  publish(params, kMesh + "/gas", electrons(mpi_test::rank()), memory);
  publish(params, kMesh + "/gas", local(7), memory, Layout::Separate, "tracers", "t_");
  EXPECT_EQ(run.execute(params), 0);
  expect_file(
    run / "particles_dust_000001.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
  expect_file(
    run / "particles_gas_000001.bat", of_all_ranks([](int rank) { return electrons(rank); }));
  if (mpi_test::rank() == 0)
  {
    EXPECT_TRUE(std::filesystem::exists(run / "particles_gas_tracers_000001.bat"));
  }
}

TEST(Species, of_several_channels)
{
  Session run;
  Params params;
  Memory memory;
  publish_channel(params.step(1), local(), memory, Layout::Separate, "dust");
  publish_channel(params, electrons(mpi_test::rank()), memory, Layout::Records, "gas");
  EXPECT_EQ(run.execute(params), 0);
  expect_file(run / "dust_000001.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
  expect_file(run / "gas_000001.bat", of_all_ranks([](int rank) { return electrons(rank); }));
}

TEST(Species, of_the_same_name_are_refused)
{
  Session run;
  Params params;
  Memory memory;
  params.step(1);
  for (const auto& [channel, topology] : std::vector<std::pair<std::string, std::string>>{
         { "a", "b_c" }, { "a", "x" }, { "a_b", "c" }, { "a_b", "y" } })
  {
    params.set("catalyst/channels/" + channel + "/type", "mesh");
    publish(params, "catalyst/channels/" + channel + "/data", local(), memory, Layout::Separate,
      topology, topology);
  }
  EXPECT_EQ(run.execute(params), CATALYST_BAT_BAD_NODE);
  EXPECT_NE(run.reported.find("two species are named 'a_b_c'"), std::string::npos) << run.reported;
}

// Names that are not paths: ".." is the parent in a Conduit path.
TEST(Species, with_slashes_in_their_names_stay_in_their_folder)
{
  Session run;
  Params params;
  Memory memory;
  params.step(1).set(kChannel + "/type", "multimesh");
  conduit_node* data = conduit_node_fetch(params.get(), kMesh.c_str());
  for (const char* name : { "..", "a/b" })
  {
    Params child(conduit_node_add_child(data, name));
    publish(child, "", local(), memory);
  }
  EXPECT_EQ(conduit_node_number_of_children(data), 2);
  EXPECT_EQ(run.execute(params), 0) << run.reported;
  for (const char* file : { "particles_.._000001.bat", "particles_a_b_000001.bat" })
  {
    expect_file(run / file, of_all_ranks([](int rank) { return particles(rank, 40); }));
  }
}

// Rank r has r domains, like AMReX patches that come and go.
TEST(Domains, are_one_species)
{
  for (const Layout layout : { Layout::Separate, Layout::Records })
  {
    Session run;
    Params params;
    Memory memory;
    params.step(1).set(kChannel + "/type", "mesh").touch(kMesh);
    for (int d = 0; d != mpi_test::rank() + 2; ++d)
    {
      const std::string domain =
        kMesh + "/domain_00000" + std::to_string(10 * mpi_test::rank() + d);
      params.set(domain + "/state/domain_id", d);
      const int seed = 10 * mpi_test::rank() + d;
      publish(params, domain, particles(seed, d == 1 ? 0 : 20), memory, layout);
    }
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    std::vector<Cloud> all;
    for (int rank = 0; rank != mpi_test::ranks(); ++rank)
    {
      for (int d = 0; d != rank + 2; ++d)
      {
        all.push_back(particles(10 * rank + d, d == 1 ? 0 : 20));
      }
    }
    expect_file(run / "particles_000001.bat", all);
  }
}

// As in a code with boxes: numbered pieces are joined, and those with distinct names stay separate.
TEST(Domains, of_a_multimesh_are_pieces_of_the_meshes_that_their_names_say)
{
  Session run;
  Params params;
  Memory memory;
  params.step(1).set(kChannel + "/type", "multimesh").touch(kMesh);
  const std::string number = std::to_string(10 + mpi_test::rank());
  // Name, and whether the node has its domain's id.
  const std::vector<std::pair<std::string, bool>> meshes = { { "domain_0000" + number, false },
    { "domain_1000" + number, true }, { "block_" + number, true }, { "9" + number, true },
    { "gas_" + number, true }, { "gas_9" + number, true }, { "dust", true }, { "level1", false } };
  for (const auto& [name, has_id] : meshes)
  {
    publish(params, kMesh + "/" + name, local(), memory);
    if (has_id)
    {
      params.set(kMesh + "/" + name + "/state/domain_id", mpi_test::rank());
    }
  }
  EXPECT_EQ(run.execute(params), 0) << run.reported;
  for (const auto& [name, times] : std::vector<std::pair<std::string, int>>{ { "particles", 4 },
         { "particles_gas", 2 }, { "particles_dust", 1 }, { "particles_level1", 1 } })
  {
    std::vector<Cloud> all;
    for (int i = 0; i != times * mpi_test::ranks(); ++i)
    {
      all.push_back(particles(i % mpi_test::ranks(), 40));
    }
    expect_file(run / (name + "_000001.bat"), all);
  }
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(run.files().size(), 12U);
  }
}

TEST(Domains, in_a_list_and_of_several_species)
{
  Session run;
  Params params;
  Memory memory;
  params.step(1).set(kChannel + "/type", "mesh");
  Params domain;
  conduit_node* list = conduit_node_fetch(params.get(), kMesh.c_str());
  for (int d = 0; d != 2; ++d)
  {
    // Paths begin at a separate node: lists have no names.
    Params part;
    conduit_node* node = conduit_node_append(list);
    const auto put = [&](const char* path, const char* text)
    { conduit_node_set_path_char8_str(node, path, text); };
    put("coordsets/c/type", "explicit");
    put("topologies/mesh/type", "points");
    put("topologies/mesh/coordset", "c");
    auto* values = reinterpret_cast<double*>(room(memory, 8 * 15));
    for (int i = 0; i != 15; ++i)
    {
      values[i] = 100 * d + i;
    }
    for (int axis = 0; axis != 3; ++axis)
    {
      const std::string path = std::string("coordsets/c/values/") + "xyz"[axis];
      conduit_node_set_path_external_float64_ptr_detailed(
        node, path.c_str(), values, 5, 8 * axis, 24, 8, CONDUIT_ENDIANNESS_DEFAULT_ID);
    }
  }
  EXPECT_EQ(run.execute(params), 0) << run.reported;
  std::vector<Cloud> all;
  for (int d = 0; d != 2 * mpi_test::ranks(); ++d)
  {
    Cloud cloud;
    cloud.set_positions(
      numbers<double>(15, [&](std::uint64_t i) { return 100 * (d % 2) + static_cast<double>(i); }));
    all.push_back(cloud);
  }
  expect_file(run / "particles_000001.bat", all);
}

// Particle e is vertex connectivity[e].
void make_unstructured(
  Params& params, ScalarType type, std::vector<std::int64_t>& indices, Memory& memory)
{
  const std::string topology = kMesh + "/topologies/particles";
  params.set(topology + "/type", "unstructured").set(topology + "/elements/shape", "point");
  std::byte* data = room(memory, 9 * indices.size() + 8);
  const std::size_t size = bat::size_of(type);
  for (std::size_t i = 0; i != indices.size(); ++i)
  {
    std::memcpy(data + 3 + i * (size + 1), &indices[i], size); // little-endian
  }
  params.array(topology + "/elements/connectivity", type, data, indices.size(), 3, size + 1);
}

Cloud picked(const Cloud& all, const std::vector<std::int64_t>& indices)
{
  Cloud result;
  for (const std::int64_t index : indices)
  {
    const Cloud one = mpi_test::subset(
      all, [&](std::uint64_t i) { return i == static_cast<std::uint64_t>(index); });
    if (result.columns.empty())
    {
      result = one;
      continue;
    }
    ++result.count;
    result.positions.insert(result.positions.end(), one.positions.begin(), one.positions.end());
    for (std::size_t c = 0; c != one.columns.size(); ++c)
    {
      auto& bytes = result.columns[c].bytes;
      bytes.insert(bytes.end(), one.columns[c].bytes.begin(), one.columns[c].bytes.end());
    }
  }
  return result;
}

TEST(Elements, fetch_positions_and_fields_of_vertices_through_connectivity)
{
  std::vector<std::int64_t> in_order(40);
  std::iota(in_order.begin(), in_order.end(), 0);
  const std::vector<std::vector<std::int64_t>> orders = { in_order,
    { in_order.begin(), in_order.begin() + 9 }, { in_order.rbegin(), in_order.rend() },
    { 3, 0, 39, 3, 17 } };
  for (const ScalarType type :
    { ScalarType::Int32, ScalarType::Int64, ScalarType::UInt8, ScalarType::UInt32 })
  {
    for (std::vector<std::int64_t> order : orders)
    {
      const std::uint64_t n = order.size();
      const auto of = [&](int rank)
      {
        Cloud cloud = picked(particles(rank, 40), order);
        add_column(cloud, "heat", ScalarType::Float32, 2,
          [&](std::uint64_t i) { return 100 * rank + static_cast<double>(i); });
        return cloud;
      };
      Session run;
      Params params;
      Memory memory;
      publish_channel(params.step(1), local(), memory, Layout::Records);
      make_unstructured(params, type, order, memory);
      const std::string field = kMesh + "/fields/heat";
      params.set(field + "/association", "element").set(field + "/topology", "particles");
      auto heat = numbers<float>(
        2 * n, [](std::uint64_t i) { return 100 * mpi_test::rank() + static_cast<double>(i); });
      for (std::size_t c = 0; c != 2; ++c)
      {
        params.array(field + "/values/" + "uv"[c], ScalarType::Float32, heat.data(), n, 4 * c, 8);
      }
      EXPECT_EQ(run.execute(params), 0) << run.reported;
      expect_file(run / "particles_000001.bat", of_all_ranks(of));
    }
  }
}

// As AMReX publishes particles.
TEST(Elements, may_have_all_fields)
{
  Session run;
  Params params;
  Memory memory;
  params.step(1).set(kChannel + "/type", "mesh");
  publish(params, kMesh, local(), memory, Layout::Records, "particles", "", "element");
  std::vector<std::int64_t> order(40);
  std::iota(order.begin(), order.end(), 0);
  make_unstructured(params, ScalarType::Int32, order, memory);
  EXPECT_EQ(run.execute(params), 0) << run.reported;
  expect_file(
    run / "particles_000001.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
}

TEST(Topologies, that_are_no_particles_are_left_out_with_one_warning_each)
{
  Session run;
  Memory memory;
  for (std::int64_t step = 0; step != 2; ++step)
  {
    Params params;
    publish_channel(params.step(step), local(), memory);
    // Only one rank knows the grid; rank 0 reports it.
    if (mpi_test::rank() == mpi_test::ranks() - 1)
    {
      const std::string grid = "catalyst/channels/grid/data";
      params.set("catalyst/channels/grid/type", "mesh");
      params.set(grid + "/coordsets/c/type", "rectilinear")
        .set(grid + "/coordsets/c/values/x", 4.0);
      params.set(grid + "/topologies/t/type", "rectilinear");
      params.set(grid + "/topologies/t/coordset", "c");
      params.set(grid + "/fields/f/association", "element").set(grid + "/fields/f/topology", "t");
      params.set(grid + "/fields/f/values", 1.5);
      params.set(kMesh + "/topologies/cells/type", "unstructured");
      params.set(kMesh + "/topologies/cells/elements/shape", "polyhedral");
      params.set("catalyst/channels/exodus/type", "ioss").touch("catalyst/channels/exodus/data");
      params.set("catalyst/channels/exodus/data/x", 1);
    }
    else
    {
      params.set("catalyst/channels/grid/type", "mesh").touch("catalyst/channels/grid/data");
    }
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    EXPECT_EQ(lines_in(run.reported), step == 0 ? 3U : 0U) << run.reported;
    if (step == 0)
    {
      EXPECT_NE(run.reported.find("channel grid, topology t is rectilinear"), std::string::npos);
      EXPECT_NE(
        run.reported.find("topology cells is unstructured of shape polyhedral"), std::string::npos);
      EXPECT_NE(run.reported.find("channel exodus has type ioss"), std::string::npos);
    }
  }
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(run.files(),
      (std::vector<std::string>{ "particles.bat.series", "particles.vtkhdf.series",
        "particles_000000.bat", "particles_000001.bat" }));
  }
  expect_file(
    run / "particles_000001.bat", of_all_ranks([](int rank) { return particles(rank, 40); }));
}

// Ghost flags, and the particles that they leave.
struct GhostCase
{
  const char* name;
  const char* field;
  const char* association;
  bool by_metadata;
  std::vector<int> marks; // repeated
  std::vector<bool> stay;
};

template <class T>
void publish_marks(
  Params& params, const GhostCase& ghosts, ScalarType type, std::vector<T>& marks, std::uint64_t n)
{
  for (std::uint64_t i = 0; i != n; ++i)
  {
    marks.push_back(static_cast<T>(ghosts.marks[i % ghosts.marks.size()]));
  }
  const std::string field = kMesh + "/fields/" + ghosts.field;
  params.set(field + "/association", ghosts.association).set(field + "/topology", "particles");
  params.array(field + "/values", type, marks);
  if (ghosts.by_metadata)
  {
    params.set(kMesh + "/state/metadata/vtk_fields/" + ghosts.field + "/attribute_type", "Ghosts");
  }
}

class Ghosts : public ::testing::TestWithParam<GhostCase>
{
};

TEST_P(Ghosts, are_left_out)
{
  const GhostCase& ghosts = GetParam();
  for (const ScalarType type : { ScalarType::UInt8, ScalarType::Int32, ScalarType::Float64 })
  {
    Session run;
    Params params;
    Memory memory;
    std::vector<std::uint8_t> bytes;
    std::vector<std::int32_t> ints;
    std::vector<double> doubles;
    publish_channel(params.step(1), local(), memory, Layout::Interleaved);
    type == ScalarType::UInt8     ? publish_marks(params, ghosts, type, bytes, 40)
      : type == ScalarType::Int32 ? publish_marks(params, ghosts, type, ints, 40)
                                  : publish_marks(params, ghosts, type, doubles, 40);
    const bool has_bits = std::string(ghosts.field) != "ascent_ghosts";
    if (type == ScalarType::Float64 && has_bits)
    {
      EXPECT_EQ(run.execute(params), CATALYST_BAT_BAD_NODE);
      continue; // bits of a floating-point number are not flags
    }
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    expect_file(run / "particles_000001.bat",
      of_all_ranks(
        [&](int rank)
        {
          return mpi_test::subset(particles(rank, 40),
            [&](std::uint64_t i) { return ghosts.stay[i % ghosts.stay.size()]; });
        }));
  }
}

TEST_P(Ghosts, stay_when_requested)
{
  const GhostCase& ghosts = GetParam();
  Session run(
    [](Params& params, const std::string& folder)
    {
      params.set("catalyst/bat/output", folder + "{name}_{timestep:06d}.bat");
      params.set("catalyst/bat/ghosts", "keep");
    });
  Params params;
  Memory memory;
  std::vector<std::uint8_t> marks;
  publish_channel(params.step(1), local(), memory);
  publish_marks(params, ghosts, ScalarType::UInt8, marks, 40);
  EXPECT_EQ(run.execute(params), 0) << run.reported;
  expect_file(run / "particles_000001.bat",
    of_all_ranks(
      [&](int rank)
      {
        Cloud cloud = particles(rank, 40);
        cloud.add(ghosts.field, ScalarType::UInt8, marks);
        return cloud;
      }));
}

const std::vector<GhostCase> kGhosts = { { "Points", "vtkGhostType", "vertex", false,
                                           { 0, 1, 2, 3, 4, 32, 33 },
                                           { true, false, false, false, true, true, false } },
  { "Cells", "vtkGhostType", "element", false, { 0, 1, 2, 32, 8 },
    { true, false, true, false, true } },
  { "Ascent", "ascent_ghosts", "element", false, { 0, 1, 2, 4 }, { true, false, false, false } },
  { "Metadata", "halo", "vertex", true, { 0, 1, 64 }, { true, false, true } },
  { "All", "vtkGhostType", "vertex", false, { 1 }, { false } },
  { "NoneOfThem", "vtkGhostType", "vertex", false, { 0 }, { true } } };
INSTANTIATE_TEST_SUITE_P(Of, Ghosts, ::testing::ValuesIn(kGhosts),
  [](const auto& info) { return std::string(info.param.name); });

TEST(GhostMarks, are_fetched_through_connectivity)
{
  Session run;
  Params params;
  Memory memory;
  std::vector<std::int64_t> order = { 5, 4, 3, 2, 1, 0 };
  std::vector<std::uint8_t> of_vertices = { 0, 1, 0, 0, 0, 0 };
  std::vector<std::uint8_t> of_elements = { 1, 0, 0, 0, 0, 0 };
  publish_channel(params.step(1), local(6), memory);
  make_unstructured(params, ScalarType::Int32, order, memory);
  const std::string fields = kMesh + "/fields/";
  params.set(fields + "vtkGhostType/association", "vertex");
  params.set(fields + "vtkGhostType/topology", "particles");
  params.array(fields + "vtkGhostType/values", ScalarType::UInt8, of_vertices);
  params.set(fields + "ascent_ghosts/association", "element");
  params.set(fields + "ascent_ghosts/topology", "particles");
  params.array(fields + "ascent_ghosts/values", ScalarType::UInt8, of_elements);
  EXPECT_EQ(run.execute(params), 0) << run.reported;
  expect_file(run / "particles_000001.bat",
    of_all_ranks(
      [](int rank) {
        return picked(particles(rank, 6), { 4, 3, 2, 0 });
      }));
}
}
