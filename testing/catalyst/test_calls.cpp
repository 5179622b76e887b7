// SPDX-License-Identifier: BSD-3-Clause
// The order of calls, their return values, and full or failing disks.
#include "simulation.hpp"

#include <fstream>
#include <iterator>

using namespace sim;

namespace
{
const std::string kChannel = "catalyst/channels/particles";

void publish_some(Params& params, Memory& memory, std::uint64_t n = 25)
{
  publish_channel(params, particles(mpi_test::rank(), n), memory);
}

std::vector<Cloud> all(std::uint64_t n = 25)
{
  return of_all_ranks([=](int rank) { return particles(rank, n); });
}

int execute(Session& run, std::int64_t step)
{
  Params params;
  Memory memory;
  publish_some(params.step(step), memory);
  return run.execute(params);
}

TEST(Calls, finalize_without_execute_and_twice)
{
  Session run;
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(catalyst_finalize(Params().get()), 0);
  EXPECT_EQ(catalyst_finalize(Params().get()), 0);
}

TEST(Calls, execute_without_initialize_is_an_error)
{
  Session run;
  EXPECT_EQ(catalyst_finalize(Params().get()), 0);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(catalyst_execute(Params().step(1).get()), CATALYST_BAT_NOT_INITIALIZED);
  EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
}

TEST(Calls, initialize_twice_begins_anew)
{
  const mpi_test::SharedDir second;
  Session run;
  EXPECT_EQ(execute(run, 1), 0);
  Params params;
  params.set("catalyst/bat/output", (second / "").string() + "again_{timestep}.bat");
  EXPECT_EQ(catalyst_initialize(params.get()), 0);
  EXPECT_EQ(execute(run, 2), 0);
  expect_file(run / "particles_000001.bat", all());
  expect_file(second / "again_2.bat", all());
  Params results;
  EXPECT_EQ(catalyst_results(results.get()), 0);
  EXPECT_EQ(results.integer("catalyst/bat/total/steps"), 1);
}

TEST(Calls, work_again_after_finalize)
{
  for (int i = 0; i != 3; ++i)
  {
    Session run;
    EXPECT_EQ(execute(run, i), 0);
    expect_file(run / ("particles_00000" + std::to_string(i) + ".bat"), all());
  }
}

TEST(Calls, without_a_node_are_harmless)
{
  Session run;
  EXPECT_EQ(catalyst_execute(nullptr), 0);
  EXPECT_EQ(catalyst_finalize(nullptr), 0);
}

TEST(Steps, are_counted_where_the_simulation_does_not)
{
  Session run;
  for (int i = 0; i != 2; ++i)
  {
    Params params;
    Memory memory;
    publish_some(params, memory);
    EXPECT_EQ(run.execute(params), 0);
  }
  expect_file(run / "particles_000000.bat", all());
  expect_file(run / "particles_000001.bat", all());
}

TEST(Steps, are_cycles_or_whole_numbers_of_any_type)
{
  const std::vector<std::function<void(Params&)>> states = { [](Params& p)
    { p.set("catalyst/state/cycle", 3); },
    [](Params& p) { p.set("catalyst/state/cycle", 3.0); },
    [](Params& p) { p.set("catalyst/state/timestep", 3).set("catalyst/state/cycle", 4); },
    [](Params& p) { p.set("catalyst/state/timestep", std::int64_t{ 3 }); } };
  for (const auto& state : states)
  {
    Session run;
    Params params;
    Memory memory;
    state(params);
    params.set("catalyst/state/time", 3); // an int32
    params.set("catalyst/state/parameters", std::vector<std::string>{ "a", "b" });
    params.set("catalyst/state/multiblock", 1);
    publish_some(params, memory);
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    EXPECT_EQ(run.reported, "");
    expect_file(run / "particles_000003.bat", all());
    if (mpi_test::rank() == 0)
    {
      const bat::Dataset dataset = bat::Dataset::open(run / "particles_000003.bat");
      EXPECT_EQ(dataset.step(), 3);
      EXPECT_EQ(dataset.time(), 3.0);
    }
  }
}

// As in Kitware's examples with several channels.
TEST(Steps, may_be_those_of_a_channel)
{
  Session run;
  Params params;
  Memory memory;
  publish_some(params.step(7), memory);
  publish_channel(params, particles(mpi_test::rank(), 5), memory, Layout::Records, "gas");
  publish_channel(params, particles(mpi_test::rank(), 5), memory, Layout::Records, "dust");
  params.set("catalyst/channels/gas/state/time", 1.25);
  params.set("catalyst/channels/gas/state/timestep", 6);
  params.set("catalyst/channels/gas/state/multiblock", 1);
  params.set("catalyst/channels/dust/state/time", 2.25);
  EXPECT_EQ(run.execute(params), 0) << run.reported;
  EXPECT_EQ(run.reported, "");
  if (mpi_test::rank() == 0)
  {
    const auto expect = [&](const char* file, std::int64_t step, double time)
    {
      const bat::Dataset dataset = bat::Dataset::open(run / file);
      EXPECT_EQ(dataset.step(), step);
      EXPECT_EQ(dataset.time(), time);
    };
    expect("particles_000007.bat", 7, 3.5);
    expect("gas_000006.bat", 6, 1.25);
    expect("dust_000007.bat", 7, 2.25);
  }
}

TEST(Steps, may_have_a_time_without_a_number)
{
  Session run;
  Params params;
  Memory memory;
  publish_some(params.set("catalyst/state/time", 0.25), memory);
  EXPECT_EQ(run.execute(params), 0) << run.reported;
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(bat::Dataset::open(run / "particles_000000.bat").time(), 0.25);
  }
}

TEST(Steps, are_listed_for_paraview)
{
  Session run;
  EXPECT_EQ(execute(run, 1), 0);
  EXPECT_EQ(execute(run, 2), 0);
  if (mpi_test::rank() == 0)
  {
    std::ifstream file(run / "particles.bat.series");
    const std::string text{ std::istreambuf_iterator<char>(file), {} };
    EXPECT_NE(text.find("particles_000001.bat"), std::string::npos) << text;
    EXPECT_NE(text.find("particles_000002.bat"), std::string::npos) << text;
  }
}

TEST(Results, say_what_the_last_step_and_all_have_written)
{
  Session run;
  EXPECT_EQ(execute(run, 8), 0);
  Params params;
  Memory memory;
  publish_some(params.step(9), memory);
  publish_channel(params, particles(mpi_test::rank(), 5), memory, Layout::Records, "gas");
  EXPECT_EQ(run.execute(params), 0);
  Params results;
  const auto ranks = static_cast<std::int64_t>(mpi_test::ranks());
  for (int again = 0; again != 2; ++again)
  {
    EXPECT_EQ(catalyst_results(results.get()), 0);
    const std::string root = "catalyst/bat/";
    EXPECT_EQ(results.integer(root + "status"), 0);
    EXPECT_EQ(results.text(root + "message"), "");
    EXPECT_EQ(results.integer(root + "last_step/timestep"), 9);
    EXPECT_EQ(results.real(root + "last_step/time"), 4.5);
    EXPECT_EQ(results.integer(root + "total/steps"), 2);
    EXPECT_EQ(results.integer(root + "total/files"), 3);
    EXPECT_EQ(results.integer(root + "total/failed_steps"), 0);
    EXPECT_EQ(results.integer(root + "total/particles"), 55 * ranks);
    EXPECT_GT(results.integer(root + "total/bytes"), 55 * 60 * ranks);
    EXPECT_GT(results.real(root + "total/seconds"), 0.0);
    conduit_node* files = conduit_node_fetch(results.get(), "catalyst/bat/last_step/files");
    ASSERT_EQ(conduit_node_number_of_children(files), 2);
    conduit_node* gas = conduit_node_child(files, 1);
    EXPECT_STREQ(conduit_node_fetch_path_as_char8_str(gas, "species"), "gas");
    EXPECT_EQ(conduit_node_fetch_path_as_char8_str(gas, "file"), (run / "gas_000009.bat").string());
    EXPECT_EQ(conduit_node_fetch_path_as_int64(gas, "particles"), 5 * ranks);
    EXPECT_EQ(conduit_node_fetch_path_as_int64(gas, "ghosts"), 0);
    if (mpi_test::rank() == 0)
    {
      EXPECT_EQ(static_cast<std::uint64_t>(conduit_node_fetch_path_as_int64(gas, "bytes")),
        std::filesystem::file_size(run / "gas_000009.bat"));
    }
  }
}

TEST(Results, say_what_went_wrong)
{
  Session run;
  Params params;
  Memory memory;
  publish_some(params.step(1), memory);
  params.set("catalyst/state/timestep", "x");
  EXPECT_EQ(run.execute(params), CATALYST_BAT_BAD_NODE);
  Params results;
  EXPECT_EQ(catalyst_results(results.get()), 0);
  EXPECT_EQ(results.integer("catalyst/bat/status"), CATALYST_BAT_BAD_NODE);
  EXPECT_NE(results.text("catalyst/bat/message").find("timestep has type text"), std::string::npos);
  EXPECT_EQ(results.integer("catalyst/bat/total/failed_steps"), 1);
  EXPECT_EQ(execute(run, 2), 0);
  EXPECT_EQ(catalyst_results(results.get()), 0);
  EXPECT_EQ(results.integer("catalyst/bat/status"), 0);
  EXPECT_EQ(results.text("catalyst/bat/message"), "");
}

TEST(About, says_what_catalyst_says)
{
  Session run;
  Params about;
  EXPECT_EQ(catalyst_about(about.get()), 0);
  EXPECT_EQ(about.text("catalyst/implementation"), "bat");
  EXPECT_EQ(about.text("catalyst/version").substr(0, 2), "2.");
  EXPECT_NE(about.text("catalyst/abi_version"), "");
  EXPECT_NE(about.text("catalyst/bat/version"), "");
  EXPECT_NE(about.text("catalyst/bat/mpi"), "");
}

TEST(Communicator, of_the_simulation_has_all_ranks_there_are)
{
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, mpi_test::rank() % 2, 0, &half);
  {
    Session run(
      [&](Params& params, const std::string& folder)
      {
        params.set("catalyst/bat/output",
          folder + (mpi_test::rank() % 2 == 0 ? "even" : "odd") + "_{timestep}.bat");
        params.set("catalyst/mpi_comm", static_cast<int>(MPI_Comm_c2f(half)));
      });
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(execute(run, 1), 0);
    for (int parity = 0; parity != std::min(2, mpi_test::ranks()); ++parity)
    {
      expect_file(run / (parity == 0 ? "even_1.bat" : "odd_1.bat"),
        of_all_ranks([&](int rank) { return particles(rank, rank % 2 == parity ? 25 : 0); }));
    }
  }
  MPI_Comm_free(&half);
}

TEST(Communicator, that_is_none_is_refused)
{
  ::testing::internal::CaptureStderr();
  Session run([](Params& params, const std::string&)
    { params.set("catalyst/mpi_comm", std::int64_t{ 1234567 }); });
  EXPECT_EQ(run.status, CATALYST_BAT_NO_MPI);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("catalyst/mpi_comm is 1234567"),
    std::string::npos);
}

TEST(Communicator, that_is_a_text_is_refused)
{
  ::testing::internal::CaptureStderr();
  Session run([](Params& params, const std::string&) { params.set("catalyst/mpi_comm", "world"); });
  EXPECT_EQ(run.status, CATALYST_BAT_BAD_NODE);
  ::testing::internal::GetCapturedStderr();
}

TEST(Disk, folder_that_may_not_be_written_to)
{
  Session run;
  EXPECT_EQ(execute(run, 1), 0);
  if (mpi_test::rank() == 0)
  {
    namespace fs = std::filesystem;
    fs::permissions(run / "", fs::perms::owner_read | fs::perms::owner_exec);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  {
    // Each rank drops its privileges; only rank 0's folder is checked.
    const mpi_test::SharedDir own;
    std::filesystem::create_directories(own / std::to_string(mpi_test::rank()));
    const WithoutPrivileges nobody(own / std::to_string(mpi_test::rank()));
    EXPECT_EQ(execute(run, 2), CATALYST_BAT_WRITE_FAILED) << run.reported;
    EXPECT_EQ(lines_in(run.reported), 1U) << run.reported;
    EXPECT_NE(run.reported.find("step 2: "), std::string::npos) << run.reported;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (mpi_test::rank() == 0)
  {
    std::filesystem::permissions(run / "", std::filesystem::perms::owner_all);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(execute(run, 3), 0) << run.reported;
  expect_file(run / "particles_000001.bat", all());
  expect_file(run / "particles_000003.bat", all());
}

TEST(Disk, path_that_is_a_folder)
{
  Session run;
  if (mpi_test::rank() == 0)
  {
    std::filesystem::create_directories(run / "particles_000001.bat");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(execute(run, 1), CATALYST_BAT_WRITE_FAILED) << run.reported;
  EXPECT_EQ(execute(run, 2), 0) << run.reported;
  expect_file(run / "particles_000002.bat", all());
}
}
