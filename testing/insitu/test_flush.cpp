// SPDX-License-Identifier: BSD-3-Clause
// Counts the flushes of BuildOptions::flush: this program's fsync replaces the system's.
#include "bat/insitu.hpp"
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace
{
std::atomic<int> flushed{ 0 };
}

extern "C" int fsync(int descriptor)
{
  ++flushed;
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace
{
using mpi_test::SharedDir;

clouds::Cloud make_cloud()
{
  clouds::Random random(static_cast<std::uint64_t>(mpi_test::rank()) + 1);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::uniform_positions<float>(3000, random));
  return cloud;
}

int flushed_on_all_ranks()
{
  int local = flushed.exchange(0);
  int all = 0;
  MPI_Allreduce(&local, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

TEST(Flush, is_what_the_option_says)
{
  const SharedDir folder;
  const clouds::Cloud cloud = make_cloud();
  bat::mpi::WriteOptions options;
  options.target_bytes = 20000; // several leaf files
  const auto write = [&](const char* name)
  {
    bat::insitu::SeriesWriter writer(bat::insitu::FilePattern((folder / name).string()), options);
    const auto files = writer.write(MPI_COMM_WORLD, 1, 0.5, { { "", { { cloud.view(), {} } } } });
    EXPECT_GT(files[0].report.leaf_files, 1u);
    EXPECT_NO_THROW(bat::validate(files[0].path));
    return files[0].report.leaf_files;
  };
  flushed = 0;
  const auto leaf_files = write("flushed");
  // Each leaf file, the top file, the list, and the folders of all of them.
  EXPECT_GE(flushed_on_all_ranks(), static_cast<int>(2 * leaf_files + 4));
  // Rank 0's option counts.
  options.build.flush = mpi_test::rank() != 0;
  (void)write("not_flushed");
  EXPECT_EQ(flushed_on_all_ranks(), 0);
  bat::BuildOptions build;
  build.flush = false;
  const auto alone = folder / ("alone" + std::to_string(mpi_test::rank()) + ".bat");
  (void)bat::write_file(alone, cloud.view(), build);
  EXPECT_EQ(flushed_on_all_ranks(), 0);
  (void)bat::write_file(alone, cloud.view());
  EXPECT_EQ(flushed_on_all_ranks(), 2 * mpi_test::ranks());
}
}
