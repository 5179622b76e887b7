// SPDX-License-Identifier: BSD-3-Clause
// Written data is read back, whatever its shape; a step appears atomically or not at all.

#include "bat/error.hpp"
#include "bat/idx/dataset.hpp"
#include "bat/idx/write.hpp"
#include "idx/unit/idx_grids.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace bat::idx;
using bat::ErrorCode;
using bat::ScalarType;

namespace
{
const ScalarType kTypes[] = { ScalarType::Int8, ScalarType::UInt8, ScalarType::Int16,
  ScalarType::UInt16, ScalarType::Int32, ScalarType::UInt32, ScalarType::Int64, ScalarType::UInt64,
  ScalarType::Float32, ScalarType::Float64 };

// Every level of the whole, and random boxes, in one go and from a coarser level on.
void expect_equal(const std::filesystem::path& path, MadeGrid& made, std::int64_t step = 0)
{
  const Dataset dataset = Dataset::open(path);
  const auto pick = [&](std::int64_t from, std::int64_t to)
  { return std::uniform_int_distribution<std::int64_t>(from, to)(made.random); };
  for (std::size_t f = 0; f != made.grid.fields.size(); ++f)
  {
    ASSERT_EQ(dataset.fields()[f].name, made.grid.fields[f].name);
    for (int round = 0; round <= dataset.levels() + 6; ++round)
    {
      Query query;
      query.field = f;
      query.step = step;
      query.level = round;
      LogicalBox box = dataset.box();
      if (round > dataset.levels())
      {
        query.level = static_cast<int>(pick(0, dataset.levels()));
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          box.lower[axis] = pick(box.lower[axis], box.upper[axis]);
          box.upper[axis] = pick(box.lower[axis], box.upper[axis]);
        }
        query.box = box;
      }
      const auto expected = made.part(f, dataset.distance(query.level), box);
      ASSERT_EQ(read_all(dataset, query), expected)
        << path << " field " << f << " level " << query.level;
      Query coarse = query;
      coarse.level = static_cast<int>(pick(0, query.level));
      const auto before = read_all(dataset, coarse);
      ReadOptions options;
      options.coarse = CoarseSamples{ coarse.level, before.data() };
      ASSERT_EQ(read_all(dataset, query, options), expected)
        << path << " field " << f << " level " << query.level << " after " << coarse.level;
    }
  }
}

std::map<std::string, std::vector<std::byte>> files_in(const std::filesystem::path& folder)
{
  std::map<std::string, std::vector<std::byte>> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
  {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_regular_file())
    {
      files[name] = read_bytes(entry.path());
    }
  }
  return files;
}

template <class F>
void expect_error(F&& f, ErrorCode code, const std::vector<std::string>& words)
{
  try
  {
    f();
    ADD_FAILURE() << "no error with " << words.front();
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& word : words)
    {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
        << error.what() << "\nsays nothing of " << word;
    }
  }
}
}

TEST(IdxWrite, every_type_and_number_of_components_comes_back)
{
  const TempDir folder;
  MadeGrid made({ 13, 11, 6 });
  for (const ScalarType type : kTypes)
  {
    for (const int components : { 1, 2, 3, 5 })
    {
      made.add(std::string(bat::name_of(type)) + "_" + std::to_string(components), type, components,
        components == 2);
    }
  }
  for (const Codec codec : { Codec::Raw, Codec::Zip, Codec::Lz4 })
  {
    for (const Layout layout : { Layout::RowMajor, Layout::HZ })
    {
      WriteOptions options;
      options.codec = codec;
      options.layout = layout;
      options.flush = false;
      options.bits_per_block = 6;
      write(folder / "a.idx", made.grid, options);
      expect_equal(folder / "a.idx", made);
    }
  }
}

TEST(IdxWrite, every_shape_comes_back)
{
  const TempDir folder;
  int number = 0;
  for (const std::array<std::int64_t, 3> dimensions :
    { std::array<std::int64_t, 3>{ 1, 1, 1 }, { 5, 1, 1 }, { 1, 7, 1 }, { 1, 1, 9 }, { 37, 23, 1 },
      { 1, 20, 30 }, { 64, 32, 16 }, { 33, 70, 9 }, { 3, 3, 65 } })
  {
    MadeGrid made(dimensions, static_cast<unsigned>(++number));
    made.add("a", ScalarType::Float32);
    made.add("b", ScalarType::UInt8, 3);
    for (const int bits : { 0, 1, 4, 9, 28 })
    {
      WriteOptions options;
      options.flush = false;
      options.bits_per_block = bits > 20 ? 20 : bits;
      options.layout = number % 2 == 0 ? Layout::HZ : Layout::RowMajor;
      options.file_bytes = 3000;
      write(folder / "s.idx", made.grid, options);
      expect_equal(folder / "s.idx", made);
    }
    WriteOptions options;
    options.dialect = Dialect::PIDX;
    options.flush = false;
    const std::string name = "pidx" + std::to_string(number) + ".idx";
    write(folder / name, made.grid, options);
    expect_equal(folder / name, made);
  }
}

TEST(IdxWrite, boxes_may_begin_anywhere_and_places_in_space_are_exact)
{
  const TempDir folder;
  MadeGrid made({ 20, 9, 12 });
  made.add("a", ScalarType::Int16);
  made.grid.first = { 5, 100, 33 };
  made.grid.origin = { 1e6 + 0.1, -0.3, 0 };
  made.grid.spacing = { 0.1, 1.0 / 3, 1e-3 };
  write(folder / "a.idx", made.grid);
  expect_equal(folder / "a.idx", made);
  const Dataset dataset = Dataset::open(folder / "a.idx");
  EXPECT_EQ(dataset.geometry().origin, made.grid.origin);
  EXPECT_EQ(dataset.geometry().spacing, made.grid.spacing);
  EXPECT_EQ(dataset.geometry().warning, "");

  const auto at = [&](std::size_t axis, std::int64_t p)
  { return made.grid.origin[axis] + static_cast<double>(p) * made.grid.spacing[axis]; };
  const LogicalBox box = dataset.box_of(
    { { at(0, 7), at(1, 104), -1 }, { at(0, 9), std::nextafter(at(1, 106), -1e9), 1e9 } });
  EXPECT_EQ(box, (LogicalBox{ { 7, 104, 33 }, { 9, 105, 44 } }));
  EXPECT_TRUE(dataset.box_of({ { 0, 0, 0 }, { 1, 1, 1 } }).is_empty());
}

TEST(IdxWrite, bytes_do_not_depend_on_threads)
{
  MadeGrid made({ 40, 41, 42 });
  made.add("a", ScalarType::Float64, 1, true);
  made.add("b", ScalarType::UInt16, 2, true);
  std::map<std::string, std::vector<std::byte>> first;
  for (const int threads : { 1, 2, 0 })
  {
    const TempDir folder;
    WriteOptions options;
    options.threads = threads;
    options.codec = Codec::Zip;
    options.file_bytes = 100000;
    options.flush = threads == 1;
    const WriteReport report = write(folder / "a.idx", made.grid, options);
    EXPECT_GT(report.files, 3u);
    const auto files = files_in(folder.path());
    EXPECT_EQ(files.size(), report.files + 1);
    first = first.empty() ? files : first;
    EXPECT_TRUE(files == first) << threads;
  }
}

TEST(IdxWrite, steps_are_added_and_replaced)
{
  const TempDir folder;
  WriteOptions options;
  options.mode = WriteMode::AddStep;
  options.flush = false;
  options.file_bytes = 2000;
  std::vector<std::unique_ptr<MadeGrid>> made;
  const std::vector<std::int64_t> steps{ 10, 30, 20, 45, 30 };
  for (const std::int64_t step : steps)
  {
    made.push_back(std::make_unique<MadeGrid>(
      std::array<std::int64_t, 3>{ 9, 10, 11 }, static_cast<unsigned>(made.size())));
    made.back()->add("a", ScalarType::Float32);
    options.step = step;
    options.time = static_cast<double>(step) / 4;
    write(folder / "a.idx", made.back()->grid, options);
  }
  const Dataset dataset = Dataset::open(folder / "a.idx");
  EXPECT_EQ(dataset.steps(), (std::vector<std::int64_t>{ 10, 20, 30, 45 }));
  EXPECT_EQ(dataset.times(), (std::vector<double>{ 2.5, 5, 7.5, 11.25 }));
  for (const std::size_t i : { 0u, 2u, 3u, 4u })
  {
    expect_equal(folder / "a.idx", *made[i], steps[i]);
  }
  expect_error(
    [&] {
      (void)read_all(dataset, { 0, 0, {}, 11 });
    },
    ErrorCode::InvalidArgument, { "step 11", "has 4" });

  // A step with another shape, or without a time, changes nothing.
  const auto before = files_in(folder.path());
  MadeGrid other({ 9, 10, 12 });
  other.add("a", ScalarType::Float32);
  expect_error([&] { write(folder / "a.idx", other.grid, options); }, ErrorCode::InvalidArgument,
    { "box", "0 8 0 9 0 10", "0 8 0 9 0 11" });
  options.time = 100;
  options.step = 20;
  expect_error([&] { write(folder / "a.idx", made[0]->grid, options); }, ErrorCode::InvalidArgument,
    { "100", "not between" });
  options.time.reset();
  expect_error([&] { write(folder / "a.idx", made[0]->grid, options); }, ErrorCode::InvalidArgument,
    { "have times" });
  EXPECT_TRUE(files_in(folder.path()) == before);

  // A dataset with only this step replaces all.
  options.mode = WriteMode::Replace;
  write(folder / "a.idx", other.grid, options);
  expect_equal(folder / "a.idx", other, 20);
  EXPECT_EQ(Dataset::open(folder / "a.idx").steps(), std::vector<std::int64_t>{ 20 });
  EXPECT_EQ(names_in(folder / "a").size(), 1u);
  EXPECT_EQ(names_in((folder / "a") / names_in(folder / "a")[0]),
    std::vector<std::string>{ "time_000020" });
}

TEST(IdxWrite, a_step_that_is_given_is_added)
{
  const TempDir folder;
  MadeGrid made({ 9, 10, 11 });
  made.add("a", ScalarType::Float32);
  MadeGrid other({ 9, 10, 12 });
  other.add("a", ScalarType::Float32);
  WriteOptions options;
  options.flush = false;
  for (const std::int64_t step : { 0, 4, 2 })
  {
    options.step = step;
    write(folder / "a.idx", made.grid, options);
  }
  EXPECT_EQ(Dataset::open(folder / "a.idx").steps(), (std::vector<std::int64_t>{ 0, 2, 4 }));
  expect_error([&] { write(folder / "a.idx", other.grid, options); }, ErrorCode::InvalidArgument,
    { "a.idx: the step cannot be added", "0 8 0 9 0 11", "mode=\"replace\"" });
  EXPECT_EQ(Dataset::open(folder / "a.idx").steps(), (std::vector<std::int64_t>{ 0, 2, 4 }));
  options.step.reset();
  write(folder / "a.idx", other.grid, options);
  EXPECT_EQ(Dataset::open(folder / "a.idx").steps(), std::vector<std::int64_t>{ 0 });
  expect_equal(folder / "a.idx", other, 0);
}

TEST(IdxWrite, a_write_that_ends_early_leaves_what_was_there)
{
  const TempDir folder;
  MadeGrid made({ 30, 31, 32 });
  made.add("a", ScalarType::Float32);
  WriteOptions options;
  options.flush = false;
  options.file_bytes = 10000;
  const auto cancelled = [&](int after)
  {
    options.progress = [&, after](double) mutable { return after-- > 0; };
    expect_error(
      [&] { write(folder / "a.idx", made.grid, options); }, ErrorCode::Cancelled, { "cancelled" });
  };
  cancelled(3);
  EXPECT_TRUE(names_in(folder.path()).empty());
  options.progress = nullptr;
  write(folder / "a.idx", made.grid, options);
  const auto before = files_in(folder.path());
  for (auto& byte : made.values[0])
  {
    byte ^= std::byte{ 1 };
  }
  cancelled(0);
  cancelled(4);
  EXPECT_TRUE(files_in(folder.path()) == before);
  {
    // The text cannot be replaced, so the new step is removed again.
    std::filesystem::permissions(folder / "a.idx", std::filesystem::perms::owner_read);
    const WithoutPrivileges nobody(folder.path());
    options.progress = nullptr;
    expect_error(
      [&] { write(folder / "a.idx", made.grid, options); }, ErrorCode::CannotOpen, { "a" });
  }
  EXPECT_TRUE(files_in(folder.path()) == before);
  std::filesystem::permissions(
    folder / "a.idx", std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);

  // The remains of a killed writer are removed.
  const std::filesystem::path shape = (folder / "a") / names_in(folder / "a")[0];
  std::filesystem::create_directory(shape / ".time_000000.0123abcd.tmp");
  write_bytes(shape / ".time_000000.0123abcd.tmp/00.bin", { std::byte{ 1 } });
  write(folder / "a.idx", made.grid, options);
  expect_equal(folder / "a.idx", made);
  ASSERT_EQ(names_in(folder / "a").size(), 1u);
  const std::filesystem::path now = (folder / "a") / names_in(folder / "a")[0];
  EXPECT_NE(now, shape);
  EXPECT_EQ(names_in(now), std::vector<std::string>{ "time_000000" });

  // The same holds for remains with another shape, codec or dialect: half written, or complete but
  // not listed.
  std::filesystem::create_directories(folder / "a/0123abcd/.time_000003.0123abcd.tmp");
  std::filesystem::create_directories(folder / "a/0123abce/time_000003");
  write_bytes(folder / "a/0123abce/time_000003/00.bin", { std::byte{ 1 } });
  std::filesystem::create_directory(now / ".time_000009.0123abcd.tmp");
  std::filesystem::create_directory(folder / "a/.time000000000.0123abcd.tmp");
  // Files of a living writer, or of other programs, are kept.
  std::filesystem::create_directories(folder / "a/0123abcf/time_000000");
  const int living = ::open((folder / "a/0123abcf/time_000000").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(living, LOCK_EX), 0);
  std::filesystem::create_directories(folder / "a/0123abd0/notes");
  write(folder / "a.idx", made.grid, options);
  expect_equal(folder / "a.idx", made);
  ::close(living);
  EXPECT_EQ(names_in(folder / "a"),
    (std::vector<std::string>{ "0123abcf", "0123abd0", shape.filename().string() }));
  EXPECT_EQ(names_in(shape), std::vector<std::string>{ "time_000000" });
}

TEST(IdxWrite, a_box_of_a_step_that_is_not_there_is_an_error)
{
  // Block 0 has the samples whose coordinates are multiples of 8; none of them is in these boxes.
  for (const std::int64_t first : { 0, 33 })
  {
    const TempDir folder;
    MadeGrid made(first == 0 ? std::array<std::int64_t, 3>{ 64, 64, 64 }
                             : std::array<std::int64_t, 3>{ 7, 7, 7 });
    made.add("a", ScalarType::Float32);
    made.grid.first = { first, first, first };
    WriteOptions options;
    options.flush = false;
    options.bits_per_block = 9;
    for (const std::int64_t step : { 3, 4 })
    {
      options.step = step;
      options.mode = WriteMode::AddStep;
      write(folder / "a.idx", made.grid, options);
    }
    const Dataset dataset = Dataset::open(folder / "a.idx");
    Query query;
    query.level = dataset.levels();
    query.step = 4;
    query.box = LogicalBox{ { 33, 33, 33 }, { 39, 39, 39 } };
    (void)read_all(dataset, query);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "a"))
    {
      if (entry.path().filename() == "time_000004")
      {
        std::filesystem::remove_all(entry.path());
        break;
      }
    }
    expect_error([&] { (void)read_all(dataset, query); }, ErrorCode::NotFound,
      { "time_000004", "time step 4" });
    query.step = 3;
    (void)read_all(dataset, query);
  }
}

TEST(IdxWrite, files_of_other_datasets_stay)
{
  const TempDir folder;
  MadeGrid made({ 8, 8, 8 });
  made.add("a", ScalarType::Float32);
  WriteOptions options;
  options.flush = false;
  write(folder / "a.idx", made.grid, options);
  std::filesystem::copy_file(folder / "a.idx", folder / "copy.idx");
  MadeGrid other({ 9, 8, 8 });
  other.add("a", ScalarType::Float32);
  write(folder / "a.idx", other.grid, options);
  expect_equal(folder / "a.idx", other);
  expect_equal(folder / "copy.idx", made);

  // A name with the same ending belongs to another folder.
  write(folder / "x.idx", made.grid, options);
  write(folder / "xx.idx", made.grid, options);
  write(folder / "x.idx", other.grid, options);
  expect_equal(folder / "xx.idx", made);
  const std::filesystem::directory_iterator shapes(folder / "x");
  EXPECT_EQ(std::distance(begin(shapes), end(shapes)), 1);

  // From another program.
  write_bytes(folder / "b.idx", read_bytes(folder / "copy.idx"));
  std::filesystem::create_directory(folder / "b");
  write_bytes(folder / "b/00.bin", { std::byte{ 1 } });
  write(folder / "b.idx", other.grid, options);
  EXPECT_TRUE(std::filesystem::exists(folder / "b/00.bin"));

  options.dialect = Dialect::PIDX;
  write(folder / "p.idx", made.grid, options);
  expect_error([&] { write(folder / "p.idx", other.grid, options); }, ErrorCode::InvalidArgument,
    { "a different dataset", "box" });
  write(folder / "p.idx", made.grid, options);
  expect_equal(folder / "p.idx", made);
}

TEST(IdxWrite, refuses_what_it_cannot_write)
{
  const TempDir folder;
  const auto refused =
    [&](const std::vector<std::string>& words, const auto& change, const char* name = "a.idx")
  {
    MadeGrid made({ 4, 4, 4 });
    made.add("a", ScalarType::Float32);
    WriteOptions options;
    change(made.grid, options);
    expect_error(
      [&] { write(folder / name, made.grid, options); }, ErrorCode::InvalidArgument, words);
    EXPECT_TRUE(names_in(folder.path()).empty());
  };
  using G = Grid&;
  using O = WriteOptions&;
  const auto nothing = [](G, O) {};
  refused({ "a.dat", "NAME.idx" }, nothing, "a.dat");
  refused({ "100%", "'%'" }, nothing, "100%.idx");
  refused({ "$" }, nothing, "a$b.idx");
  refused({ "along y", "0 samples" }, [](G g, O) { g.dimensions[1] = 0; });
  refused({ "along z", "-1" }, [](G g, O) { g.first[2] = -1; });
  refused({ "2^62" }, [](G g, O) { g.dimensions = { 1 << 30, 1 << 30, 4 }; });
  refused({ "spacing", "0" }, [](G g, O) { g.spacing[0] = 0; });
  refused({ "origin", "nan" }, [](G g, O) { g.origin[0] = std::nan(""); });
  refused({ "0 fields" }, [](G g, O) { g.fields.clear(); });
  refused({ "'a b'", "space" }, [](G g, O) { g.fields[0].name = "a b"; });
  refused({ "'a(b'", "'('" }, [](G g, O) { g.fields[0].name = "a(b"; });
  refused({ "'a'", "two" }, [](G g, O) { g.fields.push_back(g.fields[0]); });
  refused({ "65 components" }, [](G g, O) { g.fields[0].components = 65; });
  refused({ "no values" }, [](G g, O) { g.fields[0].values = nullptr; });
  refused({ "step is -1" }, [](G, O o) { o.step = -1; });
  refused({ "is 29" }, [](G, O o) { o.bits_per_block = 29; });
  refused({ "level is 10" }, [](G, O o) { o.zip_level = 10; });
  refused({ "PIDX", "zip" }, [](G, O o) { o.dialect = Dialect::PIDX, o.codec = Codec::Zip; });
  refused({ "PIDX", "0 0 0" }, [](G g, O o) { o.dialect = Dialect::PIDX, g.first[0] = 1; });
}

TEST(IdxWrite, names_that_are_not_allowed_become_some_that_are)
{
  const std::vector<std::string> names{ "Tiff Scalars", "a", "Tiff_Scalars", "x  (m/s)", "..",
    "\xc3\xa4 b", "", "a", "\xff" };
  const std::vector<std::string> allowed = allowed_field_names(names);
  EXPECT_EQ(allowed,
    (std::vector<std::string>{ "Tiff_Scalars_2", "a", "Tiff_Scalars", "x_m_s_", "_", "\xc3\xa4_b",
      "field", "a_2", "\xff" }));
  for (std::size_t i = 0; i + 1 < allowed.size(); ++i)
  {
    EXPECT_EQ(find_field_name_problem(allowed[i]), "") << allowed[i];
  }
}

TEST(IdxWrite, ranges_are_those_of_the_finite_values_of_all_steps)
{
  const TempDir folder;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values(100, 2.5f);
  std::vector<std::uint64_t> numbers(100, 7);
  const std::vector<float> pairs(200);
  std::vector<float> nothing(100, std::nanf(""));
  values[99] = -3.25f;
  values[50] = std::nanf("");
  values[0] = kInfinity;
  values[17] = -kInfinity;
  numbers[33] = 9;
  Grid grid;
  grid.dimensions = { 10, 10, 1 };
  grid.fields = { { "f", ScalarType::Float32, 1, values.data() },
    { "n", ScalarType::UInt64, 1, numbers.data() }, { "x", ScalarType::Float32, 1, nothing.data() },
    { "v", ScalarType::Float32, 2, pairs.data() } };
  WriteOptions options;
  options.flush = false;
  options.mode = WriteMode::AddStep;
  write(folder / "a.idx", grid, options);
  values.assign(100, 4.0f);
  options.step = 1;
  write(folder / "a.idx", grid, options);
  const Dataset dataset = Dataset::open(folder / "a.idx");
  EXPECT_EQ(dataset.fields()[0].minimum, std::vector<double>{ -3.25 });
  EXPECT_EQ(dataset.fields()[0].maximum, std::vector<double>{ 4 });
  EXPECT_EQ(dataset.fields()[1].minimum, std::vector<double>{ 7 });
  EXPECT_EQ(dataset.fields()[1].maximum, std::vector<double>{ 9 });
  EXPECT_TRUE(dataset.fields()[2].minimum.empty());
  EXPECT_TRUE(dataset.fields()[3].minimum.empty());
}

TEST(IdxWrite, a_run_that_goes_back_replaces_later_steps)
{
  const TempDir folder;
  WriteOptions options;
  options.flush = false;
  options.mode = WriteMode::Continue;
  const auto write_step = [&](std::int64_t step, double time, std::int64_t nx)
  {
    MadeGrid made({ nx, 10, 11 }, static_cast<unsigned>(step));
    made.add("a", ScalarType::Float32);
    options.step = step;
    options.time = time;
    write(folder / "a.idx", made.grid, options);
    expect_equal(folder / "a.idx", made, step);
  };
  for (const std::int64_t step : { 10, 20, 30, 40 })
  {
    write_step(step, static_cast<double>(step), 9);
  }
  // Its clock may differ.
  write_step(20, 50, 9);
  const Dataset dataset = Dataset::open(folder / "a.idx");
  EXPECT_EQ(dataset.steps(), (std::vector<std::int64_t>{ 10, 20 }));
  EXPECT_EQ(dataset.times(), (std::vector<double>{ 10, 50 }));
  EXPECT_EQ(files_in(folder.path()).size(), 3u); // the text, and a file per step

  expect_error([&] { write_step(30, 60, 8); }, ErrorCode::InvalidArgument, { "cannot be added" });
  write_step(10, 1, 8); // there is nothing before it
  EXPECT_EQ(Dataset::open(folder / "a.idx").steps(), std::vector<std::int64_t>{ 10 });
  EXPECT_EQ(files_in(folder.path()).size(), 2u);
}

TEST(IdxWrite, bits_and_blocks_are_chosen_as_openvisus_does)
{
  const auto bits = [](std::int64_t x, std::int64_t y, std::int64_t z)
  {
    Grid grid;
    grid.dimensions = { x, y, z };
    grid.fields.push_back({ "a", ScalarType::Float32, 1, nullptr });
    const Header header = plan_header("a.idx", grid, {});
    return header.bits + " " + std::to_string(header.bits_per_block) + " " +
      std::to_string(header.blocks_per_file);
  };
  EXPECT_EQ(bits(33, 100, 20), "V012012012012012011 15 8");
  EXPECT_EQ(bits(64, 32, 16), "V012012012012010 12 8");
  EXPECT_EQ(bits(100, 37, 1), "V0101010101010 10 8");
  EXPECT_EQ(bits(1, 1, 1), "V0 1 1");
  EXPECT_EQ(bits(1024, 1024, 1024), "V012012012012012012012012012012 15 512");
}
