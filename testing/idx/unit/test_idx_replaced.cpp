// SPDX-License-Identifier: BSD-3-Clause
// A dataset that is replaced while it is open: a read returns the old samples, the new ones, or an
// error, but never a mixture and never default values that were not written.

#include "bat/error.hpp"
#include "bat/idx/dataset.hpp"
#include "bat/idx/velocity_source.hpp"
#include "bat/idx/write.hpp"
#include "idx/unit/idx_grids.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace bat::idx;
using bat::ErrorCode;
using bat::ScalarType;

namespace
{
// Two fields whose samples are all `value`.
struct Constant
{
  explicit Constant(float value, std::int64_t edge = 32)
    : values(static_cast<std::size_t>(edge * edge * edge), value)
  {
    this->grid.dimensions = { edge, edge, edge };
    this->grid.fields = { { "a", ScalarType::Float32, 1, this->values.data() },
      { "b", ScalarType::Float32, 1, this->values.data() } };
  }
  Constant(const Constant&) = delete;
  Constant& operator=(const Constant&) = delete;

  Grid grid;
  std::vector<float> values;
};

// 8 files.
WriteOptions several_files()
{
  WriteOptions options;
  options.flush = false;
  options.bits_per_block = 9;
  options.file_bytes = 32768;
  return options;
}

// The value of all samples of a field, also at a level that does not need the blocks of the last
// files.
float value_of(const Dataset& dataset, std::size_t field, int level, std::int64_t step = 0)
{
  std::vector<float> values(dataset.lattice(level).samples());
  const ReadReport report =
    dataset.read({ field, level, {}, step }, values.data(), 4 * values.size());
  EXPECT_EQ(report.absent_blocks, 0u);
  for (const float value : values)
  {
    if (!(value == values.front()))
    {
      ADD_FAILURE() << "field " << field << " level " << level << " has " << values.front()
                    << " and " << value;
      break;
    }
  }
  return values.front();
}

void expect_replaced(const std::function<void()>& read)
{
  const auto problem = bat::attempt(read);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->code(), ErrorCode::CannotOpen) << problem->what();
  const std::string text = problem->what();
  EXPECT_NE(text.find("a.idx: time step 0 was replaced"), std::string::npos) << text;
}
}

TEST(IdxReplaced, a_dataset_that_was_opened_before_gives_nothing_of_the_new_one)
{
  for (const Dialect dialect : { Dialect::OpenVisus, Dialect::PIDX })
  {
    for (const WriteMode mode : { WriteMode::Replace, WriteMode::AddStep })
    {
      const TempDir folder;
      const Constant old(1);
      const Constant other(2);
      WriteOptions options = several_files();
      options.dialect = dialect;
      options.mode = mode;
      write(folder / "a.idx", old.grid, options);
      if (mode == WriteMode::AddStep)
      {
        options.step = 3;
        write(folder / "a.idx", old.grid, options);
        options.step = 0;
      }
      const Dataset untouched = Dataset::open(folder / "a.idx");
      const Dataset dataset = Dataset::open(folder / "a.idx");
      const int levels = dataset.levels();
      EXPECT_EQ(value_of(dataset, 0, levels), 1);
      EXPECT_TRUE(dataset.is_as_opened());
      write(folder / "a.idx", other.grid, options);
      for (const int level : { 0, levels - 3, levels })
      {
        expect_replaced([&] { (void)value_of(dataset, 1, level); });
      }
      expect_replaced([&] { (void)dataset.check(1, 0); });
      EXPECT_FALSE(dataset.is_as_opened());
      // A file that is first opened after that may be the complete new one.
      float found = 0;
      const auto problem = bat::attempt([&] { found = value_of(untouched, 0, levels); });
      EXPECT_TRUE(problem || found == 2);
      EXPECT_EQ(value_of(Dataset::open(folder / "a.idx"), 1, levels), 2);
      // A third version has the names of the first.
      write(folder / "a.idx", old.grid, options);
      expect_replaced([&] { (void)value_of(dataset, 1, levels); });
      if (mode == WriteMode::AddStep)
      {
        EXPECT_EQ(value_of(dataset, 1, levels, 3), 1); // which no process has changed
      }
    }
  }
}

// Between the first file of a read and the last one.
TEST(IdxReplaced, a_read_that_is_under_way_ends_with_an_error)
{
  for (const WriteMode mode : { WriteMode::Replace, WriteMode::AddStep })
  {
    const TempDir folder;
    const Constant old(1, 64);
    const Constant other(2, 64);
    WriteOptions options = several_files();
    options.mode = mode;
    write(folder / "a.idx", old.grid, options);
    const Dataset dataset = Dataset::open(folder / "a.idx");
    std::vector<float> values(old.values.size());
    ReadOptions reading;
    int calls = 0;
    reading.progress = [&](double)
    {
      if (++calls == 2)
      {
        write(folder / "a.idx", other.grid, options);
      }
      return true;
    };
    expect_replaced(
      [&] {
        (void)dataset.read(
          { 0, dataset.levels(), {}, 0 }, values.data(), 4 * values.size(), reading);
      });
    EXPECT_GE(calls, 2);
  }
}

TEST(IdxReplaced, a_flow_has_no_holes_where_its_files_have_gone)
{
  const TempDir folder;
  std::vector<float> values(3 * 32768, 1.0f);
  Grid grid;
  grid.dimensions = { 32, 32, 32 };
  grid.fields = { { "v", ScalarType::Float32, 3, values.data() } };
  WriteOptions options = several_files();
  write(folder / "a.idx", grid, options);
  const auto source = VelocitySource::open(folder / "a.idx");
  std::vector<std::byte> brick(static_cast<std::size_t>(9 * 9 * 9) * 12);
  const bat::BrickMemory memory{ brick.data(), 9 * 12, 81 * 12 };
  (void)source->read(0, 0, memory);
  write(folder / "a.idx", grid, options);
  expect_replaced([&] { (void)source->read(0, source->grid().brick_count() - 1, memory); });
}

TEST(IdxReplaced, files_that_nobody_wrote_stay_absent_while_a_series_grows)
{
  const TempDir folder;
  const Constant old(1);
  WriteOptions options = several_files();
  options.mode = WriteMode::AddStep;
  write(folder / "a.idx", old.grid, options);
  const Dataset dataset = Dataset::open(folder / "a.idx");
  std::filesystem::path last;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "a"))
  {
    last = entry.is_regular_file() ? std::max(last, entry.path()) : last;
  }
  std::filesystem::remove(last);
  const auto absent = [&]
  {
    std::vector<float> values(old.values.size());
    return dataset.read({ 0, dataset.levels(), {}, 0 }, values.data(), 4 * values.size())
      .absent_blocks;
  };
  const std::uint64_t before = absent();
  EXPECT_GT(before, 0u);
  options.step = 1;
  write(folder / "a.idx", old.grid, options);
  EXPECT_EQ(absent(), before);
  EXPECT_EQ(dataset.check(0, 0).absent_blocks, before);

  // Another program that puts files into a folder of the same name, and one that removes
  // everything.
  const std::filesystem::path step = last.parent_path();
  std::filesystem::rename(step, folder / "away");
  std::filesystem::copy(folder / "away", step, std::filesystem::copy_options::recursive);
  expect_replaced([&] { (void)absent(); });
  std::filesystem::remove_all(step);
  const auto problem = bat::attempt([&] { (void)absent(); });
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->code(), ErrorCode::NotFound) << problem->what();
  std::filesystem::remove_all(folder / "a");
  std::filesystem::remove(folder / "a.idx");
  expect_replaced([&] { (void)absent(); });
}

// Two values alternate; each opening, and all fields and levels that it reads, sees one of them.
TEST(IdxReplaced, readers_beside_a_writer_see_one_version_or_an_error)
{
  const TempDir folder;
  const Constant versions[] = { Constant(1), Constant(2) };
  WriteOptions options = several_files();
  options.threads = 1;
  write(folder / "a.idx", versions[0].grid, options);
  std::atomic<bool> is_over{ false };
  std::atomic<int> written{ 0 };
  std::thread writer(
    [&]
    {
      while (!is_over)
      {
        write(folder / "a.idx", versions[++written % 2].grid, options);
      }
    });
  int whole = 0;
  for (int round = 0; (round < 60 || written < 20) && !::testing::Test::HasFailure(); ++round)
  {
    const auto problem = bat::attempt(
      [&]
      {
        const Dataset dataset = Dataset::open(folder / "a.idx");
        const float first = value_of(dataset, 0, dataset.levels());
        EXPECT_TRUE(first == 1 || first == 2) << first;
        for (const std::size_t field : { 1u, 0u })
        {
          EXPECT_EQ(value_of(dataset, field, dataset.levels() - 1), first);
        }
        ++whole;
      });
    if (problem)
    {
      EXPECT_NE(std::string(problem->what()).find("replaced"), std::string::npos)
        << problem->what();
    }
  }
  is_over = true;
  writer.join();
  EXPECT_GT(whole, 0);
}
