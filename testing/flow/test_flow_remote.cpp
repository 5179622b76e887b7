// SPDX-License-Identifier: BSD-3-Clause
// Traces of a series at an address: the lines of the local series, with many bricks per request.
#include "bat/bricks/series.hpp"
#include "bat/bricks/write.hpp"
#include "bat/error.hpp"
#include "bat/flow/trace.hpp"
#include "common/remote/remote_server.hpp"
#include "sampled_flow.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

namespace
{
using namespace bat;

constexpr std::int64_t kPoints = 65;
constexpr int kLevels = 6;

/// A turning flow with noise, so that bricks are as large as those of simulations.
class FlowRemote : public ::testing::Test
{
protected:
  void SetUp() override
  {
    bricks::Header header;
    header.grid.points.fill(kPoints);
    header.grid.spacing.fill(6.283185307179586 / (kPoints - 1));
    std::vector<bricks::SeriesEntry> entries;
    std::mt19937 random(5);
    for (int level = 0; level != kLevels; ++level)
    {
      std::vector<float> values;
      for (std::int64_t i = 0; i != kPoints * kPoints * kPoints; ++i)
      {
        sampled_flow::Point at{};
        const std::array<std::int64_t, 3> n{ i % kPoints, i / kPoints % kPoints,
          i / kPoints / kPoints };
        for (std::size_t a = 0; a != 3; ++a)
        {
          at[a] = header.grid.spacing[a] * static_cast<double>(n[a]);
        }
        for (const double v : sampled_flow::abc(at, 0.2 * level))
        {
          values.push_back(static_cast<float>(v + 1e-6 * static_cast<double>(random() % 1000)));
        }
      }
      bricks::WriteOptions options;
      options.flush = false;
      entries.push_back({ "wind_" + std::to_string(level) + ".bricks", 0.2 * level });
      bricks::write(this->folder / entries.back().file, header, values.data(),
        values.size() * sizeof(float), options);
    }
    bricks::write_list(this->folder / "wind.bricks.series", entries, false);
  }

  static std::vector<flow::Seed> seeds(std::size_t count)
  {
    std::mt19937 random(9);
    std::vector<flow::Seed> seeds;
    for (std::size_t i = 0; i != count; ++i)
    {
      flow::Seed seed;
      for (double& x : seed.position)
      {
        x = 2 + 2 * static_cast<double>(random()) / 4294967296.0;
      }
      seeds.push_back(seed);
    }
    return seeds;
  }

  TempDir folder;
};
}

TEST_F(FlowRemote, lines_are_those_of_the_local_series_and_requests_bring_many_bricks)
{
  const RemoteServer server(this->folder.path(), { "--latency", "0.02" });
  for (const std::size_t count : { 40, 4000 })
  {
    const auto local = flow::trace(
      flow::Cache(bricks::Series::open(this->folder / "wind.bricks.series")), this->seeds(count));
    for (const int io_threads : { 1, 32 })
    {
      const std::string run =
        "plain;id=" + std::to_string(count) + "." + std::to_string(io_threads);
      const auto series = bricks::Series::open(server.at(run + "/wind.bricks.series"));
      EXPECT_TRUE(series->can_prefetch());
      flow::CacheOptions options;
      options.io_threads = io_threads;
      const auto remote = flow::trace(flow::Cache(series, options), this->seeds(count));
      EXPECT_EQ(remote.checksum(), local.checksum());
      EXPECT_EQ(remote.times, local.times);
      const std::size_t requests = server.requests(run).size();
      EXPECT_LT(requests, remote.statistics.touched / 2)
        << count << " lines, " << io_threads << " threads";
    }
  }
}

TEST_F(FlowRemote, prefetching_reports_no_faults_and_reading_does)
{
  const RemoteServer server(this->folder.path());
  const auto series = bricks::Series::open(server.at("plain/wind.bricks.series"));
  std::filesystem::remove(this->folder / "wind_3.bricks");
  series->prefetch(3, { 0, 1 });
  series->prefetch(kLevels, { 0 });
  series->prefetch(0, { std::uint64_t{ 1 } << 30 });
  try
  {
    (void)flow::trace(flow::Cache(series), this->seeds(10));
    ADD_FAILURE() << "a level is missing";
  }
  catch (const Error& error)
  {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
    EXPECT_NE(std::string(error.what()).find("wind_3.bricks"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(bricks::Series::open(this->folder / "wind.bricks.series")->can_prefetch());
}
