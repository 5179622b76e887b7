// SPDX-License-Identifier: BSD-3-Clause
// Datasets written in pieces: the particles of one write, in leaf files of the requested size, and
// nothing else in the folder.

#include "bat/bat.hpp"
#include "particles/write/particle_parts.hpp"
#include "support/clouds.hpp"
#include "support/dataset_files.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace
{
namespace fs = std::filesystem;
using bat::ErrorCode;
using dataset_files::rows_of;

constexpr std::uint64_t kMemory = bat::PieceWriter::kMinMemory;

bat::WriteOptions quick(std::uint64_t target_bytes = 0)
{
  bat::WriteOptions options;
  options.target_bytes = target_bytes;
  options.build.flush = false;
  return options;
}

bat::PieceReport write_pieces(const fs::path& path, const bat::ParticleView& all,
  std::uint64_t piece, const bat::WriteOptions& options)
{
  bat::PieceWriter writer(path, options, kMemory);
  for (std::uint64_t first = 0; first < all.count; first += piece)
  {
    writer.add(bat::write::slice(all, first, std::min(piece, all.count - first)));
  }
  return writer.finish();
}

std::vector<std::string> names_in(const fs::path& folder)
{
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
  {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void expect_refused(ErrorCode code, const std::string& word, const std::function<void()>& f)
{
  try
  {
    f();
    ADD_FAILURE() << "no error";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

bool overlap(const bat::Box& a, const bat::Box& b)
{
  bool all = true;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    all = all && a.lower[axis] < b.upper[axis] && b.lower[axis] < a.upper[axis];
  }
  return all;
}

TEST(PieceWriter, writes_what_one_write_does_in_leaf_files_that_share_no_place)
{
  const TempDir dir;
  const clouds::Cloud cloud = clouds::clustered(150000, 7);
  bat::ParticleView view = cloud.view();
  view.time = 0.5;
  view.step = 12;
  view.metadata = "{\"a\":1}";
  view.aliases.push_back({ "height", "", 2 });
  bat::BuildOptions build;
  build.flush = false;
  bat::write_file(dir.path() / "one.bat", view, build);
  bat::WriteOptions options = quick(2 << 20);
  options.build.sorted_indexes = { "id" };
  const bat::PieceReport report = write_pieces(dir.path() / "many.bat", view, 9999, options);

  EXPECT_EQ(rows_of(dir.path() / "many.bat"), rows_of(dir.path() / "one.bat"));
  const bat::Dataset dataset = bat::Dataset::open(dir.path() / "many.bat");
  validate(dataset);
  EXPECT_EQ(dataset.time(), 0.5);
  EXPECT_EQ(dataset.step(), 12);
  EXPECT_EQ(dataset.metadata(), bat::Dataset::open(dir.path() / "one.bat").metadata());
  ASSERT_TRUE(dataset.attributes().back().alias);
  EXPECT_EQ(report.particles, view.count);
  EXPECT_EQ(report.leaf_files, dataset.leaves().size());
  EXPECT_EQ(report.file_bytes, dataset.file_bytes());
  EXPECT_GT(report.leaf_files, 4u);
  EXPECT_LT(report.largest_leaf_bytes, 2 * report.target_bytes);
  for (std::size_t i = 0; i != dataset.leaves().size(); ++i)
  {
    for (std::size_t j = 0; j != i; ++j)
    {
      EXPECT_FALSE(overlap(dataset.leaves()[i].bounds.value(), dataset.leaves()[j].bounds.value()));
    }
  }
  EXPECT_EQ(names_in(dir.path()).size(), 3 + report.leaf_files); // two datasets and a folder
}

TEST(PieceWriter, splits_by_memory_also_what_shares_one_place)
{
  const TempDir dir;
  // 12 bytes, and in a leaf file about 43 while it is written: two leaf files at least.
  const std::uint64_t count = 1000000;
  std::vector<float> xyz(3 * count, 0.25F);
  for (std::uint64_t i = count / 2; i != count; ++i)
  {
    xyz[3 * i] = std::numeric_limits<float>::quiet_NaN();
  }
  bat::ParticleView view;
  view.count = count;
  view.positions = bat::ArrayView::packed(bat::ScalarType::Float32, 3, xyz.data());
  const bat::PieceReport report = write_pieces(dir.path() / "a.bat", view, count, quick());
  EXPECT_GE(report.leaf_files, 2u);
  EXPECT_LT(report.largest_leaf_bytes, kMemory);
  const bat::Dataset dataset = bat::Dataset::open(dir.path() / "a.bat");
  validate(dataset);
  bat::Query inside;
  inside.box = bat::Box{ { 0, 0, 0 }, { 1, 1, 1 } };
  EXPECT_EQ(dataset.select(inside).count, count / 2);
  EXPECT_EQ(dataset.particle_count(), count);
}

TEST(PieceWriter, is_one_file_where_memory_has_room)
{
  const TempDir dir;
  const clouds::Cloud cloud = clouds::with_nan(3000, 3);
  const bat::ParticleView view = cloud.view();
  bat::BuildOptions build;
  build.flush = false;
  bat::write_file(dir.path() / "one.bat", view, build);
  EXPECT_EQ(write_pieces(dir.path() / "pieces.bat", view, 7, quick()).leaf_files, 1u);
  EXPECT_EQ(rows_of(dir.path() / "pieces.bat"), rows_of(dir.path() / "one.bat"));

  bat::PieceWriter writer(dir.path() / "none.bat", quick());
  writer.add(bat::write::slice(view, 0, 0));
  EXPECT_EQ(writer.finish().particles, 0u);
  EXPECT_EQ(
    bat::Dataset::open(dir.path() / "none.bat").attributes().size(), view.attributes.size());
}

TEST(PieceWriter, bounds_are_shares_of_the_range_of_all_pieces)
{
  const TempDir dir;
  const std::uint64_t count = 100000;
  std::vector<float> xyz(3 * count);
  for (std::size_t i = 0; i != xyz.size(); ++i)
  {
    xyz[i] = static_cast<float>(i / 3) / count; // in order: each piece covers a part of the range
  }
  bat::ParticleView view;
  view.count = count;
  view.positions = bat::ArrayView::packed(bat::ScalarType::Float32, 3, xyz.data());
  bat::WriteOptions options = quick(256 << 10);
  options.build.compression = bat::Compression::Bounded;
  options.build.error_bounds = { "positions=0.1%" };
  bat::write_file(dir.path() / "one.bat", view, options.build);
  const double expected = bat::File::open(dir.path() / "one.bat").storage(std::nullopt).bound;
  ASSERT_GT(write_pieces(dir.path() / "many.bat", view, 10000, options).leaf_files, 2u);
  const bat::Dataset many = bat::Dataset::open(dir.path() / "many.bat");
  for (const bat::LeafInfo& leaf : many.leaves())
  {
    EXPECT_EQ(bat::File::open(leaf.path).storage(std::nullopt).bound, expected);
  }
  EXPECT_EQ(rows_of(dir.path() / "many.bat"), rows_of(dir.path() / "one.bat"));
}

TEST(PieceWriter, that_lost_a_piece_to_another_thread_does_not_finish)
{
  const TempDir dir;
  const fs::path path = dir.path() / "a.bat";
  const clouds::Cloud cloud = clouds::uniform(20000, 1);
  const bat::ParticleView view = cloud.view();
  {
    bat::PieceWriter writer(path, quick());
    std::atomic<int> refused{ 0 };
    const auto add = [&]
    {
      for (int i = 0; i != 2000 && refused == 0; ++i)
      {
        refused += bat::attempt([&] { writer.add(view); }) ? 1 : 0;
      }
    };
    std::thread other(add);
    add();
    other.join();
    ASSERT_GT(refused, 0);
    expect_refused(ErrorCode::InvalidArgument, "was rejected (" + path.string() + ": another",
      [&] { writer.finish(); });
    expect_refused(ErrorCode::InvalidArgument, "was rejected", [&] { writer.add(view); });
  }
  {
    bat::WriteOptions options = quick();
    bat::PieceWriter* in_finish = nullptr;
    options.build.progress = [&](double)
    {
      expect_refused(
        ErrorCode::InvalidArgument, "one call at a time", [&] { in_finish->finish(); });
      return true;
    };
    bat::PieceWriter writer(path, options);
    in_finish = &writer;
    writer.add(view);
    EXPECT_EQ(writer.finish().particles, view.count);
  }
  {
    bat::PieceWriter writer(path, quick());
    writer.add(view);
    writer.fail("row 7 is not a number");
    expect_refused(ErrorCode::InvalidArgument, "piece 1 was rejected (row 7 is not a number)",
      [&] { writer.finish(); });
  }
  EXPECT_EQ(names_in(dir.path()), std::vector<std::string>{ "a.bat" });
  EXPECT_EQ(bat::Dataset::open(path).particle_count(), view.count);
}

TEST(PieceWriter, refuses_what_cannot_be_and_leaves_what_was_there)
{
  const TempDir dir;
  const fs::path path = dir.path() / "a.bat";
  const clouds::Cloud cloud = clouds::uniform(5000, 1);
  const bat::ParticleView view = cloud.view();
  write_pieces(path, view, 100, quick(64 << 10));
  const auto before = names_in(dir.path());

  bat::WriteOptions options = quick();
  options.mode = bat::PlanMode::Aug;
  expect_refused(
    ErrorCode::InvalidArgument, "mode", [&] { const bat::PieceWriter w(path, options); });
  options = quick();
  options.build.repeats = bat::Repeats::Link;
  expect_refused(
    ErrorCode::InvalidArgument, "repeats", [&] { const bat::PieceWriter w(path, options); });
  expect_refused(ErrorCode::InvalidArgument, "memory_bytes is 5",
    [&] { const bat::PieceWriter w(path, quick(), 5); });
  expect_refused(ErrorCode::CannotOpen, "nowhere",
    [&] { const bat::PieceWriter w(dir.path() / "nowhere" / "a.bat", quick()); });

  bat::PieceWriter writer(path, quick());
  expect_refused(ErrorCode::InvalidArgument, "no piece", [&] { writer.finish(); });
  bat::PieceWriter other(path, quick());
  other.add(view);
  bat::ParticleView less = view;
  less.attributes.pop_back();
  expect_refused(ErrorCode::InvalidArgument, view.attributes.back().name, [&] { other.add(less); });
  expect_refused(ErrorCode::InvalidArgument, "after an error", [&] { other.finish(); });

  options = quick(64 << 10);
  options.build.progress = [](double done) { return done < 0.6; };
  expect_refused(ErrorCode::Cancelled, "cancelled",
    [&] { write_pieces(path, clouds::uniform(9000, 2).view(), 1000, options); });
  EXPECT_EQ(names_in(dir.path()), before);
  EXPECT_EQ(bat::Dataset::open(path).particle_count(), view.count);
}
}
