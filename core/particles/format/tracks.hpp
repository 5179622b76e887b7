// SPDX-License-Identifier: BSD-3-Clause
// Decodes and encodes the blocks of a tracks file.
#pragma once

#include "bat/tracks.hpp"
#include "common/io/random_access_file.hpp"
#include "particles/format/tracks_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bat::format
{
struct BlockSample
{
  std::int64_t step = 0;
  std::optional<double> time;
  std::uint64_t rows = 0;
  /// Shared by samples with the same metadata; never null.
  std::shared_ptr<const std::string> metadata = std::make_shared<const std::string>();
};

/// A block without its values.
struct TrackBlock
{
  TrackSchema schema;
  std::vector<BlockSample> samples;
  std::vector<std::uint64_t> ids;       ///< ascending, together with `second`
  std::vector<std::uint64_t> second;    ///< one per id, or none
  std::vector<std::uint64_t> first_row; ///< first row of each id, and the number of rows
  std::vector<std::uint32_t> page_sums; ///< page checksums of the payload
  std::uint64_t payload_offset = 0;     ///< file offset
  std::uint64_t payload_bytes = 0;

  [[nodiscard]] std::uint64_t row_bytes() const noexcept
  {
    return sizeof(std::uint32_t) + track_bytes(this->schema);
  }
};

[[nodiscard]] bool same_schema(const TrackSchema& a, const TrackSchema& b) noexcept;

/// Returns whether both have ids with the same names and value classes, as all blocks with rows in
/// a file do.
[[nodiscard]] bool same_ids(const TrackSchema& a, const TrackSchema& b) noexcept;
/// Returns whether `id` is the stored form of a value of `type`: in its range, 0 as +0, not NaN.
[[nodiscard]] bool can_hold_id(ScalarType type, std::uint64_t id) noexcept;
/// Describes the ids: "'id' int64", "'id' int64 and 'cpu' int32".
[[nodiscard]] std::string ids_text(const TrackSchema& schema);

/// Returns -1, 0 or 1 if the number that `a` stands for is below, equal to or above that of `b`.
[[nodiscard]] int compare_ids(std::uint64_t a, std::uint64_t b, ScalarType type) noexcept;

/// Returns the first kTracksHeaderBytes, with the same TracksEnd twice.
[[nodiscard]] std::vector<std::byte> encode_tracks_header(const TracksEnd& end);
[[nodiscard]] TracksEnd make_tracks_end(
  std::uint64_t sequence, std::uint64_t end, bool is_finished) noexcept;
/// File offset of a TracksEnd.
[[nodiscard]] constexpr std::uint64_t offset_of_end(std::uint64_t sequence) noexcept
{
  return sizeof(TracksHeader) + (sequence % 2) * sizeof(TracksEnd);
}

/// The places of a file's blocks.
struct TrackBlocks
{
  std::vector<BlockStart> starts;
  std::uint64_t end = 0;     ///< after the last block
  TracksEnd known{};         ///< the newer one of the two that is not damaged
  bool has_both_ends = true; ///< neither is damaged
};
/// Throws Error, after filling `blocks` with those before the damage: NotABatFile,
/// UnsupportedVersion; Truncated if the file is shorter than a writer knew it; Corrupt if the
/// header or a start is damaged, or a block that a writer knew has no checksum.
void find_blocks(const io::RandomAccessFile& file, TrackBlocks& blocks);

/// The bytes after the last block.
enum class TracksTail
{
  None,
  Unfinished, ///< part of a block from a dead writer, or only zeros
  Whole,      ///< a block of which only the checksum of its start is missing
  Unknown     ///< no writer leaves this
};
[[nodiscard]] TracksTail judge_tail(const io::RandomAccessFile& file, const TrackBlocks& blocks);

/// Reads the head of a block, checked. Throws Error{Corrupt}.
[[nodiscard]] TrackBlock read_block(const io::RandomAccessFile& file, const BlockStart& start);

/// Reads bytes [begin, end) of the payload and checks their pages. Throws Error{Corrupt}.
[[nodiscard]] std::vector<std::byte> read_payload(const io::RandomAccessFile& file,
  const TrackBlock& block, std::uint64_t begin, std::uint64_t end);

/// Returns the sample numbers of the rows of id `i`, from its history. Throws Error{Corrupt} if
/// they are not ascending sample numbers.
[[nodiscard]] std::vector<std::uint32_t> samples_of(const io::RandomAccessFile& file,
  const TrackBlock& block, std::size_t i, const std::byte* history);

/// A row of a block under construction.
struct NewRow
{
  std::uint64_t id = 0;
  std::uint64_t second = 0;
  std::uint32_t sample = 0;
  std::size_t values = 0; ///< beginning of its track_bytes()
};

/// Returns the bytes of a block at `offset`. Sorts `rows`; rows with the same id and sample keep
/// their order.
[[nodiscard]] std::vector<std::byte> encode_block(std::uint64_t offset, const TrackSchema& schema,
  const std::vector<BlockSample>& samples, std::vector<NewRow>& rows,
  const std::vector<std::byte>& values);
}
