// SPDX-License-Identifier: BSD-3-Clause
// Encodes tracks files: header, starts and heads of blocks, histories.

#include "common/round_up.hpp"
#include "particles/format/checksum.hpp"
#include "particles/format/encode_parts.hpp"
#include "particles/format/layout.hpp"
#include "particles/format/tracks.hpp"

#include <algorithm>
#include <cstring>

namespace bat::format
{
namespace
{
/// The columns of each id's rows, one after another.
void append_payload(const TrackSchema& schema, const std::vector<NewRow>& rows,
  const std::vector<std::uint64_t>& first_row, const std::vector<std::byte>& values,
  std::vector<std::byte>& out)
{
  std::vector<std::size_t> columns = { tuple_bytes(schema.position_type, 3) };
  for (const Attribute& attribute : schema.attributes)
  {
    columns.push_back(tuple_bytes(attribute.type, attribute.components));
  }
  for (std::size_t i = 0; i + 1 < first_row.size(); ++i)
  {
    for (std::uint64_t row = first_row[i]; row != first_row[i + 1]; ++row)
    {
      append(out, &rows[row].sample, sizeof(std::uint32_t));
    }
    std::size_t begin = 0;
    for (const std::size_t bytes : columns)
    {
      for (std::uint64_t row = first_row[i]; row != first_row[i + 1]; ++row)
      {
        append(out, values.data() + rows[row].values + begin, bytes);
      }
      begin += bytes;
    }
  }
}

/// Sorts rows by id, then by sample.
void sort_rows(const TrackSchema& schema, std::vector<NewRow>& rows)
{
  std::stable_sort(rows.begin(), rows.end(),
    [&](const NewRow& a, const NewRow& b)
    {
      const int first = compare_ids(a.id, b.id, schema.id_type);
      const int order = first != 0 ? first : compare_ids(a.second, b.second, schema.second_type);
      return order != 0 ? order < 0 : a.sample < b.sample;
    });
}

/// Finds the ids in sorted rows, and which rows belong to each.
struct Histories
{
  std::vector<std::uint64_t> ids;
  std::vector<std::uint64_t> second;
  std::vector<std::uint64_t> first_row; ///< includes the end of the last one
  std::vector<std::uint32_t> counts;
};

Histories find_histories(const std::vector<NewRow>& rows)
{
  Histories found;
  for (std::size_t row = 0; row != rows.size(); ++row)
  {
    if (row == 0 || rows[row - 1].id != rows[row].id || rows[row - 1].second != rows[row].second)
    {
      found.ids.push_back(rows[row].id);
      found.second.push_back(rows[row].second);
      found.first_row.push_back(row);
      found.counts.push_back(0);
    }
    ++found.counts.back();
  }
  found.first_row.push_back(rows.size());
  return found;
}

void append_attributes(const TrackSchema& schema, std::vector<std::byte>& bytes, std::string& texts)
{
  for (const Attribute& attribute : schema.attributes)
  {
    TrackAttributeRecord record{};
    record.type = static_cast<std::uint8_t>(attribute.type);
    record.components = static_cast<std::uint8_t>(attribute.components);
    record.role = attribute.role;
    record.host_type = attribute.host_type;
    record.name_bytes = static_cast<std::uint32_t>(attribute.name.size());
    append(bytes, &record, sizeof(record));
    texts += attribute.name;
  }
}

/// Metadata equal to the previous sample's are not stored again.
void append_samples(
  const std::vector<BlockSample>& samples, std::vector<std::byte>& bytes, std::string& texts)
{
  for (std::size_t s = 0; s != samples.size(); ++s)
  {
    const BlockSample& sample = samples[s];
    SampleRecord record{};
    record.step = sample.step;
    record.time = sample.time.value_or(0);
    record.rows = sample.rows;
    record.flags = sample.time ? std::uint32_t{ kSampleHasTime } : 0;
    if (s != 0 &&
      (sample.metadata == samples[s - 1].metadata || *sample.metadata == *samples[s - 1].metadata))
    {
      record.flags |= kSameMetadata;
    }
    else
    {
      record.metadata_bytes = static_cast<std::uint32_t>(sample.metadata->size());
      texts += *sample.metadata;
    }
    append(bytes, &record, sizeof(record));
  }
}

/// Appends the payload to the head in `bytes`, and writes the start before both.
void finish_block(
  std::uint64_t offset, const std::vector<std::byte>& payload, std::vector<std::byte>& bytes)
{
  BlockStart start{};
  start.kind = kSamplesBlock;
  start.offset = offset;
  start.head_bytes = bytes.size() - sizeof(BlockStart);
  start.payload_bytes = payload.size();
  start.head_checksum = checksum(bytes.data() + sizeof(BlockStart), start.head_bytes);
  append(bytes, payload.data(), payload.size());
  bytes.resize(round_up(bytes.size(), kBlockAlignment));
  start.block_bytes = bytes.size();
  start.start_checksum = checksum(&start, offsetof(BlockStart, start_checksum));
  std::memcpy(bytes.data(), &start, sizeof(start));
}
}

TracksEnd make_tracks_end(std::uint64_t sequence, std::uint64_t end, bool is_finished) noexcept
{
  TracksEnd record{};
  record.sequence = sequence;
  record.end = end;
  record.is_finished = is_finished ? 1 : 0;
  record.checksum = checksum(&record, offsetof(TracksEnd, checksum));
  return record;
}

std::vector<std::byte> encode_tracks_header(const TracksEnd& end)
{
  TracksHeader header{};
  std::memcpy(header.magic, kTracksMagic, sizeof(header.magic));
  header.version_major = kTracksVersionMajor;
  header.header_bytes = kTracksHeaderBytes;
  header.header_checksum = checksum(&header, offsetof(TracksHeader, header_checksum));
  std::vector<std::byte> bytes;
  append(bytes, &header, sizeof(header));
  append(bytes, &end, sizeof(end));
  append(bytes, &end, sizeof(end));
  return bytes;
}

std::vector<std::byte> encode_block(std::uint64_t offset, const TrackSchema& schema,
  const std::vector<BlockSample>& samples, std::vector<NewRow>& rows,
  const std::vector<std::byte>& values)
{
  sort_rows(schema, rows);
  const Histories histories = find_histories(rows);
  const bool has_second = !schema.second_attribute.empty();

  std::vector<std::byte> payload;
  const std::size_t row_bytes = sizeof(std::uint32_t) + track_bytes(schema);
  payload.reserve(rows.size() * row_bytes);
  append_payload(schema, rows, histories.first_row, values, payload);

  BlockHead head{};
  head.sample_count = static_cast<std::uint32_t>(samples.size());
  head.attribute_count = static_cast<std::uint32_t>(schema.attributes.size());
  head.id_count = histories.ids.size();
  head.row_count = rows.size();
  head.row_bytes = static_cast<std::uint32_t>(row_bytes);
  head.position_type = static_cast<std::uint8_t>(schema.position_type);
  head.id_type = static_cast<std::uint8_t>(schema.id_type);
  head.second_type = has_second ? static_cast<std::uint8_t>(schema.second_type) : 0;
  head.id_name_bytes = static_cast<std::uint32_t>(schema.id_attribute.size());
  head.second_name_bytes = static_cast<std::uint32_t>(schema.second_attribute.size());

  std::vector<std::byte> bytes(sizeof(BlockStart) + sizeof(BlockHead));
  std::string texts = schema.id_attribute + schema.second_attribute;
  append_attributes(schema, bytes, texts);
  append_samples(samples, bytes, texts);
  append(bytes, histories.ids.data(), histories.ids.size() * sizeof(histories.ids[0]));
  if (has_second)
  {
    append(bytes, histories.second.data(), histories.second.size() * sizeof(histories.second[0]));
  }
  append(bytes, histories.counts.data(), histories.counts.size() * sizeof(histories.counts[0]));
  for (std::size_t at = 0; at < payload.size(); at += kPageBytes)
  {
    const std::uint32_t sum =
      page_checksum(payload.data() + at, std::min<std::size_t>(kPageBytes, payload.size() - at));
    append(bytes, &sum, sizeof(sum));
  }
  append(bytes, texts.data(), texts.size());
  head.text_bytes = texts.size();
  std::memcpy(bytes.data() + sizeof(BlockStart), &head, sizeof(head));
  bytes.resize(round_up(bytes.size(), 8));
  finish_block(offset, payload, bytes);
  return bytes;
}
}
