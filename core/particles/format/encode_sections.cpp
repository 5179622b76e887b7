// SPDX-License-Identifier: BSD-3-Clause
// Encodes section records, the section table and the header.

#include "particles/format/checksum.hpp"
#include "particles/format/encode.hpp"

#include <algorithm>
#include <tuple>

namespace bat::format
{
SectionRecord plain_section(SectionKind kind, std::uint32_t index, std::uint64_t offset,
  const void* data, std::uint64_t bytes)
{
  SectionRecord record{};
  record.kind = static_cast<std::uint32_t>(kind);
  record.index = index;
  record.offset = offset;
  record.bytes = bytes;
  record.raw_bytes = bytes;
  record.checksum = checksum(data, bytes);
  return record;
}

Header finish_header(std::vector<SectionRecord>& sections, std::uint64_t section_table_offset,
  std::uint64_t particles, std::uint64_t required_features, std::optional<double> time,
  std::optional<std::int64_t> step)
{
  std::sort(sections.begin(), sections.end(),
    [](const SectionRecord& a, const SectionRecord& b)
    { return std::tie(a.kind, a.index) < std::tie(b.kind, b.index); });
  const std::uint64_t table_bytes = sizeof(SectionRecord) * sections.size();
  Header header{};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  header.version_major = kVersionMajor;
  header.version_minor = kVersionMinor;
  header.header_bytes = sizeof(header);
  header.required_features = required_features;
  header.particle_count = particles;
  header.section_table_offset = section_table_offset;
  header.section_count = static_cast<std::uint32_t>(sections.size());
  header.file_bytes = section_table_offset + table_bytes;
  header.flags = (time ? kHasTime : 0u) | (step ? kHasStep : 0u);
  header.time = time.value_or(0);
  header.step = step.value_or(0);
  header.section_table_checksum = checksum(sections.data(), table_bytes);
  header.header_checksum = checksum(&header, offsetof(Header, header_checksum));
  return header;
}
}
