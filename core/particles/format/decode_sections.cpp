// SPDX-License-Identifier: BSD-3-Clause
// Decodes the header, the section table, and the bytes of sections.

#include "particles/format/checksum.hpp"
#include "particles/format/decode_parts.hpp"
#include "particles/format/page_layout.hpp"
#include "particles/format/tracks_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace bat::format
{
namespace
{
// Two comparisons: offset + bytes can wrap around in a hostile file.
bool inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size)
{
  return offset <= size && bytes <= size - offset;
}

std::string hex(const unsigned char* bytes, std::size_t count)
{
  return fmt::format("{:02X}", fmt::join(bytes, bytes + count, " "));
}

// Refuses the file unless its checksum of `what` matches the bytes.
void check_sum(const io::RandomAccessFile& file, const std::string& what, std::uint64_t stored,
  std::uint64_t computed)
{
  if (stored != computed)
  {
    corrupt(file,
      fmt::format(
        "the checksum of {} is {:016x}, but its bytes have {:016x}", what, stored, computed));
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

namespace
{
// The version is checked before the checksum, because other versions may have other headers.
Header read_header_record(const io::RandomAccessFile& file)
{
  Header header{};
  const std::uint64_t size = file.size();
  const auto have = static_cast<std::size_t>(std::min<std::uint64_t>(size, sizeof(header)));
  file.read(0, &header, have);
  const std::size_t magic = std::min(have, sizeof(kMagic));
  if (std::memcmp(header.magic, kMagic, magic) != 0)
  {
    if (have >= sizeof(kTracksMagic) && std::memcmp(header.magic, kTracksMagic, magic) == 0)
    {
      throw Error(ErrorCode::NotABatFile,
        fmt::format("{}: is a tracks file, for following particles; a dataset is expected here",
          file.name()));
    }
    throw Error(ErrorCode::NotABatFile,
      fmt::format("{}: is not a BAT file, its first bytes are {} instead of {}", file.name(),
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
  return header;
}

void check_features(const io::RandomAccessFile& file, const Header& header, FileKind kind)
{
  const std::uint64_t needed = header.required_features;
  if (kind == FileKind::Leaf && (needed & ~std::uint64_t{ kStableSamples }) == kSeveralLeafFiles)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      file.name() +
        ": is the top file of a dataset with several leaf files (feature 0), not a leaf file");
  }
  const std::uint64_t known =
    kStableSamples | (kind == FileKind::Leaf ? kCompressedChunks : kSeveralLeafFiles);
  const std::uint64_t unknown = needed & ~known;
  if (unknown != 0)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format(
        "{}: needs features {:#x}, which this library does not support", file.name(), unknown));
  }
}

void check_header_fields(const io::RandomAccessFile& file, const Header& header)
{
  check_field(file, header.header_bytes == sizeof(Header), "the header", "header_bytes",
    std::to_string(header.header_bytes), std::to_string(sizeof(Header)));
  check_field(file, is_zero(header.reserved, sizeof(header.reserved)), "the header", "reserved",
    hex(header.reserved, sizeof(header.reserved)), "zeros");
  check_field(file, (header.flags & ~(kHasTime | kHasStep)) == 0, "the header", "flags",
    fmt::format("{:#x}", header.flags), "bits 0 and 1; the others are reserved");
  if ((!(header.flags & kHasTime) && to_bits(header.time) != 0) ||
    (!(header.flags & kHasStep) && header.step != 0))
  {
    corrupt(file, "the header has a time or step that is not marked as valid");
  }
}

// Checks the sizes of file and particles recorded in the header.
void check_header_counts(const io::RandomAccessFile& file, const Header& header, FileKind kind)
{
  const std::uint64_t size = file.size();
  if (header.file_bytes > size)
  {
    throw Error(ErrorCode::Truncated,
      fmt::format(
        "{}: the file has {} bytes, but its header says {}", file.name(), size, header.file_bytes));
  }
  if (header.file_bytes < size)
  {
    corrupt(
      file, fmt::format("the file has {} bytes, but its header says {}", size, header.file_bytes));
  }
  const std::uint64_t maximum =
    kind == FileKind::Leaf ? kMaxParticles : kMaxParticles * kMaxLeafFiles;
  if (header.particle_count > maximum)
  {
    corrupt(
      file, fmt::format("{} particles; at most {} are allowed", header.particle_count, maximum));
  }
}
}

Header read_header(const io::RandomAccessFile& file, FileKind kind)
{
  const Header header = read_header_record(file);
  check_features(file, header, kind);
  check_header_fields(file, header);
  check_header_counts(file, header, kind);
  return header;
}

namespace
{
// Checks an offset at which a section, its checksums or the table begins.
void check_offset(const io::RandomAccessFile& file, const std::string& record, const char* field,
  std::uint64_t offset)
{
  check_field(file, offset % 8 == 0 && offset >= sizeof(Header), record, field,
    std::to_string(offset), fmt::format("a multiple of 8, at least {}", sizeof(Header)));
}

// Returns null for kinds from later versions and for kinds not used in this kind of file.
const SectionKindRow* find_known_kind(const SectionRecord& s, FileKind kind)
{
  const SectionKindRow* row = find_section_kind(s.kind);
  return row && belongs_in(*row, kind) ? row : nullptr;
}

void check_encoding(const io::RandomAccessFile& file, const Header& header, FileKind kind,
  const SectionRecord& s, const std::string& name)
{
  const SectionKindRow* row = find_known_kind(s, kind);
  if (!row && (s.flags & kMustUnderstand) != 0)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: {} (kind {}) is required, but this library does not support it", file.name(),
        name, s.kind));
  }
  if ((s.flags & ~(kPaged | kMustUnderstand)) != 0 || s.reserved != 0)
  {
    corrupt(file, name + " has reserved bits set");
  }
  const bool may_have_chunks = row && is_column(row->kind);
  if (row && s.encoding != kRaw && !(may_have_chunks && s.encoding == kChunks))
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: {} has encoding {}; this library reads {}", file.name(), name, s.encoding,
        may_have_chunks ? "raw columns (0) and chunks (1)" : "raw sections (0)"));
  }
  if (row && s.encoding == kChunks && (header.required_features & kCompressedChunks) == 0)
  {
    corrupt(file, name + " is in chunks, but the header does not have feature 1");
  }
}

// Checks that the section and the checksums of its pages are inside the file.
void check_extent(
  const io::RandomAccessFile& file, FileKind kind, const SectionRecord& s, const std::string& name)
{
  const SectionKindRow* row = find_known_kind(s, kind);
  check_offset(file, name, "offset", s.offset);
  if (!inside(s.offset, s.bytes, file.size()))
  {
    corrupt(file,
      fmt::format("{}, {} bytes at offset {}, is outside the file of {} bytes", name, s.bytes,
        s.offset, file.size()));
  }
  if (row && s.encoding == kRaw && s.raw_bytes != s.bytes)
  {
    corrupt(file, fmt::format("{} is raw, but has {} bytes for {}", name, s.bytes, s.raw_bytes));
  }
  const bool paged = (s.flags & kPaged) != 0;
  if (row && paged != row->paged)
  {
    corrupt(file, name + (paged ? " must not be paged" : " must be paged"));
  }
  if (!paged)
  {
    check_field(file, s.checksums_offset == 0, name, "checksums_offset",
      std::to_string(s.checksums_offset), "0, because it is not paged");
    return;
  }
  check_offset(file, name, "checksums_offset", s.checksums_offset);
  if (!inside(s.checksums_offset, PageLayout(s.bytes).checksums_bytes(), file.size()))
  {
    corrupt(file,
      fmt::format("the page checksums of {} at offset {} are outside the file of {} bytes", name,
        s.checksums_offset, file.size()));
  }
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
      fmt::format("the section table, {} records at offset {}, is outside the file of {} bytes",
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
    check_encoding(file, header, kind, s, name);
    check_extent(file, kind, s, name);
  }
  return sections;
}

const SectionRecord* find_section(
  const std::vector<SectionRecord>& sections, SectionKind kind, std::uint32_t index)
{
  const auto requested = std::make_tuple(static_cast<std::uint32_t>(kind), index);
  const auto found = std::lower_bound(sections.begin(), sections.end(), requested,
    [](const SectionRecord& s, const auto& key) { return std::tie(s.kind, s.index) < key; });
  return found != sections.end() && std::tie(found->kind, found->index) == requested ? &*found
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
  if (section->raw_bytes != bytes)
  {
    corrupt(file,
      fmt::format("{} has {} bytes; expected {}", describe(*section), section->raw_bytes, bytes));
  }
  return *section;
}
}
