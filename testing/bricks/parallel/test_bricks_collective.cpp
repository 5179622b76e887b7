// SPDX-License-Identifier: BSD-3-Clause
// Many ranks write the same bytes as one, for any distribution, and all end alike.
#include "bat/bricks/parallel.hpp"
#include "bat/error.hpp"
#include "bricks/brick_cases.hpp"
#include "particles/parallel/mpi_support.hpp"
#include "support/file_size_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

namespace
{
using namespace bat;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::SharedDir;

using Boxes = std::vector<LogicalBox>;
using Cut = std::function<Boxes(const LogicalBox& whole)>;

LogicalBox part_along(LogicalBox box, std::size_t axis, int i, int n)
{
  const std::int64_t first = box.lower[axis];
  const std::int64_t count = box.upper[axis] - first + 1;
  box.lower[axis] = first + count * i / n;
  box.upper[axis] = first + count * (i + 1) / n - 1;
  return box;
}

const std::map<std::string, Cut> kCuts{
  { "slabs",
    [](const LogicalBox& whole) { return Boxes{ part_along(whole, 2, rank(), ranks()) }; } },
  { "in x",
    [](const LogicalBox& whole) { return Boxes{ part_along(whole, 0, rank(), ranks()) }; } },
  { "27 boxes",
    [](const LogicalBox& whole)
    {
      Boxes boxes;
      for (int i = rank(); i < 27; i += ranks())
      {
        boxes.push_back(
          part_along(part_along(part_along(whole, 0, i % 3, 3), 1, i / 3 % 3, 3), 2, i / 9, 3));
      }
      return boxes;
    } },
  { "overlapping",
    [](const LogicalBox& whole)
    {
      LogicalBox box = part_along(whole, 1, rank(), ranks());
      box.lower[1] = std::max(whole.lower[1], box.lower[1] - 2);
      box.upper[1] = std::min(whole.upper[1], box.upper[1] + 1);
      return Boxes{ box };
    } },
  { "the last rank has all",
    [](const LogicalBox& whole) { return rank() == ranks() - 1 ? Boxes{ whole } : Boxes{}; } },
};

// Values of a box of a case, with `ghosts` layers around it that contain other values.
struct Local
{
  bricks::Header header;
  std::vector<bricks::Piece> pieces;
  std::vector<std::vector<std::byte>> arrays;

  Local(const brick_cases::Case& made, const std::array<std::int64_t, 3>& first, const Boxes& boxes,
    std::int64_t ghosts)
  {
    const BrickGrid& grid = made.header.grid;
    if (!boxes.empty() || rank() == 0)
    {
      this->header = made.header;
      this->header.grid.points = { 1, 1, 1 };
    }
    for (std::size_t a = 0; a != 3; ++a)
    {
      this->header.grid.origin[a] =
        grid.origin[a] - static_cast<double>(first[a]) * grid.spacing[a];
    }
    for (const LogicalBox& box : boxes)
    {
      if (box.is_empty())
      {
        continue;
      }
      bricks::Piece piece;
      piece.box = box;
      LogicalBox stored = box;
      for (std::size_t a = 0; a != 3; ++a)
      {
        stored.lower[a] -= ghosts;
        stored.upper[a] += ghosts;
      }
      if (ghosts != 0)
      {
        piece.stored = stored;
      }
      std::vector<std::byte> values;
      for (std::int64_t z = stored.lower[2]; z <= stored.upper[2]; ++z)
      {
        for (std::int64_t y = stored.lower[1]; y <= stored.upper[1]; ++y)
        {
          for (std::int64_t x = stored.lower[0]; x <= stored.upper[0]; ++x)
          {
            const bool inside = box.lower[0] <= x && x <= box.upper[0] && box.lower[1] <= y &&
              y <= box.upper[1] && box.lower[2] <= z && z <= box.upper[2];
            const std::int64_t at =
              x - first[0] + grid.points[0] * (y - first[1] + grid.points[1] * (z - first[2]));
            const std::size_t point = grid.point_bytes();
            if (inside)
            {
              const auto* from = made.values.data() + static_cast<std::size_t>(at) * point;
              values.insert(values.end(), from, from + point);
            }
            else
            {
              values.insert(values.end(), point, std::byte{ 0x5A });
            }
          }
        }
      }
      this->arrays.push_back(std::move(values));
      piece.values = this->arrays.back().data();
      this->pieces.push_back(piece);
    }
  }
};

LogicalBox box_of(const BrickGrid& grid, const std::array<std::int64_t, 3>& first)
{
  LogicalBox box;
  for (std::size_t a = 0; a != 3; ++a)
  {
    box.lower[a] = first[a];
    box.upper[a] = first[a] + grid.points[a] - 1;
  }
  return box;
}

// The error, which must be the same on all ranks.
std::optional<Error> error_of(const std::function<void()>& write)
{
  std::optional<Error> error;
  try
  {
    write();
  }
  catch (const Error& e)
  {
    error = e;
  }
  std::string text = error ? error->what() : "";
  std::uint64_t size = text.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  std::string first = text;
  first.resize(size);
  MPI_Bcast(first.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(text, first) << "rank " << rank();
  return error;
}

void expect_error(const std::function<void()>& write, ErrorCode code, const std::string& word)
{
  const auto error = error_of(write);
  ASSERT_TRUE(error) << word;
  EXPECT_EQ(error->code(), code) << error->what();
  EXPECT_NE(std::string(error->what()).find(word), std::string::npos) << error->what();
}
}

TEST(BricksCollective, the_bytes_are_those_of_one_process)
{
  const SharedDir folder;
  std::vector<brick_cases::Case> cases = brick_cases::all();
  cases.push_back(
    brick_cases::make("pages", { 150, 70, 66 }, 3, ScalarType::Float32, 8, true, true));
  cases.push_back(brick_cases::make("row", { 3000, 1, 1 }, 2, ScalarType::Float64, 32, true, true));
  int written = 0;
  for (const brick_cases::Case& made : cases)
  {
    const auto alone = folder / (made.name + "_alone.bricks");
    bricks::WriteReport expected;
    if (rank() == 0)
    {
      expected = bricks::write(alone, made.header, made.values.data(), made.values.size());
    }
    for (const auto& [name, cut] : kCuts)
    {
      const std::int64_t ghosts = written++ % 2; // both come with every cut
      // Indices of points that do not begin at 0, if the origin stays exact.
      const std::array<std::int64_t, 3> first{ 0, ghosts * 4, 0 };
      const Local local(made, first, cut(box_of(made.header.grid, first)), ghosts);
      const auto path = folder / (made.name + "_collective.bricks");
      bricks::WriteOptions options;
      options.flush = written == 1;
      options.threads = 1 + rank() % 2;
      const auto report =
        bricks::write_collective(MPI_COMM_WORLD, path, local.header, local.pieces, options);
      if (rank() == 0)
      {
        EXPECT_EQ(report.bricks, expected.bricks);
        EXPECT_EQ(report.blank_bricks, expected.blank_bricks);
        EXPECT_EQ(report.file_bytes, expected.file_bytes);
        if (read_bytes(path) != read_bytes(alone))
        {
          const auto file = bricks::File::open(path);
          EXPECT_EQ(file.grid().origin, made.header.grid.origin);
          ADD_FAILURE() << made.name << ", " << name << ", ghosts " << ghosts;
        }
      }
    }
  }
}

TEST(BricksCollective, what_cannot_be_is_refused_on_all_ranks_and_leaves_no_file)
{
  const SharedDir folder;
  const auto path = folder / "refused.bricks";
  const auto made = brick_cases::make("r", { 40, 30, 20 }, 3, ScalarType::Float32, 8, false, true);
  const LogicalBox whole = box_of(made.header.grid, {});
  const auto write = [&](
                       const std::function<void(Local&)>& change, bricks::WriteOptions options = {})
  {
    return [&, change, options]
    {
      Local local(made, {}, { part_along(whole, 2, rank(), ranks()) }, 0);
      change(local);
      bricks::write_collective(MPI_COMM_WORLD, path, local.header, local.pieces, options);
    };
  };
  const bool last = rank() == ranks() - 1;
  expect_error(
    write([](Local& m) { m.pieces.clear(); }), ErrorCode::InvalidArgument, "no rank has points");
  expect_error(write(
                 [&](Local& m)
                 {
                   if (last)
                   {
                     m.pieces[0].values = nullptr;
                   }
                 }),
    ErrorCode::InvalidArgument, "no velocity array");
  expect_error(write(
                 [&](Local& m)
                 {
                   if (last)
                   {
                     m.pieces[0].box.lower[0] = -1;
                   }
                 }),
    ErrorCode::InvalidArgument, "from 0");
  expect_error(write(
                 [&](Local& m)
                 {
                   m.pieces[0].stored = m.pieces[0].box; // no rank has one of its corners
                   if (last)
                   {
                     m.pieces.push_back(m.pieces[0]);
                     m.pieces[0].box.upper[0] = 20;
                     m.pieces[1].box.lower[0] = 22;
                   }
                 }),
    ErrorCode::InvalidArgument, "no rank has the point 21 0 ");
  expect_error(
    write([](Local& m) { m.header.time = std::nan(""); }), ErrorCode::InvalidArgument, "time");
  expect_error(write([](Local& m) { m.header.grid.spacing[1] = 0; }), ErrorCode::InvalidArgument,
    "spacing along y");
  if (ranks() > 1)
  {
    expect_error(write(
                   [&](Local& m)
                   {
                     if (last)
                     {
                       m.header.grid.spacing[2] *= 1.01;
                     }
                   }),
      ErrorCode::InvalidArgument, "rank " + std::to_string(ranks() - 1) + " has");
  }
  bricks::WriteOptions options;
  options.progress = [&](double done) { return !(last && done > 0); };
  expect_error(write([](Local&) {}, options), ErrorCode::Cancelled, "cancelled");
  expect_error(
    [&]
    {
      const FileSizeLimit full(20000);
      write([](Local&) {})();
    },
    ErrorCode::NoSpace, "refused.bricks");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(names_in(path.parent_path()).empty());
  MPI_Barrier(MPI_COMM_WORLD);

  EXPECT_FALSE(error_of(write([](Local&) {}))); // now it is possible
}
