// SPDX-License-Identifier: BSD-3-Clause
#include "particles/validate/validate_sections.hpp"

#include "common/text.hpp"
#include "particles/format/page_layout.hpp"
#include "particles/format/page_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace bat
{
using format::corrupt;
using format::SectionKind;

namespace
{
struct Extent
{
  std::uint64_t begin;
  std::uint64_t end;
  std::string what;
};

void check_zero(const io::RandomAccessFile& source, std::uint64_t begin, std::uint64_t end)
{
  std::vector<unsigned char> bytes(std::min<std::uint64_t>(end - begin, 1 << 20));
  while (begin != end)
  {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), end - begin));
    source.read(begin, bytes.data(), count);
    for (std::size_t i = 0; i != count; ++i)
    {
      if (bytes[i] != 0)
      {
        corrupt(source,
          fmt::format(
            "byte {} belongs to no section, but is {} instead of 0", begin + i, bytes[i]));
      }
    }
    begin += count;
  }
}

void check_equal(const io::RandomAccessFile& source, const format::SectionRecord& section,
  const std::vector<std::byte>& expected)
{
  const std::vector<std::byte> found = format::read_plain(source, section);
  if (found.size() != expected.size())
  {
    corrupt(source,
      fmt::format("{} has {} bytes; that of this file has {}", format::describe(section),
        found.size(), expected.size()));
  }
  const auto differing = std::mismatch(found.begin(), found.end(), expected.begin()).first;
  if (differing != found.end())
  {
    corrupt(source,
      fmt::format("{} does not describe this file: byte {} differs", format::describe(section),
        differing - found.begin()));
  }
}
}

void check_layout(const io::RandomAccessFile& source, const format::Header& header,
  const std::vector<format::SectionRecord>& sections)
{
  std::vector<Extent> extents{ { 0, sizeof(header), "the header" },
    { header.section_table_offset,
      header.section_table_offset + sections.size() * sizeof(format::SectionRecord),
      "the section table" } };
  for (const format::SectionRecord& s : sections)
  {
    extents.push_back({ s.offset, s.offset + s.bytes, format::describe(s) });
    if ((s.flags & format::kPaged) != 0)
    {
      extents.push_back(
        { s.checksums_offset, s.checksums_offset + format::PageLayout(s.bytes).checksums_bytes(),
          "the page checksums of " + format::describe(s) });
    }
  }
  extents.erase(std::remove_if(
                  extents.begin(), extents.end(), [](const Extent& e) { return e.begin == e.end; }),
    extents.end());
  std::sort(extents.begin(), extents.end(),
    [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i != extents.size(); ++i)
  {
    if (extents[i].begin < extents[i - 1].end)
    {
      corrupt(source,
        fmt::format("{} and {} overlap at offset {}", extents[i - 1].what, extents[i].what,
          extents[i].begin));
    }
    check_zero(source, extents[i - 1].end, extents[i].begin);
  }
  check_zero(source, extents.back().end, header.file_bytes);
}

void check_checksums(const io::RandomAccessFile& source,
  const std::vector<format::SectionRecord>& sections, const format::Schema& schema)
{
  for (const format::SectionRecord& s : sections)
  {
    const std::string name = format::describe(s, schema);
    if ((s.flags & format::kPaged) == 0)
    {
      (void)format::read_plain(source, s, name);
      continue;
    }
    format::PagedSection(source, s, 1, name).check();
  }
}

void check_place(const io::RandomAccessFile& source, const format::SectionRecord& s,
  const format::Schema& schema, format::FileKind kind)
{
  const format::SectionKindRow* row = format::find_section_kind(s.kind);
  if (!row)
  {
    return; // belongs to a later version
  }
  if (!format::belongs_in(*row, kind))
  {
    corrupt(source,
      fmt::format("{} does not belong in a {}", format::describe(s),
        kind == format::FileKind::Top ? "top file" : "leaf file"));
  }
  const std::uint64_t numbers = format::section_numbers(*row, schema);
  if (s.index >= numbers)
  {
    corrupt(source,
      fmt::format("{} has number {}; allowed are numbers below {}", row->name, s.index, numbers));
  }
}

void check_metadata(
  const io::RandomAccessFile& source, const std::vector<format::SectionRecord>& sections)
{
  if (format::find_section(sections, SectionKind::Metadata) &&
    !scan_json_object(format::read_text(source, sections, SectionKind::Metadata)))
  {
    corrupt(source, "METADATA is not a JSON object");
  }
}

void check_hdf5_view(const io::RandomAccessFile& source, const format::Header& header,
  const std::vector<format::SectionRecord>& sections,
  const std::function<format::Hdf5Objects()>& expected)
{
  const auto* superblock = format::find_section(sections, SectionKind::Hdf5Superblock);
  const auto* objects = format::find_section(sections, SectionKind::Hdf5Objects);
  if (!superblock && !objects)
  {
    return;
  }
  if (!superblock || !objects)
  {
    corrupt(source, "HDF5_SUPERBLOCK and HDF5_OBJECTS exist only together");
  }
  if (superblock->offset != format::kSuperblockOffset)
  {
    corrupt(source,
      fmt::format("HDF5_SUPERBLOCK is at offset {}; {} is allowed", superblock->offset,
        format::kSuperblockOffset));
  }
  for (const format::SectionRecord& s : sections)
  {
    if (&s != superblock && s.offset < superblock->offset + superblock->bytes)
    {
      corrupt(source,
        fmt::format(
          "{} is at offset {}, before the end of HDF5_SUPERBLOCK", format::describe(s), s.offset));
    }
  }
  const format::Hdf5Objects view = expected();
  check_equal(source, *objects, view.bytes);
  check_equal(source, *superblock, format::hdf5_superblock(view, header.file_bytes));
}
}
