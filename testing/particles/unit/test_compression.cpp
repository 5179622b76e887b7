// SPDX-License-Identifier: BSD-3-Clause
// Columns in chunks: restored values, rejected input, and errors for damage.

#include "bat/bat.hpp"
#include "particles/format/column.hpp"
#include "particles/tree/file_impl.hpp"
#include "support/brute_force.hpp"
#include "support/clouds.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace
{
using bat::Compression;

bat::File open(bat::Bytes bytes)
{
  return bat::File::from_memory(std::move(bytes), "memory");
}

bat::File write(const clouds::Cloud& cloud, const bat::BuildOptions& options)
{
  return open(bat::encode(cloud.view(), options));
}

bat::BuildOptions lossless(std::uint32_t chunk_particles = 0)
{
  bat::BuildOptions options;
  options.compression = Compression::Lossless;
  options.chunk_particles = chunk_particles;
  return options;
}

bat::BuildOptions bounded(std::vector<std::string> bounds, std::uint32_t chunk_particles = 0)
{
  bat::BuildOptions options = lossless(chunk_particles);
  options.compression = Compression::Bounded;
  options.error_bounds = std::move(bounds);
  return options;
}

std::vector<std::vector<std::byte>> make_columns(const bat::File& file)
{
  const brute_force::Table table = brute_force::read_all(file);
  std::vector<std::vector<std::byte>> all{ table.positions };
  for (const auto& column : table.columns)
  {
    all.push_back(column.bytes);
  }
  return all;
}

bool has_chunks(const bat::File& file, const std::string& attribute)
{
  return file.impl()
    .column(bat::format::SectionKind::Attribute,
      static_cast<std::uint32_t>(file.attribute_index(attribute)))
    .has_chunks();
}

template <class F>
std::string message_of(const F& f)
{
  try
  {
    f();
  }
  catch (const bat::Error& error)
  {
    return error.what();
  }
  return "no error";
}

// Largest difference between values of the same particle, identified by its id; non-finite values
// must be equal.
struct Largest
{
  double positions = 0;
  std::vector<double> columns;
};

template <class T>
double largest_difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b)
{
  double largest = 0;
  for (std::size_t i = 0; i != a.size() / sizeof(T); ++i)
  {
    T x{};
    T y{};
    std::memcpy(&x, &a[i * sizeof(T)], sizeof(T));
    std::memcpy(&y, &b[i * sizeof(T)], sizeof(T));
    if (std::memcmp(&x, &y, sizeof(T)) == 0)
    {
      continue;
    }
    const auto difference =
      static_cast<double>(std::fabs(static_cast<long double>(x) - static_cast<long double>(y)));
    largest = std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                     : std::max(largest, difference);
  }
  return largest;
}
}

TEST(Compression, chunks_are_of_compressed_columns_only)
{
  bat::BuildOptions options = lossless(1024);
  options.compression = bat::Compression::None;
  try
  {
    (void)bat::encode(clouds::uniform(100, 1).view(), options);
    ADD_FAILURE() << "no error";
  }
  catch (const bat::Error& error)
  {
    EXPECT_NE(std::string(error.what()).find("chunk_particles is 1024"), std::string::npos);
  }
}

TEST(Compression, lossless_files_have_every_bit_at_the_same_place)
{
  const clouds::Cloud all[] = { clouds::uniform(20000, 1), clouds::clustered(20000, 2),
    clouds::duplicates(20000, 3), clouds::with_nan(20000, 4), clouds::mixed_types(5000, 5) };
  for (const clouds::Cloud& cloud : all)
  {
    const bat::File raw = write(cloud, {});
    for (const std::uint32_t chunk : { 0u, 256u, 1001u, 65536u })
    {
      SCOPED_TRACE(chunk);
      const bat::File file = write(cloud, lossless(chunk));
      EXPECT_NO_THROW(bat::validate(file));
      EXPECT_TRUE(make_columns(file) == make_columns(raw));
    }
  }
}

TEST(Compression, few_particles_are_no_special_case)
{
  for (const std::uint64_t n : { 0u, 1u, 2u, 15u, 17u, 255u, 256u, 257u, 4097u })
  {
    SCOPED_TRACE(n);
    clouds::Cloud cloud = clouds::clustered(5000, 6);
    cloud.count = n;
    const bat::File raw = write(cloud, {});
    for (const bat::BuildOptions& options :
      { lossless(256), bounded({ "positions=1e-300", "temperature=0" }, 256) })
    {
      const bat::File file = write(cloud, options);
      EXPECT_NO_THROW(bat::validate(file));
      EXPECT_TRUE(make_columns(file) == make_columns(raw));
    }
  }
}

TEST(Compression, a_file_gets_smaller_and_a_column_that_does_not_stays_raw)
{
  clouds::Cloud cloud = clouds::uniform(50000, 7);
  clouds::Random random(19);
  std::vector<std::uint64_t> bits(cloud.count);
  std::generate(bits.begin(), bits.end(), random);
  cloud.add("bits", bat::ScalarType::UInt64, bits);
  const bat::File raw = write(cloud, {});
  const bat::File file = write(cloud, lossless());
  EXPECT_LT(file.file_bytes(), raw.file_bytes());
  EXPECT_EQ(file.data_bytes(), raw.data_bytes());
  EXPECT_TRUE(has_chunks(file, "material"));
  EXPECT_FALSE(has_chunks(file, "bits"));
}

TEST(Compression, steps_of_quality_and_single_particles_are_those_of_a_raw_file)
{
  const clouds::Cloud cloud = clouds::clustered(30000, 8);
  const bat::File raw = write(cloud, {});
  const bat::File file = write(cloud, lossless(700));
  clouds::Random random(9);
  double before = 0;
  for (const double quality : { 0.001, 0.02, 0.021, 0.3, 0.7, 1.0 })
  {
    bat::Query query;
    query.after_quality = before;
    query.quality = quality;
    before = quality;
    const bat::Selection step = file.select(query);
    ASSERT_EQ(step.spans.size(), raw.select(query).spans.size());
    for (std::size_t k = 0; k != file.attributes().size(); ++k)
    {
      const std::size_t bytes =
        bat::tuple_bytes(file.attributes()[k].type, file.attributes()[k].components);
      std::vector<std::byte> a(step.count * bytes);
      std::vector<std::byte> b(step.count * bytes);
      file.read_attribute(k, step, a.data());
      raw.read_attribute(k, step, b.data());
      ASSERT_TRUE(a == b);
    }
  }
  bat::Selection picked;
  for (std::uint64_t at = random() % 50; at < 30000; at += 1 + random() % 400)
  {
    const std::uint64_t count = std::min<std::uint64_t>(1 + random() % 90, 30000 - at);
    picked.spans.push_back({ at, count });
    picked.count += count;
    at += count;
  }
  std::vector<std::byte> a(picked.count * 24);
  std::vector<std::byte> b(picked.count * 24);
  file.read_positions(picked, a.data());
  raw.read_positions(picked, b.data());
  EXPECT_TRUE(a == b);
}

TEST(Compression, bounds_hold_and_all_else_is_exact)
{
  clouds::Cloud cloud = clouds::clustered(20000, 10);
  const auto temperatures = std::find_if(cloud.columns.begin(), cloud.columns.end(),
    [](const clouds::Cloud::Column& c) { return c.name == "temperature"; });
  const std::uint64_t odd[] = { 0x7FF8000000000000, 0xFFF8123456789ABC, 0x7FF0000000000000,
    0xFFF0000000000000, 0x8000000000000000, 1, 0x7FEFFFFFFFFFFFFF, 0x433FFFFFFFFFFFFF };
  for (std::size_t i = 0; i != 400; ++i)
  {
    std::memcpy(&temperatures->bytes[8 * 37 * i], &odd[i % 8], 8);
  }
  for (const char* text : { "0.1", "1e-3", "1e-5", "1e-7" })
  {
    SCOPED_TRACE(text);
    const double bound = std::stod(text);
    const bat::File file =
      write(cloud, bounded({ std::string("temperature=") + text, "density=1e-60" }));
    EXPECT_NO_THROW(bat::validate(file));
    const brute_force::Table stored = brute_force::read_all(file);
    const auto& ids = brute_force::column_of(stored, "id").bytes;
    std::vector<std::size_t> row_of(cloud.count);
    const auto id_column = std::find_if(cloud.columns.begin(), cloud.columns.end(),
      [](const clouds::Cloud::Column& c) { return c.name == "id"; });
    std::unordered_map<std::int64_t, std::size_t> row_by_id;
    for (std::size_t i = 0; i != cloud.count; ++i)
    {
      std::int64_t id = 0;
      std::memcpy(&id, &id_column->bytes[8 * i], 8);
      row_by_id[id] = i;
    }
    ASSERT_EQ(row_by_id.size(), cloud.count);
    const auto given = [&](const std::vector<std::byte>& bytes, std::size_t size)
    {
      std::vector<std::byte> sorted(bytes.size());
      for (std::size_t i = 0; i != cloud.count; ++i)
      {
        std::int64_t id = 0;
        std::memcpy(&id, &ids[8 * i], 8);
        std::memcpy(&sorted[i * size], &bytes[row_by_id.at(id) * size], size);
      }
      return sorted;
    };
    for (const auto& column : cloud.columns)
    {
      const auto& found = brute_force::column_of(stored, column.name).bytes;
      const auto expected = given(column.bytes, bat::tuple_bytes(column.type, column.components));
      if (column.name == "temperature")
      {
        const double error = largest_difference<double>(found, expected);
        EXPECT_LE(error, bound);
        EXPECT_GT(error, bound / 4);
      }
      else
      {
        EXPECT_TRUE(found == expected) << column.name;
      }
    }
  }
}

TEST(Compression, a_relative_bound_is_a_share_of_the_range)
{
  const clouds::Cloud cloud = clouds::clustered(5000, 11);
  const bat::File raw = write(cloud, {});
  const bat::File file = write(cloud, bounded({ "positions=0.1%", "velocity=2%" }));
  const bat::Box box = *raw.bounds();
  double longest = 0;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    longest = std::max(longest, box.upper[axis] - box.lower[axis]);
  }
  const auto bound_of = [&](bat::format::SectionKind kind, std::uint32_t index)
  { return file.impl().column(kind, index).chunks().bound(); };
  EXPECT_DOUBLE_EQ(bound_of(bat::format::SectionKind::Positions, 0), 0.001 * longest);
  EXPECT_GT(bound_of(bat::format::SectionKind::Attribute,
              static_cast<std::uint32_t>(file.attribute_index("velocity"))),
    0);
  EXPECT_EQ(bound_of(bat::format::SectionKind::Attribute,
              static_cast<std::uint32_t>(file.attribute_index("material"))),
    0);
}

TEST(Compression, writing_what_was_stored_changes_nothing)
{
  const clouds::Cloud cloud = clouds::clustered(5000, 12);
  const bat::BuildOptions options = bounded({ "positions=0.001", "velocity=0.01" });
  const brute_force::Table stored = brute_force::read_all(write(cloud, options));
  clouds::Cloud again;
  again.count = stored.count;
  again.position_type = stored.position_type;
  again.positions = stored.positions;
  for (const auto& column : stored.columns)
  {
    again.columns.push_back(
      { column.attribute.name, column.attribute.type, column.attribute.components, column.bytes });
  }
  const brute_force::Table twice = brute_force::read_all(write(again, options));
  const brute_force::Table exact = brute_force::read_all(write(again, {}));
  EXPECT_TRUE(twice.positions == exact.positions);
  EXPECT_TRUE(brute_force::column_of(twice, "velocity").bytes ==
    brute_force::column_of(exact, "velocity").bytes);
}

TEST(Compression, what_repeats_a_bounded_array_is_stored)
{
  clouds::Cloud cloud = clouds::uniform(3000, 13);
  cloud.columns.push_back({ "pos", cloud.position_type, 3, cloud.positions });
  bat::BuildOptions options = bounded({ "positions=1%" });
  options.repeats = bat::Repeats::Link;
  const bat::File file = write(cloud, options);
  EXPECT_FALSE(file.attributes()[file.attribute_index("pos")].alias.has_value());
  options.compression = Compression::Lossless;
  options.error_bounds.clear();
  const bat::File linked = write(cloud, options);
  EXPECT_TRUE(linked.attributes()[linked.attribute_index("pos")].alias.has_value());
}

TEST(Compression, wrong_bounds_are_refused_by_name)
{
  const clouds::Cloud cloud = clouds::uniform(100, 14);
  const auto refused = [&](const bat::BuildOptions& options)
  { return message_of([&] { (void)bat::encode(cloud.view(), options); }); };
  EXPECT_NE(refused(bounded({})).find("no error_bounds are given"), std::string::npos);
  bat::BuildOptions options = bounded({ "temperature=1" });
  options.compression = Compression::Lossless;
  EXPECT_NE(refused(options).find("compression is not 'bounded'"), std::string::npos);
  for (const char* text : { "temperature", "temperature=", "temperature=%", "=1", "temperature=-1",
         "temperature=nan", "temperature=inf", "temperature=1e400", "temperature=1x" })
  {
    EXPECT_NE(refused(bounded({ text })).find(text), std::string::npos) << text;
  }
  EXPECT_NE(
    refused(bounded({ "tmperature=1" })).find("unknown attribute 'tmperature'"), std::string::npos);
  EXPECT_NE(refused(bounded({ "id=1" })).find("'id' is int64"), std::string::npos);
  EXPECT_NE(refused(bounded({ "noise=1", "noise=2" })).find("more than one"), std::string::npos);
  EXPECT_NE(refused(bounded({ "noise=1.7e308" })).find("the bound of 'noise' is 1.7e+308"),
    std::string::npos);
}

TEST(Compression, a_mapped_file_works_by_copying)
{
  const TempDir folder;
  const clouds::Cloud cloud = clouds::clustered(20000, 15);
  const auto path = folder.path() / "mapped.bat";
  (void)bat::write_file(path, cloud.view(), lossless(1000));
  bat::OpenOptions map;
  map.map = true;
  const bat::File file = bat::File::open(path, map);
  EXPECT_TRUE(make_columns(file) == make_columns(write(cloud, {})));
  const std::string message = message_of([&] { (void)file.map_attribute(4, 10); });
  EXPECT_NE(message.find("attribute 'material' is compressed"), std::string::npos) << message;
  EXPECT_NO_THROW(bat::validate(file));
}

TEST(Compression, every_damaged_byte_names_column_and_chunk)
{
  const clouds::Cloud cloud = clouds::uniform(6000, 16);
  const bat::Bytes bytes = bat::encode(cloud.view(), lossless(500));
  const bat::File good = open(bat::Bytes(bytes));
  const auto& sections = good.impl().sections;
  const bat::format::SectionRecord* record =
    bat::format::find_section(sections, bat::format::SectionKind::Attribute,
      static_cast<std::uint32_t>(good.attribute_index("material")));
  ASSERT_EQ(record->encoding, bat::format::kChunks);
  clouds::Random random(17);
  for (int i = 0; i != 30; ++i)
  {
    bat::Bytes damaged(bytes);
    damaged[record->offset + random() % record->bytes] ^= std::byte{ 1 };
    const bat::File file = open(std::move(damaged));
    const std::string message = message_of([&] { (void)make_columns(file); });
    EXPECT_NE(message.find("'material' (offset"), std::string::npos) << message;
    EXPECT_NE(message.find(", chunk"), std::string::npos) << message;
  }
}

TEST(Compression, threads_do_not_change_the_bytes)
{
  const clouds::Cloud cloud = clouds::clustered(40000, 18);
  bat::BuildOptions options = bounded({ "positions=0.01%", "noise=0.1" }, 900);
  options.threads = 1;
  const bat::Bytes one = bat::encode(cloud.view(), options);
  options.threads = 4;
  EXPECT_TRUE(one == bat::encode(cloud.view(), options));
}
