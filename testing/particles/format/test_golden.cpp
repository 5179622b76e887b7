// SPDX-License-Identifier: BSD-3-Clause
// The golden files: the reader returns their content, the writer reproduces their bytes.

#include "bat/bat.hpp"
#include "codec/snap.hpp"
#include "particles/golden/golden_clouds.hpp"
#include "particles/tree/file_impl.hpp"
#include "support/dataset_files.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zstd.h>

#include <cstring>
#include <fstream>
#include <numeric>

namespace
{
using nlohmann::json;

const std::filesystem::path kFolder = BAT_GOLDEN_FOLDER;

std::string hex(const std::byte* value, std::size_t bytes)
{
  std::uint64_t bits = 0;
  std::memcpy(&bits, value, bytes);
  return fmt::format("{:0{}x}", bits, 2 * bytes);
}

json value(bat::ScalarType type, const std::byte* at)
{
  const auto integer = [at](auto v) -> json
  {
    std::memcpy(&v, at, sizeof(v));
    return v;
  };
  switch (type)
  {
    case bat::ScalarType::Int8:
      return integer(std::int8_t{});
    case bat::ScalarType::UInt8:
      return integer(std::uint8_t{});
    case bat::ScalarType::Int16:
      return integer(std::int16_t{});
    case bat::ScalarType::UInt16:
      return integer(std::uint16_t{});
    case bat::ScalarType::Int32:
      return integer(std::int32_t{});
    case bat::ScalarType::UInt32:
      return integer(std::uint32_t{});
    case bat::ScalarType::Int64:
      return integer(std::int64_t{});
    case bat::ScalarType::UInt64:
      return integer(std::uint64_t{});
    default:
      return hex(at, bat::size_of(type));
  }
}

json column(bat::ScalarType type, std::size_t components, const std::vector<std::byte>& bytes)
{
  json rows = json::array();
  const std::size_t size = bat::size_of(type);
  for (std::size_t at = 0; at != bytes.size(); at += components * size)
  {
    json row = json::array();
    for (std::size_t c = 0; c != components; ++c)
    {
      row.push_back(value(type, &bytes[at + c * size]));
    }
    rows.push_back(components == 1 ? row[0] : row);
  }
  return rows;
}

std::vector<std::vector<std::byte>> columns(const bat::Dataset& file)
{
  const bat::DatasetSelection all = file.select({});
  std::vector<std::vector<std::byte>> columns(1);
  columns[0].resize(all.count * 3 * bat::size_of(file.position_type()));
  file.read_positions(all, columns[0].data());
  for (std::size_t k = 0; k != file.attributes().size(); ++k)
  {
    const bat::Attribute& a = file.attributes()[k];
    columns.emplace_back(all.count * static_cast<std::size_t>(a.components) * bat::size_of(a.type));
    file.read_attribute(k, all, columns.back().data());
  }
  return columns;
}

/// The same object as `bat_spec.py dump` writes.
json content(const bat::Dataset& file)
{
  const std::vector<std::vector<std::byte>> data = columns(file);
  json c;
  c["particle_count"] = file.particle_count();
  c["time"] = nullptr;
  if (const auto time = file.time())
  {
    c["time"] = hex(reinterpret_cast<const std::byte*>(&*time), sizeof(double));
  }
  c["step"] = file.step() ? json(*file.step()) : json();
  c["metadata"] = file.metadata().empty() ? json() : json::parse(file.metadata());
  c["position_type"] = bat::name_of(file.position_type());
  c["positions"] = column(file.position_type(), 3, data[0]);
  c["attributes"] = json::array();
  for (std::size_t k = 0; k != file.attributes().size(); ++k)
  {
    const bat::Attribute& a = file.attributes()[k];
    c["attributes"].push_back({ { "name", a.name }, { "type", bat::name_of(a.type) },
      { "components", a.components }, { "role", a.role }, { "host_type", a.host_type },
      { "values", column(a.type, static_cast<std::size_t>(a.components), data[k + 1]) } });
  }
  return c;
}

std::vector<std::string> golden_names()
{
  std::vector<std::string> names;
  for (const std::string& name : names_in(kFolder))
  {
    if (name.size() > 4 && name.substr(name.size() - 4) == ".bat")
    {
      names.push_back(name.substr(0, name.size() - 4));
    }
  }
  return names;
}

class GoldenFile : public testing::TestWithParam<std::string>
{
};

TEST_P(GoldenFile, is_valid_and_has_exactly_the_content_of_its_json)
{
  const bat::Dataset file = bat::Dataset::open(kFolder / (GetParam() + ".bat"));
  EXPECT_NO_THROW(bat::validate(file));
  std::ifstream stream(kFolder / (GetParam() + ".json"));
  const json expected = json::parse(stream);
  const json found = content(file);
  for (const auto& [name, part] : expected.items())
  {
    EXPECT_TRUE(found.at(name) == part) << name << " differs";
  }
  EXPECT_EQ(found.size(), expected.size());
}

// The spec writer's block sizes cannot be set by write options.
TEST_P(GoldenFile, is_repacked_with_all_its_values)
{
  const TempDir folder;
  const std::filesystem::path in = kFolder / (GetParam() + ".bat");
  bat::repack(in, folder / "out.bat");
  bat::validate(folder / "out.bat");
  EXPECT_TRUE(dataset_files::rows_of(folder / "out.bat") == dataset_files::rows_of(in));
  EXPECT_EQ(bat::Dataset::open(folder / "out.bat").stable_samples(),
    bat::Dataset::open(in).stable_samples());
}

INSTANTIATE_TEST_SUITE_P(
  , GoldenFile, testing::ValuesIn(golden_names()), [](const auto& info) { return info.param; });

TEST(Golden, has_files_of_both_writers)
{
  const std::vector<std::string> names = golden_names();
  const auto written = static_cast<std::size_t>(std::count_if(names.begin(), names.end(),
    [](const std::string& name) { return name.rfind("written_", 0) == 0; }));
  EXPECT_EQ(written, golden::cases().size() + golden::dataset_cases().size());
  EXPECT_GE(names.size() - written, 20U);
}

std::size_t first_difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b)
{
  return static_cast<std::size_t>(
    std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// Another Zstandard library may encode the same values differently.
constexpr unsigned kZstdOfGoldenFiles = 10504;

TEST(Golden, writer_gives_the_same_bytes_with_any_number_of_threads)
{
  const TempDir folder;
  for (const golden::Case& c : golden::cases())
  {
    if (c.options.compression != bat::Compression::None &&
      ZSTD_versionNumber() != kZstdOfGoldenFiles)
    {
      bat::write_file(folder / c.name, c.view, c.options);
      EXPECT_TRUE(columns(bat::Dataset::open(folder / c.name)) ==
        columns(bat::Dataset::open(kFolder / (c.name + ".bat"))))
        << c.name;
      continue;
    }
    const std::vector<std::byte> expected = read_bytes(kFolder / (c.name + ".bat"));
    for (const int threads : { 1, 2, 0 })
    {
      bat::BuildOptions options = c.options;
      options.threads = threads;
      const bat::Bytes made = bat::encode(c.view, options);
      const std::vector<std::byte> encoded(made.begin(), made.end());
      EXPECT_TRUE(encoded == expected)
        << c.name << ", " << threads << " threads: the first byte that differs is "
        << first_difference(encoded, expected);
      bat::write_file(folder / c.name, c.view, options);
      EXPECT_TRUE(read_bytes(folder / c.name) == expected)
        << c.name << ", " << threads << " threads";
    }
  }
}

// Bytes of each particle: position, then attributes.
std::vector<std::vector<std::byte>> sorted_rows(
  const std::vector<std::vector<std::byte>>& columns, std::uint64_t count)
{
  std::vector<std::vector<std::byte>> rows(count);
  for (const std::vector<std::byte>& column : columns)
  {
    const std::size_t bytes = count == 0 ? 0 : column.size() / count;
    for (std::size_t i = 0; i != count; ++i)
    {
      rows[i].insert(rows[i].end(), column.begin() + static_cast<std::ptrdiff_t>(i * bytes),
        column.begin() + static_cast<std::ptrdiff_t>((i + 1) * bytes));
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

const bat::format::ColumnSection& column_of(const bat::File& file, std::size_t number)
{
  return number == 0 ? file.impl().column(bat::format::SectionKind::Positions)
                     : file.impl().column(bat::format::SectionKind::Attribute,
                         static_cast<std::uint32_t>(number - 1));
}

TEST(Golden, written_files_hold_every_particle_once_bit_for_bit_or_as_near_as_their_bounds)
{
  for (const golden::Case& c : golden::cases())
  {
    const bat::Dataset file = bat::Dataset::open(kFolder / (c.name + ".bat"));
    std::vector<std::vector<std::byte>> given{ c.cloud.positions };
    for (const clouds::Cloud::Column& column : c.cloud.columns)
    {
      given.push_back(column.bytes);
    }
    const bat::File leaf = bat::File::open(kFolder / (c.name + ".bat"));
    for (std::size_t k = 0; k != given.size(); ++k)
    {
      const bat::format::ColumnSection& column = column_of(leaf, k);
      if (column.has_chunks() && column.chunks().bound() != 0)
      {
        const bat::codec::ColumnShape shape{ column.type().type,
          static_cast<std::uint32_t>(column.type().components) };
        bat::codec::snap(shape, column.chunks().bound(), given[k].data(), c.view.count);
      }
    }
    ASSERT_EQ(file.particle_count(), c.view.count);
    std::vector<std::vector<std::byte>> found = columns(file);
    EXPECT_EQ(found.size(), given.size() + c.view.aliases.size());
    found.resize(given.size()); // the others repeat them
    EXPECT_TRUE(sorted_rows(found, c.view.count) == sorted_rows(given, c.view.count)) << c.name;
  }
}

TEST(Golden, chunks_end_inside_of_levels_beside_columns_that_stay_raw)
{
  for (const char* name : { "written_chunks", "written_bounded" })
  {
    SCOPED_TRACE(name);
    const bat::File file = bat::File::open(kFolder / (std::string(name) + ".bat"));
    std::string raw;
    for (const bat::Attribute& a : file.attributes())
    {
      const auto& column = column_of(file, 1 + file.attribute_index(a.name));
      raw += column.has_chunks() ? "" : a.name + " ";
    }
    EXPECT_EQ(raw, "bits ");
    const bat::format::ChunkTable& table = column_of(file, 0).chunks();
    EXPECT_EQ(table.count(), 3U);
    for (const std::uint64_t end : { 256U, 512U })
    {
      EXPECT_EQ(std::count(file.level_ends().begin(), file.level_ends().end(), end), 0);
      EXPECT_EQ(table.particles_of(end / 256).first, end);
    }
    EXPECT_EQ(table.bound(), name == std::string("written_chunks") ? 0 : 0.001);
  }
}

TEST(Golden, datasets_of_several_leaf_files_are_made_again_byte_for_byte)
{
  for (const golden::DatasetCase& c : golden::dataset_cases())
  {
    SCOPED_TRACE(c.name);
    for (const int threads : { 1, 2 })
    {
      const TempDir folder;
      bat::BuildOptions options = c.options;
      options.threads = threads;
      const std::string top = c.name + ".bat";
      const std::string leaves = top + ".leaves";
      dataset_files::write(folder / top, c.views, options);
      EXPECT_TRUE(read_bytes(folder / top) == read_bytes(kFolder / top));
      ASSERT_EQ(names_in(folder / leaves), names_in(kFolder / leaves));
      EXPECT_EQ(names_in(folder / leaves).size(), 4U);
      for (const std::string& name : names_in(folder / leaves))
      {
        EXPECT_TRUE(read_bytes(folder / leaves / name) == read_bytes(kFolder / leaves / name))
          << name;
      }
    }
  }
}

TEST(Golden, datasets_of_several_leaf_files_hold_every_particle_once_bit_for_bit)
{
  for (const golden::DatasetCase& c : golden::dataset_cases())
  {
    const bat::Dataset dataset = bat::Dataset::open(kFolder / (c.name + ".bat"));
    std::vector<std::vector<std::byte>> given(1 + c.clouds[0].columns.size());
    for (const clouds::Cloud& cloud : c.clouds)
    {
      given[0].insert(given[0].end(), cloud.positions.begin(), cloud.positions.end());
      for (std::size_t k = 0; k != cloud.columns.size(); ++k)
      {
        const std::vector<std::byte>& bytes = cloud.columns[k].bytes;
        given[k + 1].insert(given[k + 1].end(), bytes.begin(), bytes.end());
      }
    }
    ASSERT_EQ(dataset.particle_count(), 124U);
    EXPECT_TRUE(sorted_rows(columns(dataset), 124) == sorted_rows(given, 124)) << c.name;
  }
}

TEST(Golden, the_largest_has_many_treelets_blocks_and_dictionary_entries)
{
  const bat::File file = bat::File::open(kFolder / "written_3000.bat");
  EXPECT_GE(file.treelet_count(), 12U);
  EXPECT_GE(file.block_count(), 180U);
  EXPECT_GE(file.level_ends().size(), 20U);
}
}
