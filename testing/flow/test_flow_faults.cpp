// SPDX-License-Identifier: BSD-3-Clause
// Errors in files of a series as a trace reports them: by file and brick, to the calls that need
// them.
#include "bat/bricks/series.hpp"
#include "bat/bricks/write.hpp"
#include "bat/error.hpp"
#include "bat/flow/trace.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace
{
using namespace bat;

// Four levels of a wind along x; the seeds need both bricks of the first half.
class FlowFaults : public ::testing::Test
{
protected:
  void SetUp() override
  {
    std::vector<bricks::SeriesEntry> entries;
    for (int level = 0; level != 4; ++level)
    {
      entries.push_back({ this->name(level), 0.5 * level });
      this->write(this->folder / entries.back().file, { 33, 9, 9 });
    }
    bricks::write_list(this->list, entries, false);
  }

  static std::string name(int level) { return "wind_" + std::to_string(level) + ".bricks"; }

  static void write(const std::filesystem::path& path, std::array<std::int64_t, 3> points)
  {
    bricks::Header header;
    header.field = "wind";
    header.grid.points = points;
    std::vector<float> values;
    for (std::int64_t i = 0; i != points[0] * points[1] * points[2]; ++i)
    {
      values.insert(values.end(), { 8 + std::sin(0.1f * static_cast<float>(i)), 0, 0 });
    }
    bricks::WriteOptions options;
    options.flush = false;
    bricks::write(path, header, values.data(), values.size() * sizeof(float), options);
  }

  // The error of a trace from `begin` on, after `damage` to the file of level 2.
  void expect(ErrorCode code, const std::vector<std::string>& words,
    const std::function<void(const std::filesystem::path&)>& damage)
  {
    const auto path = this->folder / this->name(2);
    const auto sound = read_bytes(path);
    std::filesystem::remove(path);
    write_bytes(path, sound);
    damage(path);
    const flow::Cache cache(bricks::Series::open(this->list));
    const std::vector<flow::Seed> seeds{ { { 0.5, 4, 4 }, 0 }, { { 3, 4.5, 2 }, 0 } };
    for (const int threads : { 1, 2 })
    {
      flow::TraceOptions options;
      options.threads = threads;
      try
      {
        (void)flow::trace(cache, seeds, options);
        ADD_FAILURE() << words.back();
      }
      catch (const Error& error)
      {
        EXPECT_EQ(error.code(), code) << error.what();
        for (const std::string& word : words)
        {
          EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
            << word << " in: " << error.what();
        }
      }
      options.end_time = 0.5; // level 2 is not needed
      EXPECT_EQ(flow::trace(cache, seeds, options).lines[0].reason, flow::Reason::EndTime);
    }
    std::filesystem::remove_all(path);
    write_bytes(path, sound);
    EXPECT_NO_THROW((void)flow::trace(flow::Cache(bricks::Series::open(this->list)), seeds));
  }

  TempDir folder;
  std::filesystem::path list = this->folder / "wind.bricks.series";
};
}

TEST_F(FlowFaults, files_that_are_not_what_they_should_be)
{
  const std::string file = this->name(2);
  this->expect(
    ErrorCode::NotFound, { file }, [](const auto& path) { std::filesystem::remove(path); });
  this->expect(ErrorCode::CannotOpen, { file, "directory" },
    [](const auto& path)
    {
      std::filesystem::remove(path);
      std::filesystem::create_directory(path);
    });
  this->expect(ErrorCode::Truncated, { file }, [](const auto& path) { write_bytes(path, {}); });
  this->expect(ErrorCode::Truncated, { file },
    [](const auto& path) { std::filesystem::resize_file(path, 1000); });
  this->expect(ErrorCode::Corrupt, { file, "its grid differs", "33 x 9 x 10", "33 x 9 x 9" },
    [](const auto& path) {
      FlowFaults::write(path, { 33, 9, 10 });
    });
  this->expect(ErrorCode::UnsupportedVersion, { file, "version 2", "version 1" },
    [](const auto& path)
    {
      auto bytes = read_bytes(path);
      bytes[8] = std::byte{ 2 };
      write_bytes(path, bytes);
    });
  this->expect(ErrorCode::NotABatFile, { file },
    [](const auto& path) { write_bytes(path, std::vector<std::byte>(5000, std::byte{ 'x' })); });
  // All bytes of all bricks, whichever is needed first.
  this->expect(ErrorCode::Corrupt, { file, "brick" },
    [](const auto& path)
    {
      auto bytes = read_bytes(path);
      for (std::size_t i = bytes.size() - 4000; i != bytes.size(); ++i)
      {
        bytes[i] ^= std::byte{ 0x10 };
      }
      write_bytes(path, bytes);
    });
}

TEST_F(FlowFaults, checksums_of_lists)
{
  bricks::write_list(this->list, { { this->name(0), 0.5 }, { this->name(1), 1.5 } });
  const std::vector<std::byte> bytes = read_bytes(this->list);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_EQ(bricks::read_list(this->list).size(), 2U);
  for (const auto& [before, after] : { std::pair(this->name(1), std::string("other.bricks")),
         std::pair(std::string("1.5"), std::string("1.25")) })
  {
    std::string changed = text;
    std::ofstream(this->list) << changed.replace(changed.find(before), before.size(), after);
    try
    {
      (void)bricks::read_list(this->list);
      ADD_FAILURE() << before;
    }
    catch (const Error& error)
    {
      EXPECT_EQ(error.code(), ErrorCode::Corrupt);
      EXPECT_NE(std::string(error.what()).find(this->list.string() + ": its checksum is"),
        std::string::npos)
        << error.what();
    }
  }
}

TEST_F(FlowFaults, times_of_lists)
{
  for (const double time : { 0.5, 0.25, std::numeric_limits<double>::quiet_NaN(),
         std::numeric_limits<double>::infinity() })
  {
    try
    {
      bricks::write_list(this->list, { { this->name(0), 0.5 }, { this->name(1), time } });
      ADD_FAILURE() << time;
    }
    catch (const Error& error)
    {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
      EXPECT_NE(std::string(error.what()).find(this->name(1)), std::string::npos) << error.what();
    }
  }
  bricks::write_list(this->list, { { this->name(0), 0.5 } });
  try
  {
    (void)flow::trace(flow::Cache(bricks::Series::open(this->list)), { {} }); // to which end?
    ADD_FAILURE();
  }
  catch (const Error& error)
  {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(error.what()).find("steady flow with one time step"), std::string::npos)
      << error.what();
  }
}
