// SPDX-License-Identifier: BSD-3-Clause
// Turns unchecked bytes into trusted values. No other code uses offsets and counts from a file, and
// this code checks them against the file first.
#pragma once

#include "bat/error.hpp"
#include "bat/file.hpp"
#include "common/io/random_access_file.hpp"
#include "common/numbers.hpp"
#include "particles/format/layout.hpp"
#include "particles/format/leaf_files.hpp"
#include "particles/format/levels.hpp"
#include "particles/format/section_kinds.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace bat::format
{
[[noreturn]] void corrupt(const io::RandomAccessFile& file, const std::string& what);

/// Throws unless `good`: "RECORD: FIELD is FOUND; allowed is ALLOWED".
void check_field(const io::RandomAccessFile& file, bool good, const std::string& record,
  const char* field, const std::string& found, const std::string& allowed);

/// The name of a section in messages, e.g. "BIN_EDGES 3".
[[nodiscard]] std::string describe(const SectionRecord& section);

/// Finds the kind from the magic and the features of the header; empty if the magic differs. Checks
/// nothing else.
[[nodiscard]] std::optional<FileKind> peek_kind(const io::RandomAccessFile& file);

/// Steps 2 to 6 of FORMAT.md section 16.
[[nodiscard]] Header read_header(const io::RandomAccessFile& file, FileKind kind = FileKind::Leaf);

/// Step 7: the checked section table, ordered by kind and index.
[[nodiscard]] std::vector<SectionRecord> read_sections(
  const io::RandomAccessFile& file, const Header& header, FileKind kind = FileKind::Leaf);

[[nodiscard]] const SectionRecord* find_section(
  const std::vector<SectionRecord>& sections, SectionKind kind, std::uint32_t index = 0);

/// Returns the bytes of a section that is not paged, checked against its checksum.
[[nodiscard]] std::vector<std::byte> read_plain(
  const io::RandomAccessFile& file, const SectionRecord& section);
/// Does the same with another name for messages than describe(section).
[[nodiscard]] std::vector<std::byte> read_plain(
  const io::RandomAccessFile& file, const SectionRecord& section, const std::string& name);

/// Returns them as text; empty if the section does not exist.
[[nodiscard]] std::string read_text(
  const io::RandomAccessFile& file, const std::vector<SectionRecord>& sections, SectionKind kind);

/// Returns them as records; the size of the section is a multiple of the record size.
template <class Record>
[[nodiscard]] std::vector<Record> read_records(
  const io::RandomAccessFile& file, const SectionRecord& section, const std::string& name)
{
  const std::vector<std::byte> bytes = read_plain(file, section, name);
  std::vector<Record> records(bytes.size() / sizeof(Record));
  if (!records.empty())
  {
    std::memcpy(records.data(), bytes.data(), records.size() * sizeof(Record));
  }
  return records;
}
template <class Record>
[[nodiscard]] std::vector<Record> read_records(
  const io::RandomAccessFile& file, const SectionRecord& section)
{
  return read_records<Record>(file, section, describe(section));
}

/// Checks the nodes of SHALLOW_TREE or AGGREGATION_TREE (`what`) over `non_finite.size()` treelets
/// or leaf files; a leaf whose box covers everything must be non-finite. Returns the node of each
/// leaf.
[[nodiscard]] std::vector<std::uint32_t> check_tree(const io::RandomAccessFile& file,
  const char* what, const std::vector<NodeRecord>& nodes, const std::vector<bool>& non_finite);

/// SCHEMA, SAMPLE_IDS, ALIASES and, in a leaf file, LEVELS.
struct Schema
{
  SchemaHead head{};
  std::vector<bat::Attribute> attributes; ///< attributes with columns, then aliases
  std::vector<std::uint32_t> first_keys;  ///< for each attribute with a column
  std::vector<KeyRecord> keys;            ///< keys of these attributes
  LevelTable levels;
  std::vector<SampleIdRecord> sample_ids; ///< order of the levels; empty: spatial order
  /// Keys of x, y, z and their magnitude; zero without aliases.
  std::array<LeafKeyRecord, kPositionKeys> position_keys{};

  [[nodiscard]] ValueClass key_class(std::size_t key) const
  {
    const KeyRecord& record = this->keys[key];
    return record.component < 0 ? ValueClass::Float
                                : value_class(this->attributes[record.attribute].type);
  }
};

/// Returns the name of a section with a known schema: "attribute 'mass'", "BIN_EDGES of
/// 'velocity[2]'".
[[nodiscard]] std::string describe(const SectionRecord& section, const Schema& schema);

/// Returns the ids that order the levels, by names as in BuildOptions::stable_samples.
[[nodiscard]] std::vector<std::string> sample_names(const Schema& schema);

/// Returns the limit for the indexes of a kind of section in a file with this schema.
[[nodiscard]] std::uint64_t section_numbers(const SectionKindRow& row, const Schema& schema);

/// Returns the type and components of a column's elements.
struct ElementType
{
  ScalarType type = ScalarType::Float32;
  int components = 1;

  [[nodiscard]] std::uint64_t bytes() const noexcept
  {
    return tuple_bytes(this->type, this->components);
  }
};

/// Returns the element type from the schema; empty for a section that is not one of its columns.
[[nodiscard]] std::optional<ElementType> element_type(
  SectionKind kind, std::uint32_t index, const Schema& schema);

/// The number and size of a section's elements.
struct SectionShape
{
  std::uint64_t elements = 0;
  std::uint64_t element_bytes = 1;

  [[nodiscard]] std::uint64_t bytes() const noexcept
  {
    return this->elements * this->element_bytes;
  }
};

/// Returns the shape of a leaf file's section from the schema; empty if the schema has no such
/// section or does not determine its size.
[[nodiscard]] std::optional<SectionShape> shape_of(
  SectionKind kind, std::uint32_t index, const Schema& schema, std::uint64_t particles);

/// Does the same for an existing section; the shape is bytes if the schema does not determine it.
[[nodiscard]] SectionShape shape_of(
  const SectionRecord& section, const Schema& schema, std::uint64_t particles);

/// Step 8. Also checks that every section implied by the schema exists and has its size.
[[nodiscard]] Schema read_schema(const io::RandomAccessFile& file, const Header& header,
  const std::vector<SectionRecord>& sections, FileKind kind = FileKind::Leaf);

/// LEAF_FILES and AGGREGATION_TREE.
[[nodiscard]] LeafFiles read_leaf_files(const io::RandomAccessFile& file, const Header& header,
  const std::vector<SectionRecord>& sections, const Schema& schema);
}
