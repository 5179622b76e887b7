// SPDX-License-Identifier: BSD-3-Clause
// The records of a tracks file (FORMAT.md section 19) as they are on disk.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bat::format
{
inline constexpr unsigned char kTracksMagic[8] = { 0x89, 'B', 'T', 'K', 0x0D, 0x0A, 0x1A, 0x0A };
inline constexpr std::uint16_t kTracksVersionMajor = 1;
inline constexpr std::uint64_t kBlockAlignment = 64;
inline constexpr std::uint32_t kSamplesBlock = 1; ///< the only kind

struct TracksHeader
{
  std::uint8_t magic[8];
  std::uint16_t version_major;
  std::uint16_t version_minor;
  std::uint32_t header_bytes;
  std::uint64_t required_features;
  std::uint64_t optional_features;
  std::uint8_t reserved[24];
  std::uint64_t header_checksum;
};
static_assert(sizeof(TracksHeader) == 64 && offsetof(TracksHeader, header_checksum) == 56);

/// The end of the blocks, as the writer last knew it. Two of them follow the header and are written
/// alternately, so that one is valid whenever a writer dies.
struct TracksEnd
{
  std::uint64_t sequence;
  std::uint64_t end;
  std::uint32_t is_finished;
  std::uint32_t reserved;
  std::uint64_t checksum;
};
static_assert(sizeof(TracksEnd) == 32 && offsetof(TracksEnd, checksum) == 24);

inline constexpr std::uint64_t kTracksHeaderBytes = sizeof(TracksHeader) + 2 * sizeof(TracksEnd);

/// Its checksum is written last and commits the block.
struct BlockStart
{
  std::uint32_t kind;
  std::uint32_t reserved;
  std::uint64_t offset;
  std::uint64_t block_bytes;
  std::uint64_t head_bytes;
  std::uint64_t payload_bytes;
  std::uint64_t head_checksum;
  std::uint64_t reserved2;
  std::uint64_t start_checksum;
};
static_assert(sizeof(BlockStart) == 64 && offsetof(BlockStart, start_checksum) == 56);

struct BlockHead
{
  std::uint32_t sample_count;
  std::uint32_t attribute_count;
  std::uint64_t id_count;
  std::uint64_t row_count;
  std::uint32_t row_bytes;
  std::uint8_t position_type;
  std::uint8_t id_type;
  std::uint8_t second_type; ///< 0: none
  std::uint8_t reserved;
  std::uint32_t id_name_bytes;
  std::uint32_t second_name_bytes;
  std::uint64_t text_bytes;
  std::uint8_t reserved2[16];
};
static_assert(sizeof(BlockHead) == 64 && offsetof(BlockHead, text_bytes) == 40);

struct TrackAttributeRecord
{
  std::uint8_t type;
  std::uint8_t components;
  std::uint8_t role;
  std::uint8_t reserved;
  std::uint32_t host_type;
  std::uint32_t name_bytes;
  std::uint32_t reserved2;
};
static_assert(sizeof(TrackAttributeRecord) == 16);

struct SampleRecord
{
  std::int64_t step;
  double time;
  std::uint64_t rows;
  std::uint32_t flags;
  std::uint32_t metadata_bytes;
};
static_assert(sizeof(SampleRecord) == 32);

enum SampleFlag : std::uint32_t
{
  kSampleHasTime = 1,
  kSameMetadata = 2 ///< same as in the previous sample
};
}
