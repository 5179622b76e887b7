// SPDX-License-Identifier: BSD-3-Clause
#include "bricks/format/header.hpp"

#include "bat/error.hpp"
#include "bricks/format/layout.hpp"
#include "common/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace bat::bricks::format
{
namespace
{
using Record = format::HeaderRecord;

bool is_zero(const void* bytes, std::size_t count)
{
  const auto* at = static_cast<const unsigned char*>(bytes);
  return std::all_of(at, at + count, [](unsigned char c) { return c == 0; });
}

void check_field(const std::string& file, bool good, const char* field, const std::string& found,
  const std::string& allowed)
{
  if (!good)
  {
    corrupt(file, fmt::format("the header: {} is {}; allowed is {}", field, found, allowed));
  }
}

Record read_record(const io::RandomAccessFile& file)
{
  Record record{};
  const auto have = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), sizeof(record)));
  file.read(0, &record, have);
  const std::size_t magic = std::min(have, sizeof(kMagic));
  if (std::memcmp(record.magic, kMagic, magic) != 0)
  {
    throw Error(ErrorCode::NotABatFile,
      file.name() + ": not a bricks file, its first bytes are not 89 42 52 4B 0D 0A 1A 0A");
  }
  if (have >= 10 && record.version_major != kVersionMajor)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: format version {}.{}; this library reads version {}", file.name(),
        record.version_major, record.version_minor, kVersionMajor));
  }
  if (have < sizeof(record))
  {
    throw Error(ErrorCode::Truncated,
      have == 0 ? file.name() + ": the file is empty"
                : fmt::format("{}: the header has {} bytes, the file only {}", file.name(),
                    sizeof(record), have));
  }
  const std::uint64_t sum = checksum(&record, offsetof(Record, header_checksum));
  if (sum != record.header_checksum)
  {
    corrupt(file.name(),
      fmt::format("the checksum of the header is {:016x}, but its bytes have {:016x}",
        record.header_checksum, sum));
  }
  if (record.required_features != 0)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: needs features {:#x}, which this library does not support", file.name(),
        record.required_features));
  }
  return record;
}

void check_record(const std::string& file, const Record& record)
{
  check_field(file, record.header_bytes == sizeof(Record), "header_bytes",
    std::to_string(record.header_bytes), std::to_string(sizeof(Record)));
  check_field(file, record.reserved_byte == 0 && is_zero(record.reserved, sizeof(record.reserved)),
    "reserved", "not zero", "zeros");
  check_field(file, record.flags < 32, "flags", fmt::format("{:#x}", record.flags),
    "bits 0 to 4; the others are reserved");
  check_field(file,
    (record.flags & kHasTime) != 0 ? std::isfinite(record.time) : is_zero(&record.time, 8), "time",
    std::to_string(record.time), "a finite number, or zero bits if it is not valid");
  check_field(file, (record.flags & kHasStep) != 0 || record.step == 0, "step",
    std::to_string(record.step), "0, because it is not valid");
  check_field(file, record.name_bytes <= kMaxNameBytes, "name_bytes",
    std::to_string(record.name_bytes), fmt::format("0 to {}", kMaxNameBytes));
  check_field(file, record.metadata_bytes <= kMaxMetadataBytes, "metadata_bytes",
    std::to_string(record.metadata_bytes), fmt::format("0 to {}", kMaxMetadataBytes));
}

bricks::Header make_header(const std::string& file, const Record& record)
{
  bricks::Header header;
  for (std::size_t a = 0; a != 3; ++a)
  {
    // Numbers that do not fit are replaced by an invalid one, which is then refused.
    header.grid.points[a] = static_cast<std::int64_t>(record.points[a]);
    header.grid.origin[a] = record.origin[a];
    header.grid.spacing[a] = record.spacing[a];
    header.grid.cyclic[a] = (record.flags & kCyclicX << a) != 0;
    header.minimum[a] = record.minimum[a];
    header.maximum[a] = record.maximum[a];
  }
  header.grid.type = static_cast<ScalarType>(record.type);
  header.grid.components = record.components;
  header.grid.edge = record.edge;
  if (const std::string fault = find_fault(header.grid); !fault.empty())
  {
    corrupt(file, "the header: " + fault);
  }
  if ((record.flags & kHasTime) != 0)
  {
    header.time = record.time;
  }
  if ((record.flags & kHasStep) != 0)
  {
    header.step = record.step;
  }
  header.largest_speed = record.largest_speed;
  return header;
}

void read_texts(const io::RandomAccessFile& file, const Record& record, bricks::Header& header)
{
  std::string text(std::uint64_t{ record.name_bytes } + record.metadata_bytes, '\0');
  file.read(sizeof(Record), text.data(), text.size());
  const std::uint64_t sum = checksum(text.data(), text.size());
  if (sum != record.text_checksum)
  {
    corrupt(file.name(),
      fmt::format("the checksum of name and metadata is {:016x}, but their bytes have {:016x}",
        record.text_checksum, sum));
  }
  header.field = text.substr(0, record.name_bytes);
  header.metadata = text.substr(record.name_bytes);
  if (!is_utf8(header.field) || (!header.metadata.empty() && !scan_json_object(header.metadata)))
  {
    corrupt(file.name(), "the field name is not valid UTF-8, or the metadata is not a JSON object");
  }
}
}

bricks::Header read_header(const io::RandomAccessFile& file)
{
  const Record record = read_record(file);
  check_record(file.name(), record);
  bricks::Header header = make_header(file.name(), record);
  if (record.file_bytes != file.size())
  {
    throw Error(record.file_bytes > file.size() ? ErrorCode::Truncated : ErrorCode::Corrupt,
      fmt::format("{}: the file has {} bytes, but its header says {}", file.name(), file.size(),
        record.file_bytes));
  }
  const std::uint64_t text_bytes = std::uint64_t{ record.name_bytes } + record.metadata_bytes;
  const FileLayout layout(header.grid, text_bytes);
  if (layout.bricks_offset > file.size())
  {
    corrupt(file.name(),
      fmt::format("texts, preview and index end at byte {}, but the file at {}",
        layout.bricks_offset, file.size()));
  }
  read_texts(file, record, header);
  return header;
}

void check_header(const bricks::Header& header, const std::string& name)
{
  std::string fault = find_fault(header.grid);
  if (fault.empty() && header.time && !std::isfinite(*header.time))
  {
    fault = fmt::format("time is {}; it must be finite", *header.time);
  }
  if (fault.empty() && (!is_utf8(header.field) || header.field.size() > kMaxNameBytes))
  {
    fault = fmt::format("the field name has {} bytes; allowed are up to {} bytes of UTF-8",
      header.field.size(), kMaxNameBytes);
  }
  if (fault.empty() && !header.metadata.empty() &&
    (header.metadata.size() > kMaxMetadataBytes || !scan_json_object(header.metadata)))
  {
    fault = fmt::format("metadata of {} bytes is not one JSON object in UTF-8 of at most {} bytes",
      header.metadata.size(), kMaxMetadataBytes);
  }
  if (!fault.empty())
  {
    throw Error(ErrorCode::InvalidArgument, name + ": " + fault);
  }
}

std::vector<std::byte> encode_header(const bricks::Header& header, std::uint64_t file_bytes)
{
  Record record{};
  std::copy(std::begin(kMagic), std::end(kMagic), record.magic);
  record.version_major = kVersionMajor;
  record.version_minor = kVersionMinor;
  record.header_bytes = sizeof(Record);
  record.file_bytes = file_bytes;
  for (std::size_t a = 0; a != 3; ++a)
  {
    record.points[a] = static_cast<std::uint64_t>(header.grid.points[a]);
    record.origin[a] = header.grid.origin[a];
    record.spacing[a] = header.grid.spacing[a];
    record.minimum[a] = header.minimum[a];
    record.maximum[a] = header.maximum[a];
    record.flags |= header.grid.cyclic[a] ? kCyclicX << a : 0u;
  }
  record.flags |= (header.time ? kHasTime : 0u) | (header.step ? kHasStep : 0u);
  record.time = header.time.value_or(0);
  record.step = header.step.value_or(0);
  record.largest_speed = header.largest_speed;
  record.type = static_cast<std::uint8_t>(header.grid.type);
  record.components = static_cast<std::uint8_t>(header.grid.components);
  record.edge = static_cast<std::uint8_t>(header.grid.edge);
  record.name_bytes = static_cast<std::uint32_t>(header.field.size());
  record.metadata_bytes = static_cast<std::uint32_t>(header.metadata.size());
  const std::string text = header.field + header.metadata;
  record.text_checksum = checksum(text.data(), text.size());
  record.header_checksum = checksum(&record, offsetof(Record, header_checksum));
  std::vector<std::byte> bytes(align8(sizeof(Record) + text.size()));
  std::memcpy(bytes.data(), &record, sizeof(record));
  std::memcpy(bytes.data() + sizeof(record), text.data(), text.size());
  return bytes;
}
}
