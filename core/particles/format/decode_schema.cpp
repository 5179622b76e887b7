// SPDX-License-Identifier: BSD-3-Clause
// Decodes SCHEMA, LEVELS, SAMPLE_IDS and ALIASES, and checks other sections against them.

#include "common/text.hpp"
#include "particles/format/decode_parts.hpp"
#include "particles/format/index_layout.hpp"
#include "particles/format/stable_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace bat::format
{
std::string describe(const SectionRecord& section, const Schema& schema)
{
  const SectionKindRow* row = find_section_kind(section.kind);
  if (row && row->numbered == Numbered::ByAttribute && section.index < schema.head.attribute_count)
  {
    return fmt::format("attribute '{}'", schema.attributes[section.index].name);
  }
  if (!row || row->numbered != Numbered::ByKey || section.index >= schema.keys.size())
  {
    return describe(section);
  }
  const KeyRecord& key = schema.keys[section.index];
  const bat::Attribute& attribute = schema.attributes[key.attribute];
  const bool is_component = attribute.components > 1 && key.component >= 0;
  return fmt::format("{} of '{}{}'", row->name, attribute.name,
    is_component ? fmt::format("[{}]", key.component) : std::string());
}

std::vector<std::string> sample_names(const Schema& schema)
{
  std::vector<std::string> names;
  for (const SampleIdRecord& id : schema.sample_ids)
  {
    const bat::Attribute& attribute = schema.attributes[id.attribute];
    const bool is_whole = id.component < 0 || attribute.components == 1;
    names.push_back(
      is_whole ? attribute.name : fmt::format("{}[{}]", attribute.name, id.component));
  }
  return names;
}

bool is_no_box(const double (&lower)[3], const double (&upper)[3])
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  return std::all_of(lower, lower + 3, [](double x) { return x == inf; }) &&
    std::all_of(upper, upper + 3, [](double x) { return x == -inf; });
}

bool is_finite_box(const double (&lower)[3], const double (&upper)[3])
{
  bool good = true;
  for (int axis = 0; axis != 3; ++axis)
  {
    good = good && std::isfinite(lower[axis]) && std::isfinite(upper[axis]) &&
      lower[axis] <= upper[axis];
  }
  return good;
}

void check_leaf_key_record(const io::RandomAccessFile& file, const LeafKeyRecord& record,
  bool is_float, const std::string& name)
{
  check_field(
    file, (record.flags & ~kHasNaN) == 0, name, "flags", std::to_string(record.flags), "0 or 1");
  check_field(file, record.reserved == 0, name, "reserved", std::to_string(record.reserved), "0");
  check_field(file, !is_float || !std::isnan(from_bits<double>(record.minimum)), name, "minimum",
    "NaN", "a number");
  check_field(file, !is_float || !std::isnan(from_bits<double>(record.maximum)), name, "maximum",
    "NaN", "a number");
}

std::uint64_t section_numbers(const SectionKindRow& row, const Schema& schema)
{
  switch (row.numbered)
  {
    case Numbered::ByAttribute:
      return schema.head.attribute_count;
    case Numbered::ByKey:
      return schema.keys.size();
    case Numbered::ByColumn:
      return schema.head.attribute_count + std::uint64_t{ 1 };
    case Numbered::No:
      break;
  }
  return 1;
}

std::optional<ElementType> element_type(SectionKind kind, std::uint32_t index, const Schema& schema)
{
  if (kind == SectionKind::Positions && index == 0)
  {
    return ElementType{ static_cast<ScalarType>(schema.head.position_type), 3 };
  }
  if (kind == SectionKind::Attribute && index < schema.head.attribute_count)
  {
    return ElementType{ schema.attributes[index].type, schema.attributes[index].components };
  }
  return std::nullopt;
}

std::optional<SectionShape> shape_of(
  SectionKind kind, std::uint32_t index, const Schema& schema, std::uint64_t particles)
{
  if (index >= section_numbers(row_of(kind), schema))
  {
    return std::nullopt;
  }
  const std::uint64_t treelets = schema.head.treelet_count;
  const std::uint64_t blocks = schema.head.block_count;
  switch (kind)
  {
    case SectionKind::Levels:
      return SectionShape{ schema.head.level_count - std::uint64_t{ 1 }, 4 };
    case SectionKind::ShallowTree:
      return SectionShape{ treelets == 0 ? 0 : 2 * treelets - 1, sizeof(NodeRecord) };
    case SectionKind::Treelets:
      return SectionShape{ treelets, sizeof(TreeletRecord) };
    case SectionKind::BlockBoxes:
      return SectionShape{ blocks, sizeof(BlockBoxRecord) };
    case SectionKind::Positions:
    case SectionKind::Attribute:
      return SectionShape{ particles, element_type(kind, index, schema)->bytes() };
    case SectionKind::BinEdges:
      return SectionShape{ schema.keys[index].bin_count - std::uint64_t{ 1 }, 8 };
    case SectionKind::TreeletKeys:
      return SectionShape{ treelets, sizeof(TreeletKeyRecord) };
    case SectionKind::BlockBitmaps:
      return schema.keys[index].bitmap_bytes == 0
        ? std::nullopt
        : std::optional(SectionShape{ blocks, schema.keys[index].bitmap_bytes });
    case SectionKind::BitmapDictionary:
      return schema.keys[index].bitmap_bytes != 1 && schema.keys[index].bitmap_bytes != 2
        ? std::nullopt
        : std::optional(SectionShape{ schema.keys[index].dictionary_count, 4 });
    case SectionKind::SortedIndex:
      return SectionShape{ IndexLayout(particles).bytes(), 1 };
    case SectionKind::TreeletLevels:
      return schema.sample_ids.empty()
        ? std::nullopt
        : std::optional(SectionShape{ treelets * schema.head.level_count, 4 });
    case SectionKind::BlockLevels:
      return schema.sample_ids.empty()
        ? std::nullopt
        : std::optional(SectionShape{
            blocks, block_levels_bytes(schema.head.block_particles, schema.head.level_count) });
    case SectionKind::Schema:
    case SectionKind::Metadata:
    case SectionKind::AggregationTree:
    case SectionKind::LeafFiles:
    case SectionKind::ChunkTable:
    case SectionKind::Aliases:
    case SectionKind::SampleIds:
    case SectionKind::Hdf5Superblock:
    case SectionKind::Hdf5Objects:
      break;
  }
  return std::nullopt;
}

SectionShape shape_of(const SectionRecord& section, const Schema& schema, std::uint64_t particles)
{
  const SectionKindRow* row = find_section_kind(section.kind);
  const std::optional<SectionShape> shape =
    row ? shape_of(row->kind, section.index, schema, particles) : std::nullopt;
  return shape.value_or(SectionShape{ section.bytes, 1 });
}

namespace
{
void check_head(
  const io::RandomAccessFile& file, const Header& header, const SchemaHead& head, FileKind kind)
{
  const auto check = [&](bool good, const std::string& what)
  {
    if (!good)
    {
      corrupt(file, "SCHEMA: " + what);
    }
  };
  check(head.attribute_count <= kMaxAttributes,
    fmt::format("{} attributes; at most {} are allowed", head.attribute_count, kMaxAttributes));
  if (kind == FileKind::Top)
  {
    check(head.level_count == 0 && head.treelet_count == 0 && head.block_count == 0 &&
        head.block_particles == 0,
      "a top file has levels, treelets or blocks");
  }
  check(kind == FileKind::Top || (head.level_count >= 1 && head.level_count <= kMaxLevels),
    fmt::format("{} levels; 1 to {} are allowed", head.level_count, kMaxLevels));
  check(kind == FileKind::Top ||
      (head.treelet_count <= header.particle_count &&
        (head.treelet_count == 0) == (header.particle_count == 0)),
    fmt::format("{} treelets for {} particles", head.treelet_count, header.particle_count));
  check(kind == FileKind::Top ||
      (head.block_particles >= 1 && head.block_particles <= kMaxBlockParticles),
    fmt::format(
      "{} particles per block; 1 to {} are allowed", head.block_particles, kMaxBlockParticles));
  check(head.block_count <= header.particle_count && head.block_count >= head.treelet_count,
    fmt::format("{} blocks for {} treelets and {} particles", head.block_count, head.treelet_count,
      header.particle_count));
  check(head.position_type == 9 || head.position_type == 10,
    fmt::format("position type {}; allowed are 9 and 10", head.position_type));
  check(is_zero(head.reserved, sizeof(head.reserved)), "reserved bytes are not zero");
  check(is_no_box(head.lower, head.upper) || is_finite_box(head.lower, head.upper),
    "the bounds are not a box");
}

void check_attribute_record(const io::RandomAccessFile& file, const AttributeRecord& record,
  std::uint32_t number, std::uint64_t first_key)
{
  const std::string name = fmt::format("SCHEMA: attribute {}", number);
  const auto check =
    [&](bool good, const char* field, std::uint64_t found, const std::string& allowed)
  { check_field(file, good, name, field, std::to_string(found), allowed); };
  check(record.type >= 1 && record.type <= 10, "type", record.type, "1 to 10");
  check(record.components >= 1 && record.components <= kMaxComponents, "components",
    record.components, fmt::format("1 to {}", kMaxComponents));
  check(record.reserved == 0, "reserved", record.reserved, "0");
  check(record.name_bytes >= 1 && record.name_bytes <= 65535, "name_bytes", record.name_bytes,
    "1 to 65535");
  check(record.first_key == first_key, "first_key", record.first_key, std::to_string(first_key));
}

void check_key_record(const io::RandomAccessFile& file, const KeyRecord& record, FileKind kind,
  std::uint32_t attribute, int component, ValueClass type)
{
  const std::string name = component < 0
    ? fmt::format("SCHEMA: magnitude key of attribute {}", attribute)
    : fmt::format("SCHEMA: key of component {} of attribute {}", component, attribute);
  const auto check = [&](
                       bool good, const char* field, std::int64_t found, const std::string& allowed)
  { check_field(file, good, name, field, std::to_string(found), allowed); };
  check(record.attribute == attribute, "attribute", record.attribute, std::to_string(attribute));
  check(record.component == component, "component", record.component, std::to_string(component));
  const bool numbered = record.bitmap_bytes == 1 || record.bitmap_bytes == 2;
  if (kind == FileKind::Top)
  {
    check(record.bitmap_bytes == 0, "bitmap_bytes", record.bitmap_bytes, "0 in a top file");
    check(record.bin_count == 1, "bin_count", record.bin_count, "1 in a top file");
  }
  check(numbered || record.bitmap_bytes == 0 || record.bitmap_bytes == 4, "bitmap_bytes",
    record.bitmap_bytes, "0, 1, 2 or 4");
  check((record.flags & ~kHasNaN) == 0, "flags", record.flags, "0 or 1");
  check(record.bin_count >= 1 && record.bin_count <= kMaxBins, "bin_count", record.bin_count,
    fmt::format("1 to {}", kMaxBins));
  const std::uint32_t high = numbered ? 1u << 8 * record.bitmap_bytes : 0;
  check(record.dictionary_count <= high, "dictionary_count", record.dictionary_count,
    fmt::format("0 to {}", high));
  check(record.reserved == 0, "reserved", static_cast<std::int64_t>(record.reserved), "0");
  if (type == ValueClass::Float)
  {
    check_field(
      file, !std::isnan(from_bits<double>(record.minimum)), name, "minimum", "NaN", "a number");
    check_field(
      file, !std::isnan(from_bits<double>(record.maximum)), name, "maximum", "NaN", "a number");
  }
}

// Checks that it exists. Its contents are checked before the first use.
void require_chunk_table(const io::RandomAccessFile& file, const Header& header,
  const std::vector<SectionRecord>& sections, const SectionRecord& column)
{
  SectionRecord requested{};
  requested.kind = static_cast<std::uint32_t>(SectionKind::ChunkTable);
  requested.index = column_number(static_cast<SectionKind>(column.kind), column.index);
  const SectionRecord* table = find_section(sections, SectionKind::ChunkTable, requested.index);
  if (!table)
  {
    corrupt(file,
      fmt::format("{} is missing, but {} is in chunks", describe(requested), describe(column)));
  }
  const std::uint64_t low = (header.particle_count + kMaxChunkParticles - 1) / kMaxChunkParticles;
  if (table->bytes < sizeof(ChunkTableHead) + low * sizeof(std::uint32_t))
  {
    corrupt(file,
      fmt::format("{} has {} bytes; expected {} plus 4 for each of at least {} chunks",
        describe(*table), table->bytes, sizeof(ChunkTableHead), low));
  }
}

// Reads LEVELS, and checks that every section that the schema implies exists and has its size.
void read_levels(const io::RandomAccessFile& file, const Header& header,
  const std::vector<SectionRecord>& sections, Schema& schema)
{
  const auto needed = [&](SectionKind kind, std::uint32_t index) -> const SectionRecord&
  {
    return require(
      file, sections, kind, index, shape_of(kind, index, schema, header.particle_count)->bytes());
  };
  const SectionRecord& levels = needed(SectionKind::Levels, 0);
  schema.levels =
    levels_from_ratios(header.particle_count, read_records<std::uint32_t>(file, levels));
  for (const SectionKind kind : { SectionKind::ShallowTree, SectionKind::Treelets,
         SectionKind::BlockBoxes, SectionKind::Positions })
  {
    needed(kind, 0);
  }
  if (!schema.sample_ids.empty())
  {
    needed(SectionKind::TreeletLevels, 0);
    needed(SectionKind::BlockLevels, 0);
  }
  for (std::uint32_t k = 0; k != schema.head.attribute_count; ++k)
  {
    needed(SectionKind::Attribute, k);
  }
  for (const SectionRecord& section : sections)
  {
    if (has_chunks(section))
    {
      require_chunk_table(file, header, sections, section);
    }
  }
  for (std::uint32_t k = 0; k != schema.keys.size(); ++k)
  {
    for (const SectionKind kind : { SectionKind::BinEdges, SectionKind::TreeletKeys,
           SectionKind::BlockBitmaps, SectionKind::BitmapDictionary })
    {
      if (shape_of(kind, k, schema, header.particle_count))
      {
        needed(kind, k);
      }
    }
  }
  for (const SectionRecord& section : sections)
  {
    if (section.kind != static_cast<std::uint32_t>(SectionKind::SortedIndex))
    {
      continue;
    }
    if (section.index >= schema.keys.size())
    {
      corrupt(file, fmt::format("{}: the file has {} keys", describe(section), schema.keys.size()));
    }
    needed(SectionKind::SortedIndex, section.index);
    const std::uint32_t attribute = schema.keys[section.index].attribute;
    schema.attributes[attribute]
      .keys[section.index - schema.first_keys[attribute]]
      .has_sorted_index = true;
  }
}

void read_sample_ids(
  const io::RandomAccessFile& file, const std::vector<SectionRecord>& sections, Schema& schema)
{
  const SectionRecord* section = find_section(sections, SectionKind::SampleIds);
  if (!section)
  {
    corrupt(file, "SAMPLE_IDS is missing, but the header has feature 2");
  }
  SectionReader reader(file, "SAMPLE_IDS", read_plain(file, *section));
  const auto head = reader.next<SampleIdsHead>("its head");
  check_field(file, head.id_count >= 1 && head.id_count <= kMaxSampleIds, "SAMPLE_IDS", "id_count",
    std::to_string(head.id_count), fmt::format("1 to {}", kMaxSampleIds));
  check_field(
    file, head.reserved == 0, "SAMPLE_IDS", "reserved", std::to_string(head.reserved), "0");
  for (std::uint32_t i = 0; i != head.id_count; ++i)
  {
    const auto record = reader.next<SampleIdRecord>("an id");
    const std::string name = fmt::format("SAMPLE_IDS: id {}", i);
    check_field(file, record.attribute < schema.head.attribute_count, name, "attribute",
      std::to_string(record.attribute), fmt::format("below {}", schema.head.attribute_count));
    const bat::Attribute& attribute = schema.attributes[record.attribute];
    check_field(file, value_class(attribute.type) != ValueClass::Float, name, "attribute",
      fmt::format("'{}', {}", attribute.name, name_of(attribute.type)), "an integer attribute");
    check_field(file, record.component >= -1 && record.component < attribute.components, name,
      "component", std::to_string(record.component),
      fmt::format("-1 to {}", attribute.components - 1));
    check_field(file, record.reserved == 0, name, "reserved", std::to_string(record.reserved), "0");
    schema.sample_ids.push_back(record);
  }
  reader.finish();
}

// Combines x, y, z and their magnitude into the attribute that they would be.
bat::Attribute positions_attribute(const io::RandomAccessFile& file, const Schema& schema)
{
  bat::Attribute positions;
  positions.type = static_cast<ScalarType>(schema.head.position_type);
  positions.components = 3;
  for (std::size_t k = 0; k != kPositionKeys; ++k)
  {
    const LeafKeyRecord& record = schema.position_keys[k];
    check_leaf_key_record(file, record, true, fmt::format("ALIASES: position key {}", k));
    positions.keys.push_back({ k == 3 ? -1 : static_cast<int>(k), from_bits<double>(record.minimum),
      from_bits<double>(record.maximum), (record.flags & kHasNaN) != 0, false });
  }
  return positions;
}

// Reads a name that must not be among `names`, and adds it to them. `what` is its kind in messages.
std::string next_name(const io::RandomAccessFile& file, SectionReader& reader, std::uint32_t bytes,
  std::unordered_set<std::string>& names, const std::string& what)
{
  std::string name = reader.next_text(bytes);
  if (name.find('\0') != std::string::npos || !is_utf8(name) || !names.insert(name).second)
  {
    corrupt(file, what + " occurs twice, contains a zero byte, or is not valid UTF-8");
  }
  return name;
}

// Describes an alias as an attribute, without its name.
bat::Attribute alias_attribute(const io::RandomAccessFile& file, const AliasRecord& record,
  std::uint32_t number, const bat::Attribute& positions, const Schema& schema)
{
  const std::uint32_t stored = schema.head.attribute_count;
  const bool of_positions = record.attribute == kPositionsAttribute;
  const std::string name = fmt::format("ALIASES: alias {}", number);
  check_field(file, of_positions || record.attribute < stored, name, "attribute",
    std::to_string(record.attribute),
    fmt::format("below {}, or {} for the positions", stored, kPositionsAttribute));
  check_field(file, record.reserved == 0, name, "reserved", std::to_string(record.reserved), "0");
  check_field(file, record.name_bytes >= 1 && record.name_bytes <= 65535, name, "name_bytes",
    std::to_string(record.name_bytes), "1 to 65535");
  const bat::Attribute& target = of_positions ? positions : schema.attributes[record.attribute];
  if (record.component < -1 || record.component >= target.components)
  {
    corrupt(file,
      fmt::format("ALIASES: alias {} refers to component {}; allowed are -1 to {}", number,
        record.component, target.components - 1));
  }
  bat::Attribute attribute;
  attribute.type = target.type;
  attribute.role = record.role;
  attribute.host_type = record.host_type;
  attribute.alias =
    bat::Alias{ of_positions ? std::nullopt : std::optional<std::size_t>(record.attribute),
      record.component };
  if (record.component < 0)
  {
    attribute.components = target.components;
    attribute.keys = target.keys;
  }
  else
  {
    attribute.keys = { target.keys[static_cast<std::size_t>(record.component)] };
    attribute.keys[0].component = 0;
  }
  return attribute;
}

void read_aliases(const io::RandomAccessFile& file, const SectionRecord& section, Schema& schema)
{
  SectionReader reader(file, "ALIASES", read_plain(file, section));
  const auto head = reader.next<AliasesHead>("its head");
  const std::uint32_t stored = schema.head.attribute_count;
  check_field(file, head.alias_count >= 1 && head.alias_count <= kMaxAttributes - stored, "ALIASES",
    "alias_count", std::to_string(head.alias_count),
    fmt::format("1 to {} in addition to {} attributes", kMaxAttributes - stored, stored));
  check_field(file, head.reserved == 0, "ALIASES", "reserved", std::to_string(head.reserved), "0");
  for (LeafKeyRecord& record : schema.position_keys)
  {
    record = reader.next<LeafKeyRecord>("the position keys");
  }
  const bat::Attribute positions = positions_attribute(file, schema);
  std::vector<std::uint32_t> name_bytes;
  for (std::uint32_t i = 0; i != head.alias_count; ++i)
  {
    const auto record = reader.next<AliasRecord>("an alias");
    schema.attributes.push_back(alias_attribute(file, record, i, positions, schema));
    name_bytes.push_back(record.name_bytes);
  }
  std::unordered_set<std::string> names;
  for (std::uint32_t k = 0; k != stored; ++k)
  {
    names.insert(schema.attributes[k].name);
  }
  for (std::uint32_t i = 0; i != head.alias_count; ++i)
  {
    schema.attributes[stored + i].name = next_name(
      file, reader, name_bytes[i], names, fmt::format("ALIASES: the name of alias {}", i));
  }
  reader.finish();
}

// Returns the bytes of each name.
std::vector<std::uint32_t> read_attributes(
  const io::RandomAccessFile& file, SectionReader& reader, Schema& schema)
{
  std::vector<std::uint32_t> name_bytes;
  std::uint64_t keys = 0;
  for (std::uint32_t k = 0; k != schema.head.attribute_count; ++k)
  {
    const auto record = reader.next<AttributeRecord>("an attribute");
    check_attribute_record(file, record, k, keys);
    bat::Attribute attribute;
    attribute.type = static_cast<ScalarType>(record.type);
    attribute.components = record.components;
    attribute.role = record.role;
    attribute.host_type = record.host_type;
    schema.attributes.push_back(std::move(attribute));
    schema.first_keys.push_back(record.first_key);
    name_bytes.push_back(record.name_bytes);
    keys += key_count(record.components);
  }
  if (schema.head.key_count != keys)
  {
    corrupt(file,
      fmt::format("SCHEMA: {} keys, but the attributes have {}", schema.head.key_count, keys));
  }
  return name_bytes;
}

void read_keys(
  const io::RandomAccessFile& file, SectionReader& reader, FileKind kind, Schema& schema)
{
  for (std::uint32_t k = 0; k != schema.head.attribute_count; ++k)
  {
    bat::Attribute& attribute = schema.attributes[k];
    const auto count = static_cast<int>(key_count(attribute.components));
    for (int c = 0; c != count; ++c)
    {
      const auto record = reader.next<KeyRecord>("a key");
      const int component = c == attribute.components ? -1 : c;
      const ValueClass type = component < 0 ? ValueClass::Float : value_class(attribute.type);
      check_key_record(file, record, kind, k, component, type);
      attribute.keys.push_back({ component, number_from_bits(record.minimum, type),
        number_from_bits(record.maximum, type), (record.flags & kHasNaN) != 0, false });
      schema.keys.push_back(record);
    }
  }
}
}

Schema read_schema(const io::RandomAccessFile& file, const Header& header,
  const std::vector<SectionRecord>& sections, FileKind kind)
{
  const SectionRecord* section = find_section(sections, SectionKind::Schema);
  if (!section)
  {
    corrupt(file, "SCHEMA is missing");
  }
  SectionReader reader(file, "SCHEMA", read_plain(file, *section));
  Schema schema;
  schema.head = reader.next<SchemaHead>("its head");
  check_head(file, header, schema.head, kind);
  const std::vector<std::uint32_t> name_bytes = read_attributes(file, reader, schema);
  read_keys(file, reader, kind, schema);
  std::unordered_set<std::string> names;
  for (std::uint32_t k = 0; k != schema.head.attribute_count; ++k)
  {
    schema.attributes[k].name = next_name(
      file, reader, name_bytes[k], names, fmt::format("SCHEMA: the name of attribute {}", k));
  }
  reader.finish();

  if ((header.required_features & kStableSamples) != 0)
  {
    read_sample_ids(file, sections, schema);
  }
  if (kind == FileKind::Leaf)
  {
    read_levels(file, header, sections, schema);
  }
  if (const SectionRecord* aliases = find_section(sections, SectionKind::Aliases))
  {
    read_aliases(file, *aliases, schema);
  }
  return schema;
}
}
