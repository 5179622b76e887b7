// SPDX-License-Identifier: BSD-3-Clause
// Compares the tables of core/particles/FORMAT.md with the structs of layout.hpp: same fields,
// offsets and sizes.

#include "bat/types.hpp"
#include "particles/format/section_kinds.hpp"
#include "particles/format/tracks_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace
{
namespace format = bat::format;

struct Field
{
  std::string name;
  std::size_t offset = 0;
  std::size_t bytes = 0;

  bool operator==(const Field& other) const
  {
    return this->name == other.name && this->offset == other.offset && this->bytes == other.bytes;
  }
};

std::ostream& operator<<(std::ostream& out, const Field& field)
{
  return out << field.name << " at " << field.offset << ", " << field.bytes << " bytes";
}

using Row = std::vector<std::string>; // cells

struct Table
{
  int section = 0; ///< number of the heading above it
  Row head;
  std::vector<Row> rows;
};

std::string trimmed(const std::string& text)
{
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? std::string()
                                    : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Row cells(const std::string& line)
{
  Row row;
  for (std::size_t at = 1; at < line.size();)
  {
    const std::size_t end = std::min(line.find('|', at), line.size());
    row.push_back(trimmed(line.substr(at, end - at)));
    at = end + 1;
  }
  return row;
}

const std::vector<std::string>& text()
{
  static const std::vector<std::string> lines = []
  {
    std::ifstream stream(BAT_FORMAT_TEXT);
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);)
    {
      all.push_back(line);
    }
    return all;
  }();
  return lines;
}

const std::vector<Table>& tables()
{
  static const std::vector<Table> all = []
  {
    std::vector<Table> found;
    int section = 0;
    bool inside = false;
    for (const std::string& line : text())
    {
      if (line.rfind("## ", 0) == 0)
      {
        section = std::atoi(line.c_str() + 3);
      }
      const bool row = !line.empty() && line[0] == '|';
      if (row && !inside)
      {
        found.push_back({ section, cells(line), {} });
      }
      else if (row && line.find_first_not_of("|-: ") != std::string::npos)
      {
        found.back().rows.push_back(cells(line));
      }
      inside = row;
    }
    return found;
  }();
  return all;
}

/// Number `which` of the byte offset tables in a section of the text.
std::vector<Field> record(int section, std::size_t which)
{
  static const std::map<std::string, std::size_t> kWidths{ { "u8", 1 }, { "u16", 2 }, { "i16", 2 },
    { "u32", 4 }, { "u64", 8 }, { "i64", 8 }, { "f64", 8 }, { "8 bytes", 8 } };
  for (const Table& table : tables())
  {
    if (table.section != section || table.head[0] != "offset" || which-- != 0)
    {
      continue;
    }
    std::vector<Field> fields;
    for (const Row& row : table.rows)
    {
      std::string type = row.at(1);
      std::size_t count = 1;
      if (const std::size_t bracket = type.find('['); bracket != std::string::npos) // "u8[32]"
      {
        count = std::stoul(type.substr(bracket + 1));
        type.resize(bracket);
      }
      std::string name = row.at(2);
      name.erase(std::remove(name.begin(), name.end(), '`'), name.end());
      fields.push_back({ name, std::stoul(row.at(0)), count * kWidths.at(type) });
    }
    return fields;
  }
  return {};
}

#define BAT_FIELD(Record, name)                                                                    \
  Field                                                                                            \
  {                                                                                                \
#name, offsetof(format::Record, name), sizeof(format::Record::name)                            \
  }

void expect_same(const std::vector<Field>& text, const std::vector<Field>& code, std::size_t bytes)
{
  EXPECT_EQ(text, code);
  std::size_t end = 0;
  for (const Field& field : code)
  {
    EXPECT_EQ(field.offset, end) << field;
    end = field.offset + field.bytes;
  }
  EXPECT_EQ(end, bytes);
}

TEST(Layout, header_is_that_of_the_text)
{
  expect_same(record(5, 0),
    { BAT_FIELD(Header, magic), BAT_FIELD(Header, version_major), BAT_FIELD(Header, version_minor),
      BAT_FIELD(Header, header_bytes), BAT_FIELD(Header, file_bytes),
      BAT_FIELD(Header, required_features), BAT_FIELD(Header, optional_features),
      BAT_FIELD(Header, particle_count), BAT_FIELD(Header, section_table_offset),
      BAT_FIELD(Header, section_count), BAT_FIELD(Header, flags), BAT_FIELD(Header, time),
      BAT_FIELD(Header, step), BAT_FIELD(Header, section_table_checksum),
      BAT_FIELD(Header, reserved), BAT_FIELD(Header, header_checksum) },
    sizeof(format::Header));
}

TEST(Layout, sample_ids_are_those_of_the_text)
{
  expect_same(record(8, 0),
    { BAT_FIELD(SampleIdsHead, id_count), BAT_FIELD(SampleIdsHead, reserved) },
    sizeof(format::SampleIdsHead));
  expect_same(record(8, 1),
    { BAT_FIELD(SampleIdRecord, attribute), BAT_FIELD(SampleIdRecord, component),
      BAT_FIELD(SampleIdRecord, reserved) },
    sizeof(format::SampleIdRecord));
}

TEST(Layout, section_record_is_that_of_the_text)
{
  expect_same(record(6, 0),
    { BAT_FIELD(SectionRecord, kind), BAT_FIELD(SectionRecord, index),
      BAT_FIELD(SectionRecord, encoding), BAT_FIELD(SectionRecord, flags),
      BAT_FIELD(SectionRecord, offset), BAT_FIELD(SectionRecord, bytes),
      BAT_FIELD(SectionRecord, raw_bytes), BAT_FIELD(SectionRecord, checksum),
      BAT_FIELD(SectionRecord, checksums_offset), BAT_FIELD(SectionRecord, reserved) },
    sizeof(format::SectionRecord));
}

TEST(Layout, schema_records_are_those_of_the_text)
{
  expect_same(record(7, 0),
    { BAT_FIELD(SchemaHead, attribute_count), BAT_FIELD(SchemaHead, key_count),
      BAT_FIELD(SchemaHead, level_count), BAT_FIELD(SchemaHead, treelet_count),
      BAT_FIELD(SchemaHead, block_count), BAT_FIELD(SchemaHead, block_particles),
      BAT_FIELD(SchemaHead, position_type), BAT_FIELD(SchemaHead, reserved),
      BAT_FIELD(SchemaHead, lower), BAT_FIELD(SchemaHead, upper) },
    sizeof(format::SchemaHead));
  expect_same(record(7, 1),
    { BAT_FIELD(AttributeRecord, type), BAT_FIELD(AttributeRecord, components),
      BAT_FIELD(AttributeRecord, role), BAT_FIELD(AttributeRecord, reserved),
      BAT_FIELD(AttributeRecord, host_type), BAT_FIELD(AttributeRecord, name_bytes),
      BAT_FIELD(AttributeRecord, first_key) },
    sizeof(format::AttributeRecord));
  expect_same(record(7, 2),
    { BAT_FIELD(KeyRecord, attribute), BAT_FIELD(KeyRecord, component),
      BAT_FIELD(KeyRecord, bitmap_bytes), BAT_FIELD(KeyRecord, flags),
      BAT_FIELD(KeyRecord, bin_count), BAT_FIELD(KeyRecord, dictionary_count),
      BAT_FIELD(KeyRecord, minimum), BAT_FIELD(KeyRecord, maximum),
      BAT_FIELD(KeyRecord, reserved) },
    sizeof(format::KeyRecord));
  expect_same(record(7, 3),
    { BAT_FIELD(AliasesHead, alias_count), BAT_FIELD(AliasesHead, reserved) },
    sizeof(format::AliasesHead));
  expect_same(record(7, 4),
    { BAT_FIELD(AliasRecord, attribute), BAT_FIELD(AliasRecord, component),
      BAT_FIELD(AliasRecord, role), BAT_FIELD(AliasRecord, reserved),
      BAT_FIELD(AliasRecord, host_type), BAT_FIELD(AliasRecord, name_bytes) },
    sizeof(format::AliasRecord));
}

TEST(Layout, tree_records_are_those_of_the_text)
{
  expect_same(record(9, 0), { BAT_FIELD(TreeletRecord, count), BAT_FIELD(TreeletRecord, flags) },
    sizeof(format::TreeletRecord));
  expect_same(record(9, 1),
    { BAT_FIELD(NodeRecord, lower), BAT_FIELD(NodeRecord, upper),
      BAT_FIELD(NodeRecord, first_treelet), BAT_FIELD(NodeRecord, skip) },
    sizeof(format::NodeRecord));
}

TEST(Layout, treelet_key_record_is_that_of_the_text)
{
  expect_same(record(11, 0),
    { BAT_FIELD(TreeletKeyRecord, minimum), BAT_FIELD(TreeletKeyRecord, maximum),
      BAT_FIELD(TreeletKeyRecord, bitmap), BAT_FIELD(TreeletKeyRecord, first_bin),
      BAT_FIELD(TreeletKeyRecord, last_bin), BAT_FIELD(TreeletKeyRecord, flags),
      BAT_FIELD(TreeletKeyRecord, reserved) },
    sizeof(format::TreeletKeyRecord));
}

TEST(Layout, index_entry_is_that_of_the_text)
{
  expect_same(record(11, 1), { BAT_FIELD(IndexEntry, value), BAT_FIELD(IndexEntry, position) },
    sizeof(format::IndexEntry));
}

TEST(Layout, chunk_table_is_that_of_the_text)
{
  expect_same(record(12, 0),
    { BAT_FIELD(ChunkTableHead, chunk_particles), BAT_FIELD(ChunkTableHead, chunk_count),
      BAT_FIELD(ChunkTableHead, bound), BAT_FIELD(ChunkTableHead, model_bytes),
      BAT_FIELD(ChunkTableHead, reserved) },
    sizeof(format::ChunkTableHead));
}

TEST(Layout, leaf_file_records_are_those_of_the_text)
{
  expect_same(record(15, 0),
    { BAT_FIELD(LeafFilesHead, leaf_count), BAT_FIELD(LeafFilesHead, reserved) },
    sizeof(format::LeafFilesHead));
  expect_same(record(15, 1),
    { BAT_FIELD(LeafRecord, particles), BAT_FIELD(LeafRecord, file_bytes),
      BAT_FIELD(LeafRecord, header_checksum), BAT_FIELD(LeafRecord, lower),
      BAT_FIELD(LeafRecord, upper), BAT_FIELD(LeafRecord, name_bytes),
      BAT_FIELD(LeafRecord, flags) },
    sizeof(format::LeafRecord));
  expect_same(record(15, 2),
    { BAT_FIELD(LeafKeyRecord, minimum), BAT_FIELD(LeafKeyRecord, maximum),
      BAT_FIELD(LeafKeyRecord, flags), BAT_FIELD(LeafKeyRecord, reserved) },
    sizeof(format::LeafKeyRecord));
}

TEST(Layout, records_of_tracks_are_those_of_the_text)
{
  expect_same(record(19, 0),
    { BAT_FIELD(TracksHeader, magic), BAT_FIELD(TracksHeader, version_major),
      BAT_FIELD(TracksHeader, version_minor), BAT_FIELD(TracksHeader, header_bytes),
      BAT_FIELD(TracksHeader, required_features), BAT_FIELD(TracksHeader, optional_features),
      BAT_FIELD(TracksHeader, reserved), BAT_FIELD(TracksHeader, header_checksum) },
    sizeof(format::TracksHeader));
  expect_same(record(19, 1),
    { BAT_FIELD(TracksEnd, sequence), BAT_FIELD(TracksEnd, end), BAT_FIELD(TracksEnd, is_finished),
      BAT_FIELD(TracksEnd, reserved), BAT_FIELD(TracksEnd, checksum) },
    sizeof(format::TracksEnd));
  expect_same(record(19, 2),
    { BAT_FIELD(BlockStart, kind), BAT_FIELD(BlockStart, reserved), BAT_FIELD(BlockStart, offset),
      BAT_FIELD(BlockStart, block_bytes), BAT_FIELD(BlockStart, head_bytes),
      BAT_FIELD(BlockStart, payload_bytes), BAT_FIELD(BlockStart, head_checksum),
      BAT_FIELD(BlockStart, reserved2), BAT_FIELD(BlockStart, start_checksum) },
    sizeof(format::BlockStart));
  expect_same(record(19, 3),
    { BAT_FIELD(BlockHead, sample_count), BAT_FIELD(BlockHead, attribute_count),
      BAT_FIELD(BlockHead, id_count), BAT_FIELD(BlockHead, row_count),
      BAT_FIELD(BlockHead, row_bytes), BAT_FIELD(BlockHead, position_type),
      BAT_FIELD(BlockHead, id_type), BAT_FIELD(BlockHead, second_type),
      BAT_FIELD(BlockHead, reserved), BAT_FIELD(BlockHead, id_name_bytes),
      BAT_FIELD(BlockHead, second_name_bytes), BAT_FIELD(BlockHead, text_bytes),
      BAT_FIELD(BlockHead, reserved2) },
    sizeof(format::BlockHead));
  expect_same(record(19, 4),
    { BAT_FIELD(TrackAttributeRecord, type), BAT_FIELD(TrackAttributeRecord, components),
      BAT_FIELD(TrackAttributeRecord, role), BAT_FIELD(TrackAttributeRecord, reserved),
      BAT_FIELD(TrackAttributeRecord, host_type), BAT_FIELD(TrackAttributeRecord, name_bytes),
      BAT_FIELD(TrackAttributeRecord, reserved2) },
    sizeof(format::TrackAttributeRecord));
  expect_same(record(19, 5),
    { BAT_FIELD(SampleRecord, step), BAT_FIELD(SampleRecord, time), BAT_FIELD(SampleRecord, rows),
      BAT_FIELD(SampleRecord, flags), BAT_FIELD(SampleRecord, metadata_bytes) },
    sizeof(format::SampleRecord));
}

TEST(Layout, no_table_of_offsets_is_left_out)
{
  std::map<int, int> per_section;
  for (const Table& table : tables())
  {
    per_section[table.section] += table.head[0] == "offset";
  }
  per_section.erase(2); // scalar types
  std::map<int, int> compared{ { 5, 1 }, { 6, 1 }, { 7, 5 }, { 8, 2 }, { 9, 2 }, { 11, 2 },
    { 12, 1 }, { 15, 3 }, { 19, 6 } };
  for (const auto& [section, count] : per_section)
  {
    EXPECT_EQ(count, compared[section]) << "section " << section;
  }
}

TEST(Layout, scalar_types_have_the_codes_of_the_text)
{
  std::size_t codes = 0;
  for (const Table& table : tables())
  {
    if (table.section != 2)
    {
      continue;
    }
    for (const Row& row : table.rows)
    {
      for (const std::size_t column : { 0, 2 })
      {
        const auto type = static_cast<bat::ScalarType>(std::stoi(row.at(column)));
        EXPECT_EQ(bat::name_of(type), row.at(column + 1));
        ++codes;
      }
    }
  }
  EXPECT_EQ(codes, 10U);
}

TEST(Layout, section_kinds_are_those_of_the_text)
{
  std::size_t rows = 0;
  for (const Table& table : tables())
  {
    if (table.section != 6 || table.head[0] != "kind")
    {
      continue;
    }
    for (const Row& text : table.rows)
    {
      const auto* row = format::find_section_kind(static_cast<unsigned>(std::stoi(text.at(0))));
      ASSERT_NE(row, nullptr) << text.at(1);
      EXPECT_EQ(row->name, text.at(1));
      const std::string files = row->in_leaf_files ? row->in_top_files ? "both" : "leaf"
        : row->in_top_files                        ? "top"
                                                   : "none";
      EXPECT_EQ(files, text.at(2)) << row->name;
      const std::map<format::Numbered, std::string> numbers{ { format::Numbered::No, "0" },
        { format::Numbered::ByAttribute, "attribute" }, { format::Numbered::ByKey, "key" },
        { format::Numbered::ByColumn, "column" } };
      EXPECT_EQ(numbers.at(row->numbered), text.at(3)) << row->name;
      EXPECT_EQ(row->paged, text.at(4) == "yes") << row->name;
      ++rows;
    }
  }
  EXPECT_EQ(rows, std::size(format::kSectionKinds));
}

/// Returns whether section `section` of the text contains `words`, wherever its lines end.
bool says(int section, const std::string& words)
{
  int here = 0;
  std::string flowing;
  for (const std::string& line : text())
  {
    if (line.rfind("## ", 0) == 0)
    {
      here = std::atoi(line.c_str() + 3);
    }
    if (here == section)
    {
      flowing += line.substr(std::min(line.find_first_not_of(' '), line.size())) + ' ';
    }
  }
  return flowing.find(words) != std::string::npos;
}

TEST(Layout, sizes_and_limits_are_those_of_the_text)
{
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  EXPECT_TRUE(says(2, "A *page* is " + number(format::kPageBytes) + " consecutive bytes"));
  EXPECT_TRUE(says(5, number(sizeof(format::Header)) + " bytes at offset 0"));
  EXPECT_TRUE(says(5, "n, at most " + number(format::kMaxParticles)));
  EXPECT_TRUE(says(6, "records of " + number(sizeof(format::SectionRecord)) + " bytes"));
  EXPECT_TRUE(says(7, "A, at most " + number(format::kMaxAttributes)));
  EXPECT_TRUE(says(7, "L, 1 to " + number(format::kMaxLevels)));
  EXPECT_TRUE(says(7, "B, 1 to " + number(format::kMaxBlockParticles)));
  EXPECT_TRUE(says(7, "| 1 to " + number(format::kMaxBins) + " |"));
  EXPECT_TRUE(
    says(7, "attribute records of " + number(sizeof(format::AttributeRecord)) + " bytes"));
  EXPECT_TRUE(says(7, "key records of " + number(sizeof(format::KeyRecord)) + " bytes"));
  EXPECT_TRUE(
    says(7, "The aliases follow, " + number(sizeof(format::AliasRecord)) + " bytes each"));
  EXPECT_TRUE(says(7, number(format::kPositionsAttribute) + " = the positions"));
  EXPECT_TRUE(says(7,
    "The next " + number(format::kPositionKeys) + " records of " +
      number(sizeof(format::LeafKeyRecord)) + " bytes have the form"));
  EXPECT_TRUE(says(9, "records of " + number(sizeof(format::TreeletRecord)) + " bytes"));
  EXPECT_TRUE(says(9, "of " + number(sizeof(format::NodeRecord)) + " bytes in preorder"));
  EXPECT_TRUE(says(10, number(sizeof(format::BlockBoxRecord)) + " values of type u8 per block"));
  EXPECT_TRUE(says(11, "records of " + number(sizeof(format::TreeletKeyRecord)) + " bytes"));
  EXPECT_TRUE(says(11, "*entry* of " + number(sizeof(format::IndexEntry)) + " bytes"));
  EXPECT_TRUE(says(11, "Each holds " + number(format::kIndexEntries) + " entries"));
  EXPECT_TRUE(says(11, number(format::kIndexFences) + " to a page"));
  EXPECT_TRUE(says(15, "leaf files, 1 to " + number(format::kMaxLeafFiles) + " (2^24)"));
  EXPECT_TRUE(says(15, "F records of " + number(sizeof(format::LeafRecord)) + " bytes"));
  EXPECT_TRUE(says(15, "K records of " + number(sizeof(format::LeafKeyRecord)) + " bytes"));
}

TEST(Layout, magic_is_that_of_the_text)
{
  std::string magic;
  for (const unsigned char byte : format::kMagic)
  {
    char digits[4];
    std::snprintf(digits, sizeof(digits), "%02X ", byte);
    magic += digits;
  }
  EXPECT_TRUE(says(5, "| " + magic + "|"));
}

TEST(Layout, features_are_those_of_the_text)
{
  EXPECT_TRUE(says(14, "| 0 | top file of a dataset with several leaf files"));
  EXPECT_TRUE(says(14, "| 1 | compressed chunks"));
  EXPECT_TRUE(says(14, "| 2 | stable samples"));
}
}
