// SPDX-License-Identifier: BSD-3-Clause
#include "particles/tracks/tracks_file.hpp"

#include "bat/tracks.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "particles/format/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace bat
{
std::size_t track_bytes(const TrackSchema& schema) noexcept
{
  std::size_t bytes = tuple_bytes(schema.position_type, 3);
  for (const Attribute& attribute : schema.attributes)
  {
    bytes += tuple_bytes(attribute.type, attribute.components);
  }
  return bytes;
}

TracksList list_tracks(const io::RandomAccessFile& file)
{
  TracksList list;
  format::find_blocks(file, list.found);
  list.end = list.found.end;
  for (const format::BlockStart& start : list.found.starts)
  {
    format::TrackBlock block = format::read_block(file, start);
    // In a file with one sample per block, rarely changing data repeat.
    auto& metadata = block.samples.front().metadata;
    if (!list.blocks.empty() && *metadata == *list.blocks.back().samples.back().metadata)
    {
      metadata = list.blocks.back().samples.back().metadata;
    }
    list.blocks.push_back({ start, std::move(block.schema), std::move(block.samples), 0 });
  }
  std::optional<std::int64_t> limit;
  const ListedBlock* with_rows = nullptr; // the last one
  for (auto block = list.blocks.rbegin(); block != list.blocks.rend(); ++block)
  {
    block->valid =
      static_cast<std::size_t>(std::count_if(block->samples.begin(), block->samples.end(),
        [&](const format::BlockSample& sample) { return !limit || sample.step < *limit; }));
    limit = std::min(limit.value_or(block->samples.front().step), block->samples.front().step);
    if (block->valid == 0 || block->start.payload_bytes == 0)
    {
      continue;
    }
    if (with_rows && !format::same_ids(with_rows->schema, block->schema))
    {
      format::corrupt(file,
        fmt::format("its ids are {} in the block at {}, and {} in the one at {}",
          format::ids_text(block->schema), block->start.offset, format::ids_text(with_rows->schema),
          with_rows->start.offset));
    }
    with_rows = &*block;
  }
  return list;
}

void add_ids(const io::RandomAccessFile& file, const format::BlockStart& start, std::size_t samples,
  TrackIds& ids)
{
  const format::TrackBlock block = format::read_block(file, start);
  for (std::size_t i = 0; i != block.ids.size(); ++i)
  {
    if (samples != block.samples.size())
    {
      const auto [begin, end] = history_of(block, i);
      const std::vector<std::byte> history = format::read_payload(file, block, begin, end);
      if (format::samples_of(file, block, i, history.data()).front() >= samples)
      {
        continue;
      }
    }
    ids.emplace_back(block.ids[i], block.second.empty() ? 0 : block.second[i]);
  }
}

void sort_ids(TrackIds& ids, const TrackSchema& schema)
{
  std::sort(ids.begin(), ids.end(),
    [&](const auto& a, const auto& b)
    {
      const int order = format::compare_ids(a.first, b.first, schema.id_type);
      return order != 0 ? order < 0
                        : format::compare_ids(a.second, b.second, schema.second_type) < 0;
    });
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

Tracks Tracks::open(const std::filesystem::path& path)
{
  const io::RandomAccessFile file(path);
  const TracksList list = list_tracks(file);
  Tracks tracks;
  tracks.file_bytes = file.size();
  tracks.unfinished_bytes = file.size() - list.end;
  tracks.blocks = list.blocks.size();
  tracks.is_finished = list.found.known.is_finished != 0;
  TrackIds ids;
  for (const ListedBlock& block : list.blocks)
  {
    bool has_particles = false;
    for (std::size_t s = 0; s != block.valid; ++s)
    {
      const format::BlockSample& sample = block.samples[s];
      tracks.samples.push_back({ sample.step, sample.time, sample.rows });
      has_particles = has_particles || sample.rows != 0;
    }
    if (has_particles || tracks.samples.size() == block.valid)
    {
      tracks.schema = block.schema;
    }
    if (has_particles)
    {
      add_ids(file, block.start, block.valid, ids);
    }
  }
  sort_ids(ids, tracks.schema);
  for (const auto& [id, second] : ids)
  {
    tracks.ids.push_back(number_from_bits(id, value_class(tracks.schema.id_type)));
    if (!tracks.schema.second_attribute.empty())
    {
      tracks.second.push_back(number_from_bits(second, value_class(tracks.schema.second_type)));
    }
  }
  return tracks;
}

void validate_tracks(const std::filesystem::path& path)
{
  const io::RandomAccessFile file(path);
  const TracksList list = list_tracks(file);
  if (!list.found.has_both_ends)
  {
    format::corrupt(file, "one of its two end records has a wrong checksum");
  }
  if (format::judge_tail(file, list.found) == format::TracksTail::Unknown)
  {
    format::corrupt(file,
      fmt::format("the bytes after the last block, at {}, are not an unfinished block", list.end));
  }
  for (const ListedBlock& listed : list.blocks)
  {
    const format::TrackBlock block = format::read_block(file, listed.start);
    const std::vector<std::byte> payload =
      format::read_payload(file, block, 0, block.payload_bytes);
    std::vector<std::uint64_t> rows(block.samples.size());
    for (std::size_t i = 0; i != block.ids.size(); ++i)
    {
      for (const std::uint32_t sample :
        format::samples_of(file, block, i, payload.data() + history_of(block, i).first))
      {
        ++rows[sample];
      }
    }
    for (std::size_t s = 0; s != rows.size(); ++s)
    {
      const format::BlockSample& sample = block.samples[s];
      if (rows[s] != sample.rows)
      {
        format::corrupt(file,
          fmt::format(
            "step {} has {} rows, but its block says {}", sample.step, rows[s], sample.rows));
      }
      const bool is_new = s == 0 || sample.metadata != block.samples[s - 1].metadata;
      if (is_new && !sample.metadata->empty() && !scan_json_object(*sample.metadata))
      {
        format::corrupt(
          file, fmt::format("the metadata of step {} is not a JSON object", sample.step));
      }
    }
    const std::uint64_t end = block.payload_offset + block.payload_bytes;
    std::vector<std::byte> rest(listed.start.offset + listed.start.block_bytes - end);
    file.read(end, rest.data(), rest.size());
    if (std::any_of(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{}; }))
    {
      format::corrupt(
        file, fmt::format("bytes after the block at {} are not zero", listed.start.offset));
    }
  }
}
}
