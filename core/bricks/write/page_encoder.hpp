// SPDX-License-Identifier: BSD-3-Clause
// Encodes the points of one index page as the bytes of its bricks.
#pragma once

#include "bat/brick_source.hpp"
#include "bat/bricks/file.hpp"
#include "bricks/format/codec.hpp"
#include "bricks/format/layout.hpp"
#include "bricks/format/value_range.hpp"
#include "common/io/atomic_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::bricks
{
/// Values of a box of points, packed, x fastest.
struct Window
{
  const std::byte* values = nullptr;
  std::array<std::int64_t, 3> first{};
  std::array<std::int64_t, 3> count{};
};

/// An encoded page; offsets in its entries count from its first byte.
struct EncodedPage
{
  std::vector<std::byte> bytes;
  std::vector<std::uint64_t> index;
  std::vector<std::byte> first_points; ///< per slot, of its brick; zeros if there is none
};

class PageEncoder
{
public:
  /// The caller owns the referenced objects.
  PageEncoder(const BrickGrid& grid, const format::FileLayout& layout, bool compress);

  /// Points covered by a page's bricks: the first one, and how many along each axis; zero if the
  /// page has no brick of the grid.
  [[nodiscard]] Window points_of(std::uint64_t page) const;

  /// Runs on the threads of the arena in which it is called. `window` has all points of the page.
  void encode(std::uint64_t page, const Window& window, EncodedPage& encoded);
  /// Copies the first points of a page's bricks to the preview of all bricks.
  void add_to_preview(std::uint64_t page, const std::byte* first_points, std::byte* preview) const;

  /// Statistics of all values so far.
  [[nodiscard]] const format::ValueRange& range() const noexcept { return this->range_; }

private:
  [[nodiscard]] bool has_brick(const std::array<std::int64_t, 3>& place) const noexcept;

  const BrickGrid& grid_;
  const format::FileLayout& layout_;
  bool compress_;
  struct Slot
  {
    std::vector<std::byte> stored;
    format::BrickEncoder::Encoded encoded = format::BrickEncoder::Encoded::NoFlow;
  };
  std::vector<Slot> slots_; ///< slots of one page
  format::ValueRange range_;
};

/// Adds the entries of a page whose bytes begin at `offset` within the bricks.
void append_index(
  const EncodedPage& encoded, std::uint64_t offset, std::vector<std::uint64_t>& index);
/// Counts the bricks with flow.
[[nodiscard]] std::uint64_t stored_bricks(const std::vector<std::uint64_t>& index) noexcept;

/// Bytes of all points. The grid has passed find_fault().
[[nodiscard]] std::uint64_t value_bytes(const BrickGrid& grid) noexcept;

/// The summary that is known once all bricks are written.
struct FileFront
{
  Header header; ///< without ranges
  format::ValueRange range;
  const std::byte* preview = nullptr;
  const std::uint64_t* index = nullptr;
  std::uint64_t brick_bytes = 0;
};

/// Writes everything that precedes the bricks. Returns the size of the file.
std::uint64_t write_front(
  io::AtomicFile& file, const format::FileLayout& layout, const FileFront& front);
}
