// SPDX-License-Identifier: BSD-3-Clause
// Tracks that a series appends: following them finds what following the steps finds.
#include "bat/bat.hpp"
#include "bat/insitu.hpp"
#include "particles/parallel/mpi_support.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>

namespace
{
using bat::insitu::FilePattern;
using bat::insitu::SeriesWriter;
using bat::insitu::Species;
using bat::insitu::TrackOptions;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::SharedDir;

constexpr std::int64_t kFirstId = std::int64_t{ 1 } << 54;

/// Particles of a step, the same on every rank: those of 3,000 that are present in this step.
clouds::Cloud make_cloud(std::int64_t step)
{
  clouds::Random random(static_cast<std::uint64_t>(step) + 17);
  std::vector<float> positions;
  std::vector<std::int64_t> ids;
  std::vector<double> heat;
  std::vector<std::int32_t> cpu;
  for (std::int64_t i = 0; i != 3000; ++i)
  {
    if ((i + step) % 5 == 0)
    {
      continue; // appears, disappears and returns
    }
    ids.push_back(kFirstId + i);
    for (int c = 0; c != 3; ++c)
    {
      positions.push_back(static_cast<float>(random() % 1000) / 1000);
    }
    heat.push_back(clouds::normal(random));
    cpu.push_back(static_cast<std::int32_t>(i % 2));
  }
  clouds::Cloud cloud;
  cloud.set_positions(positions);
  cloud.add("id", bat::ScalarType::Int64, ids);
  cloud.add("heat", bat::ScalarType::Float64, heat);
  cloud.add("cpu", bat::ScalarType::Int32, cpu);
  return cloud;
}

/// Two pieces of this rank; the distribution of particles differs from the previous step's.
struct Dealt
{
  explicit Dealt(std::int64_t step)
  {
    const clouds::Cloud all = make_cloud(step);
    for (int piece = 0; piece != 2; ++piece)
    {
      this->clouds.push_back(mpi_test::subset(all,
        [&](std::uint64_t i)
        {
          const auto place = static_cast<int>(
            (i + 3 * static_cast<std::uint64_t>(step)) % static_cast<std::uint64_t>(2 * ranks()));
          return place == 2 * rank() + piece;
        }));
    }
    if (rank() % 2 == 1) // attributes may stand in any order
    {
      std::swap(this->clouds[1].columns[0], this->clouds[1].columns[1]);
      std::swap(this->clouds[0].columns[0], this->clouds[0].columns[1]);
    }
  }
  [[nodiscard]] Species species() const
  {
    Species all{ "", {} };
    for (const clouds::Cloud& cloud : this->clouds)
    {
      bat::ParticleView view = cloud.view();
      view.aliases.push_back({ "height", "", 2, 0, 0 });
      view.metadata = R"({"run": 1})";
      all.pieces.push_back({ view, {} });
    }
    return all;
  }

  std::vector<clouds::Cloud> clouds;
};

bat::Trails follow(const std::filesystem::path& path, const std::vector<bat::Number>& ids)
{
  bat::FollowRequest request;
  request.ids = ids;
  return bat::follow(bat::read_series(path), request);
}

/// Both must be equal bit by bit in the steps that both have.
void expect_same(const bat::Trails& tracks, const bat::Trails& series)
{
  ASSERT_EQ(tracks.ids, series.ids);
  const auto compare = [&](const bat::TrailColumn& a, const bat::TrailColumn& b)
  {
    ASSERT_EQ(a.name, b.name);
    ASSERT_EQ(a.type, b.type);
    const std::size_t row = series.ids * bat::tuple_bytes(a.type, a.components);
    std::size_t s = 0;
    for (std::size_t t = 0; t != tracks.steps.size(); ++t)
    {
      if (s != series.steps.size() && tracks.steps[t].step == series.steps[s].step)
      {
        EXPECT_EQ(tracks.steps[t].time, series.steps[s].time);
        EXPECT_EQ(std::memcmp(&a.values[t * row], &b.values[s * row], row), 0)
          << a.name << " of step " << *series.steps[s].step;
        ++s;
      }
    }
    EXPECT_EQ(s, series.steps.size());
  };
  compare(tracks.positions, series.positions);
  ASSERT_EQ(tracks.attributes.size(), series.attributes.size());
  for (const bat::TrailColumn& column : series.attributes)
  {
    const auto found = std::find_if(tracks.attributes.begin(), tracks.attributes.end(),
      [&](const bat::TrailColumn& c) { return c.name == column.name; });
    ASSERT_NE(found, tracks.attributes.end()) << column.name;
    compare(*found, column);
  }
}

/// The ascending particles that a scan of all steps chooses.
template <class Keep>
std::vector<bat::Number> chosen(std::int64_t steps, const Keep& keep)
{
  std::set<std::int64_t> ids;
  for (std::int64_t step = 0; step != steps; ++step)
  {
    const clouds::Cloud cloud = make_cloud(step);
    for (std::uint64_t i = 0; i != cloud.count; ++i)
    {
      std::int64_t id;
      std::array<float, 3> at;
      std::memcpy(&id, &cloud.columns[0].bytes[i * 8], 8);
      std::memcpy(at.data(), &cloud.positions[i * 12], 12);
      if (keep(step, id, at))
      {
        ids.insert(id);
      }
    }
  }
  return { ids.begin(), ids.end() };
}

constexpr std::int64_t kSteps = 9;

TEST(Tracks, are_those_of_the_steps_for_each_way_to_choose)
{
  const SharedDir folder;
  TrackOptions listed;
  for (const std::int64_t i : { 5, 2999, 1200, 7, 5, 123456 })
  {
    listed.ids.emplace_back(kFirstId + i);
  }
  TrackOptions every;
  every.every_id = 64;
  TrackOptions box;
  box.box = bat::Box{ { 0.1, 0.1, -1e300 }, { 0.4, 0.5, 1e300 } };
  const std::vector<std::vector<bat::Number>> expected = {
    chosen(kSteps,
      [](auto, std::int64_t id, auto) {
        return std::set<std::int64_t>{ 5, 7, 1200, 2999 }.count(id - kFirstId) != 0;
      }),
    chosen(kSteps, [](auto, std::int64_t id, auto) { return id % 64 == 0; }),
    chosen(kSteps,
      [](std::int64_t step, auto, const std::array<float, 3>& at)
      { return step == 0 && at[0] >= 0.1 && at[0] <= 0.4 && at[1] >= 0.1 && at[1] <= 0.5; })
  };
  std::size_t way = 0;
  for (const TrackOptions& options : { listed, every, box })
  {
    const std::string name = "way" + std::to_string(way);
    const std::filesystem::path path = folder / (name + ".tracks.bat");
    {
      SeriesWriter writer(FilePattern((folder / name).string()), {});
      writer.set_tracks(options);
      for (std::int64_t step = 0; step != kSteps; ++step)
      {
        const Dealt local(step);
        if (step % 4 == 0) // files are written less often
        {
          (void)writer.write(
            MPI_COMM_WORLD, step, 0.5 * static_cast<double>(step), { local.species() });
        }
        const std::uint64_t particles = writer.write_tracks(
          MPI_COMM_WORLD, step, 0.5 * static_cast<double>(step), { local.species() });
        const bat::Tracks now = bat::Tracks::open(path);
        EXPECT_EQ(now.samples.size(), static_cast<std::size_t>(step) + 1);
        EXPECT_EQ(now.samples.back().particles, particles);
        MPI_Barrier(MPI_COMM_WORLD);
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const bat::Tracks tracks = bat::Tracks::open(path);
    EXPECT_EQ(tracks.blocks, 1u); // sorted, now that the writer is gone
    EXPECT_TRUE(tracks.ids == expected[way]) << tracks.ids.size() << " " << expected[way].size();
    expect_same(follow(path, tracks.ids), follow(folder / (name + ".bat.series"), tracks.ids));
    bat::validate(path);
    ++way;
  }
}

TEST(Tracks, a_run_that_goes_on_keeps_the_particles_of_the_box_and_replaces_steps)
{
  const SharedDir folder;
  TrackOptions box;
  box.box = bat::Box{ { 0, 0, 0 }, { 0.3, 0.3, 1 } };
  box.second_attribute = "cpu";
  box.attributes = std::vector<std::string>{ "heat", "height" };
  const std::filesystem::path path = folder / "dust.tracks.bat";
  std::vector<bat::Number> ids;
  for (const auto& [first, last] : { std::pair(0, 6), std::pair(4, 9), std::pair(8, 10) })
  {
    SeriesWriter writer(FilePattern((folder / "dust").string()), {});
    writer.set_tracks(box);
    for (std::int64_t step = first; step != last; ++step)
    {
      const Dealt local(step);
      (void)writer.write(MPI_COMM_WORLD, step, static_cast<double>(step), { local.species() });
      (void)writer.write_tracks(
        MPI_COMM_WORLD, step, static_cast<double>(step), { local.species() });
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const bat::Tracks tracks = bat::Tracks::open(path);
    ids = ids.empty() ? tracks.ids : ids;
    EXPECT_TRUE(tracks.ids == ids);
    EXPECT_EQ(tracks.samples.size(), static_cast<std::size_t>(last));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  bat::FollowRequest request;
  request.ids = ids;
  request.second_attribute = "cpu";
  for (const bat::Number& id : ids)
  {
    request.second.emplace_back((std::get<std::int64_t>(id) - kFirstId) % 2);
  }
  request.attributes = box.attributes;
  expect_same(bat::follow(bat::read_series(path), request),
    bat::follow(bat::read_series(folder / "dust.bat.series"), request));
}

TEST(Tracks, of_a_box_are_those_of_the_first_step_with_anybody_in_it_in_one_run_or_more)
{
  const SharedDir folder;
  TrackOptions box;
  box.box = bat::Box{ { 0, 0, 0 }, { 0.3, 0.3, 1 } };
  const auto run = [&](const char* name, std::int64_t first, std::int64_t last)
  {
    SeriesWriter writer(FilePattern((folder / name).string()), {});
    writer.set_tracks(box);
    for (std::int64_t step = first; step != last; ++step)
    {
      Dealt local(step);
      for (clouds::Cloud& cloud : local.clouds)
      {
        for (std::uint64_t i = 0; step < 3 && i != 3 * cloud.count; ++i)
        {
          const float away = 7;
          std::memcpy(&cloud.positions[i * sizeof(away)], &away, sizeof(away));
        }
      }
      (void)writer.write_tracks(
        MPI_COMM_WORLD, step, static_cast<double>(step), { local.species() });
    }
  };
  run("whole", 0, 6);
  run("parts", 0, 2);
  run("parts", 2, 6);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<bat::Number> expected = chosen(6,
    [&](std::int64_t step, std::int64_t, const std::array<float, 3>& at)
    {
      return step == 3 && at[0] >= 0 && at[0] <= 0.3 && at[1] >= 0 && at[1] <= 0.3 && at[2] >= 0 &&
        at[2] <= 1;
    });
  ASSERT_FALSE(expected.empty());
  for (const char* name : { "whole.tracks.bat", "parts.tracks.bat" })
  {
    const bat::Tracks tracks = bat::Tracks::open(folder / name);
    EXPECT_TRUE(tracks.ids == expected) << name;
    ASSERT_EQ(tracks.samples.size(), 6U) << name;
    EXPECT_EQ(tracks.samples[2].particles, 0U) << name;
    EXPECT_EQ(tracks.samples[3].particles, expected.size()) << name;
  }
}

TEST(Tracks, what_ranks_disagree_on_is_an_error_on_all_and_ghosts_are_left_out)
{
  const SharedDir folder;
  SeriesWriter writer(FilePattern((folder / "dust").string()), {});
  TrackOptions every;
  every.every_id = 7;
  writer.set_tracks(every);
  const auto error = [&](const Species& species)
  {
    return mpi_test::error_of(
      [&] { (void)writer.write_tracks(MPI_COMM_WORLD, 1, 1, { species }); });
  };
  const Dealt local(1);
  Species odd = local.species();
  if (rank() == ranks() - 1)
  {
    odd.pieces[1].particles.attributes[0].name = "other";
  }
  EXPECT_NE(error(odd), "");
  TrackOptions wrong = every;
  wrong.id_attribute = "heat";
  writer.set_tracks(wrong);
  EXPECT_NE(error(local.species()).find("integers"), std::string::npos);
  wrong.id_attribute = "none";
  writer.set_tracks(wrong);
  EXPECT_NE(error(local.species()).find("'none'"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "dust.tracks.bat"));
  wrong.box = bat::Box{};
  EXPECT_THROW(writer.set_tracks(wrong), bat::Error); // two ways

  writer.set_tracks(every);
  Species all = local.species();
  std::vector<std::vector<std::uint8_t>> ghosts;
  for (bat::mpi::Piece& piece : all.pieces)
  {
    ghosts.emplace_back(piece.particles.count);
    for (std::size_t i = 0; i != ghosts.back().size(); ++i)
    {
      ghosts.back()[i] = i % 3 == 0 ? 1 : 0;
    }
    piece.skip = bat::ArrayView::packed(bat::ScalarType::UInt8, 1, ghosts.back().data());
  }
  const auto files = writer.write(MPI_COMM_WORLD, 1, 1, { all });
  const std::uint64_t particles = writer.write_tracks(MPI_COMM_WORLD, 1, 1, { all });
  EXPECT_GT(particles, 100u);
  const bat::Tracks tracks = bat::Tracks::open(folder / "dust.tracks.bat");
  EXPECT_EQ(tracks.ids.size(), particles);
  expect_same(follow(folder / "dust.tracks.bat", tracks.ids), follow(files[0].path, tracks.ids));
  // A sample without particles is a sample, too.
  EXPECT_EQ(writer.write_tracks(MPI_COMM_WORLD, 2, 2, { Species{ "", {} } }), 0u);
  EXPECT_EQ(bat::Tracks::open(folder / "dust.tracks.bat").samples.size(), 2u);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Tracks, ranks_with_other_options_are_an_error_on_all)
{
  const SharedDir folder;
  SeriesWriter writer(FilePattern((folder / "dust").string()), {});
  const Dealt local(1);
  const auto error = [&](const TrackOptions& options)
  {
    writer.set_tracks(options);
    return mpi_test::error_of(
      [&] { (void)writer.write_tracks(MPI_COMM_WORLD, 1, 1, { local.species() }); });
  };
  const bool is_other = rank() == ranks() - 1 && ranks() > 1;
  TrackOptions options; // separate ids
  options.ids = { kFirstId + (is_other ? 1 : 0) };
  EXPECT_EQ(error(options).find("rank 0") != std::string::npos, ranks() > 1);
  if (is_other) // another way to choose
  {
    options.ids.clear();
    options.box = bat::Box{ { 0, 0, 0 }, { 1, 1, 1 } };
  }
  EXPECT_EQ(error(options).find("rank 0") != std::string::npos, ranks() > 1);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Tracks, nan_is_no_id_whatever_chooses)
{
  const SharedDir folder;
  clouds::Cloud cloud;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<float> positions;
  std::vector<double> ids;
  std::vector<double> second;
  for (int i = 0; i != 12; ++i)
  {
    positions.insert(positions.end(), 3, static_cast<float>(i));
    ids.push_back(i == 3 ? nan : 100 * rank() + i);
    second.push_back(i == 5 ? nan : 1);
  }
  cloud.set_positions(positions);
  cloud.add("id", bat::ScalarType::Float64, ids);
  cloud.add("cpu", bat::ScalarType::Float64, second);
  TrackOptions options;
  options.box = bat::Box{ { 0, 0, 0 }, { 9, 9, 9 } };
  for (const std::uint64_t kept :
    { std::uint64_t{ 9 }, std::uint64_t{ 8 } }) // two of the ten in the box
  {
    SeriesWriter writer(FilePattern((folder / fmt::format("dust{}", kept)).string()), {});
    writer.set_tracks(options);
    EXPECT_EQ(
      writer.write_tracks(MPI_COMM_WORLD, 1, 1, { Species{ "", { { cloud.view(), {} } } } }),
      kept * static_cast<std::uint64_t>(ranks()));
    options.second_attribute = "cpu";
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Tracks, of_several_species_are_of_those_that_have_what_options_name)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud(0);
  const clouds::Cloud own = mpi_test::subset(all,
    [](std::uint64_t i)
    { return static_cast<int>(i % static_cast<std::uint64_t>(ranks())) == rank(); });
  clouds::Cloud dust = own;
  dust.columns[0].name = "dust_id";
  const auto species = [&](bool with_dust)
  {
    std::vector<Species> result{ { "gas", { { own.view(), {} } } },
      { "ice", { { own.view(), {} } } } };
    if (with_dust)
    {
      result.push_back({ "dust", { { dust.view(), {} } } });
    }
    return result;
  };
  TrackOptions options;
  options.every_id = 100;
  options.id_attribute = "dust_id";
  options.attributes = { "heat" };
  {
    SeriesWriter writer(FilePattern((folder / "{name}_{timestep}.bat").string()), {});
    writer.set_tracks(options);
    EXPECT_GT(writer.write_tracks(MPI_COMM_WORLD, 0, 0, species(true)), 0u);
    EXPECT_EQ(writer.write_tracks(MPI_COMM_WORLD, 1, 1, species(false)), 0u);
    EXPECT_GT(writer.write_tracks(MPI_COMM_WORLD, 2, 2, species(true)), 0u);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(std::filesystem::exists(folder / "dust.tracks.bat"));
  EXPECT_FALSE(std::filesystem::exists(folder / "gas.tracks.bat"));

  // Gas has no mass and is followed without it; a name that no species has is an error.
  clouds::Cloud heavy = own;
  heavy.add("mass", bat::ScalarType::Float64, std::vector<double>(own.count, 0.5));
  options.id_attribute = "";
  options.attributes = { "heat", "mass" };
  const std::vector<Species> two{ { "a", { { own.view(), {} } } },
    { "b", { { heavy.view(), {} } } } };
  {
    SeriesWriter writer(FilePattern((folder / "{name}_{timestep}.bat").string()), {});
    writer.set_tracks(options);
    EXPECT_GT(writer.write_tracks(MPI_COMM_WORLD, 0, 0, two), 0u);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const auto columns = [&](const char* name)
  {
    std::set<std::string> names;
    const bat::Trails trails = follow(folder / name, { bat::Number(kFirstId + 100) });
    for (const bat::TrailColumn& column : trails.attributes)
    {
      names.insert(column.name);
    }
    return names;
  };
  EXPECT_EQ(columns("a.tracks.bat").count("mass"), 0u);
  EXPECT_EQ(columns("b.tracks.bat").count("mass"), 1u);
  options.attributes = { "masss" };
  SeriesWriter writer(FilePattern((folder / "{name}_{timestep}.bat").string()), {});
  writer.set_tracks(options);
  try
  {
    (void)writer.write_tracks(MPI_COMM_WORLD, 1, 1, two);
    FAIL();
  }
  catch (const bat::Error& error)
  {
    EXPECT_STREQ(error.what(),
      "no species has an attribute 'masss', which the options name; available: id, heat, cpu, "
      "mass");
  }
}

TEST(Tracks, options_are_those_of_the_text)
{
  const TrackOptions options = bat::insitu::parse_track_options(
    R"({"ids": [[9007199254740993, -1], [18446744073709551615, 0.5]], "id": "a", "second": "b",
        "attributes": ["c"], "every": 3})");
  EXPECT_TRUE(options.ids ==
    (std::vector<bat::Number>{ std::uint64_t{ 9007199254740993 }, ~std::uint64_t{ 0 } }));
  EXPECT_TRUE(options.second == (std::vector<bat::Number>{ std::int64_t{ -1 }, 0.5 }));
  EXPECT_EQ(options.id_attribute + options.second_attribute + options.attributes->at(0), "abc");
  EXPECT_EQ(options.every, 3);
  check(options);
  EXPECT_TRUE(bat::insitu::parse_track_options(R"({"ids": 18446744073709551615})").ids ==
    (std::vector<bat::Number>{ ~std::uint64_t{ 0 } }));
  for (const char* bad :
    { "[]", "{", R"({"ids": [-9223372036854775809]})", R"({"ids": []})", R"({"ids": ["a"]})",
      R"({"ids": [[1]]})", R"({"box": [1, 2]})", R"({"every_id": 0})", R"({"every_id": -3})",
      R"({"every": 0.5})", R"({"id": ""})", R"({"attributes": "a"})", R"({"what": 1})" })
  {
    EXPECT_THROW((void)bat::insitu::parse_track_options(bad), bat::Error) << bad;
  }
  for (const char* bad : { "{}", R"({"ids": [1], "every_id": 2})", R"({"ids": [[1, 2], 3]})",
         R"({"ids": [1], "second": "b"})", R"({"box": [1, 0, 0, 0, 1, 1]})",
         R"({"every_id": 2, "attributes": ["a", "a"]})" })
  {
    EXPECT_THROW(check(bat::insitu::parse_track_options(bad)), bat::Error) << bad;
  }
}
}
