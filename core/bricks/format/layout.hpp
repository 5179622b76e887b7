// SPDX-License-Identifier: BSD-3-Clause
// The byte layout defined by BRICKS.md: the header, and the offsets of everything else.
#pragma once

#include "bat/brick_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::bricks::format
{
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are read in place");

inline constexpr unsigned char kMagic[8] = { 0x89, 'B', 'R', 'K', 0x0D, 0x0A, 0x1A, 0x0A };
inline constexpr std::uint16_t kVersionMajor = 1;
inline constexpr std::uint16_t kVersionMinor = 0;
inline constexpr std::uint64_t kPageBytes = 4096; // section 5
inline constexpr std::uint32_t kMaxNameBytes = 65535;
inline constexpr std::uint32_t kMaxMetadataBytes = 1u << 30;

/// Section 3.
struct HeaderRecord
{
  std::uint8_t magic[8];
  std::uint16_t version_major;
  std::uint16_t version_minor;
  std::uint32_t header_bytes;
  std::uint64_t file_bytes;
  std::uint64_t required_features;
  std::uint64_t optional_features;
  std::uint64_t points[3];
  double origin[3];
  double spacing[3];
  double time;
  std::int64_t step;
  double largest_speed;
  double minimum[3];
  double maximum[3];
  std::uint32_t flags;
  std::uint8_t type;
  std::uint8_t components;
  std::uint8_t edge;
  std::uint8_t reserved_byte;
  std::uint32_t name_bytes;
  std::uint32_t metadata_bytes;
  std::uint64_t text_checksum;
  std::uint8_t reserved[40];
  std::uint64_t header_checksum;
};
static_assert(sizeof(HeaderRecord) == 256);
static_assert(offsetof(HeaderRecord, points) == 40 && offsetof(HeaderRecord, time) == 112);
static_assert(offsetof(HeaderRecord, largest_speed) == 128 && offsetof(HeaderRecord, flags) == 184);
static_assert(
  offsetof(HeaderRecord, name_bytes) == 192 && offsetof(HeaderRecord, text_checksum) == 200);
static_assert(offsetof(HeaderRecord, header_checksum) == 248);

enum HeaderFlag : std::uint32_t
{
  kHasTime = 1,
  kHasStep = 2,
  kCyclicX = 4 ///< y and z: 8 and 16
};

[[nodiscard]] constexpr std::uint64_t align8(std::uint64_t bytes) noexcept
{
  return (bytes + 7) / 8 * 8;
}

/// Section 3.
[[nodiscard]] std::uint64_t grid_id(const BrickGrid& grid) noexcept;

/// A paged section (section 5): where its pages are and what their checksums cover.
struct PagedSection
{
  std::uint64_t offset = 0; ///< file offset
  std::uint64_t raw_bytes = 0;
  std::uint64_t seed = 0;

  [[nodiscard]] std::uint64_t pages() const noexcept
  {
    return (this->raw_bytes + kPageBytes - 1) / kPageBytes;
  }
  /// Page size in bytes, without the checksum.
  [[nodiscard]] std::uint64_t bytes_of_page(std::uint64_t page) const noexcept
  {
    const std::uint64_t left = this->raw_bytes - page * kPageBytes;
    return left < kPageBytes ? left : kPageBytes;
  }
  [[nodiscard]] std::uint64_t page_in_file(std::uint64_t page) const noexcept
  {
    return this->offset + page * (kPageBytes + 8);
  }
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept
  {
    return align8(this->raw_bytes + 8 * this->pages());
  }
};

/// Maps a brick to its slot of the index (section 5).
class SlotOrder
{
public:
  explicit SlotOrder(const BrickGrid& grid);

  [[nodiscard]] std::uint64_t slot_count() const noexcept
  {
    return this->page_count() << this->pattern_.size();
  }
  [[nodiscard]] std::uint64_t slots_of_page() const noexcept
  {
    return std::uint64_t{ 1 } << this->pattern_.size();
  }
  [[nodiscard]] std::uint64_t page_count() const noexcept
  {
    return this->pages_[0] * this->pages_[1] * this->pages_[2];
  }
  [[nodiscard]] std::uint64_t slot(const std::array<std::int64_t, 3>& place) const noexcept;
  /// The position of a slot's brick among the bricks; it may be outside the grid.
  [[nodiscard]] std::array<std::int64_t, 3> place(std::uint64_t slot) const noexcept;

private:
  std::vector<int> pattern_; ///< axes
  std::array<int, 3> width_{};
  std::array<std::uint64_t, 3> pages_{};
};

/// An index entry. Bricks in which all values are the quiet NaN, or all are 0, have no bytes.
struct BrickEntry
{
  std::uint64_t offset = 0; ///< offset in the brick section
  std::uint32_t bytes = 0;

  static constexpr std::uint64_t kNoFlow = 0; ///< offsets of bricks without bytes
  static constexpr std::uint64_t kAtRest = 8;

  [[nodiscard]] static BrickEntry decode(std::uint64_t word) noexcept
  {
    return { word >> 24 << 3, static_cast<std::uint32_t>(word & 0xFFFFFF) };
  }
  [[nodiscard]] std::uint64_t encode() const noexcept
  {
    return this->offset >> 3 << 24 | this->bytes;
  }
};

/// The positions of a file's parts, which depend only on the grid and the sizes of its texts.
struct FileLayout
{
  FileLayout(const BrickGrid& grid, std::uint64_t text_bytes);

  SlotOrder order;
  PagedSection preview;
  PagedSection index;
  std::uint64_t bricks_offset = 0;
  std::uint64_t id = 0; ///< grid id
};

/// Total number of points in a brick.
[[nodiscard]] std::size_t points_of_brick(
  const BrickGrid& grid, const std::array<std::int64_t, 3>& place) noexcept;

/// XXH64.
[[nodiscard]] std::uint64_t checksum(const void* data, std::size_t bytes) noexcept;
/// XXH3.
[[nodiscard]] std::uint64_t seeded_checksum(
  const void* data, std::size_t bytes, std::uint64_t seed) noexcept;
}
