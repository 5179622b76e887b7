// SPDX-License-Identifier: BSD-3-Clause
// The blocks of a tracks file, and which of their samples are valid.
#pragma once

#include "particles/format/tracks.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bat
{
/// A block without its ids.
struct ListedBlock
{
  format::BlockStart start{};
  TrackSchema schema;
  std::vector<format::BlockSample> samples;
  std::size_t valid = 0; ///< number of first samples that no later block has replaced
};

/// Returns the blocks in file order. Throws Error: those of format::find_blocks() and read_block().
struct TracksList
{
  std::vector<ListedBlock> blocks;
  std::uint64_t end = 0;     ///< after the last block
  format::TrackBlocks found; ///< result of format::find_blocks()
};
[[nodiscard]] TracksList list_tracks(const io::RandomAccessFile& file);

/// Ids with their second attribute (0 without one); each once and in order after
/// sort_ids().
using TrackIds = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
/// Adds the ids in the first `samples` samples of a block.
void add_ids(const io::RandomAccessFile& file, const format::BlockStart& start, std::size_t samples,
  TrackIds& ids);
void sort_ids(TrackIds& ids, const TrackSchema& schema);

/// Beginning and end of an id's history in the payload.
[[nodiscard]] inline std::pair<std::uint64_t, std::uint64_t> history_of(
  const format::TrackBlock& block, std::size_t i)
{
  return { block.first_row[i] * block.row_bytes(), block.first_row[i + 1] * block.row_bytes() };
}
}
