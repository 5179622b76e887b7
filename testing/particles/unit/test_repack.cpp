// SPDX-License-Identifier: BSD-3-Clause
// The same particles stored in another way: what changes, what stays, and which arguments are
// rejected.

#include "bat/bat.hpp"
#include "particles/dataset/particle_sum.hpp"
#include "particles/repack/repack_leaf.hpp"
#include "support/brute_force.hpp"
#include "support/clouds.hpp"
#include "support/dataset_files.hpp"
#include "support/file_size_limit.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>

namespace
{
namespace fs = std::filesystem;
using bat::Compression;
using bat::ErrorCode;
using dataset_files::Rows;
using dataset_files::rows_of;

std::string make_schema(const fs::path& path)
{
  const bat::Dataset dataset = bat::Dataset::open(path);
  std::string text = std::string(bat::name_of(dataset.position_type())) + dataset.metadata() +
    std::to_string(dataset.time().value_or(-1)) + std::to_string(dataset.step().value_or(-1));
  for (const bat::Attribute& a : dataset.attributes())
  {
    text += "\n" + a.name + " " + std::string(bat::name_of(a.type)) + std::to_string(a.components) +
      " " + std::to_string(a.role) + " " + std::to_string(a.host_type) +
      (a.alias ? " " + to_string(*a.alias, dataset.attributes()) : "");
  }
  return text;
}

bat::RepackOptions with(std::set<std::string> changed, bat::BuildOptions build = {})
{
  bat::RepackOptions options;
  options.build = std::move(build);
  options.build.flush = false;
  options.changed = std::move(changed);
  return options;
}

bat::RepackOptions compressed(Compression compression)
{
  bat::BuildOptions build;
  build.compression = compression;
  return with({ "compression" }, build);
}

bat::RepackOptions bounded(std::vector<std::string> bounds)
{
  bat::BuildOptions build;
  build.error_bounds = std::move(bounds);
  return with({ "error_bounds" }, build);
}

bat::RepackOptions indexed(std::vector<std::string> names)
{
  bat::BuildOptions build;
  build.sorted_indexes = std::move(names);
  return with({ "sorted_indexes" }, build);
}

bat::ErrorCode code_of(const std::function<void()>& f, const std::string& word = {})
{
  try
  {
    f();
  }
  catch (const bat::Error& error)
  {
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::OutOfMemory;
}

// Time, step, metadata, hints and an alias, in addition to all usual attributes.
bat::ParticleView described(const clouds::Cloud& cloud)
{
  bat::ParticleView view = cloud.view();
  view.time = 0.25;
  view.step = 77;
  view.metadata = "{\"title\": \"\xC3\xA4\"}";
  view.attributes.back().role = 3;
  view.attributes.front().host_type = 9;
  view.aliases.push_back({ "height", "", 2, 1, 4 });
  return view;
}

std::set<std::string> resolve_indexes(const bat::File& file)
{
  std::set<std::string> names;
  for (const bat::Attribute& a : file.attributes())
  {
    for (const bat::Key& key : a.keys)
    {
      if (key.has_sorted_index)
      {
        names.insert(a.name + std::to_string(key.component));
      }
    }
  }
  return names;
}
}

TEST(Repack, lossless_and_back_has_every_value_and_all_that_is_said_of_them)
{
  const TempDir dir;
  const clouds::Cloud all[] = { clouds::uniform(30000, 1), clouds::duplicates(9000, 2),
    clouds::with_nan(9000, 3), clouds::mixed_types(3000, 4), clouds::uniform(1, 5),
    clouds::uniform(0, 6) };
  for (const clouds::Cloud& cloud : all)
  {
    bat::write_file(dir / "raw.bat", described(cloud));
    const bat::RepackReport report =
      bat::repack(dir / "raw.bat", dir / "small.bat", compressed(Compression::Lossless));
    EXPECT_EQ(report.particles, cloud.count);
    EXPECT_EQ(report.bytes_before, fs::file_size(dir / "raw.bat"));
    EXPECT_EQ(report.bytes_after, fs::file_size(dir / "small.bat"));
    bat::repack(dir / "small.bat", dir / "back.bat", compressed(Compression::None));
    for (const char* name : { "small.bat", "back.bat" })
    {
      bat::validate(dir / name);
      EXPECT_EQ(rows_of(dir / name), rows_of(dir / "raw.bat"));
      EXPECT_EQ(make_schema(dir / name), make_schema(dir / "raw.bat"));
    }
    const bool is_small = bat::File::open(dir / "small.bat").storage(std::nullopt).is_compressed;
    EXPECT_TRUE(is_small || cloud.count < 100);
    EXPECT_FALSE(bat::File::open(dir / "back.bat").storage(std::nullopt).is_compressed);
  }
}

TEST(Repack, has_the_bytes_of_a_write_of_the_particles_in_the_order_of_the_file)
{
  const TempDir dir;
  bat::BuildOptions build;
  build.treelet_particles = 2048;
  build.block_particles = 96;
  build.compression = Compression::Lossless;
  build.chunk_particles = 1000;
  build.sorted_indexes = { "id", "velocity[1]", "velocity" };
  bat::write_file(dir / "in.bat", clouds::uniform(40000, 7).view(), build);
  bat::repack(dir / "in.bat", dir / "out.bat", with({}));
  const bat::File in = bat::File::open(dir / "in.bat");
  const brute_force::Table table = brute_force::read_all(in);
  clouds::Cloud cloud;
  cloud.count = table.count;
  cloud.position_type = table.position_type;
  cloud.positions = table.positions;
  for (const auto& column : table.columns)
  {
    cloud.columns.push_back(
      { column.attribute.name, column.attribute.type, column.attribute.components, column.bytes });
  }
  // Properties without an option stay as they were: treelets, blocks, chunks, compression, indexes.
  bat::write_file(dir / "direct.bat", cloud.view(), build);
  EXPECT_EQ(read_bytes(dir / "out.bat"), read_bytes(dir / "direct.bat"));
  EXPECT_EQ(resolve_indexes(bat::File::open(dir / "out.bat")), resolve_indexes(in));
}

TEST(Repack, sorted_indexes_come_and_go)
{
  const TempDir dir;
  bat::write_file(dir / "in.bat", clouds::uniform(5000, 8).view());
  bat::repack(dir / "in.bat", dir / "in.bat", indexed({ "id", "velocity[2]" }));
  EXPECT_EQ(resolve_indexes(bat::File::open(dir / "in.bat")),
    (std::set<std::string>{ "id0", "velocity2" }));
  bat::repack(dir / "in.bat", dir / "in.bat", compressed(Compression::Lossless));
  EXPECT_EQ(resolve_indexes(bat::File::open(dir / "in.bat")).size(), 2u);
  bat::validate(dir / "in.bat");
  bat::repack(dir / "in.bat", dir / "in.bat", indexed({}));
  EXPECT_EQ(resolve_indexes(bat::File::open(dir / "in.bat")).size(), 0u);
  EXPECT_TRUE(bat::File::open(dir / "in.bat").storage(std::nullopt).is_compressed);
  const std::vector<std::byte> before = read_bytes(dir / "in.bat");
  EXPECT_EQ(
    code_of([&] { bat::repack(dir / "in.bat", dir / "in.bat", indexed({ "heat" })); }, "'heat'"),
    ErrorCode::InvalidArgument);
  EXPECT_EQ(read_bytes(dir / "in.bat"), before);
  EXPECT_EQ(names_in(dir.path()), std::vector<std::string>{ "in.bat" });
}

TEST(Repack, values_stay_within_their_bound_and_do_not_move_again)
{
  const TempDir dir;
  bat::write_file(dir / "in.bat", clouds::clustered(20000, 9).view());
  bat::repack(dir / "in.bat", dir / "out.bat", bounded({ "temperature=0.5", "positions=0.01%" }));
  const bat::File out = bat::File::open(dir / "out.bat");
  const std::size_t temperature = out.attribute_index("temperature");
  EXPECT_EQ(out.storage(temperature).bound, 0.5);
  EXPECT_GT(out.storage(std::nullopt).bound, 0);
  EXPECT_EQ(out.storage(out.attribute_index("noise")).bound, 0);

  const auto by_id = [&](const fs::path& path, const std::string& name)
  {
    const bat::File file = bat::File::open(path);
    const bat::Selection all = file.select({});
    std::vector<std::int64_t> ids(all.count);
    std::vector<double> values(all.count);
    file.read_attribute(file.attribute_index("id"), all, ids.data());
    file.read_attribute(file.attribute_index(name), all, values.data());
    std::vector<std::pair<std::int64_t, double>> pairs;
    for (std::size_t i = 0; i != ids.size(); ++i)
    {
      pairs.emplace_back(ids[i], values[i]);
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  };
  EXPECT_EQ(by_id(dir / "in.bat", "noise"), by_id(dir / "out.bat", "noise"));
  const auto before = by_id(dir / "in.bat", "temperature");
  const auto after = by_id(dir / "out.bat", "temperature");
  double largest = 0;
  for (std::size_t i = 0; i != before.size(); ++i)
  {
    ASSERT_EQ(before[i].first, after[i].first);
    largest = std::max(largest, std::fabs(before[i].second - after[i].second));
  }
  EXPECT_GT(largest, 0.1);
  EXPECT_LE(largest, 0.5);

  // The bounds are kept with other changes, are accepted again, and are removed with another
  // compression.
  for (const bat::RepackOptions& options :
    { with({}), indexed({ "id" }), bounded({ "temperature=0.5" }), compressed(Compression::Bounded),
      compressed(Compression::Lossless) })
  {
    bat::repack(dir / "out.bat", dir / "again.bat", options);
    EXPECT_EQ(rows_of(dir / "again.bat"), rows_of(dir / "out.bat"));
    const bool is_kept = options.build.compression != Compression::Lossless;
    const bat::File again = bat::File::open(dir / "again.bat");
    EXPECT_EQ(again.storage(temperature).bound, is_kept ? 0.5 : 0);
    EXPECT_EQ(again.metadata().find("\"temperature\":0.5") == std::string::npos, is_kept);
  }
  // For one array only; the metadata record removed bounds, also the second time.
  bat::repack(dir / "out.bat", dir / "again.bat", bounded({ "temperature=0" }));
  EXPECT_EQ(rows_of(dir / "again.bat"), rows_of(dir / "out.bat"));
  EXPECT_EQ(bat::File::open(dir / "again.bat").storage(temperature).bound, 0);
  EXPECT_EQ(bat::File::open(dir / "again.bat").storage(std::nullopt).bound,
    out.storage(std::nullopt).bound);
  bat::repack(dir / "again.bat", dir / "again.bat", bounded({ "temperature=2" }));
  bat::repack(dir / "again.bat", dir / "again.bat", compressed(Compression::None));
  const std::string reported = bat::File::open(dir / "again.bat").metadata();
  EXPECT_NE(reported.find("\"temperature\":2.5"), std::string::npos) << reported;
  EXPECT_NE(reported.find("\"positions\":"), std::string::npos) << reported;
  EXPECT_EQ(code_of([&]
              { bat::repack(dir / "out.bat", dir / "more.bat", bounded({ "temperature=0.25" })); },
              "already bounded by 0.5"),
    ErrorCode::InvalidArgument);
  EXPECT_EQ(code_of([&]
              { bat::repack(dir / "in.bat", dir / "more.bat", compressed(Compression::Bounded)); },
              "no error_bounds"),
    ErrorCode::InvalidArgument);
  bat::RepackOptions both = bounded({ "temperature=0.5" });
  both.changed.insert("compression");
  EXPECT_EQ(code_of([&] { bat::repack(dir / "in.bat", dir / "more.bat", both); }, "not 'bounded'"),
    ErrorCode::InvalidArgument);
  bat::BuildOptions chunks;
  chunks.chunk_particles = 1024;
  EXPECT_EQ(
    code_of([&]
      { bat::repack(dir / "in.bat", dir / "more.bat", with({ "chunk_particles" }, chunks)); },
      "in.bat: chunk_particles is 1024"),
    ErrorCode::InvalidArgument);
  EXPECT_FALSE(fs::exists(dir / "more.bat"));
}

TEST(Repack, leaf_files_stay_several_and_are_replaced_together)
{
  const TempDir dir;
  const auto parts = dataset_files::slabs(clouds::uniform(20000, 10), 4);
  std::vector<bat::ParticleView> views;
  for (const clouds::Cloud& part : parts)
  {
    views.push_back(described(part));
  }
  dataset_files::write(dir / "in.bat", views);
  const Rows rows = rows_of(dir / "in.bat");
  const std::string schema = make_schema(dir / "in.bat");
  double last = 0;
  bat::RepackOptions options = bounded({ "density=0.1%" });
  options.build.progress = [&](double done)
  {
    EXPECT_LE(last, done);
    last = done;
    return true;
  };
  const bat::RepackReport report = bat::repack(dir / "in.bat", dir / "near.bat", options);
  EXPECT_EQ(last, 1);
  EXPECT_EQ(report.leaf_files, 4u);
  // A share of the range is that of all leaf files.
  std::set<double> bounds;
  const bat::Dataset near = bat::Dataset::open(dir / "near.bat");
  for (std::size_t i = 0; i != 4; ++i)
  {
    bounds.insert(near.leaf_file(i).storage(near.attribute_index("density")).bound);
    EXPECT_EQ(near.leaves()[i].particles, parts[i].count);
  }
  EXPECT_EQ(bounds.size(), 1u);
  EXPECT_EQ(make_schema(dir / "near.bat"), schema);
  bat::validate(near);

  // In place; the old leaf files are then removed.
  bat::repack(dir / "in.bat", dir / "in.bat", compressed(Compression::Lossless));
  EXPECT_EQ(rows_of(dir / "in.bat"), rows);
  EXPECT_EQ(names_in(dir / "in.bat.leaves").size(), 4u);
  bat::validate(dir / "in.bat");
  const auto report_of_same = bat::repack(dir / "in.bat", dir / "in.bat", with({}));
  EXPECT_EQ(report_of_same.bytes_after, bat::Dataset::open(dir / "in.bat").file_bytes());
  EXPECT_EQ(rows_of(dir / "in.bat"), rows);

  // A leaf file cannot be replaced independently of its dataset.
  const bat::Dataset in = bat::Dataset::open(dir / "in.bat");
  const fs::path leaf = in.leaves()[1].path;
  EXPECT_EQ(code_of([&] { bat::repack(dir / "in.bat", leaf); }, "is a leaf file of"),
    ErrorCode::InvalidArgument);
  EXPECT_EQ(
    code_of([&] { bat::repack(leaf, leaf); }, "is a leaf file of"), ErrorCode::InvalidArgument);
}

TEST(Repack, nothing_is_left_of_what_is_cancelled_damaged_or_too_large)
{
  const TempDir dir;
  dataset_files::write(dir / "in.bat", dataset_files::slabs(clouds::uniform(20000, 11), 3));
  bat::write_file(dir / "old.bat", clouds::uniform(100, 12).view());
  bat::write_file(dir / "single.bat", clouds::uniform(20000, 13).view());
  const std::vector<std::string> names = names_in(dir.path());
  const std::vector<std::byte> old = read_bytes(dir / "old.bat");
  const auto fails = [&](const char* in, const char* out, const bat::RepackOptions& options,
                       ErrorCode code, const std::string& word = {})
  {
    EXPECT_EQ(code_of([&] { bat::repack(dir / in, dir / out, options); }, word), code);
    EXPECT_EQ(names_in(dir.path()), names);
    EXPECT_TRUE(read_bytes(dir / "old.bat") == old);
  };
  for (const double end : { 0.0, 0.1, 0.5, 0.98 })
  {
    bat::RepackOptions options = compressed(Compression::Lossless);
    options.build.progress = [&](double done) { return done < end; };
    for (const char* in : { "in.bat", "single.bat" })
    {
      fails(in, "new.bat", options, ErrorCode::Cancelled);
      fails(in, "old.bat", options, ErrorCode::Cancelled);
    }
  }
  {
    const FileSizeLimit full(100000);
    fails("in.bat", "new.bat", compressed(Compression::None), ErrorCode::NoSpace, "new.bat");
    fails("single.bat", "old.bat", compressed(Compression::None), ErrorCode::NoSpace, "old.bat");
  }
  const fs::path leaf = [&] { return bat::Dataset::open(dir / "in.bat").leaves()[2].path; }();
  std::vector<std::byte> bytes = read_bytes(leaf);
  bytes[bytes.size() / 3] ^= std::byte{ 16 };
  write_bytes(leaf, bytes);
  fails("in.bat", "new.bat", with({}), ErrorCode::Corrupt, leaf.filename().string());
  fails("in.bat", "old.bat", with({}), ErrorCode::Corrupt);
  fails("none.bat", "new.bat", with({}), ErrorCode::NotFound, "none.bat");
  fails("single.bat", "new.bat", with({ "target_bytes" }), ErrorCode::InvalidArgument,
    "target_bytes of an existing dataset cannot be changed");
}

TEST(Repack, what_is_not_what_was_read_is_noticed)
{
  const TempDir dir;
  clouds::Cloud cloud = clouds::uniform(3000, 14);
  const bat::ParticleSum sum = bat::expected_sum(cloud.view(), {});
  bat::ParticleView schema = cloud.view();
  const auto check = [&](const bat::BuildOptions& build = {})
  {
    bat::check_leaf(
      (dir / "leaf.bat").string(), "out.bat", schema, 3000, sum, build, [](double) {});
  };
  bat::write_file(dir / "leaf.bat", cloud.view());
  check();
  bat::BuildOptions build;
  build.sorted_indexes = { "id" };
  EXPECT_EQ(code_of([&] { check(build); }, "sorted index"), ErrorCode::WriteFailed);
  schema.attributes[0].role = 1;
  EXPECT_EQ(code_of([&] { check(); }, "attribute 0"), ErrorCode::WriteFailed);
  schema = cloud.view();
  schema.step = 1;
  EXPECT_EQ(code_of([&] { check(); }, "time, step"), ErrorCode::WriteFailed);
  schema = cloud.view();
  // One bit of one value; two values that change places.
  cloud.columns[0].bytes[777] ^= std::byte{ 1 };
  bat::write_file(dir / "leaf.bat", cloud.view());
  EXPECT_EQ(code_of([&] { check(); }, "differ"), ErrorCode::WriteFailed);
  cloud.columns[0].bytes[777] ^= std::byte{ 1 };
  std::swap_ranges(cloud.columns[2].bytes.begin(), cloud.columns[2].bytes.begin() + 8,
    cloud.columns[2].bytes.begin() + 80);
  bat::write_file(dir / "leaf.bat", cloud.view());
  EXPECT_EQ(code_of([&] { check(); }, "differ"), ErrorCode::WriteFailed);
}

TEST(Repack, files_of_the_papers_library_become_bat)
{
  const TempDir dir;
  std::size_t found = 0;
  for (const char* name : { "duplicates", "lattice8", "types8_leaf", "one_particle", "tiny_rank" })
  {
    for (const auto& entry : fs::directory_iterator(fs::path(BAT_LIBBAT_DATA) / name))
    {
      if (!bat::Dataset::can_open(entry.path()))
      {
        continue;
      }
      SCOPED_TRACE(entry.path());
      ++found;
      bat::repack(entry.path(), dir / "out.bat", compressed(Compression::Lossless));
      bat::validate(dir / "out.bat");
      EXPECT_EQ(rows_of(dir / "out.bat"), rows_of(entry.path()));
    }
  }
  EXPECT_GT(found, 6u);
  fs::copy(fs::path(BAT_LIBBAT_DATA) / "lattice8", dir / "own");
  EXPECT_EQ(code_of([&] { bat::repack(dir / "own/lattice8.pbat", dir / "own/lattice8.pbat"); },
              "libbat file"),
    ErrorCode::InvalidArgument);
  EXPECT_EQ(code_of([&] { bat::repack(dir / "own/lattice8.pbat", dir / "own/lattice80.bat"); },
              "is a leaf file of"),
    ErrorCode::InvalidArgument);
}

TEST(Repack, a_series_becomes_a_series_or_nothing)
{
  const TempDir dir;
  bat::write_file(dir / "a_10.bat", described(clouds::uniform(2000, 15)));
  dataset_files::write(dir / "a_20.bat", dataset_files::slabs(clouds::uniform(4000, 16), 2));
  std::ofstream(dir / "a.bat.series")
    << R"({"file-series-version": "1.0", "files": [{"name": "a_10.bat", "time": 0.5, "step": 10},)"
    << R"({"name": "a_20.bat", "time": 1}]})";
  const bat::RepackReport report =
    bat::repack(dir / "a.bat.series", dir / "b.bat.series", compressed(Compression::Lossless));
  EXPECT_EQ(report.datasets, 2u);
  EXPECT_EQ(report.particles, 6000u);
  EXPECT_EQ(rows_of(dir / "b_0000.bat"), rows_of(dir / "a_10.bat"));
  EXPECT_EQ(rows_of(dir / "b_0001.bat"), rows_of(dir / "a_20.bat"));
  const std::vector<std::byte> bytes = read_bytes(dir / "b.bat.series");
  const std::string list(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const char* part : { "b_0000.bat", "b_0001.bat", "\"time\": 0.5", "\"step\": 10" })
  {
    EXPECT_NE(list.find(part), std::string::npos) << list;
  }

  const std::vector<std::string> names = names_in(dir.path());
  const auto fails = [&](const char* out, ErrorCode code, const std::string& word)
  {
    EXPECT_EQ(code_of([&] { bat::repack(dir / "a.bat.series", dir / out); }, word), code);
    EXPECT_EQ(names_in(dir.path()), names);
  };
  fails("a.bat.series", ErrorCode::InvalidArgument, "another name or folder");
  fails("c.bat", ErrorCode::InvalidArgument, "ending in .bat.series");
  const fs::path leaf = [&] { return bat::Dataset::open(dir / "a_20.bat").leaves()[0].path; }();
  fs::remove(leaf); // the first step exists by then, and is removed
  fails("c.bat.series", ErrorCode::NotFound, leaf.filename().string());
}

TEST(Repack, the_program_says_in_one_line_what_cannot_be)
{
  const TempDir dir;
  bat::write_file(dir / "in.bat", clouds::uniform(2000, 17).view());
  const auto run = [&](const std::string& arguments)
  {
    const std::string command =
      "cd '" + dir.path().string() + "' && '" + BAT_REPACK + "' " + arguments + " > said 2>&1";
    const int status = std::system(command.c_str());
    const std::vector<std::byte> bytes = read_bytes(dir / "said");
    return std::make_pair(WIFEXITED(status) ? WEXITSTATUS(status) : -1,
      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  };
  const auto expect = [&](const std::string& arguments, int status, const std::string& word)
  {
    const auto [code, text] = run(arguments);
    EXPECT_EQ(code, status) << text;
    EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  };
  expect("in.bat out.bat --compression lossless --sorted-indexes id --sorted-indexes 'velocity[1]'",
    0, "2000 particles, all verified");
  EXPECT_EQ(resolve_indexes(bat::File::open(dir / "out.bat")).size(), 2u);
  expect("in.bat out.bat", 2, "use --force to replace it");
  expect("out.bat out.bat --force --no-sorted-indexes --block-particles 128 --threads 1 --json", 0,
    "\"particles\":2000,");
  EXPECT_EQ(bat::File::open(dir / "out.bat").block_particles(), 128u);
  expect("none.bat new.bat", 1, "none.bat");
  expect("in.bat new.bat --block-particles many", 2, "block_particles is");
  expect("in.bat new.bat --compression tight", 2, "none, lossless, bounded");
  EXPECT_FALSE(fs::exists(dir / "new.bat"));
}
