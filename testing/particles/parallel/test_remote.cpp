// SPDX-License-Identifier: BSD-3-Clause
// Many ranks that read from a server: the particles of local reads, at most 1.1 times the bytes
// that one rank requests, and the same error on all ranks if the server fails.
#include "common/io/remote/settings.hpp"
#include "common/remote/remote_server.hpp"
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <optional>

namespace
{
using mpi_test::rank;
using mpi_test::ranks;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kCount = 300000;

clouds::Cloud make_cloud()
{
  clouds::Random random(21);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::clustered_positions<float>(kCount, random));
  std::vector<double> heat(kCount);
  std::vector<float> velocity(3 * kCount);
  for (double& h : heat)
  {
    h = clouds::unit(random);
  }
  for (float& v : velocity)
  {
    v = static_cast<float>(clouds::normal(random));
  }
  cloud.add("id", bat::ScalarType::Int64, clouds::shuffled_ids(kCount, random, 1));
  cloud.add("heat", bat::ScalarType::Float64, heat);
  cloud.add("velocity", bat::ScalarType::Float32, velocity, 3);
  return cloud;
}

/// One file and one of many leaf files on a server of rank 0.
class Remote : public ::testing::Test
{
protected:
  static void SetUpTestSuite()
  {
    shared = std::make_unique<mpi_test::SharedDir>();
    if (rank() == 0)
    {
      const clouds::Cloud cloud = make_cloud();
      for (const auto& [name, target] : { std::pair("one.bat", std::uint64_t{ 1 } << 40),
             std::pair("many.bat", std::uint64_t{ 1 } << 20) })
      {
        bat::mpi::WriteOptions options;
        options.target_bytes = target;
        options.build.flush = false;
        bat::mpi::write_dataset(MPI_COMM_SELF, *shared / name, cloud.view(), options);
      }
      server = std::make_unique<RemoteServer>((*shared / "one.bat").parent_path());
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  static void TearDownTestSuite()
  {
    server.reset();
    shared.reset();
  }

  /// An address that no cache knows yet, the same on all ranks.
  static std::string fresh_segment(const std::string& fault = "plain")
  {
    static int number = 0;
    return fault + ";id=" + std::to_string(++number);
  }
  static std::string address(const std::string& segment, const std::string& name)
  {
    return mpi_test::of_root(server ? server->at(segment + "/" + name) : "");
  }

  static std::unique_ptr<mpi_test::SharedDir> shared;
  static std::unique_ptr<RemoteServer> server; ///< on rank 0
};
std::unique_ptr<mpi_test::SharedDir> Remote::shared;
std::unique_ptr<RemoteServer> Remote::server;

/// What all ranks read; `split` gives each rank its share.
struct Case
{
  std::string text;
  bat::Query query;
  std::function<void(bat::Query&)> split;
};

std::vector<Case> cases(const bat::Box& bounds)
{
  const auto parts = [](bat::Query& query)
  {
    query.part = static_cast<std::uint32_t>(rank());
    query.parts = static_cast<std::uint32_t>(ranks());
  };
  const auto slabs = [bounds](bat::Query& query)
  {
    const auto cut = [&](int i)
    {
      return i == 0    ? -kInf
        : i == ranks() ? kInf
                       : bounds.lower[0] + (bounds.upper[0] - bounds.lower[0]) * i / ranks();
    };
    query.box = bat::Box{ { cut(rank()), -kInf, -kInf }, { cut(rank() + 1), kInf, kInf } };
    query.half_open = true;
  };
  std::vector<Case> cases;
  for (const double quality : { 1.0, 0.3, 0.05 })
  {
    bat::Query query;
    query.quality = quality;
    cases.push_back({ "parts at quality " + std::to_string(quality), query, parts });
    cases.push_back({ "slabs at quality " + std::to_string(quality), query, slabs });
  }
  bat::Query box;
  box.box = bounds;
  for (std::size_t a = 0; a != 3; ++a)
  {
    const double size = bounds.upper[a] - bounds.lower[a];
    box.box->lower[a] += 0.2 * size;
    box.box->upper[a] -= 0.3 * size;
  }
  cases.push_back({ "parts of a box", box, parts });
  bat::Query range;
  range.ranges.push_back({ "heat", std::nullopt, 0.2, 0.23 });
  cases.push_back({ "parts of a range", range, parts });
  return cases;
}
}

TEST_F(Remote, ranks_together_request_little_more_than_one)
{
  for (const std::string name : { "one.bat", "many.bat" })
  {
    const bat::Dataset local = bat::Dataset::open(*shared / name);
    for (const Case& c : cases(local.bounds().value()))
    {
      SCOPED_TRACE(name + ", " + c.text);
      const std::string alone = fresh_segment();
      const std::string combined = fresh_segment();
      const std::string alone_at = address(alone, name);
      if (rank() == 0)
      {
        (void)bat::mpi::read_particles(
          MPI_COMM_SELF, bat::mpi::open_dataset(MPI_COMM_SELF, alone_at), c.query);
      }
      const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, address(combined, name));
      bat::Query own = c.query;
      c.split(own);
      bat::mpi::ReadReport report;
      const bat::mpi::Particles found =
        bat::mpi::read_particles(MPI_COMM_WORLD, dataset, own, {}, {}, &report);
      EXPECT_EQ(mpi_test::rows(found.view()),
        mpi_test::rows(bat::mpi::read_particles(MPI_COMM_SELF, local, own).view()));
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0)
      {
        const auto one = static_cast<double>(server->bytes(alone));
        const auto many = static_cast<double>(server->bytes(combined));
        std::printf("%-8s %-26s %8.0f KiB in %4zu requests by one rank, %5.3f times in %4zu: %s\n",
          name.c_str(), c.text.c_str(), one / 1024, server->requests(alone).size(), many / one,
          server->requests(combined).size(), report.reason.c_str());
        EXPECT_LE(many, 1.1 * one) << report.reason;
      }
    }
  }
}

TEST_F(Remote, server_that_fails_is_the_same_error_on_all_ranks)
{
  const bat::io::RemoteSettings settings = bat::io::remote_settings();
  bat::io::RemoteSettings impatient = settings;
  impatient.max_retries = 0;
  bat::io::set_remote_settings(impatient);
  for (const std::string name : { "one.bat", "many.bat" })
  {
    for (const int after : { 0, 1, 2, 3, 4 })
    {
      const std::string at =
        address(fresh_segment("status;code=503;after=" + std::to_string(after)), name);
      bat::Query own;
      own.part = static_cast<std::uint32_t>(rank());
      own.parts = static_cast<std::uint32_t>(ranks());
      const std::string error = mpi_test::error_of(
        [&]
        {
          const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, at);
          (void)bat::mpi::read_particles(MPI_COMM_WORLD, dataset, own);
        });
      EXPECT_NE(error.find("503"), std::string::npos)
        << name << " after " << after << ": " << error;
      EXPECT_EQ(error, mpi_test::of_root(error));
    }
  }
  bat::io::set_remote_settings(settings);
}
