// SPDX-License-Identifier: BSD-3-Clause
// Many ranks write the same bytes as one, for any distribution, and all end alike.

#include "bat/error.hpp"
#include "bat/idx/parallel.hpp"
#include "bat/idx/write.hpp"
#include "idx/parallel/assignment.hpp"
#include "idx/unit/idx_grids.hpp"
#include "particles/parallel/mpi_support.hpp"
#include "support/clouds.hpp"
#include "support/file_size_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace bat::idx;
using bat::ErrorCode;
using bat::ScalarType;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::SharedDir;

namespace
{
using Boxes = std::vector<LogicalBox>;
using Cut = std::function<Boxes(const LogicalBox& whole, int rank, int ranks)>;

LogicalBox part_along(LogicalBox box, std::size_t axis, int i, int n)
{
  const std::int64_t first = box.lower[axis];
  const std::int64_t count = box.upper[axis] - first + 1;
  box.lower[axis] = first + count * i / n;
  box.upper[axis] = first + count * (i + 1) / n - 1;
  return box;
}

LogicalBox grown(LogicalBox box, const LogicalBox& whole, std::int64_t by)
{
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.lower[axis] = std::max(whole.lower[axis], box.lower[axis] - by);
    box.upper[axis] = std::min(whole.upper[axis], box.upper[axis] + by);
  }
  return box;
}

const std::map<std::string, Cut> kCuts{
  { "slabs",
    [](const LogicalBox& whole, int r, int n) { return Boxes{ part_along(whole, 2, r, n) }; } },
  { "pencils",
    [](const LogicalBox& whole, int r, int n)
    {
      const int a = n % 2 == 0 ? 2 : 1;
      return Boxes{ part_along(part_along(whole, 1, r % a, a), 2, r / a, n / a) };
    } },
  { "bricks, several a rank",
    [](const LogicalBox& whole, int r, int n)
    {
      Boxes boxes;
      for (int i = r; i < 27; i += n)
      {
        boxes.push_back(
          part_along(part_along(part_along(whole, 0, i % 3, 3), 1, i / 3 % 3, 3), 2, i / 9, 3));
      }
      return boxes;
    } },
  { "ghosts",
    [](const LogicalBox& whole, int r, int n)
    { return Boxes{ grown(part_along(whole, 0, r, n), whole, 2) }; } },
  { "one rank has all",
    [](const LogicalBox& whole, int r, int n) { return r == n - 1 ? Boxes{ whole } : Boxes{}; } },
  { "every rank has all", [](const LogicalBox& whole, int, int) { return Boxes{ whole }; } },
};

LogicalBox box_of(const MadeGrid& made)
{
  LogicalBox box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.lower[axis] = made.grid.first[axis];
    box.upper[axis] = made.grid.first[axis] + made.grid.dimensions[axis] - 1;
  }
  return box;
}

// The part of a grid on this rank.
struct Local
{
  GridPieces pieces;
  std::vector<std::vector<std::byte>> arrays;

  // `ghosts`: layers around each box that its arrays also have, with values that belong to no
  // sample.
  Local(const MadeGrid& made, const Boxes& boxes, std::int64_t ghosts = 0)
  {
    if (boxes.empty())
    {
      return; // does not describe fields either
    }
    this->pieces.origin = made.grid.origin;
    this->pieces.spacing = made.grid.spacing;
    this->pieces.fields = made.grid.fields;
    for (const LogicalBox& box : boxes)
    {
      Piece piece;
      piece.box = box;
      for (std::size_t f = 0; f != made.grid.fields.size(); ++f)
      {
        this->arrays.push_back(made.part(f, { 1, 1, 1 }, box));
        if (ghosts != 0)
        {
          piece.stored = box;
          this->add_ghosts(box, ghosts,
            bat::tuple_bytes(made.grid.fields[f].type, made.grid.fields[f].components),
            *piece.stored);
        }
        piece.values.push_back(this->arrays.back().data());
      }
      this->pieces.pieces.push_back(std::move(piece));
    }
  }

  void add_ghosts(
    const LogicalBox& box, std::int64_t ghosts, std::size_t sample, LogicalBox& stored)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      stored.lower[axis] -= ghosts + static_cast<std::int64_t>(axis);
      stored.upper[axis] += ghosts;
    }
    const auto dims = [](const LogicalBox& b, std::size_t axis)
    { return static_cast<std::size_t>(b.upper[axis] - b.lower[axis] + 1); };
    std::vector<std::byte> all(
      dims(stored, 0) * dims(stored, 1) * dims(stored, 2) * sample, std::byte{ 0x7b });
    const std::size_t row = dims(box, 0) * sample;
    for (std::size_t z = 0; z != dims(box, 2); ++z)
    {
      for (std::size_t y = 0; y != dims(box, 1); ++y)
      {
        const auto to =
          (((z + static_cast<std::size_t>(box.lower[2] - stored.lower[2])) * dims(stored, 1) + y +
             static_cast<std::size_t>(box.lower[1] - stored.lower[1])) *
              dims(stored, 0) +
            static_cast<std::size_t>(box.lower[0] - stored.lower[0])) *
          sample;
        std::copy_n(
          this->arrays.back().data() + (z * dims(box, 1) + y) * row, row, all.data() + to);
      }
    }
    this->arrays.back() = std::move(all);
  }
};

std::map<std::string, std::vector<std::byte>> files_in(const std::filesystem::path& folder)
{
  std::map<std::string, std::vector<std::byte>> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
  {
    if (entry.is_regular_file())
    {
      files[entry.path().lexically_relative(folder).string()] = read_bytes(entry.path());
    }
  }
  return files;
}

void remove_dataset(const std::filesystem::path& stem)
{
  std::filesystem::remove(stem.string() + ".idx");
  std::filesystem::remove_all(stem);
}

std::unique_ptr<MadeGrid> make_grid()
{
  auto made = std::make_unique<MadeGrid>(std::array<std::int64_t, 3>{ 30, 23, 26 });
  made->grid.first = { 3, 0, 7 };
  made->grid.origin = { 0.5, 0, -1 };
  made->add("a", ScalarType::Float32);
  made->add("b", ScalarType::UInt8, 3, true);
  return made;
}

WriteOptions usual_options()
{
  WriteOptions options;
  options.bits_per_block = 9;
  options.file_bytes = 20000;
  options.flush = false;
  options.codec = Codec::Lz4;
  return options;
}
}

TEST(IdxCollective, bytes_are_those_that_one_rank_writes)
{
  const SharedDir folder;
  const auto made = make_grid();
  for (const Layout layout : { Layout::RowMajor, Layout::HZ })
  {
    WriteOptions options = usual_options();
    options.layout = layout;
    std::map<std::string, std::vector<std::byte>> expected;
    if (rank() == 0)
    {
      write(folder / "n.idx", made->grid, options);
      expected = files_in(folder / ".");
      remove_dataset(folder / "n");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (const auto& [name, cut] : kCuts)
    {
      const Local local(*made, cut(box_of(*made), rank(), ranks()));
      const Local inside(*made, cut(box_of(*made), rank(), ranks()), 1);
      for (const bat::Route route : { bat::Route::Flat, bat::Route::Leaders })
      {
        options.routing = { route, 1, 2 };
        const bool is_flat = route == bat::Route::Flat;
        const WriteReport report = write_collective(
          MPI_COMM_WORLD, folder / "n.idx", (is_flat ? local : inside).pieces, options);
        EXPECT_EQ(report.samples, made->samples());
        EXPECT_LE(report.bytes_within + report.bytes_between, made->samples() * 7) << name;
        EXPECT_EQ(mpi_test::of_root(std::to_string(report.messages_between)),
          std::to_string(report.messages_between));
        if (rank() == 0)
        {
          const auto found = files_in(folder / ".");
          EXPECT_EQ(report.files + 1, found.size());
          EXPECT_TRUE(found == expected) << name << (is_flat ? ", flat" : ", by leaders");
          remove_dataset(folder / "n");
        }
        MPI_Barrier(MPI_COMM_WORLD);
      }
    }
  }
}

// Random boxes overlap in every way: each sample comes from the first box that has it.
TEST(IdxCollective, parts_of_boxes_are_disjoint)
{
  clouds::Random random(7 + static_cast<std::uint64_t>(rank()));
  constexpr std::int64_t kSide = 9;
  for (int round = 0; round != 200; ++round)
  {
    std::vector<RankBox> boxes;
    std::map<std::array<std::int64_t, 3>, std::int64_t> owner;
    const auto for_each_sample = [](const LogicalBox& box, const auto& visit)
    {
      for (std::int64_t z = box.lower[2]; z <= box.upper[2]; ++z)
      {
        for (std::int64_t y = box.lower[1]; y <= box.upper[1]; ++y)
        {
          for (std::int64_t x = box.lower[0]; x <= box.upper[0]; ++x)
          {
            visit({ x, y, z });
          }
        }
      }
    };
    for (std::int64_t i = 0; i != 8; ++i)
    {
      LogicalBox box;
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        const auto a = static_cast<std::int64_t>(random() % kSide);
        const auto b = static_cast<std::int64_t>(random() % kSide);
        box.lower[axis] = std::min(a, b);
        box.upper[axis] = std::max(a, b);
      }
      boxes.push_back({ i / 2, i % 2, box });
      for_each_sample(box, [&](const std::array<std::int64_t, 3>& p) { owner.emplace(p, i); });
    }
    std::map<std::array<std::int64_t, 3>, std::int64_t> found;
    bool is_once = true;
    const std::vector<RankBox> parts = disjoint_parts(boxes);
    for (const RankBox& part : parts)
    {
      for_each_sample(part.box,
        [&](const std::array<std::int64_t, 3>& p)
        { is_once = found.emplace(p, 2 * part.rank + part.piece).second && is_once; });
    }
    EXPECT_TRUE(is_once);
    EXPECT_TRUE(found == owner);
    const LogicalBox whole{ { 0, 0, 0 }, { kSide - 1, kSide - 1, kSide - 1 } };
    EXPECT_EQ(cover(parts, whole), found.size() == kSide * kSide * kSide);
    boxes.push_back({ 4, 0, whole });
    EXPECT_TRUE(cover(disjoint_parts(boxes), whole));
  }
}

TEST(IdxCollective, ranks_read_their_pieces_at_any_level)
{
  const SharedDir folder;
  const auto made = make_grid();
  const Local local(*made, kCuts.at("slabs")(box_of(*made), rank(), ranks()));
  WriteOptions options = usual_options();
  for (const std::int64_t step : { 1, 2 })
  {
    options.mode = WriteMode::AddStep;
    options.step = step;
    write_collective(MPI_COMM_WORLD, folder / "n.idx", local.pieces, options);
  }
  const Dataset dataset = open_collective(MPI_COMM_WORLD, folder / "n.idx");
  EXPECT_EQ(dataset.steps(), (std::vector<std::int64_t>{ 1, 2 }));
  EXPECT_EQ(dataset.geometry().origin, made->grid.origin);
  for (int level = 0; level <= dataset.levels(); ++level)
  {
    const LogicalBox box = part_along(dataset.box(), 0, rank(), ranks());
    for (const std::size_t field : { 0u, 1u })
    {
      EXPECT_EQ(read_all(dataset, { field, level, box, 2 }),
        made->part(field, dataset.distance(level), box));
    }
  }
}

TEST(IdxCollective, all_ranks_end_alike)
{
  const SharedDir folder;
  const auto made = make_grid();
  const LogicalBox whole = box_of(*made);
  const int last = ranks() - 1;
  const auto expect_refused = [&](GridPieces pieces, WriteOptions options, const char* word)
  {
    const std::string error = mpi_test::error_of(
      [&] { write_collective(MPI_COMM_WORLD, folder / "n.idx", pieces, options); });
    EXPECT_NE(error.find(word), std::string::npos) << error << " says nothing of " << word;
    EXPECT_EQ(mpi_test::of_root(error), error);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0)
    {
      EXPECT_TRUE(names_in(folder / ".").empty()) << word;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  };
  const Local local(*made, kCuts.at("slabs")(whole, rank(), ranks()));
  const WriteOptions options = usual_options();

  expect_refused({}, options, "no rank has samples");

  Boxes with_hole = kCuts.at("slabs")(whole, rank(), ranks());
  if (rank() == last)
  {
    with_hole[0].lower[0] += 1; // in the plane at x = 3
    with_hole.push_back({ { 3, 0, 7 }, { 3, 22, 31 } });
    with_hole.push_back({ { 3, 0, 32 }, { 3, 21, 32 } });
  }
  const Local holed(*made, with_hole);
  expect_refused(holed.pieces, options, "no rank has the sample at 3 22 32");

  GridPieces other = local.pieces;
  if (rank() == last && last != 0)
  {
    other.fields[0].type = ScalarType::Int32;
    expect_refused(other, options, "a int32[1], b uint8[3]");
    other = local.pieces;
    other.spacing[1] = 1.5;
    expect_refused(other, options, "spacing 1.5");
  }
  else if (last != 0)
  {
    expect_refused(other, options, "a int32[1], b uint8[3]");
    expect_refused(other, options, "spacing 1.5");
  }

  other = local.pieces;
  if (rank() == last)
  {
    other.pieces[0].values[1] = nullptr;
  }
  expect_refused(other, options, "1 of them null");
  other = local.pieces;
  if (rank() == last)
  {
    other.pieces[0].box.lower[0] = -1;
  }
  expect_refused(other, options, "-1");
  other = local.pieces;
  if (rank() == last)
  {
    other.pieces[0].stored = other.pieces[0].box;
    ++other.pieces[0].stored->lower[1];
  }
  expect_refused(other, options, "must lie inside its stored array box");

  WriteOptions cancelled = options;
  cancelled.progress = [&](double fraction) { return rank() != last || fraction < 0.5; };
  expect_refused(local.pieces, cancelled, "cancelled");

  {
    std::optional<FileSizeLimit> full;
    if (rank() == last)
    {
      full.emplace(100);
    }
    expect_refused(local.pieces, options, "is unchanged");
  }
  MPI_Barrier(MPI_COMM_WORLD);

  // Missing samples may be allowed.
  WriteOptions with_zeros = options;
  with_zeros.missing = MissingSamples::Zero;
  write_collective(MPI_COMM_WORLD, folder / "n.idx", holed.pieces, with_zeros);
  if (rank() == 0)
  {
    const Dataset dataset = Dataset::open(folder / "n.idx");
    auto expected = made->values[0];
    const std::size_t at = 4 * static_cast<std::size_t>((25 * 23 + 22) * 30);
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(at), 4, std::byte{ 0 });
    EXPECT_EQ(read_all(dataset, { 0, dataset.levels(), {}, 0 }), expected);
  }
}
