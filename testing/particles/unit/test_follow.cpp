// SPDX-License-Identifier: BSD-3-Clause
// Particles through time: following finds the same as a scan of every step.

#include "bat/bat.hpp"
#include "series/series_list.hpp"
#include "support/brute_force.hpp"
#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <thread>

namespace
{
namespace fs = std::filesystem;

constexpr std::int64_t kFirstId = (std::int64_t{ 1 } << 53) + 1;

/// Particles of a step, with their values in it.
clouds::Cloud particles(std::uint64_t n, std::uint64_t seed, std::int64_t first_id = kFirstId)
{
  clouds::Random random(seed);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::uniform_positions<float>(n, random));
  std::vector<double> temperature(n);
  std::vector<float> velocity(3 * n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    temperature[i] = i % 7 == 0 ? std::numeric_limits<double>::quiet_NaN() : clouds::normal(random);
  }
  for (float& v : velocity)
  {
    v = static_cast<float>(clouds::normal(random));
  }
  cloud.add("id", bat::ScalarType::Int64, clouds::shuffled_ids(n, random, first_id));
  cloud.add("temperature", bat::ScalarType::Float64, temperature);
  cloud.add("velocity", bat::ScalarType::Float32, velocity, 3);
  return cloud;
}

/// A value of a cloud as its bytes.
template <class T>
T value_of(const std::vector<std::byte>& bytes, std::size_t i)
{
  T value;
  std::memcpy(&value, &bytes[i * sizeof(T)], sizeof(T));
  return value;
}

std::vector<bat::Number> numbers(const std::vector<std::int64_t>& values)
{
  return { values.begin(), values.end() };
}

class Follow : public testing::Test
{
protected:
  fs::path file(std::size_t i) const
  {
    return this->folder / ("step" + std::to_string(i) + ".bat");
  }

  void add(const clouds::Cloud& cloud, bool with_index, std::size_t leaves = 1,
    std::optional<double> time = {}, const std::string& metadata = {})
  {
    const fs::path path = this->file(this->all.size());
    bat::BuildOptions options;
    options.flush = false;
    options.treelet_particles = 256;
    if (with_index)
    {
      options.sorted_indexes = { "id" };
    }
    std::vector<clouds::Cloud> parts =
      leaves == 1 ? std::vector<clouds::Cloud>{ cloud } : dataset_files::slabs(cloud, leaves);
    std::vector<bat::ParticleView> views;
    for (const clouds::Cloud& part : parts)
    {
      views.push_back(part.view());
      views.back().time = time;
      views.back().step = static_cast<std::int64_t>(10 * this->all.size());
      views.back().metadata = metadata;
    }
    leaves == 1 ? (void)bat::write_file(path, views.front(), options)
                : dataset_files::write(path, views, options);
    this->steps.push_back({ path, std::nullopt });
    this->all.push_back(cloud);
  }

  /// The particles that have an id in a step, found by a scan.
  std::vector<std::size_t> scan(std::size_t step, std::int64_t id) const
  {
    const clouds::Cloud& cloud = this->all[step];
    const clouds::Cloud::Column* ids = this->column(step, "id");
    std::vector<std::size_t> found;
    for (std::size_t i = 0; ids && i != cloud.count; ++i)
    {
      if (value_of<std::int64_t>(ids->bytes, i) == id)
      {
        found.push_back(i);
      }
    }
    return found;
  }
  const clouds::Cloud::Column* column(std::size_t step, const std::string& name) const
  {
    for (const clouds::Cloud::Column& column : this->all[step].columns)
    {
      if (column.name == name)
      {
        return &column;
      }
    }
    return nullptr;
  }

  /// Compares everything in `trails`, whose ids were `ids`, bit by bit; ids occur at most once.
  void expect_scan(const bat::Trails& trails, const std::vector<std::int64_t>& ids) const
  {
    ASSERT_EQ(trails.ids, ids.size());
    ASSERT_EQ(trails.steps.size(), this->steps.size());
    ASSERT_EQ(trails.counts.size(), ids.size() * this->steps.size());
    for (std::size_t s = 0; s != this->steps.size(); ++s)
    {
      for (std::size_t i = 0; i != ids.size(); ++i)
      {
        const std::vector<std::size_t> rows = this->scan(s, ids[i]);
        const std::size_t at = s * ids.size() + i;
        ASSERT_EQ(trails.counts[at], rows.size()) << "step " << s << ", id " << ids[i];
        if (!rows.empty())
        {
          ASSERT_EQ(std::memcmp(
                      &trails.positions.values[at * 12], &this->all[s].positions[rows[0] * 12], 12),
            0);
        }
        else
        {
          ASSERT_TRUE(std::isnan(value_of<float>(trails.positions.values, 3 * at)));
        }
        for (const bat::TrailColumn& found : trails.attributes)
        {
          const clouds::Cloud::Column* expected = this->column(s, found.name);
          ASSERT_EQ(found.in_step[s], expected && this->all[s].count != 0 ? 1 : 0) << found.name;
          const std::size_t bytes = bat::tuple_bytes(found.type, found.components);
          if (!rows.empty() && expected)
          {
            ASSERT_EQ(found.type, expected->type);
            ASSERT_EQ(
              std::memcmp(&found.values[at * bytes], &expected->bytes[rows[0] * bytes], bytes), 0)
              << found.name;
          }
        }
      }
    }
  }

  bat::Error error(const bat::FollowRequest& request) const
  {
    try
    {
      (void)bat::follow(this->steps, request);
    }
    catch (const bat::Error& error)
    {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return { bat::ErrorCode::OutOfMemory, "" };
  }

  TempDir temp;
  fs::path folder = temp.path();
  std::vector<bat::SeriesStep> steps;
  std::vector<clouds::Cloud> all;
};

// Absent, at both ends, twice in the list, beyond what doubles can distinguish.
std::vector<std::int64_t> some_ids(std::uint64_t n)
{
  return { kFirstId + 5, kFirstId + 4, kFirstId, kFirstId + static_cast<std::int64_t>(n) - 1,
    kFirstId + static_cast<std::int64_t>(n), -7, kFirstId + 17, kFirstId + 5, kFirstId - 1 };
}
}

TEST_F(Follow, finds_what_a_scan_finds_in_files_with_and_without_index_and_in_several_leaf_files)
{
  this->add(particles(3000, 1), true);
  this->add(particles(3000, 2), false);
  this->add(particles(2500, 3), true, 4);
  this->add(particles(2500, 4), false, 3);
  this->add(particles(40, 5), true);
  this->add(clouds::Cloud{}, false);
  this->add(particles(30000, 6, kFirstId - 20000), true);
  for (const int threads : { 0, 1, 2 })
  {
    bat::FollowRequest request;
    const std::vector<std::int64_t> ids = some_ids(2500);
    request.ids = numbers(ids);
    const bat::Trails trails =
      bat::follow(this->steps, request, { threads, {}, threads == 2, false });
    ASSERT_EQ(trails.attributes.size(), 2U); // all but the ids
    this->expect_scan(trails, ids);
    EXPECT_EQ(trails.steps[3].step, 30);
    EXPECT_EQ(trails.steps_without_index, 2U);
    EXPECT_GT(trails.compared, 0U);
    EXPECT_NE(trails.advice.find("2 of 7 steps"), std::string::npos) << trails.advice;
    EXPECT_TRUE(trails.problems.empty());
  }
}

TEST_F(Follow, many_ids_are_found_through_the_index_and_without_it)
{
  this->add(particles(20000, 1), true);
  this->add(particles(20000, 2), false);
  this->add(particles(20000, 3), true, 3);
  for (const std::size_t count : { 1, 20, 300, 5000 })
  {
    clouds::Random random(count);
    std::vector<std::int64_t> ids(count);
    std::generate(ids.begin(), ids.end(),
      [&] { return kFirstId + static_cast<std::int64_t>(random() % 22000); });
    bat::FollowRequest request;
    request.ids = numbers(ids);
    request.attributes = { "velocity" };
    const bat::Trails trails = bat::follow(this->steps, request);
    this->expect_scan(trails, ids);
  }
}

TEST_F(Follow, few_ids_of_many_steps_read_little)
{
  this->add(particles(100000, 1), true);
  bat::FollowRequest request;
  request.ids = numbers({ kFirstId + 77 });
  request.attributes = std::vector<std::string>{};
  const bat::Trails trails = bat::follow(this->steps, request);
  this->expect_scan(trails, { kFirstId + 77 });
  EXPECT_LT(trails.bytes_read, 64U << 10);
  EXPECT_EQ(trails.advice, "");
}

TEST_F(Follow, attributes_may_come_and_go_and_change_their_type)
{
  clouds::Cloud first = particles(100, 1);
  first.add("state", bat::ScalarType::UInt8, std::vector<std::uint8_t>(100, 200));
  clouds::Cloud second = particles(100, 2);
  second.add("state", bat::ScalarType::Int16, std::vector<std::int16_t>(100, -300));
  second.columns[1].name = "heat";
  clouds::Cloud third = particles(50, 3);
  third.add("state", bat::ScalarType::Float32, std::vector<float>(50, 0.5F));
  this->add(first, true);
  this->add(second, true);
  this->add(third, true);
  bat::FollowRequest request;
  request.ids = numbers({ kFirstId, kFirstId + 99 });
  const bat::Trails trails = bat::follow(this->steps, request);
  std::map<std::string, const bat::TrailColumn*> columns;
  for (const bat::TrailColumn& column : trails.attributes)
  {
    columns[column.name] = &column;
  }
  ASSERT_EQ(columns.size(), 4U);
  const bat::TrailColumn& state = *columns.at("state");
  ASSERT_EQ(state.type, bat::ScalarType::Float32); // exact for 16 bits
  EXPECT_EQ(value_of<float>(state.values, 1), 200.0F);
  EXPECT_EQ(value_of<float>(state.values, 2), -300.0F);
  EXPECT_EQ(value_of<float>(state.values, 4), 0.5F);
  EXPECT_TRUE(std::isnan(value_of<float>(state.values, 5)));
  EXPECT_EQ(columns.at("heat")->in_step, (std::vector<std::uint8_t>{ 0, 1, 0 }));
  EXPECT_EQ(columns.at("temperature")->in_step, (std::vector<std::uint8_t>{ 1, 0, 1 }));
  EXPECT_TRUE(std::isnan(value_of<double>(columns.at("heat")->values, 0)));
  request.attributes = { "heat", "none" };
  const bat::Error none = this->error(request);
  EXPECT_EQ(none.code(), bat::ErrorCode::InvalidArgument);
  EXPECT_NE(std::string(none.what()).find("'none'"), std::string::npos) << none.what();
  EXPECT_NE(std::string(none.what()).find("temperature"), std::string::npos) << none.what();
}

TEST_F(Follow, steps_without_particles_may_lack_columns)
{
  this->add(clouds::Cloud(), false);
  this->add(particles(50, 1), true);
  this->add(particles(0, 1), false);
  bat::FollowRequest request;
  request.ids = numbers({ kFirstId, kFirstId + 7 });
  for (const char* id : { "", "id" })
  {
    request.id_attribute = id;
    const bat::Trails trails = bat::follow(this->steps, request);
    ASSERT_EQ(trails.attributes.size(), 2U);
    EXPECT_EQ(trails.attributes[0].name, "temperature");
    EXPECT_EQ(trails.counts, (std::vector<std::uint32_t>{ 0, 0, 1, 1, 0, 0 }));
  }
  // Types are those of the steps with particles, as in a table with a header and no rows.
  clouds::Cloud header;
  header.set_positions(std::vector<float>{});
  header.add("id", bat::ScalarType::Float64, std::vector<double>{});
  header.add("velocity", bat::ScalarType::Int64, std::vector<std::int64_t>{});
  this->add(header, false);
  request.attributes = { "velocity" };
  const bat::TrailColumn velocity = bat::follow(this->steps, request).attributes[0];
  EXPECT_EQ(velocity.type, bat::ScalarType::Float32);
  EXPECT_EQ(velocity.components, 3);
}

TEST_F(Follow, types_that_no_type_holds_and_other_components_are_refused)
{
  clouds::Cloud first = particles(10, 1);
  first.add("tag", bat::ScalarType::UInt64, std::vector<std::uint64_t>(10, 1));
  clouds::Cloud second = particles(10, 2);
  second.add("tag", bat::ScalarType::Int64, std::vector<std::int64_t>(10, 1));
  this->add(first, true);
  this->add(second, true);
  bat::FollowRequest request;
  request.ids = numbers({ kFirstId });
  request.attributes = { "tag" };
  const bat::Error both = this->error(request);
  EXPECT_NE(std::string(both.what()).find("uint64"), std::string::npos) << both.what();
  EXPECT_NE(std::string(both.what()).find("step1.bat"), std::string::npos) << both.what();
  clouds::Cloud third = particles(10, 3);
  third.add("tag", bat::ScalarType::Int64, std::vector<std::int64_t>(20, 1), 2);
  this->steps.erase(this->steps.begin());
  this->add(third, true);
  EXPECT_EQ(this->error(request).code(), bat::ErrorCode::InvalidArgument);
  request.attributes = { "temperature" };
  EXPECT_EQ(bat::follow(this->steps, request).attributes.size(), 1U);
}

TEST_F(Follow, ids_that_several_particles_have_are_counted_and_pairs_tell_them_apart)
{
  // As in AMReX, ids begin again on each processor.
  clouds::Cloud cloud;
  clouds::Random random(1);
  const std::size_t n = 4000;
  cloud.set_positions(clouds::uniform_positions<float>(n, random));
  std::vector<std::uint64_t> ids(n);
  std::vector<std::int32_t> cpus(n);
  for (std::size_t i = 0; i != n; ++i)
  {
    ids[i] = i / 4;
    cpus[i] = static_cast<std::int32_t>(i % 4);
  }
  cloud.add("id", bat::ScalarType::UInt64, ids);
  cloud.add("cpu", bat::ScalarType::Int32, cpus);
  for (const bool with_index : { true, false })
  {
    for (const std::size_t leaves : { 1, 3 })
    {
      this->steps.clear();
      this->add(cloud, with_index, leaves);
      bat::FollowRequest request;
      request.ids = { std::int64_t{ 7 }, std::int64_t{ 7 }, std::int64_t{ 999 },
        std::int64_t{ 5 } };
      EXPECT_EQ(
        bat::follow(this->steps, request).counts, (std::vector<std::uint32_t>{ 4, 4, 4, 4 }));
      request.second_attribute = "cpu";
      request.second = { std::int64_t{ 2 }, 0.0, std::uint64_t{ 3 }, std::int64_t{ 4 } };
      const bat::Trails trails = bat::follow(this->steps, request);
      EXPECT_EQ(trails.counts, (std::vector<std::uint32_t>{ 1, 1, 1, 0 }));
      EXPECT_TRUE(trails.attributes.empty());
      std::size_t place = 0;
      for (const std::size_t row : { 30, 28, 3999 })
      {
        EXPECT_EQ(
          std::memcmp(&trails.positions.values[12 * place++], &cloud.positions[12 * row], 12), 0);
      }
    }
  }
}

TEST_F(Follow, ids_of_every_type_are_compared_without_rounding)
{
  clouds::Cloud cloud;
  clouds::Random random(2);
  cloud.set_positions(clouds::uniform_positions<float>(4, random));
  cloud.add("big", bat::ScalarType::UInt64,
    std::vector<std::uint64_t>{ ~std::uint64_t{ 0 }, std::uint64_t{ 1 } << 63, 3, 4 });
  cloud.add("small", bat::ScalarType::Int8, std::vector<std::int8_t>{ -128, 127, 0, 1 });
  cloud.add(
    "real", bat::ScalarType::Float64, std::vector<double>{ 0x1p53, 0.5, std::nan(""), -0.0 });
  this->add(cloud, false);
  const auto counts = [&](const std::string& name, std::vector<bat::Number> ids)
  {
    bat::FollowRequest request;
    request.id_attribute = name;
    request.ids = std::move(ids);
    return bat::follow(this->steps, request).counts;
  };
  using Counts = std::vector<std::uint32_t>;
  EXPECT_EQ(counts("big", { ~std::uint64_t{ 0 }, 0x1p64, 0x1p63, std::int64_t{ -1 }, 3.5 }),
    (Counts{ 1, 0, 1, 0, 0 }));
  EXPECT_EQ(
    counts("small", { std::int64_t{ -128 }, 127.0, std::int64_t{ 128 } }), (Counts{ 1, 1, 0 }));
  EXPECT_EQ(counts("real", { (std::int64_t{ 1 } << 53) + 1, std::int64_t{ 1 } << 53, 0.5, 0.0 }),
    (Counts{ 0, 1, 1, 1 }));
}

TEST_F(Follow, wrong_requests_are_refused_by_name)
{
  this->add(particles(10, 1), true);
  bat::FollowRequest request;
  EXPECT_EQ(this->error(request).code(), bat::ErrorCode::InvalidArgument);
  request.ids = { std::nan("") };
  EXPECT_EQ(this->error(request).code(), bat::ErrorCode::InvalidArgument);
  request.ids = numbers({ 1 });
  request.id_attribute = "velocity";
  EXPECT_NE(std::string(this->error(request).what()).find("3 components"), std::string::npos);
  request.id_attribute = "number";
  EXPECT_NE(std::string(this->error(request).what()).find("'number'"), std::string::npos);
  request.id_attribute = "";
  request.second_attribute = "temperature";
  EXPECT_EQ(this->error(request).code(), bat::ErrorCode::InvalidArgument);
  request.second_attribute = "";
  request.attributes = { "velocity", "velocity" };
  EXPECT_EQ(this->error(request).code(), bat::ErrorCode::InvalidArgument);
  request.attributes.reset();
  request.periodic_box = bat::Box{ { 0, 0, 0 }, { 1, 0, 1 } };
  EXPECT_NE(std::string(this->error(request).what()).find("axis 1"), std::string::npos);
  request.periodic_box.reset();
  request.unwrap_by_files = true;
  EXPECT_NE(std::string(this->error(request).what()).find("periodic box"), std::string::npos);
}

TEST_F(Follow, missing_and_damaged_steps_are_errors_or_said)
{
  for (std::size_t i = 0; i != 5; ++i)
  {
    this->add(particles(5000, i), i != 3, i == 2 ? 4 : 1);
  }
  fs::remove(this->file(1));
  {
    std::fstream file(this->file(3), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(this->file(3)) / 2));
    file.write("damage, everywhere in what lies here", 36);
  }
  const fs::path lost = bat::Dataset::open(this->file(2)).leaves()[1].path;
  fs::remove(lost);
  std::vector<std::int64_t> ids(5000);
  std::iota(ids.begin(), ids.end(), kFirstId);
  bat::FollowRequest request;
  request.ids = numbers(ids);
  EXPECT_EQ(this->error(request).code(), bat::ErrorCode::NotFound);
  EXPECT_NE(std::string(this->error(request).what()).find("step1.bat"), std::string::npos);

  const bat::Trails trails = bat::follow(this->steps, request, { 0, {}, false, true });
  ASSERT_EQ(trails.problems.size(), 3U);
  EXPECT_EQ(trails.problems[0].step, 1U);
  EXPECT_EQ(trails.problems[0].code, bat::ErrorCode::NotFound);
  EXPECT_EQ(trails.problems[1].step, 2U);
  EXPECT_NE(trails.problems[1].text.find(lost.filename().string()), std::string::npos);
  EXPECT_EQ(trails.problems[2].step, 3U);
  EXPECT_EQ(trails.problems[2].code, bat::ErrorCode::Corrupt);
  std::vector<std::size_t> there(5);
  for (std::size_t s = 0; s != 5; ++s)
  {
    for (std::size_t i = 0; i != ids.size(); ++i)
    {
      if (trails.is_there(s, i))
      {
        ++there[s];
        const std::size_t row = this->scan(s, ids[i]).at(0);
        ASSERT_EQ(std::memcmp(&trails.positions.values[(s * ids.size() + i) * 12],
                    &this->all[s].positions[row * 12], 12),
          0);
      }
    }
  }
  EXPECT_EQ(there, (std::vector<std::size_t>{ 5000, 0, 5000 - 1000, 0, 5000 }));
}

TEST_F(Follow, tells_of_progress_and_can_be_given_up)
{
  for (std::size_t i = 0; i != 12; ++i)
  {
    this->add(particles(100, i), true);
  }
  bat::FollowRequest request;
  request.ids = numbers({ kFirstId });
  bat::FollowOptions options;
  std::vector<double> reported;
  const std::thread::id caller = std::this_thread::get_id();
  options.progress = [&](double done)
  {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    reported.push_back(done);
    return true;
  };
  (void)bat::follow(this->steps, request, options);
  ASSERT_FALSE(reported.empty());
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_EQ(reported.back(), 1.0);
  options.threads = 1;
  std::size_t calls = 0;
  options.progress = [&](double) { return ++calls < 3; };
  try
  {
    (void)bat::follow(this->steps, request, options);
    FAIL();
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), bat::ErrorCode::Cancelled);
  }
  EXPECT_EQ(calls, 3U);
}

TEST_F(Follow, periodic_domains_are_unwrapped)
{
  // A walk through a tilted cell; each step records the position wrapped into it.
  const double a = 2;
  const double b = 3;
  const double tilt = 0.5;
  clouds::Random random(4);
  std::array<double, 3> walk{ 0.3, 0.4, 0.5 };
  std::vector<std::array<double, 3>> expected;
  std::vector<std::array<double, 3>> in_box;
  for (std::size_t s = 0; s != 60; ++s)
  {
    walk[0] += 0.9 * a * (clouds::normal(random) > 0 ? 0.5 : -0.4);
    walk[1] += 0.45 * b;
    walk[2] += 1;
    // Wraps into the cell with edges (a, 0, 0), (tilt, b, 0), open along z.
    const double images_b = std::floor(walk[1] / b);
    std::array<double, 3> at{ walk[0] - images_b * tilt, walk[1] - images_b * b, walk[2] };
    at[0] -= a * std::floor(at[0] / a);
    clouds::Cloud cloud;
    cloud.set_positions(std::vector<double>{ at[0], at[1], at[2] });
    cloud.add("id", bat::ScalarType::Int64, std::vector<std::int64_t>{ s % 10 == 9 ? 2 : 1 });
    this->add(cloud, false, 1, static_cast<double>(s),
      R"({"lammps": {"box": {"origin": [0, 0, 0], "edges": [[2, 0, 0], [0.5, 3, 0], [0, 0, 1]],
          "boundary": "pp pp ff"}}})");
    expected.push_back(walk);
    in_box.push_back(at);
  }
  bat::FollowRequest request;
  request.ids = numbers({ 1 });
  const bat::Trails wrapped = bat::follow(this->steps, request);
  request.unwrap_by_files = true;
  const bat::Trails trails = bat::follow(this->steps, request);
  for (std::size_t s = 0; s != 60; ++s)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const double x = value_of<double>(trails.positions.values, 3 * s + axis);
      if (s % 10 == 9)
      {
        EXPECT_TRUE(std::isnan(x));
        continue;
      }
      EXPECT_EQ(value_of<double>(wrapped.positions.values, 3 * s + axis), in_box[s][axis]);
      if (s < 9) // a gap hides how often it crossed the border
      {
        // Relative to the first position, which is in the cell.
        const double moved = x - in_box[0][axis];
        EXPECT_NEAR(moved, expected[s][axis] - expected[0][axis], 1e-12) << s << ", " << axis;
      }
    }
  }
}

TEST_F(Follow, an_axis_with_infinite_ends_is_not_periodic_and_float32_becomes_float64)
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const float x : { 0.9F, 0.1F, 0.95F, 0.4F, 0.8F })
  {
    clouds::Cloud cloud;
    cloud.set_positions(std::vector<float>{ x, x, 1 - x });
    cloud.add("id", bat::ScalarType::Int64, std::vector<std::int64_t>{ 3 });
    this->add(cloud, false);
  }
  bat::FollowRequest request;
  request.ids = numbers({ 3 });
  request.periodic_box = bat::Box{ { 0, -inf, 0 }, { 1, inf, 1 } };
  const bat::Trails trails = bat::follow(this->steps, request);
  ASSERT_EQ(trails.positions.type, bat::ScalarType::Float64);
  const double reference[] = { 0.9F, 0.1F + 1.0, 0.95F, 0.4F + 1.0, 0.8F + 1.0 };
  const double other[] = { 1 - 0.9F, 1 - 0.1F - 1.0, 1 - 0.95F, 1 - 0.4F - 1.0, 1 - 0.8F - 1.0 };
  for (std::size_t s = 0; s != 5; ++s)
  {
    EXPECT_EQ(value_of<double>(trails.positions.values, 3 * s), reference[s]);
    EXPECT_LT(value_of<double>(trails.positions.values, 3 * s + 1), 1);
    EXPECT_NEAR(value_of<double>(trails.positions.values, 3 * s + 2), other[s], 1e-7);
  }
}

TEST_F(Follow, lists_of_steps_are_read_with_their_times)
{
  this->add(particles(10, 1), true, 1, 0.5);
  this->add(particles(10, 2), true, 1, 1.5);
  const fs::path list = this->folder / "steps.bat.series";
  const auto write = [&](const std::string& text) { std::ofstream(list) << text; };
  write(R"({"file-series-version": "1.0", "files": [{"name": "step1.bat", "time": 7},
            {"name": "step0.bat"}]})");
  const std::vector<bat::SeriesStep> listed = bat::read_series(list);
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].path, this->file(1));
  EXPECT_EQ(listed[0].time, 7.0);
  EXPECT_FALSE(listed[1].time);
  bat::FollowRequest request;
  request.ids = numbers({ kFirstId });
  const bat::Trails trails = bat::follow(listed, request);
  EXPECT_EQ(trails.steps[0].time, 7.0);
  EXPECT_EQ(trails.steps[1].time, 0.5);
  EXPECT_EQ(bat::read_series(this->file(0)).front().path, this->file(0));
  for (const char* text : { "", "[]", R"({"files": [{"time": 1}]})",
         R"({"files": [{"name": "a", "time": "x"}]})", R"({"files": [{"name": "a\u0000b"}]})" })
  {
    write(text);
    EXPECT_THROW((void)bat::read_series(list), bat::Error) << text;
  }
}

TEST_F(Follow, lists_with_a_checksum_of_other_names_times_or_steps_are_damaged)
{
  const fs::path list = this->folder / "steps.bat.series";
  bat::series::write_list(list,
    { { "a.bat", 0.5, 3, std::nullopt }, { "b.bat", 1.5, std::nullopt, std::nullopt } }, false);
  const std::vector<std::byte> bytes = read_bytes(list);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_EQ(bat::read_series(list).size(), 2U);
  const auto with = [&](const std::string& before, const std::string& after)
  {
    std::string changed = text;
    const std::size_t at = changed.find(before);
    EXPECT_NE(at, std::string::npos) << before;
    std::ofstream(list) << changed.replace(at, before.size(), after);
  };
  for (const auto& [before, after] :
    { std::pair("a.bat", "c.bat"), std::pair("0.5", "0.25"),
      std::pair("\"step\": 3", "\"step\": 4"), std::pair("\"checksum\": \"", "\"checksum\": \"0") })
  {
    with(before, after);
    const std::optional<bat::Error> error = bat::attempt([&] { (void)bat::read_series(list); });
    ASSERT_TRUE(error) << before;
    EXPECT_EQ(error->code(), bat::ErrorCode::Corrupt);
    EXPECT_NE(
      std::string(error->what()).find(list.string() + ": its checksum is"), std::string::npos)
      << error->what();
  }
  with("\"checksum\"", "\"remark\""); // as users write them
  EXPECT_EQ(bat::read_series(list).size(), 2U);
}
