// SPDX-License-Identifier: BSD-3-Clause
// Brick files and series of them: bit-exact values, boxes, slots, rejected arguments, lists.
#include "bat/bricks/series.hpp"
#include "bat/bricks/write.hpp"
#include "bat/error.hpp"
#include "bricks/brick_cases.hpp"
#include "bricks/format/layout.hpp"
#include "support/file_size_limit.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <set>

namespace
{
using namespace bat;

std::vector<std::byte> read_all(const bricks::File& file)
{
  const BrickGrid& grid = file.grid();
  std::vector<std::byte> values(brick_cases::point_count(grid) * grid.point_bytes());
  file.read_box({ 0, 0, 0 }, grid.points, values.data(), values.size());
  return values;
}

ErrorCode code_of(const std::function<void()>& f, std::string* text = nullptr)
{
  try
  {
    f();
  }
  catch (const Error& error)
  {
    if (text)
    {
      *text = error.what();
    }
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::Cancelled;
}
}

TEST(Bricks, every_bit_of_every_value_comes_back)
{
  const TempDir folder;
  for (const brick_cases::Case& made : brick_cases::all())
  {
    for (const bool compress : { true, false })
    {
      SCOPED_TRACE(made.name);
      const auto path = folder / (made.name + ".bricks");
      bricks::WriteOptions options;
      options.compress = compress;
      const auto report =
        bricks::write(path, made.header, made.values.data(), made.values.size(), options);
      EXPECT_TRUE(bricks::File::can_open(path));
      const auto file = bricks::File::open(path);
      EXPECT_EQ(file.grid(), made.header.grid);
      EXPECT_EQ(file.header().field, made.header.field);
      EXPECT_EQ(file.header().metadata, made.header.metadata);
      EXPECT_EQ(file.header().time, made.header.time);
      EXPECT_EQ(file.header().step, made.header.step);
      EXPECT_EQ(read_all(file), made.values);
      EXPECT_EQ(report.file_bytes, std::filesystem::file_size(path));
      const bricks::Checked checked = file.validate();
      EXPECT_EQ(checked.bricks, made.header.grid.brick_count());
      EXPECT_EQ(checked.value_bytes, made.values.size());
      EXPECT_EQ(checked.blank_bricks, report.blank_bricks);
    }
  }
}

TEST(Bricks, boxes_are_what_a_look_at_all_points_finds)
{
  const TempDir folder;
  const auto made = brick_cases::make("box", { 33, 20, 17 }, 3, ScalarType::Float32, 8, true, true);
  bricks::write(folder / "a.bricks", made.header, made.values.data(), made.values.size());
  const auto file = bricks::File::open(folder / "a.bricks");
  std::mt19937 random(3);
  for (int n = 0; n != 40; ++n)
  {
    std::array<std::int64_t, 3> first{};
    std::array<std::int64_t, 3> count{};
    std::size_t points = 1;
    for (std::size_t a = 0; a != 3; ++a)
    {
      first[a] = static_cast<std::int64_t>(random()) % file.grid().points[a];
      count[a] = 1 + static_cast<std::int64_t>(random()) % (file.grid().points[a] - first[a]);
      points *= static_cast<std::size_t>(count[a]);
    }
    std::vector<std::byte> expected;
    for (std::int64_t z = first[2]; z != first[2] + count[2]; ++z)
    {
      for (std::int64_t y = first[1]; y != first[1] + count[1]; ++y)
      {
        const auto* row = made.values.data() + 12 * (first[0] + 33 * (y + 20 * z));
        expected.insert(expected.end(), row, row + 12 * count[0]);
      }
    }
    std::vector<std::byte> values(12 * points);
    file.read_box(first, count, values.data(), values.size());
    ASSERT_EQ(values, expected);
  }
  std::vector<std::byte> values(12);
  EXPECT_EQ(code_of(
              [&] {
                file.read_box({ 33, 0, 0 }, { 1, 1, 1 }, values.data(), 12);
              }),
    ErrorCode::InvalidArgument);
  EXPECT_EQ(code_of(
              [&] {
                file.read_box({ 0, 0, 0 }, { 2, 1, 1 }, values.data(), 12);
              }),
    ErrorCode::InvalidArgument);
  EXPECT_EQ(code_of([&] { (void)file.stored_bytes(file.grid().brick_count()); }),
    ErrorCode::InvalidArgument);
}

TEST(Bricks, bytes_do_not_depend_on_threads)
{
  const TempDir folder;
  const auto made = brick_cases::make("t", { 70, 66, 20 }, 3, ScalarType::Float32, 8, true, true);
  for (const int threads : { 1, 2, 5 })
  {
    bricks::WriteOptions options;
    options.threads = threads;
    bricks::write(folder / ("t" + std::to_string(threads) + ".bricks"), made.header,
      made.values.data(), made.values.size(), options);
  }
  EXPECT_EQ(read_bytes(folder / "t1.bricks"), read_bytes(folder / "t2.bricks"));
  EXPECT_EQ(read_bytes(folder / "t1.bricks"), read_bytes(folder / "t5.bricks"));
}

TEST(Bricks, smooth_fields_shrink_and_blank_ones_cost_nothing)
{
  const TempDir folder;
  const auto smooth =
    brick_cases::make("s", { 64, 64, 32 }, 3, ScalarType::Float32, 8, false, false);
  const auto report =
    bricks::write(folder / "s.bricks", smooth.header, smooth.values.data(), smooth.values.size());
  EXPECT_LT(report.file_bytes, report.value_bytes * 8 / 10);
  const auto blank = brick_cases::all().back();
  bricks::write(folder / "b.bricks", blank.header, blank.values.data(), blank.values.size());
  const auto file = bricks::File::open(folder / "b.bricks");
  EXPECT_EQ(file.validate().brick_bytes, 0u);
  EXPECT_EQ(file.header().largest_speed, 0);
}

TEST(Bricks, fluid_at_rest_costs_no_read)
{
  const TempDir folder;
  for (const ScalarType type : { ScalarType::Float32, ScalarType::Float64 })
  {
    for (const bool compress : { true, false })
    {
      // Some bricks at rest, one without flow, one with a single -0, and ordinary bricks between.
      auto made = brick_cases::make("r", { 40, 20, 9 }, 3, type, 8, false, false);
      const std::size_t point = made.header.grid.point_bytes();
      const auto is_of = [](std::size_t i, std::size_t x) { return i % 40 / 8 == x; };
      for (std::size_t i = 0; i != made.values.size() / point; ++i)
      {
        std::byte* const at = made.values.data() + i * point;
        if (is_of(i, 1) || is_of(i, 3) || is_of(i, 4))
        {
          std::memset(at, 0, point);
        }
      }
      made.values[36 * point + point - 1] = std::byte{ 0x80 };
      bricks::WriteOptions options;
      options.compress = compress;
      const auto report = bricks::write(
        folder / "r.bricks", made.header, made.values.data(), made.values.size(), options);
      EXPECT_EQ(report.blank_bricks, 0u);
      const auto file = bricks::File::open(folder / "r.bricks");
      EXPECT_EQ(file.validate().blank_bricks, 0u);
      std::vector<std::byte> values(made.values.size());
      file.read_box({ 0, 0, 0 }, { 40, 20, 9 }, values.data(), values.size());
      EXPECT_EQ(values, made.values);
      std::vector<std::byte> brick(8 * 8 * 8 * point);
      const auto read = [&](std::uint64_t number) {
        return file.read(number, { brick.data(), 8 * point, 64 * point });
      };
      EXPECT_GT(read(0), 0u);
      EXPECT_EQ(read(1), 0u);
      EXPECT_GT(read(2), 0u);
      EXPECT_EQ(read(3), 0u);
      EXPECT_GT(read(4), 0u); // -0 is a different value
      EXPECT_EQ(file.stored_bytes(8), 0u);
    }
  }
}

TEST(Bricks, slots_are_a_permutation_for_any_shape_of_the_grid)
{
  for (const std::array<std::int64_t, 3> points : { std::array<std::int64_t, 3>{ 1, 1, 1 },
         { 65, 8, 8 }, { 200, 130, 1 }, { 1, 1, 5000 }, { 70, 71, 72 }, { 8, 700, 9 } })
  {
    BrickGrid grid;
    grid.points = points;
    const bricks::format::SlotOrder order(grid);
    std::set<std::uint64_t> seen;
    for (std::uint64_t brick = 0; brick != grid.brick_count(); ++brick)
    {
      const std::uint64_t slot = order.slot(grid.brick_place(brick));
      ASSERT_LT(slot, order.slot_count());
      ASSERT_TRUE(seen.insert(slot).second);
      ASSERT_EQ(order.place(slot), grid.brick_place(brick));
      ASSERT_EQ(grid.brick_number(order.place(slot)), brick);
    }
  }
  BrickGrid huge; // arithmetic beyond 32 bits
  huge.points = { 0x7FFFFFFF, 8 * 100, 8 };
  const bricks::format::SlotOrder order(huge);
  const std::array<std::int64_t, 3> last{ huge.bricks(0) - 1, 99, 0 };
  EXPECT_GT(huge.brick_count(), std::uint64_t{ 1 } << 34);
  EXPECT_EQ(order.place(order.slot(last)), last);
  EXPECT_EQ(huge.brick_place(huge.brick_number(last)), last);
}

TEST(Bricks, what_no_file_can_hold_is_refused_by_name)
{
  const TempDir folder;
  const auto refused = [&](const std::function<void(bricks::Header&)>& change, const char* word)
  {
    auto made = brick_cases::make("r", { 9, 9, 9 }, 3, ScalarType::Float32, 8, false, false);
    change(made.header);
    std::string text;
    EXPECT_EQ(code_of(
                [&] {
                  bricks::write(
                    folder / "r.bricks", made.header, made.values.data(), made.values.size());
                },
                &text),
      ErrorCode::InvalidArgument);
    EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_NE(text.find("r.bricks"), std::string::npos) << text;
    EXPECT_TRUE(names_in(folder.path()).empty());
  };
  refused([](auto& h) { h.grid.points[1] = 0; }, "points along y");
  refused([](auto& h) { h.grid.points = { 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF }; }, "bricks");
  refused([](auto& h) { h.grid.points[1] = 8; }, "bytes");
  refused([](auto& h) { h.grid.spacing[2] = 0; }, "spacing along z");
  refused([](auto& h) { h.grid.origin[0] = std::nan(""); }, "origin along x");
  refused([](auto& h) { h.grid.edge = 33; }, "edge");
  refused([](auto& h) { h.grid.components = 4; }, "components");
  refused([](auto& h) { h.grid.type = ScalarType::Int32; }, "type");
  refused([](auto& h) { h.time = std::nan(""); }, "time");
  refused([](auto& h) { h.field = "\xFF"; }, "field name");
  refused([](auto& h) { h.metadata = "[]"; }, "metadata");
  auto made = brick_cases::make("r", { 9, 9, 9 }, 3, ScalarType::Float32, 8, false, false);
  bricks::WriteOptions options;
  options.progress = [](double) { return false; };
  EXPECT_EQ(code_of(
              [&]
              {
                bricks::write(folder / "r.bricks", made.header, made.values.data(),
                  made.values.size(), options);
              }),
    ErrorCode::Cancelled);
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(Bricks, a_full_disk_leaves_what_was_there)
{
  const TempDir folder;
  const auto path = folder / "f.bricks";
  const auto made = brick_cases::make("f", { 40, 40, 40 }, 3, ScalarType::Float32, 8, false, true);
  bricks::write(path, made.header, made.values.data(), made.values.size());
  const auto before = read_bytes(path);
  for (const rlim_t limit : { 0u, 200u, 5000u, 300000u })
  {
    std::string text;
    {
      const FileSizeLimit full(limit);
      const ErrorCode code = code_of(
        [&] { bricks::write(path, made.header, made.values.data(), made.values.size()); }, &text);
      EXPECT_TRUE(code == ErrorCode::NoSpace || code == ErrorCode::WriteFailed) << text;
    }
    EXPECT_NE(text.find("f.bricks"), std::string::npos) << text;
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{ "f.bricks" });
    EXPECT_EQ(read_bytes(path), before);
  }
}

TEST(BrickSeries, levels_of_a_list_and_what_is_wrong_with_lists)
{
  const TempDir folder;
  auto made = brick_cases::make("s", { 9, 9, 9 }, 3, ScalarType::Float32, 8, false, false);
  for (int level = 0; level != 3; ++level)
  {
    std::memset(made.values.data(), level, 12);
    bricks::write(folder / ("s" + std::to_string(level) + ".bricks"), made.header,
      made.values.data(), made.values.size());
  }
  const auto list = folder / "s.bricks.series";
  bricks::write_list(list, { { "s0.bricks", -1 }, { "s1.bricks", 0.5 }, { "s2.bricks", 0.75 } });
  const auto series = bricks::Series::open(list);
  EXPECT_EQ(series->times(), (std::vector<double>{ -1, 0.5, 0.75 }));
  EXPECT_EQ(series->grid(), made.header.grid);
  std::vector<std::byte> brick(8 * 8 * 8 * 12);
  EXPECT_GT(series->read(2, 0, { brick.data(), 96, 768 }), 0u);
  EXPECT_EQ(brick[0], std::byte{ 2 });
  EXPECT_EQ(code_of(
              [&] {
                series->read(3, 0, { brick.data(), 96, 768 });
              }),
    ErrorCode::InvalidArgument);

  std::string text;
  EXPECT_EQ(code_of(
              [&] {
                bricks::write_list(list, { { "a", 1 }, { "b", 1 } });
              },
              &text),
    ErrorCode::InvalidArgument);
  EXPECT_NE(text.find("'b'"), std::string::npos);
  EXPECT_EQ(code_of(
              [&] {
                bricks::write_list(list, { { "a\xE9", 1 } });
              },
              &text),
    ErrorCode::InvalidArgument);
  EXPECT_NE(text.find("s.bricks.series: the name 'a\xE9'"), std::string::npos) << text;
  EXPECT_EQ(code_of([&] { bricks::write_list(list, {}); }), ErrorCode::InvalidArgument);
  const auto write_text = [&](const std::string& json)
  {
    const auto* data = reinterpret_cast<const std::byte*>(json.data());
    write_bytes(list, { data, data + json.size() });
  };
  for (const char* json : { "", "[]", "{\"files\": []}", "{\"files\": [{\"name\": \"s0.bricks\"}]}",
         "{\"files\": [{\"name\": \"s0.bricks\", \"time\": 2}, {\"name\": \"s1.bricks\", "
         "\"time\": 1}]}" })
  {
    write_text(json);
    EXPECT_EQ(code_of([&] { (void)bricks::Series::open(list); }), ErrorCode::Corrupt) << json;
  }
  EXPECT_EQ(
    code_of([&] { (void)bricks::Series::open(folder / "none.series"); }), ErrorCode::NotFound);

  // A missing file, or one with another grid, only matters to calls that need it.
  auto other = brick_cases::make("o", { 9, 9, 10 }, 3, ScalarType::Float32, 8, false, false);
  bricks::write(folder / "o.bricks", other.header, other.values.data(), other.values.size());
  bricks::write_list(list, { { "gone.bricks", 0 }, { "s1.bricks", 1 }, { "o.bricks", 2 } });
  const auto partial = bricks::Series::open(list);
  EXPECT_NO_THROW(partial->read(1, 0, { brick.data(), 96, 768 }));
  EXPECT_EQ(code_of([&] { partial->read(0, 0, { brick.data(), 96, 768 }); }), ErrorCode::NotFound);
  EXPECT_EQ(code_of(
              [&] {
                partial->read(2, 0, { brick.data(), 96, 768 });
              },
              &text),
    ErrorCode::Corrupt);
  EXPECT_NE(text.find("o.bricks"), std::string::npos);
  EXPECT_NE(text.find("its grid differs"), std::string::npos);
}

TEST(BrickSeries, goes_on_with_times_that_were_added_and_not_with_files_that_were_replaced)
{
  const TempDir folder;
  auto made = brick_cases::make("g", { 9, 9, 9 }, 3, ScalarType::Float32, 8, false, false);
  const auto write_level = [&](int level, int value)
  {
    std::memset(made.values.data(), value, 12);
    bricks::write(folder / ("g" + std::to_string(level) + ".bricks"), made.header,
      made.values.data(), made.values.size());
  };
  const auto list = folder / "g.bricks.series";
  const auto write_list = [&](int levels, double shift = 0)
  {
    std::vector<bricks::SeriesEntry> entries;
    for (int i = 0; i != levels; ++i)
    {
      entries.push_back({ "g" + std::to_string(i) + ".bricks", i + shift });
    }
    bricks::write_list(list, entries);
  };
  std::vector<std::byte> brick(8 * 8 * 8 * 12);
  const auto first_byte = [&](const bricks::Series& series, std::size_t level)
  {
    series.read(level, 0, { brick.data(), 96, 768 });
    return static_cast<int>(brick[0]);
  };
  for (int level = 0; level != 5; ++level)
  {
    write_level(level, level);
  }
  write_list(3);
  const auto first = bricks::Series::open(list);
  EXPECT_EQ(first_byte(*first, 0), 0);
  EXPECT_EQ(first_byte(*first, 2), 2);
  EXPECT_TRUE(first->continues_in(*first));
  EXPECT_TRUE(first->continues_in(*first->reopen()));

  write_list(4);
  const auto grown = first->reopen();
  EXPECT_EQ(grown->times().size(), 4u);
  EXPECT_TRUE(first->continues_in(*grown));
  EXPECT_FALSE(grown->continues_in(*first));
  // Files opened twice share no state.
  EXPECT_FALSE(first->continues_in(*bricks::Series::open(list)));
  EXPECT_EQ(first_byte(*grown, 3), 3);

  // Nothing is computed for a file that has not been read.
  write_level(1, 50);
  write_list(5);
  const auto more = grown->reopen();
  EXPECT_TRUE(first->continues_in(*more));
  EXPECT_TRUE(grown->continues_in(*more));
  EXPECT_EQ(first_byte(*more, 1), 50);
  // The first one has read this level; the second one has not.
  write_level(0, 60);
  const auto replaced = more->reopen();
  EXPECT_FALSE(first->continues_in(*replaced));
  EXPECT_FALSE(grown->continues_in(*replaced));
  EXPECT_FALSE(more->continues_in(*replaced));
  EXPECT_EQ(first_byte(*replaced, 0), 60);
  EXPECT_EQ(first_byte(*more, 0), 0);

  write_list(5, 0.5);
  EXPECT_FALSE(replaced->continues_in(*replaced->reopen()));
  write_list(4);
  EXPECT_FALSE(replaced->continues_in(*replaced->reopen()));
  std::filesystem::remove(folder / "g0.bricks");
  write_list(5);
  EXPECT_FALSE(replaced->continues_in(*replaced->reopen()));

  // Overwritten in place by as many bytes, with its time set back.
  bricks::WriteOptions flat;
  flat.compress = false;
  for (const int level : { 0, 2 })
  {
    std::memset(made.values.data(), 60 + level, 12);
    bricks::write(folder / ("g" + std::to_string(level) + ".bricks"), made.header,
      made.values.data(), made.values.size(), flat);
  }
  write_list(3);
  const auto last = bricks::Series::open(list);
  EXPECT_EQ(first_byte(*last, 0), 60);
  const auto file = folder / "g0.bricks";
  const auto when = std::filesystem::last_write_time(file);
  std::filesystem::copy_file(
    folder / "g2.bricks", file, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::last_write_time(file, when);
  EXPECT_FALSE(last->continues_in(*last->reopen()));
}

TEST(BrickSeries, an_open_file_that_is_replaced_is_read_to_its_end_or_refused)
{
  const TempDir folder;
  const auto path = folder / "r.bricks";
  auto made = brick_cases::make("r", { 40, 40, 40 }, 3, ScalarType::Float32, 8, false, false);
  bricks::write(path, made.header, made.values.data(), made.values.size());
  const auto file = bricks::File::open(path);
  const std::vector<std::byte> before = made.values;
  std::memset(made.values.data(), 0, made.values.size());
  bricks::write(path, made.header, made.values.data(), made.values.size());
  EXPECT_EQ(read_all(file), before);
  EXPECT_EQ(read_all(bricks::File::open(path)), made.values);
}
