#include "bat/format/decode.hpp"

#include "bat/format/checksum.hpp"
#include "bat/format/index_layout.hpp"
#include "bat/format/page_layout.hpp"
#include "common/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <unordered_set>

namespace bat::format
{
namespace
{
bool is_zero(const std::uint8_t* bytes, std::size_t count)
{
  return std::all_of(bytes, bytes + count, [](std::uint8_t b) { return b == 0; });
}

// Two comparisons: offset + bytes can wrap around in a hostile file.
bool inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size)
{
  return offset <= size && bytes <= size - offset;
}

std::string hex(const unsigned char* bytes, std::size_t count)
{
  return fmt::format("{:02X}", fmt::join(bytes, bytes + count, " "));
}

// Refuses the file unless its checksum of `what` is that of the bytes.
void check_sum(const io::RandomAccessFile& file, const std::string& what, std::uint64_t stored,
  std::uint64_t computed)
{
  if (stored != computed)
  {
    corrupt(file,
      fmt::format("the checksum of {} is {:016x}; its bytes give {:016x}", what, stored, computed));
  }
}
}

void corrupt(const io::RandomAccessFile& file, const std::string& what)
{
  throw Error(ErrorCode::Corrupt, file.name() + ": " + what);
}

void check_field(const io::RandomAccessFile& file, bool good, const std::string& record,
  const char* field, const std::string& found, const std::string& allowed)
{
  if (!good)
  {
    corrupt(file, fmt::format("{}: {} is {}; allowed is {}", record, field, found, allowed));
  }
}

std::string describe(const SectionRecord& section)
{
  const SectionKindRow* row = find_section_kind(section.kind);
  if (!row)
  {
    return fmt::format("section {} of unknown kind {}", section.index, section.kind);
  }
  return row->numbered == Numbered::No ? std::string(row->name)
                                       : fmt::format("{} {}", row->name, section.index);
}

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

std::optional<FileKind> peek_kind(const io::RandomAccessFile& file)
{
  Header header{};
  file.read(0, &header, std::min<std::uint64_t>(file.size(), sizeof(header)));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
  {
    return std::nullopt;
  }
  return (header.required_features & kSeveralLeafFiles) != 0 ? FileKind::Top : FileKind::Leaf;
}

Header read_header(const io::RandomAccessFile& file, FileKind kind)
{
  Header header{};
  const std::uint64_t size = file.size();
  const auto have = static_cast<std::size_t>(std::min<std::uint64_t>(size, sizeof(header)));
  file.read(0, &header, have);
  const std::size_t magic = std::min(have, sizeof(kMagic));
  if (std::memcmp(header.magic, kMagic, magic) != 0)
  {
    throw Error(ErrorCode::NotABatFile,
      fmt::format("{}: not a BAT file, its first bytes are {} and not {}", file.name(),
        hex(header.magic, magic), hex(kMagic, sizeof(kMagic))));
  }
  if (have >= 10 && header.version_major != kVersionMajor)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: format version {}.{}; this library reads version {}", file.name(),
        header.version_major, header.version_minor, kVersionMajor));
  }
  if (have < sizeof(header))
  {
    throw Error(ErrorCode::Truncated,
      size == 0 ? file.name() + ": the file is empty"
                : fmt::format("{}: the header has {} bytes, the file only {}", file.name(),
                    sizeof(header), size));
  }
  check_sum(file, "the header", header.header_checksum,
    checksum(&header, offsetof(Header, header_checksum)));
  const std::uint64_t needed = header.required_features;
  if (kind == FileKind::Leaf && needed == kSeveralLeafFiles)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      file.name() +
        ": is the top file of a dataset of several leaf files (feature 0), not a leaf file");
  }
  const std::uint64_t known = kind == FileKind::Leaf ? 0 : std::uint64_t{ kSeveralLeafFiles };
  const std::uint64_t unknown = needed & ~known;
  if (unknown != 0)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: needs {}, which this library does not read", file.name(),
        unknown == kCompressedChunks ? std::string("compressed chunks (feature 1)")
                                     : fmt::format("features {:#x}", unknown)));
  }
  check_field(file, header.header_bytes == sizeof(Header), "the header", "header_bytes",
    std::to_string(header.header_bytes), std::to_string(sizeof(Header)));
  check_field(file, is_zero(header.reserved, sizeof(header.reserved)), "the header", "reserved",
    hex(header.reserved, sizeof(header.reserved)), "zeros");
  check_field(file, (header.flags & ~(kHasTime | kHasStep)) == 0, "the header", "flags",
    fmt::format("{:#x}", header.flags), "bits 0 and 1, others are reserved");
  if ((!(header.flags & kHasTime) && to_bits(header.time) != 0) ||
    (!(header.flags & kHasStep) && header.step != 0))
  {
    corrupt(file, "the header has a time or step that is not marked as valid");
  }
  if (header.file_bytes > size)
  {
    throw Error(ErrorCode::Truncated,
      fmt::format(
        "{}: the file has {} bytes; its header promises {}", file.name(), size, header.file_bytes));
  }
  if (header.file_bytes < size)
  {
    corrupt(
      file, fmt::format("the file has {} bytes; its header promises {}", size, header.file_bytes));
  }
  const std::uint64_t most = kind == FileKind::Leaf ? kMaxParticles : kMaxParticles * kMaxLeafFiles;
  if (header.particle_count > most)
  {
    corrupt(file, fmt::format("{} particles; at most {} are allowed", header.particle_count, most));
  }
  return header;
}

namespace
{
// Where sections, their checksums and the table may begin.
void check_offset(const io::RandomAccessFile& file, const std::string& record, const char* field,
  std::uint64_t offset)
{
  check_field(file, offset % 8 == 0 && offset >= sizeof(Header), record, field,
    std::to_string(offset), fmt::format("a multiple of 8 from {} on", sizeof(Header)));
}
}

std::vector<SectionRecord> read_sections(
  const io::RandomAccessFile& file, const Header& header, FileKind kind)
{
  const std::uint64_t bytes = std::uint64_t{ header.section_count } * sizeof(SectionRecord);
  check_offset(file, "the section table", "section_table_offset", header.section_table_offset);
  if (!inside(header.section_table_offset, bytes, file.size()))
  {
    corrupt(file,
      fmt::format("the section table, {} records at offset {}, is outside a file of {} bytes",
        header.section_count, header.section_table_offset, file.size()));
  }
  std::vector<SectionRecord> sections(header.section_count);
  file.read(header.section_table_offset, sections.data(), bytes);
  check_sum(
    file, "the section table", header.section_table_checksum, checksum(sections.data(), bytes));
  for (std::size_t i = 0; i != sections.size(); ++i)
  {
    const SectionRecord& s = sections[i];
    const std::string name = describe(s);
    if (i != 0 &&
      std::tie(sections[i - 1].kind, sections[i - 1].index) >= std::tie(s.kind, s.index))
    {
      corrupt(file, name + " is not in ascending order in the section table");
    }
    // Other kinds are of later versions, or of no use in a file of this kind.
    const SectionKindRow* row = find_section_kind(s.kind);
    const bool known = row && belongs_in(*row, kind);
    if (!known && (s.flags & kMustUnderstand) != 0)
    {
      throw Error(ErrorCode::UnsupportedVersion,
        fmt::format(
          "{}: has {} (kind {}), which must be understood and is not", file.name(), name, s.kind));
    }
    if ((s.flags & ~(kPaged | kMustUnderstand)) != 0 || s.reserved != 0)
    {
      corrupt(file, name + " has reserved bits set");
    }
    if (known && s.encoding != 0)
    {
      throw Error(ErrorCode::UnsupportedVersion,
        fmt::format("{}: {} has encoding {}; this library reads raw sections (0)", file.name(),
          name, s.encoding));
    }
    check_offset(file, name, "offset", s.offset);
    if (!inside(s.offset, s.bytes, file.size()))
    {
      corrupt(file,
        fmt::format("{}, {} bytes at offset {}, is outside a file of {} bytes", name, s.bytes,
          s.offset, file.size()));
    }
    if (known && s.raw_bytes != s.bytes)
    {
      corrupt(file, fmt::format("{} is raw but has {} bytes for {}", name, s.bytes, s.raw_bytes));
    }
    const bool paged = (s.flags & kPaged) != 0;
    if (known && paged != row->paged)
    {
      corrupt(file, name + (paged ? " must not be paged" : " must be paged"));
    }
    if (!paged)
    {
      check_field(file, s.checksums_offset == 0, name, "checksums_offset",
        std::to_string(s.checksums_offset), "0, as it is not paged");
      continue;
    }
    check_offset(file, name, "checksums_offset", s.checksums_offset);
    if (!inside(s.checksums_offset, PageLayout(s.bytes).checksums_bytes(), file.size()))
    {
      corrupt(file,
        fmt::format("the page checksums of {} at offset {} are outside a file of {} bytes", name,
          s.checksums_offset, file.size()));
    }
  }
  return sections;
}

const SectionRecord* find_section(
  const std::vector<SectionRecord>& sections, SectionKind kind, std::uint32_t index)
{
  const auto wanted = std::make_tuple(static_cast<std::uint32_t>(kind), index);
  const auto found = std::lower_bound(sections.begin(), sections.end(), wanted,
    [](const SectionRecord& s, const auto& key) { return std::tie(s.kind, s.index) < key; });
  return found != sections.end() && std::tie(found->kind, found->index) == wanted ? &*found
                                                                                  : nullptr;
}

std::vector<std::byte> read_plain(const io::RandomAccessFile& file, const SectionRecord& section)
{
  return read_plain(file, section, describe(section));
}

std::vector<std::byte> read_plain(
  const io::RandomAccessFile& file, const SectionRecord& section, const std::string& name)
{
  std::vector<std::byte> bytes(section.bytes);
  file.read(section.offset, bytes.data(), bytes.size());
  check_sum(file, name, section.checksum, checksum(bytes.data(), bytes.size()));
  return bytes;
}

std::string read_text(
  const io::RandomAccessFile& file, const std::vector<SectionRecord>& sections, SectionKind kind)
{
  const SectionRecord* section = find_section(sections, kind);
  if (!section)
  {
    return {};
  }
  const std::vector<std::byte> bytes = read_plain(file, *section);
  return { reinterpret_cast<const char*>(bytes.data()), bytes.size() };
}

namespace
{
// Reads a section front to back.
class SectionReader
{
public:
  SectionReader(const io::RandomAccessFile& file, const char* name, std::vector<std::byte> bytes)
    : file_(file)
    , name_(name)
    , bytes_(std::move(bytes))
  {
  }

  [[nodiscard]] std::uint64_t left() const { return this->bytes_.size() - this->at_; }

  template <class Record>
  Record next(const char* what)
  {
    Record record;
    this->take(sizeof(record), what);
    std::memcpy(&record, this->bytes_.data() + this->at_ - sizeof(record), sizeof(record));
    return record;
  }

  std::string next_text(std::uint32_t bytes)
  {
    this->take(bytes, "a name");
    return { reinterpret_cast<const char*>(this->bytes_.data()) + this->at_ - bytes, bytes };
  }

private:
  void take(std::uint64_t bytes, const char* what)
  {
    if (bytes > this->left())
    {
      corrupt(this->file_, fmt::format("{} ends inside {}", this->name_, what));
    }
    this->at_ += bytes;
  }

  const io::RandomAccessFile& file_;
  const char* name_;
  std::vector<std::byte> bytes_;
  std::uint64_t at_ = 0;
};

const SectionRecord& require(const io::RandomAccessFile& file,
  const std::vector<SectionRecord>& sections, SectionKind kind, std::uint32_t index,
  std::uint64_t bytes)
{
  const SectionRecord* section = find_section(sections, kind, index);
  if (!section)
  {
    SectionRecord missing{};
    missing.kind = static_cast<std::uint32_t>(kind);
    missing.index = index;
    corrupt(file, describe(missing) + " is missing");
  }
  if (section->bytes != bytes)
  {
    corrupt(file,
      fmt::format("{} has {} bytes; {} are needed", describe(*section), section->bytes, bytes));
  }
  return *section;
}

// What stands for the box of no particle at all.
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
    fmt::format("position type {}; 9 and 10 are allowed", head.position_type));
  check(is_zero(head.reserved, sizeof(head.reserved)), "reserved bytes are not zero");
  check(is_no_box(head.lower, head.upper) || is_finite_box(head.lower, head.upper),
    "the bounds are not a box");
}

template <class V>
bool is_value(std::uint64_t bits)
{
  if constexpr (std::is_same_v<V, double>)
  {
    return !std::isnan(from_bits<double>(bits));
  }
  else
  {
    (void)bits;
    return true;
  }
}

}

std::uint64_t section_numbers(const SectionKindRow& row, const Schema& schema)
{
  switch (row.numbered)
  {
    case Numbered::ByAttribute:
      return schema.head.attribute_count;
    case Numbered::ByKey:
      return schema.keys.size();
    case Numbered::No:
    case Numbered::ByColumn:
      break;
  }
  return 1;
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
      return SectionShape{ particles,
        3 * size_of(static_cast<ScalarType>(schema.head.position_type)) };
    case SectionKind::Attribute:
    {
      const bat::Attribute& a = schema.attributes[index];
      return SectionShape{ particles, tuple_bytes(a.type, a.components) };
    }
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
    case SectionKind::Schema:
    case SectionKind::Metadata:
    case SectionKind::AggregationTree:
    case SectionKind::LeafFiles:
    case SectionKind::ChunkTable:
    case SectionKind::Aliases:
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
// LEVELS, and that every section that the schema implies is there and has its size.
void read_levels(const io::RandomAccessFile& file, const Header& header,
  const std::vector<SectionRecord>& sections, Schema& schema)
{
  const auto needed = [&](SectionKind kind, std::uint32_t index) -> const SectionRecord&
  {
    return require(file, sections, kind, index,
      shape_of(kind, index, schema, header.particle_count)->bytes());
  };
  const SectionRecord& levels = needed(SectionKind::Levels, 0);
  schema.levels =
    levels_from_ratios(header.particle_count, read_records<std::uint32_t>(file, levels));
  for (const SectionKind kind : { SectionKind::ShallowTree, SectionKind::Treelets,
         SectionKind::BlockBoxes, SectionKind::Positions })
  {
    needed(kind, 0);
  }
  for (std::uint32_t k = 0; k != schema.head.attribute_count; ++k)
  {
    needed(SectionKind::Attribute, k);
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
      corrupt(file, fmt::format("{}: there are {} keys", describe(section), schema.keys.size()));
    }
    needed(SectionKind::SortedIndex, section.index);
    const std::uint32_t attribute = schema.keys[section.index].attribute;
    schema.attributes[attribute]
      .keys[section.index - schema.first_keys[attribute]]
      .has_sorted_index = true;
  }
}
}

namespace
{
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
    ? fmt::format("SCHEMA: key of the magnitude of attribute {}", attribute)
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
  const std::uint32_t most = numbered ? 1u << 8 * record.bitmap_bytes : 0;
  check(record.dictionary_count <= most, "dictionary_count", record.dictionary_count,
    fmt::format("0 to {}", most));
  check(record.reserved == 0, "reserved", static_cast<std::int64_t>(record.reserved), "0");
  if (type == ValueClass::Float)
  {
    check_field(file, is_value<double>(record.minimum), name, "minimum", "NaN", "a number");
    check_field(file, is_value<double>(record.maximum), name, "maximum", "NaN", "a number");
  }
}

void check_leaf_key_record(const io::RandomAccessFile& file, const LeafKeyRecord& record,
  bool is_float, const std::string& name)
{
  check_field(
    file, (record.flags & ~kHasNaN) == 0, name, "flags", std::to_string(record.flags), "0 or 1");
  check_field(file, record.reserved == 0, name, "reserved", std::to_string(record.reserved), "0");
  check_field(
    file, !is_float || is_value<double>(record.minimum), name, "minimum", "NaN", "a number");
  check_field(
    file, !is_float || is_value<double>(record.maximum), name, "maximum", "NaN", "a number");
}

// x, y, z and their magnitude as the attribute that they would be.
bat::Attribute positions_attribute(const io::RandomAccessFile& file, const Schema& schema)
{
  bat::Attribute positions;
  positions.type = static_cast<ScalarType>(schema.head.position_type);
  positions.components = 3;
  for (std::size_t k = 0; k != kPositionKeys; ++k)
  {
    const LeafKeyRecord& record = schema.position_keys[k];
    check_leaf_key_record(file, record, true, fmt::format("ALIASES: key {} of the positions", k));
    positions.keys.push_back({ k == 3 ? -1 : static_cast<int>(k), from_bits<double>(record.minimum),
      from_bits<double>(record.maximum), (record.flags & kHasNaN) != 0, false });
  }
  return positions;
}

// One that is not among `names`, to which it is added. `what` is how messages call it.
std::string next_name(const io::RandomAccessFile& file, SectionReader& reader, std::uint32_t bytes,
  std::unordered_set<std::string>& names, const std::string& what)
{
  std::string name = reader.next_text(bytes);
  if (name.find('\0') != std::string::npos || !is_utf8(name) || !names.insert(name).second)
  {
    corrupt(file, what + " occurs twice, has a zero byte, or is not UTF-8");
  }
  return name;
}

void read_aliases(const io::RandomAccessFile& file, const SectionRecord& section, Schema& schema)
{
  SectionReader reader(file, "ALIASES", read_plain(file, section));
  const auto head = reader.next<AliasesHead>("its head");
  const std::uint32_t stored = schema.head.attribute_count;
  check_field(file, head.alias_count >= 1 && head.alias_count <= kMaxAttributes - stored, "ALIASES",
    "alias_count", std::to_string(head.alias_count),
    fmt::format("1 to {} beside {} attributes", kMaxAttributes - stored, stored));
  check_field(file, head.reserved == 0, "ALIASES", "reserved", std::to_string(head.reserved), "0");
  for (LeafKeyRecord& record : schema.position_keys)
  {
    record = reader.next<LeafKeyRecord>("the keys of the positions");
  }
  const bat::Attribute positions = positions_attribute(file, schema);
  std::vector<std::uint32_t> name_bytes;
  for (std::uint32_t i = 0; i != head.alias_count; ++i)
  {
    const auto record = reader.next<AliasRecord>("an alias");
    const bool of_positions = record.attribute == kPositionsAttribute;
    const std::string name = fmt::format("ALIASES: alias {}", i);
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
        fmt::format("ALIASES: alias {} is of component {}; -1 to {} are allowed", i,
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
    schema.attributes.push_back(std::move(attribute));
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
  if (reader.left() != 0)
  {
    corrupt(file, fmt::format("ALIASES has {} bytes too many", reader.left()));
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
    corrupt(
      file, fmt::format("SCHEMA: {} keys; the attributes have {}", schema.head.key_count, keys));
  }
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
  std::unordered_set<std::string> names;
  for (std::uint32_t k = 0; k != schema.head.attribute_count; ++k)
  {
    schema.attributes[k].name = next_name(
      file, reader, name_bytes[k], names, fmt::format("SCHEMA: the name of attribute {}", k));
  }
  if (reader.left() != 0)
  {
    corrupt(file, fmt::format("SCHEMA has {} bytes too many", reader.left()));
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

namespace
{
// Inside the folder of the top file: a name in a hostile file must not reach elsewhere. And in one
// spelling only, so that names can be compared.
bool is_leaf_name(const std::string& name)
{
  if (name.find('\0') != std::string::npos)
  {
    return false;
  }
  for (std::size_t begin = 0; begin <= name.size();)
  {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..")
    {
      return false;
    }
    begin = end + 1;
  }
  return true;
}
}

LeafFiles read_leaf_files(const io::RandomAccessFile& file, const Header& header,
  const std::vector<SectionRecord>& sections, const Schema& schema)
{
  const SectionRecord* section = find_section(sections, SectionKind::LeafFiles);
  if (!section)
  {
    corrupt(file, "LEAF_FILES is missing");
  }
  SectionReader reader(file, "LEAF_FILES", read_plain(file, *section));
  const auto head = reader.next<LeafFilesHead>("its head");
  const std::uint64_t keys = schema.keys.size();
  check_field(
    file, head.reserved == 0, "LEAF_FILES", "reserved", std::to_string(head.reserved), "0");
  check_field(file, head.leaf_count >= 1 && head.leaf_count <= kMaxLeafFiles, "LEAF_FILES",
    "leaf_count", std::to_string(head.leaf_count), fmt::format("1 to {}", kMaxLeafFiles));
  if (head.leaf_count > reader.left() / (sizeof(LeafRecord) + keys * sizeof(LeafKeyRecord)))
  {
    corrupt(file,
      fmt::format("LEAF_FILES: {} leaf files of {} keys do not fit in {} bytes", head.leaf_count,
        keys, section->bytes));
  }
  LeafFiles files;
  std::uint64_t particles = 0;
  std::vector<bool> non_finite;
  for (std::uint32_t i = 0; i != head.leaf_count; ++i)
  {
    const auto leaf = reader.next<LeafRecord>("a leaf file");
    const bool empty = (leaf.flags & kNonFinite) != 0 && is_no_box(leaf.lower, leaf.upper);
    const std::string record = fmt::format("LEAF_FILES: leaf file {}", i);
    check_field(file, leaf.particles >= 1 && leaf.particles <= kMaxParticles, record, "particles",
      std::to_string(leaf.particles), fmt::format("1 to {}", kMaxParticles));
    check_field(
      file, (leaf.flags & ~kNonFinite) == 0, record, "flags", std::to_string(leaf.flags), "0 or 1");
    check_field(file, leaf.name_bytes >= 1, record, "name_bytes", std::to_string(leaf.name_bytes),
      "1 and more");
    check_field(file, empty || is_finite_box(leaf.lower, leaf.upper), record, "the box",
      fmt::format("{} to {}", fmt::join(leaf.lower, " "), fmt::join(leaf.upper, " ")),
      "finite with no lower end above an upper one, or that of no finite particle with flags 1");
    particles += leaf.particles;
    non_finite.push_back((leaf.flags & kNonFinite) != 0);
    files.leaves.push_back(leaf);
  }
  if (particles != header.particle_count)
  {
    corrupt(file,
      fmt::format("LEAF_FILES add up to {} particles; the header promises {}", particles,
        header.particle_count));
  }
  for (std::uint64_t i = 0; i != head.leaf_count * keys; ++i)
  {
    const auto key = reader.next<LeafKeyRecord>("a key");
    const bool is_float = schema.key_class(i % keys) == ValueClass::Float;
    const std::string record =
      fmt::format("LEAF_FILES: key {} of leaf file {}", i % keys, i / keys);
    check_leaf_key_record(file, key, is_float, record);
    files.keys.push_back(key);
  }
  std::unordered_set<std::string> names;
  for (std::uint32_t i = 0; i != head.leaf_count; ++i)
  {
    files.names.push_back(reader.next_text(files.leaves[i].name_bytes));
    if (!is_leaf_name(files.names.back()) || !names.insert(files.names.back()).second)
    {
      corrupt(file,
        fmt::format(
          "LEAF_FILES: the name of leaf file {} is not one inside the folder, or occurs twice", i));
    }
  }
  if (reader.left() != 0)
  {
    corrupt(file, fmt::format("LEAF_FILES has {} bytes too many", reader.left()));
  }
  const SectionRecord& tree = require(file, sections, SectionKind::AggregationTree, 0,
    (2 * std::uint64_t{ head.leaf_count } - 1) * sizeof(NodeRecord));
  files.nodes = read_records<NodeRecord>(file, tree);
  (void)check_tree(file, "AGGREGATION_TREE", files.nodes, non_finite);
  return files;
}

std::vector<std::uint32_t> check_tree(const io::RandomAccessFile& file, const char* what,
  const std::vector<NodeRecord>& nodes, const std::vector<bool>& non_finite)
{
  std::vector<std::uint32_t> leaf_nodes;
  for (std::size_t i = 0; i != nodes.size(); ++i)
  {
    const NodeRecord& node = nodes[i];
    const auto bad = [&](const char* problem)
    { corrupt(file, fmt::format("{}: node {} {}", what, i, problem)); };
    if (node.first_treelet != leaf_nodes.size())
    {
      bad("begins with the wrong treelet");
    }
    if (i == 0 ? node.skip != nodes.size() : (node.skip <= i || node.skip > nodes.size()))
    {
      bad("has a subtree that ends outside of the tree");
    }
    bool finite = true;
    for (int axis = 0; axis != 3; ++axis)
    {
      if (!(node.lower[axis] <= node.upper[axis]))
      {
        bad("has no box");
      }
      finite = finite && std::isfinite(node.lower[axis]) && std::isfinite(node.upper[axis]);
    }
    if (node.skip == i + 1)
    {
      if (leaf_nodes.size() == non_finite.size())
      {
        bad("is a leaf too many");
      }
      constexpr double inf = std::numeric_limits<double>::infinity();
      if (non_finite[leaf_nodes.size()]
          ? !std::all_of(node.lower, node.lower + 3, [](double x) { return x == -inf; }) ||
            !std::all_of(node.upper, node.upper + 3, [](double x) { return x == inf; })
          : !finite)
      {
        bad("has a box that does not fit the flags of its leaf");
      }
      leaf_nodes.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    const std::uint32_t right = nodes[i + 1].skip; // i + 1 exists: skip > i + 1
    if (right >= node.skip || nodes[right].skip != node.skip)
    {
      bad("has children that do not fill its subtree");
    }
  }
  if (leaf_nodes.size() != non_finite.size())
  {
    corrupt(file, fmt::format("{} has too few leaves", what));
  }
  return leaf_nodes;
}
}
