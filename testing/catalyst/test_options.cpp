// SPDX-License-Identifier: BSD-3-Clause
// The node catalyst/bat, the file that CATALYST_BAT_CONFIG names, and io pipelines.
#include "simulation.hpp"

#include "bat/idx/write_options.hpp"
#include "bat/write_options.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

using namespace sim;

namespace
{
const std::string kBat = "catalyst/bat/";

// A step with the channels dust and gas.
int execute(Session& run, std::int64_t step, const std::function<void(Params&)>& more = {})
{
  Params params;
  Memory memory;
  publish_channel(
    params.step(step), particles(mpi_test::rank(), 20), memory, Layout::Separate, "dust");
  publish_channel(params, particles(mpi_test::rank() + 50, 30), memory, Layout::Interleaved, "gas");
  if (more)
  {
    more(params);
  }
  return run.execute(params);
}

std::vector<Cloud> dust()
{
  return of_all_ranks([](int rank) { return particles(rank, 20); });
}

std::vector<Cloud> gas()
{
  return of_all_ranks([](int rank) { return particles(rank + 50, 30); });
}

std::vector<Cloud> with_fields(std::vector<Cloud> clouds, const std::vector<std::string>& fields)
{
  for (Cloud& cloud : clouds)
  {
    std::vector<Cloud::Column> kept;
    for (const auto& column : cloud.columns)
    {
      if (std::find(fields.begin(), fields.end(), column.name) != fields.end())
      {
        kept.push_back(column);
      }
    }
    cloud.columns = kept;
  }
  return clouds;
}

// .bat files in the folder, on rank 0.
void expect_files(const Session& run, std::vector<std::string> expected)
{
  if (mpi_test::rank() != 0)
  {
    return;
  }
  std::vector<std::string> found;
  for (const std::string& name : run.files())
  {
    if (name.find(".bat") == name.size() - 4)
    {
      found.push_back(name);
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

// Next to the default output.
std::function<void(Params&, const std::string&)> with(const std::function<void(Params&)>& more)
{
  return [more](Params& params, const std::string& folder)
  {
    params.set(kBat + "output", folder + "{name}_{timestep:06d}.bat");
    more(params);
  };
}

class Config
{
public:
  explicit Config(const std::string& text)
    : path_((this->folder_ / "config.json").string())
  {
    if (mpi_test::rank() == 0)
    {
      std::ofstream(this->path_) << text;
      ::setenv("CATALYST_BAT_CONFIG", this->path_.c_str(), 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;
  ~Config() { ::unsetenv("CATALYST_BAT_CONFIG"); }

private:
  mpi_test::SharedDir folder_;
  std::string path_;
};

TEST(Output, without_the_name_or_the_step_gets_them)
{
  Session run([](Params& params, const std::string& folder)
    { params.set(kBat + "output", folder + "deep/er/all.bat"); });
  EXPECT_EQ(execute(run, 7), 0) << run.reported;
  expect_file(run / "deep/er/all_dust_000007.bat", dust());
  expect_file(run / "deep/er/all_gas_000007.bat", gas());
}

TEST(Output, without_the_name_is_enough_for_one_species)
{
  Session run(
    [](Params& params, const std::string& folder)
    {
      params.set(kBat + "output", folder + "all_%04ts.bat");
      params.set(kBat + "channels", std::vector<std::string>{ "gas" });
    });
  EXPECT_EQ(execute(run, 7), 0) << run.reported;
  expect_files(run, { "all_0007.bat" });
  expect_file(run / "all_0007.bat", gas());
}

TEST(Output, goes_to_the_working_folder_by_default)
{
  const mpi_test::SharedDir folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  {
    Session run([](Params&, const std::string&) {});
    EXPECT_EQ(execute(run, 7), 0) << run.reported;
    expect_file(folder / "dust_000007.bat", dust());
  }
  std::filesystem::current_path(before);
}

TEST(Output, of_two_species_in_one_file_is_refused)
{
  Session run(
    [](Params& params, const std::string& folder)
    {
      for (const char* channel : { "dust", "gas" })
      {
        const std::string own = kBat + "channels/" + channel + "/output";
        params.set(own, folder + (std::string(channel) == "gas" ? "./" : "") + "one_%ts.bat");
      }
    });
  EXPECT_EQ(execute(run, 7), CATALYST_BAT_BAD_NODE);
  EXPECT_NE(run.reported.find("two species would be written to"), std::string::npos)
    << run.reported;
  expect_files(run, {});
}

TEST(Channels, that_are_not_listed_are_left_out)
{
  Session run(with([](Params& p) { p.set(kBat + "channels/c0", "gas"); }));
  EXPECT_EQ(execute(run, 1), 0);
  EXPECT_EQ(run.reported, "");
  expect_files(run, { "gas_000001.bat" });
  expect_file(run / "gas_000001.bat", gas());
}

TEST(Channels, that_are_not_there_are_warned_of_once)
{
  Session run(with(
    [](Params& p) {
      p.set(kBat + "channels", std::vector<std::string>{ "gas", "ice" });
    }));
  EXPECT_EQ(execute(run, 1), 0);
  EXPECT_NE(run.reported.find("unknown channel ice in the options; available: dust, gas"),
    std::string::npos)
    << run.reported;
  EXPECT_EQ(execute(run, 2), 0);
  EXPECT_EQ(run.reported, "");
}

TEST(Channels, have_options_of_their_own)
{
  Session run(with(
    [](Params& p)
    {
      p.set(kBat + "every", 2);
      p.set(kBat + "channels/gas/every", std::int64_t{ 3 });
      p.set(kBat + "channels/gas/fields/f", "id");
      p.set(kBat + "channels/dust/mode", "aug");
    }));
  for (std::int64_t step = 0; step != 7; ++step)
  {
    EXPECT_EQ(execute(run, step), 0) << run.reported;
  }
  expect_files(run,
    { "dust_000000.bat", "dust_000002.bat", "dust_000004.bat", "dust_000006.bat", "gas_000000.bat",
      "gas_000003.bat", "gas_000006.bat" });
  expect_file(run / "gas_000003.bat", with_fields(gas(), { "id" }));
  expect_file(run / "dust_000006.bat", dust());
}

TEST(Fields, that_are_not_listed_are_left_out_and_unknown_ones_are_errors)
{
  Session run(with(
    [](Params& p) {
      p.set(kBat + "fields", std::vector<std::string>{ "velocity", "id", "heat" });
    }));
  for (const int step : { 1, 2 })
  {
    EXPECT_EQ(execute(run, step), CATALYST_BAT_BAD_OPTIONS);
    EXPECT_EQ(lines_in(run.reported), 1U) << run.reported;
    EXPECT_NE(
      run.reported.find("unknown field heat in the option fields; available: "), std::string::npos)
      << run.reported;
  }
  expect_file(run / "dust_000002.bat", with_fields(dust(), { "velocity", "id" }));
}

TEST(Fields, may_be_none)
{
  Config config(R"({ "fields": [] })");
  Session run;
  EXPECT_EQ(execute(run, 1), 0) << run.reported;
  expect_file(run / "dust_000001.bat", with_fields(dust(), {}));
}

std::vector<std::string> indexed(const std::filesystem::path& file)
{
  std::vector<std::string> names;
  const bat::Dataset dataset = bat::Dataset::open(file);
  for (const bat::Attribute& attribute : dataset.leaf_file(0).attributes())
  {
    for (const bat::Key& key : attribute.keys)
    {
      if (key.has_sorted_index)
      {
        names.push_back(attribute.name);
      }
    }
  }
  return names;
}

TEST(SortedIndexes, are_made_where_there_are_such_fields)
{
  Session run(with(
    [](Params& p)
    {
      p.set(kBat + "sorted_indexes", std::vector<std::string>{ "id", "velocity[1]" });
      p.set(kBat + "channels/dust/fields", std::vector<std::string>{ "id", "velocity" });
      p.set(kBat + "channels/gas/sorted_indexes", std::vector<std::string>{ "mass", "type" });
    }));
  for (std::int64_t step = 0; step != 2; ++step)
  {
    // An array that is not written has no index.
    const auto spoil = [](Params& p)
    {
      if (mpi_test::rank() == 0)
      {
        p.array(
          "catalyst/channels/gas/data/fields/type/values", ScalarType::Float64, nullptr, 30, 0, 8);
      }
    };
    EXPECT_EQ(execute(run, step, spoil), 0) << run.reported;
    EXPECT_EQ(lines_in(run.reported), step == 0 ? 1U : 0U) << run.reported;
    if (step == 0)
    {
      EXPECT_NE(run.reported.find("field type was not written"), std::string::npos) << run.reported;
    }
    if (mpi_test::rank() == 0)
    {
      const std::string file = "_00000" + std::to_string(step) + ".bat";
      EXPECT_EQ(indexed(run / ("dust" + file)), (std::vector<std::string>{ "id", "velocity" }));
      EXPECT_EQ(indexed(run / ("gas" + file)), std::vector<std::string>{ "mass" });
    }
  }
}

TEST(NamedFields, that_no_species_has_are_errors_and_the_rest_is_written)
{
  const std::vector<std::pair<std::string, std::string>> cases = { { "sorted_indexes", "ion" },
    { "sorted_indexes", "velocity[3]" }, { "stable_samples", "ion" },
    { "error_bounds", "ion=0.5" } };
  for (const auto& [option, name] : cases)
  {
    Session run(with(
      [&, &o = option, &n = name](Params& p) { p.set(kBat + o, std::vector<std::string>{ n }); }));
    EXPECT_EQ(execute(run, 0), CATALYST_BAT_BAD_OPTIONS) << option;
    EXPECT_NE(run.reported.find("unknown field " + name + " in the option " + option + "; "),
      std::string::npos)
      << run.reported;
    EXPECT_NE(run.reported.find("vailable: id, mass, "), std::string::npos) << run.reported;
    expect_file(run / "gas_000000.bat", gas());
    expect_file(run / "dust_000000.bat", dust());
  }
}

TEST(Compression, is_bounded_where_there_are_such_fields)
{
  Session run(with(
    [](Params& p)
    {
      p.set(kBat + "compression", std::string("bounded"));
      p.set(kBat + "error_bounds", std::vector<std::string>{ "mass=1%" });
    }));
  EXPECT_EQ(execute(run, 0), 0) << run.reported;
  EXPECT_EQ(run.reported, "");
  if (mpi_test::rank() == 0)
  {
    for (const char* name : { "dust_000000.bat", "gas_000000.bat" })
    {
      EXPECT_NO_THROW(bat::validate(run / name));
    }
  }
}

// On rank 0, the aliases among a file's attributes, with the arrays that they repeat.
std::vector<std::string> linked(const std::filesystem::path& file)
{
  std::vector<std::string> names;
  const bat::Dataset dataset = bat::Dataset::open(file);
  for (const bat::Attribute& a : dataset.attributes())
  {
    if (a.alias)
    {
      names.push_back(a.name + "=" + bat::to_string(*a.alias, dataset.attributes()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Arrays that codes publish twice: x is a copy of the first coordinate, `height` shares memory with
// the third, `weight` repeats a field, and `own` does so on rank 0 only.
Cloud with_repeats(int rank)
{
  Cloud cloud = particles(rank, 40);
  const auto* positions = reinterpret_cast<const double*>(cloud.positions.data());
  cloud.add(
    "x", ScalarType::Float64, numbers<double>(40, [=](auto i) { return positions[3 * i]; }));
  cloud.add("height", ScalarType::Float64,
    numbers<double>(40, [=](auto i) { return positions[3 * i + 2]; }));
  std::vector<std::byte> mass = cloud.columns[2].bytes;
  cloud.columns.push_back({ "weight", ScalarType::Float64, 1, mass });
  if (rank != 0)
  {
    mass[7] ^= std::byte{ 1 };
  }
  cloud.columns.push_back({ "own", ScalarType::Float64, 1, mass });
  return cloud;
}

TEST(Aliases, are_fields_that_repeat_what_is_there)
{
  const std::vector<Cloud> all = of_all_ranks(with_repeats);
  const bool alone = mpi_test::ranks() == 1;
  struct Case
  {
    const char* aliases;
    int compare_values;
    std::vector<std::string> linked;
    std::vector<std::string> left_out;
  };
  using Names = std::vector<std::string>;
  const std::vector<Case> cases{ { "", 0, { "height=position[2]", "x=position[0]" }, {} },
    { "link", 1,
      alone ? Names{ "height=position[2]", "own=mass", "weight=mass", "x=position[0]" }
            : Names{ "height=position[2]", "weight=mass", "x=position[0]" },
      {} },
    { "store", 1, {}, {} }, { "leave_out", 0, {}, { "height", "x" } } };
  for (const Case& c : cases)
  {
    SCOPED_TRACE(std::string(c.aliases) + " " + std::to_string(c.compare_values));
    Session run(with(
      [&](Params& p)
      {
        if (c.aliases[0] != '\0')
        {
          p.set(kBat + "aliases", c.aliases);
        }
        p.set(kBat + "compare_values", c.compare_values);
      }));
    Params params;
    Memory memory;
    publish_channel(params.step(1), with_repeats(mpi_test::rank()), memory);
    // Columns in the test's memory: three coordinates, then field after field, one component each.
    const std::string data = "catalyst/channels/particles/data/";
    params.array(data + "fields/height/values", ScalarType::Float64, memory[2]->data(), 40, 0, 8);
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    EXPECT_EQ(run.reported, "");
    const std::filesystem::path file = run / "particles_000001.bat";
    std::vector<Cloud> expected = all;
    for (Cloud& cloud : expected)
    {
      cloud.columns.erase(std::remove_if(cloud.columns.begin(), cloud.columns.end(),
                            [&](const Cloud::Column& column) {
                              return std::find(c.left_out.begin(), c.left_out.end(), column.name) !=
                                c.left_out.end();
                            }),
        cloud.columns.end());
    }
    expect_file(file, expected);
    if (mpi_test::rank() == 0)
    {
      EXPECT_EQ(linked(file), c.linked);
      EXPECT_NO_THROW(bat::validate(file));
    }
  }
}

TEST(Every, counts_calls_from_the_first)
{
  Session run(with([](Params& p) { p.set(kBat + "every", 3); }));
  for (const std::int64_t step : { 100, 110, 120, 130, 140, 150, 160 })
  {
    EXPECT_EQ(execute(run, step), 0);
  }
  expect_files(run,
    { "dust_000100.bat", "dust_000130.bat", "dust_000160.bat", "gas_000100.bat", "gas_000130.bat",
      "gas_000160.bat" });
}

TEST(Tracks, are_kept_at_every_call_whatever_files_are_written)
{
  std::vector<std::int64_t> steps;
  {
    Session run(with(
      [](Params& p)
      {
        p.set(kBat + "every", 3);
        p.set(kBat + "channels/dust/tracks/every_id", 2);
        p.set(kBat + "channels/dust/tracks/attributes/a", "mass");
        p.set(kBat + "channels/gas/every", 2);
        p.set(kBat + "channels/gas/tracks/ids", 1); // a list of one
      }));
    for (const std::int64_t step : { 100, 110, 120, 130 })
    {
      EXPECT_EQ(execute(run, step), 0) << run.reported;
      steps.push_back(step);
      const bat::Tracks now = bat::Tracks::open(run / "dust.tracks.bat");
      EXPECT_EQ(now.samples.size(), steps.size());
      MPI_Barrier(MPI_COMM_WORLD);
    }
    const bat::Dataset file = bat::Dataset::open(run / "dust_000130.bat");
    const bat::Tracks tracks = bat::Tracks::open(run / "dust.tracks.bat");
    EXPECT_EQ(tracks.samples.back().step, 130);
    ASSERT_EQ(tracks.schema.attributes.size(), 1U);
    EXPECT_EQ(tracks.schema.attributes[0].name, "mass");
    bat::FollowRequest request;
    request.ids = tracks.ids;
    request.attributes = std::vector<std::string>{ "mass" };
    ASSERT_FALSE(tracks.ids.empty());
    const bat::Trails of_tracks = bat::follow(bat::read_series(run / "dust.tracks.bat"), request);
    const bat::Trails of_file = bat::follow(bat::read_series(run / "dust_000130.bat"), request);
    const auto last = [](const std::vector<std::byte>& all, std::size_t bytes)
    { return std::vector<std::byte>(all.end() - static_cast<std::ptrdiff_t>(bytes), all.end()); };
    EXPECT_EQ(
      last(of_tracks.positions.values, of_file.positions.values.size()), of_file.positions.values);
    EXPECT_EQ(last(of_tracks.attributes[0].values, of_file.attributes[0].values.size()),
      of_file.attributes[0].values);
    bat::validate(run / "dust.tracks.bat");
  }
}

TEST(TargetSize, makes_several_leaf_files_with_the_same_particles)
{
  for (const char* mode : { "adaptive", "rank_border", "aug" })
  {
    Session run(with([&](Params& p)
      { p.set(kBat + "target_size", 40000).set(kBat + "mode", mode).set(kBat + "threads", 1); }));
    Params params;
    Memory memory;
    publish_channel(params.step(1), particles(mpi_test::rank(), 3000), memory);
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    expect_file(
      run / "particles_000001.bat", of_all_ranks([](int rank) { return particles(rank, 3000); }));
    if (mpi_test::rank() == 0)
    {
      const auto leaves = bat::Dataset::open(run / "particles_000001.bat").leaves().size();
      EXPECT_GT(leaves, std::string(mode) == "adaptive" || mpi_test::ranks() > 1 ? 1U : 0U);
    }
  }
}

TEST(Flush, may_be_left_out)
{
  for (const char* text : { R"({ "flush": false })", R"({ "flush": 0 })", R"({ "flush": true })" })
  {
    Config config(text);
    Session run;
    EXPECT_EQ(execute(run, 1), 0) << run.reported;
    expect_file(run / "dust_000001.bat", dust());
  }
}

TEST(OptionsOfAStep, hold_for_that_step)
{
  Session run(with([](Params& p) { p.set(kBat + "every", 2); }));
  EXPECT_EQ(execute(run, 0), 0);
  const auto now = [](Params& p)
  {
    p.set(kBat + "every", 1);
    p.set(kBat + "fields/a", "id");
    p.set(kBat + "channels", std::vector<std::string>{ "gas" });
  };
  EXPECT_EQ(execute(run, 1, now), 0) << run.reported;
  EXPECT_EQ(execute(run, 2), 0);
  EXPECT_EQ(execute(run, 3), 0);
  expect_files(run,
    { "dust_000000.bat", "gas_000000.bat", "gas_000001.bat", "dust_000002.bat", "gas_000002.bat" });
  expect_file(run / "gas_000001.bat", with_fields(gas(), { "id" }));
  expect_file(run / "gas_000002.bat", gas());
}

TEST(OptionsOfAStep, that_are_bad_fail_that_step)
{
  Session run;
  EXPECT_EQ(execute(run, 0,
              [](Params& p)
              {
                if (mpi_test::rank() == mpi_test::ranks() - 1)
                {
                  p.set(kBat + "evry", 1);
                }
              }),
    CATALYST_BAT_BAD_OPTIONS);
  EXPECT_NE(
    run.reported.find(
      "unknown option catalyst/bat/evry; did you mean 'every'? Available: channels, on_error, "
      "output"),
    std::string::npos)
    << run.reported;
  EXPECT_EQ(execute(run, 1), 0);
  expect_file(run / "dust_000001.bat", dust());
}

TEST(OptionsOfAStep, that_differ_between_ranks_fail_on_all)
{
  if (mpi_test::ranks() == 1)
  {
    GTEST_SKIP() << "one rank agrees with itself";
  }
  Session run;
  EXPECT_EQ(execute(run, 0,
              [](Params& p)
              {
                if (mpi_test::rank() == 1)
                {
                  p.set(kBat + "every", 2);
                }
              }),
    CATALYST_BAT_BAD_OPTIONS);
  EXPECT_NE(run.reported.find("catalyst/bat differs between ranks"), std::string::npos)
    << run.reported;
  EXPECT_EQ(execute(run, 1), 0);
}

struct BadOption
{
  const char* name;
  std::function<void(Params&)> set;
  const char* words;
};

const std::vector<BadOption> kBadOptions = {
  { "UnknownKey", [](Params& p) { p.set(kBat + "outptu", "x.bat"); },
    "unknown option catalyst/bat/outptu; did you mean 'output'? Available:" },
  { "UnknownKeyOfAChannel", [](Params& p) { p.set(kBat + "channels/gas/on_error", "stop"); },
    "unknown channel option catalyst/bat/channels/gas/on_error; available: output" },
  { "EveryZero", [](Params& p) { p.set(kBat + "every", 0); },
    "catalyst/bat/every is 0; a whole number from 1" },
  { "EveryNegative", [](Params& p) { p.set(kBat + "every", -2); }, "catalyst/bat/every is -2" },
  { "EveryIsAFraction", [](Params& p) { p.set(kBat + "every", 1.5); },
    "catalyst/bat/every is 1.5" },
  { "TracksOfNothing", [](Params& p) { p.set(kBat + "tracks/every", 3); },
    "catalyst/bat/tracks: tracks: 0 of ids, box and every_id are given" },
  { "TracksOfAWord", [](Params& p) { p.set(kBat + "tracks/ids", "all"); },
    "catalyst/bat/tracks: tracks: ids is \"all\"" },
  { "TargetSizeIsAText", [](Params& p) { p.set(kBat + "target_size", "4 MiB"); },
    "catalyst/bat/target_size is \"4 MiB\"; a whole number" },
  { "CodecOfGrids", [](Params& p) { p.set(kBat + "grid_codec", "lzma"); },
    "catalyst/bat/grid_codec is \"lzma\"; one of raw, zip, lz4 is allowed" },
  { "StepOfGrids", [](Params& p) { p.set(kBat + "grid_step", 1); },
    "unknown option catalyst/bat/grid_step; available:" },
  { "OutputOfGrids", [](Params& p) { p.set(kBat + "grid_output", "a.vti"); },
    "'a.vti' is not a grid file name; use a name ending in .idx or .bricks" },
  { "OutputsOfGrids", [](Params& p) { p.set(kBat + "grid_output", 1); },
    "catalyst/bat/grid_output is 1; a string, or a list of strings, is allowed" },
  { "CyclicBricks", [](Params& p) { p.set(kBat + "bricks_cyclic", "xx"); },
    "catalyst/bat/bricks_cyclic is \"xx\"; a string of axes" },
  { "PackedBricks", [](Params& p) { p.set(kBat + "bricks_compress", 2); },
    "catalyst/bat/bricks_compress is 2; a whole number from 0 to 1" },
  { "VelocityOfBricks",
    [](Params& p) {
      p.set(kBat + "bricks_velocity", std::vector<std::string>{ "a", "b", "c", "d" });
    },
    "a field name, or one for each of 2 or 3 components, is allowed" },
  { "Mode", [](Params& p) { p.set(kBat + "mode", "best"); },
    "catalyst/bat/mode is \"best\"; one of adaptive, rank_border, aug is allowed" },
  { "Aliases", [](Params& p) { p.set(kBat + "aliases", "drop"); },
    "catalyst/bat/aliases is \"drop\"; one of store, link, leave_out is allowed" },
  { "CompareValues", [](Params& p) { p.set(kBat + "compare_values", 2); },
    "catalyst/bat/compare_values is 2; 0 or 1" },
  { "Ghosts", [](Params& p) { p.set(kBat + "ghosts", 1); },
    "catalyst/bat/ghosts is 1; one of drop, keep is allowed" },
  { "Flush", [](Params& p) { p.set(kBat + "flush", "no"); },
    "catalyst/bat/flush is \"no\"; 0 or 1" },
  { "OnError", [](Params& p) { p.set(kBat + "on_error", "panic"); },
    "catalyst/bat/on_error is \"panic\"; one of continue, stop is allowed" },
  { "OutputIsANumber", [](Params& p) { p.set(kBat + "output", 5); },
    "catalyst/bat/output is 5; a string is allowed" },
  { "OutputOfAnotherExtension", [](Params& p) { p.set(kBat + "output", "x.vtp"); },
    "file pattern 'x.vtp'" },
  { "OutputIsNoUtf8", [](Params& p) { p.set(kBat + "output", "\xff.bat"); },
    "catalyst/bat/output is not valid UTF-8" },
  { "FieldsIsOneText", [](Params& p) { p.set(kBat + "fields", "id"); },
    "catalyst/bat/fields is \"id\"; a list of strings is allowed" },
  { "OptionsAreNoObject", [](Params& p) { p.set("catalyst/bat", "all"); },
    "catalyst/bat is string; it must be an object" },
};

class BadOptions : public ::testing::TestWithParam<BadOption>
{
};

TEST_P(BadOptions, fail_on_all_ranks_and_nothing_is_written)
{
  ::testing::internal::CaptureStderr();
  Session run([&](Params& params, const std::string&) { GetParam().set(params); });
  const std::string reported = mpi_test::of_root(::testing::internal::GetCapturedStderr());
  EXPECT_EQ(run.status, CATALYST_BAT_BAD_OPTIONS);
  EXPECT_EQ(lines_in(reported), 1U) << reported;
  EXPECT_NE(reported.find(GetParam().words), std::string::npos) << reported;
  EXPECT_EQ(execute(run, 1), CATALYST_BAT_NOT_INITIALIZED);
  EXPECT_EQ(lines_in(run.reported), 1U) << run.reported;
}

INSTANTIATE_TEST_SUITE_P(All, BadOptions, ::testing::ValuesIn(kBadOptions),
  [](const auto& info) { return std::string(info.param.name); });

TEST(ConfigFile, has_all_options_of_a_write)
{
  nlohmann::json options = nlohmann::json::object();
  for (const nlohmann::json& option : nlohmann::json::parse(bat::option_table_json()))
  {
    const std::string name = option["name"];
    options[name == "target_bytes" ? "target_size"
        : name == "repeats"        ? "aliases"
                                   : name] = option["default"];
  }
  for (const nlohmann::json& option : nlohmann::json::parse(bat::idx::option_table_json()))
  {
    const std::string name = option["name"];
    const bool is_of_both = options.contains(name);
    if (!is_of_both && name != "step" && name != "time")
    {
      options["grid_" + name] = option["default"];
    }
  }
  Config config(options.dump());
  Session run(with([](Params&) {}));
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(execute(run, 0), 0) << run.reported;
}

TEST(ConfigFile, with_a_value_that_no_option_has_is_told_what_is_allowed)
{
  for (const char* value : { "null", "{ \"a\": 1 }", "18446744073709551615" })
  {
    ::testing::internal::CaptureStderr();
    Config config(std::string(R"({ "treelet_particles": )") + value + " }");
    Session run(with([](Params&) {}));
    const std::string reported = mpi_test::of_root(::testing::internal::GetCapturedStderr());
    EXPECT_EQ(run.status, CATALYST_BAT_BAD_OPTIONS);
    EXPECT_NE(reported.find("a whole number from 256 to 65536 is allowed"), std::string::npos)
      << reported;
  }
}

TEST(ConfigFile, wins_over_nodes)
{
  const mpi_test::SharedDir folder;
  Config config(R"({ "output": ")" + (folder / "").string() +
    R"(file_{name}_{timestep}.bat", "fields": ["mass"], "channels": { "gas": { "every": 2 } } })");
  Session run(with([](Params& p) { p.set(kBat + "fields/a", "id").set(kBat + "every", 1); }));
  ASSERT_EQ(run.status, 0);
  for (std::int64_t step = 0; step != 3; ++step)
  {
    EXPECT_EQ(execute(run, step, [](Params& p) { p.set(kBat + "fields/b", "velocity"); }), 0)
      << run.reported;
  }
  expect_files(run, {});
  expect_file(folder / "file_gas_0.bat", with_fields(gas(), { "mass" }));
  expect_file(folder / "file_gas_2.bat", with_fields(gas(), { "mass" }));
  if (mpi_test::rank() == 0)
  {
    EXPECT_FALSE(std::filesystem::exists(folder / "file_gas_1.bat"));
    EXPECT_FALSE(std::filesystem::exists(folder / "file_dust_0.bat"));
  }
}

TEST(ConfigFile, that_is_bad_fails_on_all_ranks)
{
  const std::vector<std::pair<const char*, const char*>> cases = { { "{ \"every\": 2,, }",
                                                                     "parse error at line 1" },
    { "{ \"evry\": 2 }", "config.json/evry; did you mean 'every'? Available" },
    { "[ 1 ]", "is array; it must be an object" },
    { "{ \"channels\": { \"gas\": { \"evry\": 2 } } }",
      "config.json/channels/gas/evry; did you mean 'every'? Available" } };
  for (const auto& [text, words] : cases)
  {
    Config config(text);
    ::testing::internal::CaptureStderr();
    Session run;
    const std::string reported = mpi_test::of_root(::testing::internal::GetCapturedStderr());
    EXPECT_EQ(run.status, CATALYST_BAT_BAD_OPTIONS) << text;
    EXPECT_NE(reported.find(words), std::string::npos) << reported;
    EXPECT_EQ(lines_in(reported), 1U) << reported;
  }
}

TEST(ConfigFile, that_is_not_there_fails_on_all_ranks)
{
  ::setenv("CATALYST_BAT_CONFIG", "/no/such/file.json", 1);
  ::testing::internal::CaptureStderr();
  Session run;
  ::unsetenv("CATALYST_BAT_CONFIG");
  const std::string reported = mpi_test::of_root(::testing::internal::GetCapturedStderr());
  EXPECT_EQ(run.status, CATALYST_BAT_BAD_OPTIONS);
  EXPECT_NE(reported.find("/no/such/file.json"), std::string::npos) << reported;
}

void add_pipeline(
  Params& params, const std::string& name, const std::string& file, const std::string& channel)
{
  const std::string path = "catalyst/pipelines/" + name;
  params.set(path + "/type", "io").set(path + "/filename", file).set(path + "/channel", channel);
}

TEST(Pipelines, name_the_files)
{
  Session run(
    [](Params& params, const std::string& folder)
    {
      add_pipeline(params, "0", folder + "a_%04ts.bat", "gas");
      add_pipeline(params, "1", folder + "b_{timestep:03d}.bat", "gas");
    });
  EXPECT_EQ(execute(run, 12), 0);
  EXPECT_EQ(run.reported, "");
  expect_files(run, { "a_0012.bat", "b_012.bat" });
  expect_file(run / "a_0012.bat", gas());
  expect_file(run / "b_012.bat", gas());
}

// As in ParaView since 6.0, and with objects that bring scripts since 6.2.
TEST(Pipelines, are_those_that_the_step_asks_for)
{
  Session run(
    [](Params& params, const std::string& folder)
    {
      add_pipeline(params, "first", folder + "a_%ts.bat", "gas");
      add_pipeline(params, "second", folder + "b_%ts.bat", "dust");
    });
  const std::vector<std::function<void(Params&)>> steps = { [](Params&) {},
    [](Params& p) { p.set("catalyst/state/pipelines/0", "second"); },
    [](Params& p) { p.set("catalyst/state/pipelines", 0); },
    [](Params& p)
    {
      p.set("catalyst/state/pipelines/0", "picture");
      p.set("catalyst/state/pipelines/1/name", "slice");
      p.set("catalyst/state/pipelines/1/filename", "slice.py");
      p.set("catalyst/state/pipelines/2", "first");
    } };
  for (std::size_t step = 0; step != steps.size(); ++step)
  {
    const auto ask = [&](Params& p)
    {
      if (mpi_test::rank() == mpi_test::ranks() - 1) // other versions may not know it
      {
        steps[step](p);
      }
    };
    EXPECT_EQ(execute(run, static_cast<std::int64_t>(step), ask), 0) << run.reported;
    EXPECT_EQ(run.reported, "");
  }
  expect_files(run, { "a_0.bat", "a_3.bat", "b_0.bat", "b_1.bat" });
  expect_file(run / "a_3.bat", gas());
  Session other(with([](Params&) {}));
  EXPECT_EQ(execute(other, 0, steps[1]), 0);
  EXPECT_EQ(other.reported, "");
  expect_files(other, { "dust_000000.bat", "gas_000000.bat" });
}

TEST(Pipelines, of_other_types_and_scripts_are_warned_of_once)
{
  Session run(
    [](Params& params, const std::string& folder)
    {
      params.set(kBat + "output", folder + "{name}_{timestep:06d}.bat");
      add_pipeline(params, "0", folder + "a_%04ts.vtpd", "gas");
      params.set("catalyst/pipelines/1/type", "python");
      params.set("catalyst/scripts/script0", "picture.py");
      params.set("catalyst/scripts/script1/filename", "other.py");
    });
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(execute(run, 0), 0);
  EXPECT_EQ(lines_in(run.reported), 3U) << run.reported;
  EXPECT_NE(run.reported.find("catalyst/pipelines/0 writes"), std::string::npos) << run.reported;
  EXPECT_NE(run.reported.find("catalyst/pipelines/1 has type python, not io"), std::string::npos);
  EXPECT_NE(run.reported.find("catalyst/scripts is ignored"), std::string::npos);
  EXPECT_EQ(execute(run, 1), 0);
  EXPECT_EQ(run.reported, "");
  expect_file(run / "dust_000001.bat", dust());
}

TEST(Pipelines, are_ignored_where_options_name_the_files)
{
  Session run(with([](Params& p) { add_pipeline(p, "0", "/no/such/folder/a.bat", "gas"); }));
  EXPECT_EQ(execute(run, 0), 0);
  EXPECT_NE(run.reported.find("catalyst/pipelines is ignored"), std::string::npos) << run.reported;
  expect_files(run, { "dust_000000.bat", "gas_000000.bat" });
}

TEST(Pipelines, without_a_channel_are_refused)
{
  ::testing::internal::CaptureStderr();
  Session run(
    [](Params& params, const std::string&) {
      params.set("catalyst/pipelines/0/type", "io").set("catalyst/pipelines/0/filename", "a.bat");
    });
  const std::string reported = mpi_test::of_root(::testing::internal::GetCapturedStderr());
  EXPECT_EQ(run.status, CATALYST_BAT_BAD_NODE);
  EXPECT_NE(reported.find("catalyst/pipelines/0/channel is missing"), std::string::npos)
    << reported;
}
}
