// SPDX-License-Identifier: BSD-3-Clause
// Tracks files: following finds what was appended, at any time of their lives.

#include "bat/bat.hpp"
#include "support/file_size_limit.hpp"
#include "support/sanitizers.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <sys/resource.h>
#include <thread>

namespace
{
namespace fs = std::filesystem;

constexpr std::int64_t kFirstId = (std::int64_t{ 1 } << 53) + 1;

template <class T>
void put(std::vector<std::byte>& bytes, T value)
{
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof(T));
}

bat::TrackSchema schema(bool with_heat)
{
  bat::TrackSchema schema;
  schema.position_type = bat::ScalarType::Float32;
  schema.attributes.push_back({ "velocity", bat::ScalarType::Float32, 3, 3, 10, {} });
  if (with_heat)
  {
    schema.attributes.push_back({ "heat", bat::ScalarType::Int64, 1, 0, 0, {} });
  }
  return schema;
}

/// Some of 40 ids, in any order, a few of them twice, with values that encode id, step and
/// occurrence.
bat::TrackSample sample(std::int64_t step, unsigned seed, bool with_heat = true)
{
  std::mt19937 random(seed);
  bat::TrackSample sample;
  sample.step = step;
  if (step % 3 != 0)
  {
    sample.time = 0.1 * static_cast<double>(step);
  }
  sample.schema = schema(with_heat);
  const std::size_t n = step % 7 == 5 ? 0 : random() % 60;
  for (std::size_t i = 0; i != n; ++i)
  {
    sample.ids.push_back(static_cast<std::uint64_t>(kFirstId + random() % 40));
    for (int c = 0; c != 6; ++c)
    {
      put(sample.values,
        random() % 20 == 0 ? std::numeric_limits<float>::quiet_NaN()
                           : static_cast<float>(random()));
    }
    if (with_heat)
    {
      put(sample.values, kFirstId + static_cast<std::int64_t>(random()));
    }
  }
  return sample;
}

/// The result of a scan of the samples, bit for bit.
void expect_scan(const bat::Trails& trails, const std::vector<std::int64_t>& ids,
  const std::vector<bat::TrackSample>& samples)
{
  ASSERT_EQ(trails.steps.size(), samples.size());
  for (std::size_t s = 0; s != samples.size(); ++s)
  {
    const bat::TrackSample& sample = samples[s];
    ASSERT_EQ(trails.steps[s].step, sample.step);
    ASSERT_EQ(trails.steps[s].time, sample.time);
    const std::size_t row_bytes = bat::track_bytes(sample.schema);
    for (std::size_t i = 0; i != ids.size(); ++i)
    {
      std::vector<std::size_t> rows;
      for (std::size_t row = 0; row != sample.ids.size(); ++row)
      {
        if (sample.ids[row] == static_cast<std::uint64_t>(ids[i]))
        {
          rows.push_back(row);
        }
      }
      const std::size_t at = s * ids.size() + i;
      ASSERT_EQ(trails.counts[at], rows.size()) << "step " << sample.step << ", id " << ids[i];
      const std::byte* const position = &trails.positions.values[at * 12];
      if (rows.empty())
      {
        float x;
        std::memcpy(&x, position, sizeof(x));
        ASSERT_TRUE(std::isnan(x));
        continue;
      }
      const std::byte* row = &sample.values[rows.front() * row_bytes];
      ASSERT_EQ(std::memcmp(position, row, 12), 0);
      row += 12;
      for (const bat::Attribute& attribute : sample.schema.attributes)
      {
        const auto column = std::find_if(trails.attributes.begin(), trails.attributes.end(),
          [&](const bat::TrailColumn& c) { return c.name == attribute.name; });
        ASSERT_NE(column, trails.attributes.end());
        ASSERT_EQ(column->type, attribute.type);
        ASSERT_EQ(column->in_step[s], 1);
        const std::size_t bytes = bat::tuple_bytes(attribute.type, attribute.components);
        ASSERT_EQ(std::memcmp(&column->values[at * bytes], row, bytes), 0) << attribute.name;
        row += bytes;
      }
    }
  }
}

std::vector<std::int64_t> all_ids()
{
  std::vector<std::int64_t> ids = { kFirstId + 45, -7 };
  for (std::int64_t i = 0; i != 40; ++i)
  {
    ids.push_back(kFirstId + (i * 7) % 40);
  }
  return ids;
}

bat::Trails follow(const fs::path& path, const std::vector<std::int64_t>& ids,
  const bat::FollowOptions& options = {})
{
  bat::FollowRequest request;
  request.ids = { ids.begin(), ids.end() };
  return bat::follow(bat::read_series(path), request, options);
}

class Tracks : public testing::Test
{
protected:
  void append(bat::TracksWriter& writer, const bat::TrackSample& sample)
  {
    writer.append(sample);
    this->samples.push_back(sample);
  }
  void expect_all(std::size_t blocks) const
  {
    expect_scan(follow(this->path, all_ids()), all_ids(), this->samples);
    expect_scan(follow(this->path, { kFirstId + 3 }, { 1, {}, true, false }), { kFirstId + 3 },
      this->samples);
    const bat::Tracks tracks = bat::Tracks::open(this->path);
    EXPECT_EQ(tracks.blocks, blocks);
    EXPECT_EQ(tracks.unfinished_bytes, 0U);
    ASSERT_EQ(tracks.samples.size(), this->samples.size());
    std::map<std::int64_t, int> ids;
    for (std::size_t s = 0; s != this->samples.size(); ++s)
    {
      EXPECT_EQ(tracks.samples[s].particles, this->samples[s].ids.size());
      for (const std::uint64_t id : this->samples[s].ids)
      {
        ids[static_cast<std::int64_t>(id)] = 1;
      }
    }
    ASSERT_EQ(tracks.ids.size(), ids.size());
    std::size_t i = 0;
    for (const auto& [id, unused] : ids)
    {
      EXPECT_EQ(std::get<std::int64_t>(tracks.ids[i++]), id);
    }
    bat::validate(this->path);
  }

  TempDir temp;
  fs::path path = temp / "a.tracks.bat";
  std::vector<bat::TrackSample> samples;
};
}

TEST_F(Tracks, are_what_was_appended_while_they_grow_after_finish_and_when_they_go_on)
{
  {
    bat::TracksWriter writer(this->path, false);
    this->expect_all(0);
    for (int step = 0; step != 30; ++step)
    {
      this->append(writer, sample(step, 100U + static_cast<unsigned>(step)));
      this->expect_all(this->samples.size());
    }
    writer.finish();
    this->expect_all(1);
    EXPECT_THROW(writer.append(sample(40, 1)), bat::Error);
  }
  const std::vector<std::byte> finished = read_bytes(this->path);
  bat::repack_tracks(this->path, this->path, false);
  EXPECT_EQ(read_bytes(this->path), finished);
  {
    bat::TracksWriter writer(this->path, true);
    for (int step = 30; step != 40; ++step)
    {
      this->append(writer, sample(step, 7U + static_cast<unsigned>(step)));
    }
    this->expect_all(11);
    // and ends, like a killed process
  }
  bat::TracksWriter writer(this->path, false);
  this->expect_all(1);
}

TEST_F(Tracks, a_step_replaces_all_from_it_on)
{
  bat::TracksWriter writer(this->path, false);
  for (int step = 0; step != 20; ++step)
  {
    this->append(writer, sample(2 * step, 5U + static_cast<unsigned>(step)));
  }
  writer.finish();
  writer = bat::TracksWriter(this->path, false);
  const auto back_to = [&](std::int64_t step)
  {
    while (!this->samples.empty() && this->samples.back().step >= step)
    {
      this->samples.pop_back();
    }
  };
  const auto ids_before = [&](std::int64_t step)
  {
    std::map<std::uint64_t, int> ids;
    for (const bat::TrackSample& s : this->samples)
    {
      for (const std::uint64_t id : s.ids)
      {
        ids[s.step < step ? id : 0] = 1;
      }
    }
    ids.erase(0);
    return ids.size();
  };
  for (const std::int64_t step : { 21, 22, 9, 9, 30, 12, 50 })
  {
    EXPECT_EQ(writer.ids_before(step).ids.size(), ids_before(step)) << step;
    back_to(step);
    this->append(writer, sample(step, 900U + static_cast<unsigned>(step)));
    EXPECT_EQ(writer.ids_before(step + 1).ids.size(), ids_before(step + 1)) << step;
    expect_scan(follow(this->path, all_ids()), all_ids(), this->samples);
  }
  writer.finish();
  this->expect_all(1);
}

TEST_F(Tracks, attributes_may_change_and_pairs_tell_particles_apart)
{
  {
    bat::TracksWriter writer(this->path, false);
    for (const bool with_heat : { true, false, true })
    {
      for (int i = 0; i != 4; ++i)
      {
        const auto step = static_cast<std::int64_t>(this->samples.size());
        this->append(writer, sample(step, 50U + static_cast<unsigned>(step), with_heat));
      }
    }
    this->expect_all(12);
    writer.finish();
  }
  this->expect_all(3);

  const fs::path pairs = this->temp / "pairs.tracks.bat";
  bat::TracksWriter writer(pairs, false);
  bat::TrackSample one;
  one.schema.id_attribute = "id";
  one.schema.id_type = bat::ScalarType::UInt8;
  one.schema.second_attribute = "cpu";
  one.schema.second_type = bat::ScalarType::Float32;
  one.metadata = R"({"periodic_box": {"lower": [0, 0, 0], "upper": [10, 10, 10]}})";
  for (int step = 0; step != 3; ++step)
  {
    one.step = step;
    one.ids = { 4, 4, 250 };
    one.second.clear();
    one.values.clear();
    for (const double cpu : { 0.5, -0.0, 7.0 })
    {
      std::uint64_t bits;
      std::memcpy(&bits, &cpu, sizeof(bits));
      one.second.push_back(bits);
      for (int c = 0; c != 3; ++c)
      {
        put(one.values, std::fmod(cpu + 4.0 * step, 10.0));
      }
    }
    writer.append(one);
  }
  for (const bool finished : { false, true })
  {
    if (finished)
    {
      writer.finish();
    }
    bat::FollowRequest request;
    request.id_attribute = "id";
    request.ids = { std::int64_t{ 4 }, 4.0, 250.0, 4.0 };
    request.second_attribute = "cpu";
    request.second = { 0.0, 0.5, std::uint64_t{ 7 }, 8.0 };
    request.attributes = std::vector<std::string>{ "cpu", "id" };
    request.unwrap_by_files = true;
    const bat::Trails trails = bat::follow(bat::read_series(pairs), request);
    ASSERT_EQ(trails.positions.type, bat::ScalarType::Float64);
    EXPECT_EQ(trails.attributes[0].type, bat::ScalarType::Float32);
    EXPECT_EQ(trails.attributes[1].type, bat::ScalarType::UInt8);
    for (std::size_t s = 0; s != 3; ++s)
    {
      const std::vector<std::uint32_t> counts(&trails.counts[s * 4], &trails.counts[s * 4] + 4);
      EXPECT_EQ(counts, (std::vector<std::uint32_t>{ 1, 1, 1, 0 }));
      const auto* x = reinterpret_cast<const double*>(&trails.positions.values[s * 4 * 24]);
      EXPECT_EQ(x[0], 4.0 * static_cast<double>(s)); // unwrapped
      EXPECT_EQ(x[3], 0.5 + 4.0 * static_cast<double>(s));
      EXPECT_EQ(static_cast<int>(trails.attributes[1].values[s * 4 + 2]), 250);
    }
    request.id_attribute = "other";
    EXPECT_THROW((void)bat::follow(bat::read_series(pairs), request), bat::Error);
  }
  EXPECT_EQ(bat::Tracks::open(pairs).second.size(), 3U);
  bat::validate(pairs);
}

TEST_F(Tracks, of_a_writer_killed_anywhere_are_those_of_the_whole_samples_and_go_on)
{
  std::vector<std::vector<std::byte>> stages; // the file after each sample
  {
    bat::TracksWriter writer(this->path, false);
    stages.push_back(read_bytes(this->path));
    for (int step = 0; step != 4; ++step)
    {
      this->append(writer, sample(step, 11U + static_cast<unsigned>(step)));
      stages.push_back(read_bytes(this->path));
    }
  }
  const std::vector<std::byte>& whole = stages.back();
  const std::vector<bat::TrackSample> all = this->samples;
  const fs::path cut = this->temp / "cut.tracks.bat";
  for (std::size_t bytes = 0; bytes <= whole.size(); bytes += bytes < 340 ? 1 : 97)
  {
    std::vector<std::byte> killed(
      whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    // No writer leaves a file that is shorter than its records state. It is left unchanged.
    if (bytes < whole.size())
    {
      write_bytes(cut, killed);
      EXPECT_THROW((void)bat::Tracks::open(cut), bat::Error) << bytes;
      EXPECT_THROW(bat::validate(cut), bat::Error) << bytes;
      EXPECT_THROW(bat::TracksWriter(cut, false), bat::Error) << bytes;
      EXPECT_EQ(read_bytes(cut), killed);
    }
    // A killed process leaves this after the last complete sample; its checksum is not yet written.
    const auto samples = static_cast<std::size_t>(std::count_if(stages.begin(), stages.end(),
      [&](const std::vector<std::byte>& stage) { return stage.size() <= bytes; }));
    if (samples == 0)
    {
      continue;
    }
    const std::vector<std::byte>& before = stages[samples - 1];
    const std::size_t end = before.size();
    std::copy_n(before.begin(), std::min<std::size_t>(128, bytes), killed.begin());
    for (std::size_t i = end + 56; i < std::min(end + 64, killed.size()); ++i)
    {
      killed[i] = {};
    }
    write_bytes(cut, killed);
    this->samples.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(samples - 1));
    expect_scan(follow(cut, all_ids()), all_ids(), this->samples);
    EXPECT_EQ(bat::Tracks::open(cut).unfinished_bytes, bytes - end);
    bat::validate(cut);
    bat::TracksWriter writer(cut, false);
    writer.append(all.back());
    this->samples.push_back(all.back());
    expect_scan(follow(cut, all_ids()), all_ids(), this->samples);
  }

  // The next writer commits a sample that only lacks its checksum, or the record of the end.
  for (const bool has_checksum : { false, true })
  {
    std::vector<std::byte> killed = whole;
    const std::size_t end = stages[3].size();
    std::copy_n(stages[3].begin(), 128, killed.begin());
    std::fill_n(
      killed.begin() + static_cast<std::ptrdiff_t>(end) + 56, has_checksum ? 0 : 8, std::byte{});
    write_bytes(cut, killed);
    this->samples.assign(all.begin(), all.begin() + (has_checksum ? 4 : 3));
    expect_scan(follow(cut, all_ids()), all_ids(), this->samples);
    bat::validate(cut);
    (void)bat::TracksWriter(cut, false);
    expect_scan(follow(cut, all_ids()), all_ids(), all);
    EXPECT_EQ(bat::Tracks::open(cut).unfinished_bytes, 0U);
    bat::validate(cut);
  }
}

TEST_F(Tracks, what_was_cut_lost_a_checksum_or_has_a_tail_of_others_is_damaged_and_not_overwritten)
{
  std::vector<std::size_t> starts;
  {
    bat::TracksWriter writer(this->path, false);
    for (int step = 0; step != 5; ++step)
    {
      starts.push_back(fs::file_size(this->path));
      this->append(writer, sample(step, 11U + static_cast<unsigned>(step)));
    }
  }
  const std::vector<std::byte> growing = read_bytes(this->path);
  EXPECT_FALSE(bat::Tracks::open(this->path).is_finished);
  const fs::path closed = this->temp / "closed.tracks.bat";
  bat::repack_tracks(this->path, closed, false);
  EXPECT_TRUE(bat::Tracks::open(closed).is_finished);
  const std::vector<std::byte> finished = read_bytes(closed);
  const fs::path damaged = this->temp / "damaged.tracks.bat";
  const auto expect_damage = [&](const std::vector<std::byte>& bytes, const std::string& text)
  {
    write_bytes(damaged, bytes);
    for (const auto& f : std::vector<std::function<void()>>{ [&] { bat::validate(damaged); },
           [&] { bat::TracksWriter(damaged, false).append(sample(9, 9)); },
           [&] { (void)follow(damaged, all_ids()); } })
    {
      const std::optional<bat::Error> error = bat::attempt(f);
      ASSERT_TRUE(error) << text;
      EXPECT_NE(std::string(error->what()).find(damaged.string()), std::string::npos);
      EXPECT_NE(std::string(error->what()).find(text), std::string::npos) << error->what();
    }
    EXPECT_EQ(read_bytes(damaged), bytes);
  };
  for (const std::size_t start : starts)
  {
    std::vector<std::byte> bytes = growing;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(start) + 56, 8, std::byte{});
    expect_damage(
      bytes, "the start of the block at " + std::to_string(start) + " has no valid checksum");
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(start), 64, std::byte{});
    expect_damage(
      bytes, "the start of the block at " + std::to_string(start) + " has no valid checksum");
  }
  std::vector<std::byte> bytes = finished;
  std::fill_n(bytes.begin() + 128 + 56, 8, std::byte{});
  expect_damage(bytes, "the start of the block at 128 has no valid checksum");
  for (std::size_t size = 64; size < finished.size(); size += size < 300 ? 1 : 101)
  {
    expect_damage({ finished.begin(), finished.begin() + static_cast<std::ptrdiff_t>(size) },
      std::to_string(size));
  }
  bytes = finished;
  bytes.resize(bytes.size() + 64);
  expect_damage(bytes, "when it was finished");
  for (const std::size_t i : { std::size_t{ 64 }, std::size_t{ 96 } })
  {
    bytes = growing;
    bytes[i] ^= std::byte{ 1 };
    write_bytes(damaged, bytes);
    EXPECT_THROW(bat::validate(damaged), bat::Error);
    expect_scan(follow(damaged, all_ids()), all_ids(), this->samples);
    bytes[160 - i] ^= std::byte{ 1 };
    expect_damage(bytes, "both end records");
  }

  // After the last sample.
  const std::string others = "what another program has written";
  bytes = growing;
  for (const char c : others)
  {
    bytes.push_back(static_cast<std::byte>(c));
  }
  write_bytes(damaged, bytes);
  expect_scan(follow(damaged, all_ids()), all_ids(), this->samples);
  for (const auto& f : std::vector<std::function<void()>>{ [&] { bat::validate(damaged); },
         [&] { (void)bat::TracksWriter(damaged, false); } })
  {
    const std::optional<bat::Error> error = bat::attempt(f);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), bat::ErrorCode::Corrupt);
    EXPECT_NE(std::string(error->what()).find(std::to_string(growing.size())), std::string::npos)
      << error->what();
  }
  EXPECT_EQ(read_bytes(damaged), bytes);
}

TEST_F(Tracks, a_flipped_bit_is_an_error_and_never_another_value)
{
  {
    bat::TracksWriter writer(this->path, false);
    for (int step = 0; step != 3; ++step)
    {
      this->append(writer, sample(step, 31U + static_cast<unsigned>(step)));
    }
    writer.finish();
    writer = bat::TracksWriter(this->path, false);
    this->append(writer, sample(3, 3));
  }
  const std::vector<std::byte> whole = read_bytes(this->path);
  const fs::path flipped = this->temp / "flipped.tracks.bat";
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < whole.size(); i += i < 400 ? 1 : 23)
  {
    std::vector<std::byte> bytes = whole;
    bytes[i] ^= std::byte{ 1 } << (i % 8);
    write_bytes(flipped, bytes);
    if (i / 8 != 24 / 8) // optional features may be there
    {
      EXPECT_THROW(bat::validate(flipped), bat::Error) << "byte " << i;
    }
    try
    {
      expect_scan(follow(flipped, all_ids()), all_ids(), this->samples);
    }
    catch (const bat::Error& error)
    {
      EXPECT_NE(std::string(error.what()).find(flipped.string()), std::string::npos);
    }
    // Undamaged samples are unchanged.
    bat::Trails trails;
    try
    {
      trails = follow(flipped, { kFirstId, kFirstId + 3 }, { 1, {}, false, true });
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::UnsupportedVersion) << error.what();
      continue;
    }
    left_out += trails.problems.empty() ? 0 : 1;
    for (std::size_t s = 0; s != trails.steps.size(); ++s)
    {
      const bool has_problem = std::any_of(trails.problems.begin(), trails.problems.end(),
        [&](const bat::TrailProblem& problem) { return problem.step == s; });
      const auto number = static_cast<std::size_t>(trails.steps[s].step.value_or(-1));
      for (std::size_t id = 0; number < this->samples.size() && id != 2; ++id)
      {
        const std::vector<std::uint64_t>& ids = this->samples[number].ids;
        const auto count = static_cast<std::uint32_t>(std::count(
          ids.begin(), ids.end(), static_cast<std::uint64_t>(kFirstId) + (id == 0 ? 0 : 3)));
        EXPECT_EQ(trails.counts[2 * s + id], has_problem ? 0 : count) << "byte " << i;
      }
    }
  }
  EXPECT_GT(left_out, 200U);
}

TEST_F(Tracks, a_reader_beside_the_writer_sees_whole_samples)
{
  std::atomic<bool> done{ false };
  std::atomic<int> reads{ 0 };
  for (int step = 0; step != 200; ++step)
  {
    this->samples.push_back(sample(step, static_cast<unsigned>(step)));
  }
  bat::TracksWriter writer(this->path, false);
  std::optional<bat::Error> error;
  std::thread reader(
    [&]
    {
      error = bat::attempt(
        [&]
        {
          std::size_t before = 0;
          while (!done || reads == 0)
          {
            const bat::Trails trails = follow(this->path, all_ids(), { 1, {}, false, false });
            ASSERT_GE(trails.steps.size(), before);
            before = trails.steps.size();
            expect_scan(trails, all_ids(),
              { this->samples.begin(),
                this->samples.begin() + static_cast<std::ptrdiff_t>(before) });
            ++reads;
          }
        });
    });
  for (const bat::TrackSample& one : this->samples)
  {
    writer.append(one);
  }
  done = true;
  reader.join();
  EXPECT_FALSE(error) << error->what();
  this->expect_all(200);
}

TEST_F(Tracks, what_cannot_be_written_is_an_error_and_leaves_the_file)
{
  bat::TracksWriter writer(this->path, false);
  this->append(writer, sample(0, 3));
  EXPECT_THROW(bat::TracksWriter(this->path, false), bat::Error); // one at a time
  EXPECT_THROW(bat::repack_tracks(BAT_GOLDEN_TRACKS "/spec.tracks.bat", this->path), bat::Error);
  EXPECT_THROW(bat::TracksWriter(this->temp / "a.bat", false), bat::Error);
  EXPECT_THROW(bat::TracksWriter(this->temp / "no" / "a.tracks.bat", false), bat::Error);
  const auto refused = [&](auto change, const std::string& text)
  {
    bat::TrackSample bad = sample(1, 4);
    change(bad);
    try
    {
      writer.append(bad);
      ADD_FAILURE() << "nothing was thrown: " << text;
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::InvalidArgument);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  refused([](bat::TrackSample& s) { s.values.pop_back(); }, "bytes of values");
  refused([](bat::TrackSample& s) { s.second.push_back(1); }, "values of ''");
  refused([](bat::TrackSample& s) { s.time = std::nan(""); }, "NaN");
  refused([](bat::TrackSample& s) { s.metadata = "[1]"; }, "JSON object");
  refused([](bat::TrackSample& s) { s.schema.attributes[1].name = "velocity"; }, "twice");
  refused([](bat::TrackSample& s) { s.schema.attributes[0].name = "id"; }, "twice");
  refused([](bat::TrackSample& s) { s.schema.id_attribute = "other"; }, "'other'");
  refused([](bat::TrackSample& s) { s.schema.id_type = bat::ScalarType::UInt64; }, "uint64");
  refused(
    [](bat::TrackSample& s) { s.schema.id_type = bat::ScalarType::Int32; }, "values of int32");
  {
    const FileSizeLimit full(fs::file_size(this->path) + 300);
    EXPECT_THROW(writer.append(sample(1, 5)), bat::Error);
  }
  this->expect_all(1);
  this->append(writer, sample(1, 5));
  this->expect_all(2);
  bat::TrackSample bad = sample(1, 4);
  bad.schema.id_type = bat::ScalarType::Float64;
  const double nan = std::nan("");
  std::memcpy(&bad.ids[0], &nan, sizeof(nan));
  const fs::path other = this->temp / "b.tracks.bat";
  EXPECT_THROW(bat::TracksWriter(other, false).append(bad), bat::Error);
  EXPECT_EQ(bat::Tracks::open(other).samples.size(), 0U);
}

TEST_F(Tracks, metadata_that_does_not_change_is_in_memory_once)
{
  const auto max_memory = []
  {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss; // KiB
  };
  const std::string metadata = R"({"input": ")" + std::string(1 << 19, 'x') + R"("})";
  const long before = max_memory();
  {
    bat::TracksWriter writer(this->path, false);
    for (int step = 0; step != 200; ++step)
    {
      this->samples.push_back(sample(step, 7));
      bat::TrackSample one = this->samples.back();
      one.metadata = metadata;
      writer.append(one);
    }
    writer.finish();
  }
  EXPECT_LT(fs::file_size(this->path), 2 * metadata.size());
  this->expect_all(1);
  if (!sanitizers::kPresent) // keeps the released memory
  {
    EXPECT_LT(max_memory() - before, 48 << 10); // of 100 MiB in the samples
  }
}

// Bytes never change; BAT_MAKE_GOLDEN in the environment writes them.
TEST_F(Tracks, have_the_bytes_of_the_golden_files)
{
  const fs::path folder = BAT_GOLDEN_TRACKS;
  {
    bat::TracksWriter writer(this->path, false);
    for (int step = 0; step != 12; ++step)
    {
      bat::TrackSample one = sample(step, 1000U + static_cast<unsigned>(step), step < 8);
      one.metadata = step < 5 ? R"({"a": 1})" : "";
      this->append(writer, one);
    }
  }
  const fs::path finished = this->temp / "finished.tracks.bat";
  bat::repack_tracks(this->path, finished, false);
  const bool make = std::getenv("BAT_MAKE_GOLDEN") != nullptr;
  for (const auto& [made, name] : { std::pair(this->path, "written.tracks.bat"),
         std::pair(finished, "written_finished.tracks.bat") })
  {
    if (make)
    {
      fs::copy_file(made, folder / name, fs::copy_options::overwrite_existing);
    }
    EXPECT_EQ(read_bytes(made), read_bytes(folder / name)) << name;
  }
  // Golden files of the second implementation: read and written alike.
  bat::validate(folder / "spec.tracks.bat");
  bat::repack_tracks(folder / "spec.tracks.bat", finished, false);
  EXPECT_EQ(read_bytes(finished), read_bytes(folder / "spec_finished.tracks.bat"));
}
