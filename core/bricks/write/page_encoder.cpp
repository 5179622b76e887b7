// SPDX-License-Identifier: BSD-3-Clause
#include "bricks/write/page_encoder.hpp"

#include "bricks/format/header.hpp"

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

namespace bat::bricks
{
namespace
{
// Size of a section with its checksums and padding.
std::vector<std::byte> in_pages(const format::PagedSection& section, const std::byte* raw)
{
  std::vector<std::byte> stored(section.stored_bytes());
  for (std::uint64_t page = 0; page != section.pages(); ++page)
  {
    const std::uint64_t bytes = section.bytes_of_page(page);
    std::byte* const to = stored.data() + (section.page_in_file(page) - section.offset);
    std::memcpy(to, raw + page * format::kPageBytes, bytes);
    const std::uint64_t sum = format::seeded_checksum(to, bytes, section.seed + page);
    std::memcpy(to + bytes, &sum, 8);
  }
  return stored;
}

// Gathers the values of a brick, packed.
void gather(const BrickGrid& grid, const std::array<std::int64_t, 3>& place,
  const std::array<int, 3>& points, const Window& window, std::vector<std::byte>& packed)
{
  const std::size_t row = static_cast<std::size_t>(points[0]) * grid.point_bytes();
  packed.resize(format::points_of_brick(grid, place) * grid.point_bytes());
  std::byte* to = packed.data();
  for (int z = 0; z != points[2]; ++z)
  {
    for (int y = 0; y != points[1]; ++y, to += row)
    {
      const std::int64_t first = place[0] * grid.edge - window.first[0] +
        window.count[0] *
          (place[1] * grid.edge + y - window.first[1] +
            window.count[1] * (place[2] * grid.edge + z - window.first[2]));
      std::memcpy(to, window.values + static_cast<std::size_t>(first) * grid.point_bytes(), row);
    }
  }
}

struct Scratch
{
  std::vector<std::byte> packed;
  format::BrickEncoder encoder;
  format::ValueRange range;
};
}

PageEncoder::PageEncoder(const BrickGrid& grid, const format::FileLayout& layout, bool compress)
  : grid_(grid)
  , layout_(layout)
  , compress_(compress)
  , slots_(layout.order.slots_of_page())
{
}

Window PageEncoder::points_of(std::uint64_t page) const
{
  // A page's slots form a box of bricks; the first slot is at its lowest corner.
  const std::uint64_t of_page = this->layout_.order.slots_of_page();
  const auto lower = this->layout_.order.place(page * of_page);
  const auto upper = this->layout_.order.place(page * of_page + of_page - 1);
  Window window;
  for (std::size_t a = 0; a != 3; ++a)
  {
    window.first[a] = lower[a] * this->grid_.edge;
    window.count[a] =
      std::min(this->grid_.points[a], (upper[a] + 1) * this->grid_.edge) - window.first[a];
    if (window.count[a] <= 0)
    {
      return {};
    }
  }
  return window;
}

bool PageEncoder::has_brick(const std::array<std::int64_t, 3>& place) const noexcept
{
  return place[0] < this->grid_.bricks(0) && place[1] < this->grid_.bricks(1) &&
    place[2] < this->grid_.bricks(2);
}

void PageEncoder::add_to_preview(
  std::uint64_t page, const std::byte* first_points, std::byte* preview) const
{
  const std::size_t bytes = this->grid_.point_bytes();
  const std::uint64_t of_page = this->layout_.order.slots_of_page();
  for (std::uint64_t i = 0; i != of_page; ++i)
  {
    const auto place = this->layout_.order.place(page * of_page + i);
    if (this->has_brick(place))
    {
      std::memcpy(
        preview + this->grid_.brick_number(place) * bytes, first_points + i * bytes, bytes);
    }
  }
}

void PageEncoder::encode(std::uint64_t page, const Window& window, EncodedPage& encoded)
{
  const format::SlotOrder& order = this->layout_.order;
  const std::uint64_t of_page = order.slots_of_page();
  const BrickGrid& grid = this->grid_;
  encoded.first_points.assign(of_page * grid.point_bytes(), std::byte{ 0 });
  tbb::enumerable_thread_specific<Scratch> scratch;
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, of_page, 8),
    [&](const auto& slots)
    {
      Scratch& own = scratch.local();
      for (std::uint64_t i = slots.begin(); i != slots.end(); ++i)
      {
        Slot& slot = this->slots_[i];
        slot.stored.clear();
        slot.encoded = format::BrickEncoder::Encoded::NoFlow;
        const auto place = order.place(page * of_page + i);
        if (!this->has_brick(place))
        {
          continue;
        }
        const std::array<int, 3> points{ grid.brick_points(0, place[0]),
          grid.brick_points(1, place[1]), grid.brick_points(2, place[2]) };
        gather(grid, place, points, window, own.packed);
        own.range.add(grid, own.packed.data(), own.packed.size() / grid.point_bytes());
        std::memcpy(encoded.first_points.data() + i * grid.point_bytes(), own.packed.data(),
          grid.point_bytes());
        slot.encoded = own.encoder.encode(grid, points, own.packed.data(), this->compress_,
          this->layout_.id + grid.brick_number(place), slot.stored);
      }
    });
  for (const Scratch& own : scratch)
  {
    this->range_.add(own.range);
  }
  encoded.bytes.clear();
  encoded.index.assign(of_page, 0);
  for (std::uint64_t i = 0; i != of_page; ++i)
  {
    const std::vector<std::byte>& stored = this->slots_[i].stored;
    if (this->slots_[i].encoded == format::BrickEncoder::Encoded::AtRest)
    {
      encoded.index[i] = format::BrickEntry{ format::BrickEntry::kAtRest, 0 }.encode();
    }
    else if (!stored.empty())
    {
      encoded.index[i] =
        format::BrickEntry{ encoded.bytes.size(), static_cast<std::uint32_t>(stored.size()) }
          .encode();
      encoded.bytes.insert(encoded.bytes.end(), stored.begin(), stored.end());
      encoded.bytes.resize(format::align8(encoded.bytes.size()));
    }
  }
}

void append_index(
  const EncodedPage& encoded, std::uint64_t offset, std::vector<std::uint64_t>& index)
{
  for (const std::uint64_t word : encoded.index)
  {
    format::BrickEntry entry = format::BrickEntry::decode(word);
    entry.offset += entry.bytes == 0 ? 0 : offset;
    index.push_back(entry.encode());
  }
}

std::uint64_t stored_bricks(const std::vector<std::uint64_t>& index) noexcept
{
  return index.size() -
    static_cast<std::uint64_t>(std::count(index.begin(), index.end(), std::uint64_t{ 0 }));
}

std::uint64_t value_bytes(const BrickGrid& grid) noexcept
{
  std::uint64_t bytes = grid.point_bytes();
  for (const std::int64_t points : grid.points)
  {
    // There are at most 2^36 bricks of 2^15 points, so no product overflows.
    bytes *= static_cast<std::uint64_t>(points);
  }
  return bytes;
}

std::uint64_t write_front(
  io::AtomicFile& file, const format::FileLayout& layout, const FileFront& front)
{
  Header header = front.header;
  front.range.copy_to(header);
  const std::vector<std::byte> preview = in_pages(layout.preview, front.preview);
  file.write(layout.preview.offset, preview.data(), preview.size());
  const std::vector<std::byte> index =
    in_pages(layout.index, reinterpret_cast<const std::byte*>(front.index));
  file.write(layout.index.offset, index.data(), index.size());
  const std::uint64_t file_bytes = layout.bricks_offset + front.brick_bytes;
  const std::vector<std::byte> head = format::encode_header(header, file_bytes);
  file.write(0, head.data(), head.size());
  return file_bytes;
}
}
