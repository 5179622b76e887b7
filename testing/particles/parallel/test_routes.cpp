// SPDX-License-Identifier: BSD-3-Clause
// Whatever route particles take, and on however many nodes: the same bytes in the same files.
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

namespace
{
using mpi_test::rank;
using mpi_test::ranks;

/// Contents of a dataset's files, by name, on rank 0.
std::map<std::string, std::string> files_of(const std::filesystem::path& folder)
{
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
  {
    if (entry.is_regular_file())
    {
      std::ifstream stream(entry.path(), std::ios::binary);
      files[std::filesystem::relative(entry.path(), folder).string()] =
        std::string(std::istreambuf_iterator<char>(stream), {});
    }
  }
  return files;
}

TEST(Routes, same_bytes_in_the_files)
{
  const mpi_test::SharedDir folder;
  const auto self = static_cast<std::uint64_t>(rank());
  clouds::Random random(self + 1);
  clouds::Cloud local;
  const std::uint64_t count = rank() == 1 ? 0 : 400 + 300 * (self % 3); // one is empty
  local.set_positions(clouds::uniform_positions<float>(count, random)); // everywhere on each rank
  local.add("id", bat::ScalarType::Int64, clouds::shuffled_ids(count, random, 1000000 * rank()));
  std::map<std::string, std::string> expected;
  // Fewer leaf files than nodes, and more than ranks.
  for (const std::uint64_t target : { 40'000u, 2'000u })
  {
    for (int each = 0; each <= 4; ++each)
    {
      for (const bat::Route route : { bat::Route::Flat, bat::Route::Leaders })
      {
        bat::mpi::WriteOptions options;
        options.target_bytes = target;
        options.build.threads = 1;
        options.build.flush = false;
        options.routing = { route, 1 + each % 2, each };
        const bool is_first = each == 0 && route == bat::Route::Flat;
        const std::filesystem::path place = folder / (is_first ? "first" : "other");
        if (rank() == 0)
        {
          std::filesystem::remove_all(place);
          std::filesystem::create_directory(place);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const bat::mpi::DatasetReport report =
          bat::mpi::write_dataset(MPI_COMM_WORLD, place / "all.bat", local.view(), options);
        const int nodes = each == 0 ? 1 : (ranks() + each - 1) / each;
        const int leaders = each == 0 ? 1
                                      : nodes * std::min(each, 1 + each % 2) -
            (each > 1 && each % 2 == 1 && ranks() % each == 1 ? 1 : 0);
        EXPECT_EQ(report.nodes, nodes);
        EXPECT_EQ(report.leaders, route == bat::Route::Flat || ranks() == 1 ? 0 : leaders);
        EXPECT_EQ(report.messages.max_received_bytes == 0, report.moved_bytes == 0);
        EXPECT_GE(report.leaf_files, target < 10'000 ? 2u : 1u);
        if (rank() == 0)
        {
          if (is_first)
          {
            expected = files_of(place);
          }
          EXPECT_TRUE(files_of(place) == expected)
            << target << ", " << each << " ranks per node, route " << static_cast<int>(route);
        }
      }
    }
  }
}

TEST(Routes, options_that_cannot_be)
{
  const mpi_test::SharedDir folder;
  clouds::Cloud local;
  clouds::Random random(1);
  local.set_positions(clouds::uniform_positions<float>(10, random));
  bat::mpi::WriteOptions options;
  options.routing.leaders_per_node = 0;
  EXPECT_NE(
    mpi_test::error_of(
      [&] { bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "all.bat", local.view(), options); })
      .find("leaders_per_node is 0; a whole number from 1 to 2147483647 is allowed"),
    std::string::npos);
}
}
