// SPDX-License-Identifier: BSD-3-Clause
// The records of FORMAT.md as they are on disk, and nothing else. All fields are little-endian and
// naturally aligned, so that the structs have no padding; assertions check them against the text.
#pragma once

#include "common/hdf5_signature.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::format
{
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are read in place");

inline constexpr unsigned char kMagic[8] = { 0x89, 'B', 'A', 'T', 0x0D, 0x0A, 0x1A, 0x0A };
inline constexpr std::uint16_t kVersionMajor = 1;
inline constexpr std::uint16_t kVersionMinor = 0;
inline constexpr std::uint64_t kPageBytes = 4096;              // section 2
inline constexpr std::uint64_t kMaxParticles = 0xFFFFFFFFu;    // section 3: of a leaf file
inline constexpr std::uint32_t kMaxLeafFiles = 1u << 24;       // section 15
inline constexpr std::uint32_t kMaxAttributes = 65535;         // section 7
inline constexpr std::uint32_t kMaxLevels = 256;               // section 7
inline constexpr std::uint32_t kMaxBlockParticles = 65536;     // section 7
inline constexpr std::uint32_t kMaxBins = 4096;                // section 7
inline constexpr std::uint32_t kMaxChunkParticles = 65536;     // section 12
inline constexpr std::uint32_t kMaxSampleIds = 64;             // section 8
inline constexpr std::uint64_t kIndexFences = 512;             // section 11: of a page
inline constexpr std::uint64_t kIndexEntries = 341;            // section 11: of a page
inline constexpr std::uint64_t kAlignedSectionBytes = 1 << 16; // section 12
using bat::kSuperblockOffset;                                  // section 20

/// Section 5.
struct Header
{
  std::uint8_t magic[8];
  std::uint16_t version_major;
  std::uint16_t version_minor;
  std::uint32_t header_bytes;
  std::uint64_t file_bytes;
  std::uint64_t required_features;
  std::uint64_t optional_features;
  std::uint64_t particle_count;
  std::uint64_t section_table_offset;
  std::uint32_t section_count;
  std::uint32_t flags;
  double time;
  std::int64_t step;
  std::uint64_t section_table_checksum;
  std::uint8_t reserved[32];
  std::uint64_t header_checksum;
};
static_assert(sizeof(Header) == 128);
static_assert(offsetof(Header, file_bytes) == 16 && offsetof(Header, particle_count) == 40);
static_assert(offsetof(Header, time) == 64 && offsetof(Header, header_checksum) == 120);

/// Section 14, `required_features`.
enum Feature : std::uint64_t
{
  kSeveralLeafFiles = 1,
  kCompressedChunks = 2,
  kStableSamples = 4
};

enum HeaderFlag : std::uint32_t
{
  kHasTime = 1,
  kHasStep = 2
};

/// Section 6. NOTE: the numbers never change.
enum class SectionKind : std::uint32_t
{
  Schema = 1,
  Metadata = 2,
  Levels = 3,
  ShallowTree = 4,
  Treelets = 5,
  BlockBoxes = 6,
  BinEdges = 7,
  TreeletKeys = 8,
  BitmapDictionary = 9,
  BlockBitmaps = 10,
  Positions = 11,
  Attribute = 12,
  AggregationTree = 13,
  LeafFiles = 14,
  ChunkTable = 15,
  SortedIndex = 16,
  Aliases = 17,
  SampleIds = 18,
  TreeletLevels = 19,
  BlockLevels = 20,
  Hdf5Superblock = 21,
  Hdf5Objects = 22
};

enum SectionFlag : std::uint32_t
{
  kPaged = 1,
  kMustUnderstand = 2
};

/// Section 6, `encoding`.
enum Encoding : std::uint32_t
{
  kRaw = 0,
  kChunks = 1
};

/// Section 6.
struct SectionRecord
{
  std::uint32_t kind;
  std::uint32_t index;
  std::uint32_t encoding;
  std::uint32_t flags;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t raw_bytes;
  std::uint64_t checksum;
  std::uint64_t checksums_offset;
  std::uint64_t reserved;
};
static_assert(sizeof(SectionRecord) == 64 && offsetof(SectionRecord, checksum) == 40);

/// Section 12: beginning of CHUNK_TABLE; after it the size of each frame, 32 bits each, and the
/// model.
struct ChunkTableHead
{
  std::uint32_t chunk_particles;
  std::uint32_t chunk_count;
  double bound;
  std::uint32_t model_bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(ChunkTableHead) == 24 && offsetof(ChunkTableHead, model_bytes) == 16);

/// Section 7: beginning of SCHEMA.
struct SchemaHead
{
  std::uint32_t attribute_count;
  std::uint32_t key_count;
  std::uint32_t level_count;
  std::uint32_t treelet_count;
  std::uint64_t block_count;
  std::uint32_t block_particles;
  std::uint8_t position_type;
  std::uint8_t reserved[3];
  double lower[3];
  double upper[3];
};
static_assert(sizeof(SchemaHead) == 80 && offsetof(SchemaHead, lower) == 32);

/// Section 7.
struct AttributeRecord
{
  std::uint8_t type;
  std::uint8_t components;
  std::uint8_t role;
  std::uint8_t reserved;
  std::uint32_t host_type;
  std::uint32_t name_bytes;
  std::uint32_t first_key;
};
static_assert(sizeof(AttributeRecord) == 16);

/// Section 7. `minimum` and `maximum` are the bits of a value of the key's class.
struct KeyRecord
{
  std::uint32_t attribute;
  std::int16_t component;
  std::uint8_t bitmap_bytes;
  std::uint8_t flags;
  std::uint32_t bin_count;
  std::uint32_t dictionary_count;
  std::uint64_t minimum;
  std::uint64_t maximum;
  std::uint64_t reserved;
};
static_assert(sizeof(KeyRecord) == 40 && offsetof(KeyRecord, minimum) == 16);

/// Number of keys of an attribute (section 11).
[[nodiscard]] inline std::uint32_t key_count(int components)
{
  return components == 1 ? 1 : static_cast<std::uint32_t>(components) + 1;
}

/// A flag of KeyRecord, TreeletKeyRecord and LeafKeyRecord.
inline constexpr std::uint32_t kHasNaN = 1;

/// Section 9.
struct TreeletRecord
{
  std::uint32_t count;
  std::uint32_t flags;
};
static_assert(sizeof(TreeletRecord) == 8);

/// A flag of TreeletRecord and LeafRecord: coordinates may be NaN or infinite.
inline constexpr std::uint32_t kNonFinite = 1;

/// Section 9.
struct NodeRecord
{
  double lower[3];
  double upper[3];
  std::uint32_t first_treelet;
  std::uint32_t skip;
};
static_assert(sizeof(NodeRecord) == 56);

/// Section 10.
struct BlockBoxRecord
{
  std::uint8_t lower[3];
  std::uint8_t upper[3];
};
static_assert(sizeof(BlockBoxRecord) == 6);

/// Section 10: one end of a block's box on an axis on which the treelet's box is [a, b].
inline double block_coordinate(double a, double b, std::uint8_t q)
{
  const double t = q / 255.0;
  return a * (1.0 - t) + b * t;
}

/// Section 11.
struct TreeletKeyRecord
{
  std::uint64_t minimum;
  std::uint64_t maximum;
  std::uint32_t bitmap;
  std::uint16_t first_bin;
  std::uint16_t last_bin;
  std::uint32_t flags;
  std::uint32_t reserved;
};
static_assert(sizeof(TreeletKeyRecord) == 32 && offsetof(TreeletKeyRecord, bitmap) == 16);

/// Section 11. `value` is the bits of a value of the key's class, the lower half first: in 12 bytes
/// there is no alignment for 8.
struct IndexEntry
{
  std::uint32_t value[2];
  std::uint32_t position;
};
static_assert(sizeof(IndexEntry) == 12 && kIndexEntries == kPageBytes / sizeof(IndexEntry));

/// Section 15: beginning of LEAF_FILES.
struct LeafFilesHead
{
  std::uint32_t leaf_count;
  std::uint32_t reserved;
};
static_assert(sizeof(LeafFilesHead) == 8);

/// Section 15.
struct LeafRecord
{
  std::uint64_t particles;
  std::uint64_t file_bytes;
  std::uint64_t header_checksum;
  double lower[3];
  double upper[3];
  std::uint32_t name_bytes;
  std::uint32_t flags; ///< kNonFinite
};
static_assert(sizeof(LeafRecord) == 80 && offsetof(LeafRecord, name_bytes) == 72);

/// Section 15.
struct LeafKeyRecord
{
  std::uint64_t minimum;
  std::uint64_t maximum;
  std::uint32_t flags; ///< kHasNaN
  std::uint32_t reserved;
};
static_assert(sizeof(LeafKeyRecord) == 24);

/// Section 7: beginning of ALIASES; after it a LeafKeyRecord for x, y, z and their magnitude.
struct AliasesHead
{
  std::uint32_t alias_count;
  std::uint32_t reserved;
};
static_assert(sizeof(AliasesHead) == 8);

/// Section 7.
struct AliasRecord
{
  std::uint32_t attribute; ///< or kPositionsAttribute
  std::int16_t component;  ///< -1 for all
  std::uint8_t role;
  std::uint8_t reserved;
  std::uint32_t host_type;
  std::uint32_t name_bytes;
};
static_assert(sizeof(AliasRecord) == 16 && offsetof(AliasRecord, host_type) == 8);

/// Section 8: beginning of SAMPLE_IDS.
struct SampleIdsHead
{
  std::uint32_t id_count;
  std::uint32_t reserved;
};
static_assert(sizeof(SampleIdsHead) == 8);

/// Section 8.
struct SampleIdRecord
{
  std::uint32_t attribute;
  std::int16_t component; ///< -1 for all
  std::uint16_t reserved;
};
static_assert(sizeof(SampleIdRecord) == 8 && offsetof(SampleIdRecord, component) == 4);

inline constexpr std::uint32_t kPositionsAttribute = 0xFFFFFFFFu;
/// x, y, z, magnitude.
inline constexpr std::size_t kPositionKeys = 4;
}
