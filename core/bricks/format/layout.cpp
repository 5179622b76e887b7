// SPDX-License-Identifier: BSD-3-Clause
#include "bricks/format/layout.hpp"

#include <xxhash.h>
#if XXH_VERSION_NUMBER < 800
#error "xxHash 0.8 or later is required: earlier versions have a different XXH3"
#endif

#include <cstring>

namespace bat::bricks::format
{
std::uint64_t checksum(const void* data, std::size_t bytes) noexcept
{
  return XXH64(data, bytes, 0);
}

std::uint64_t seeded_checksum(const void* data, std::size_t bytes, std::uint64_t seed) noexcept
{
  return XXH3_64bits_withSeed(data, bytes, seed);
}

std::uint64_t grid_id(const BrickGrid& grid) noexcept
{
  unsigned char record[80] = {};
  for (std::size_t a = 0; a != 3; ++a)
  {
    const auto points = static_cast<std::uint64_t>(grid.points[a]);
    std::memcpy(record + 8 * a, &points, 8);
    std::memcpy(record + 24 + 8 * a, &grid.origin[a], 8);
    std::memcpy(record + 48 + 8 * a, &grid.spacing[a], 8);
    record[72] = static_cast<unsigned char>(record[72] | (grid.cyclic[a] ? 1u << a : 0u));
  }
  record[73] = static_cast<unsigned char>(grid.type);
  record[74] = static_cast<unsigned char>(grid.components);
  record[75] = static_cast<unsigned char>(grid.edge);
  return checksum(record, sizeof(record));
}

SlotOrder::SlotOrder(const BrickGrid& grid)
{
  constexpr std::size_t kMaxEntries = 9;
  std::array<int, 3> need{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    while (std::int64_t{ 1 } << need[a] < grid.bricks(a))
    {
      ++need[a];
    }
  }
  for (bool more = true; more && this->pattern_.size() < kMaxEntries;)
  {
    more = false;
    for (std::size_t a = 0; a != 3 && this->pattern_.size() < kMaxEntries; ++a)
    {
      if (this->width_[a] < need[a])
      {
        this->pattern_.push_back(static_cast<int>(a));
        ++this->width_[a];
        more = true;
      }
    }
  }
  for (std::size_t a = 0; a != 3; ++a)
  {
    const auto box = std::uint64_t{ 1 } << this->width_[a];
    this->pages_[a] = (static_cast<std::uint64_t>(grid.bricks(a)) + box - 1) / box;
  }
}

std::uint64_t SlotOrder::slot(const std::array<std::int64_t, 3>& place) const noexcept
{
  std::array<std::uint64_t, 3> i{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    i[a] = static_cast<std::uint64_t>(place[a]);
  }
  const std::uint64_t page = (i[0] >> this->width_[0]) +
    this->pages_[0] * ((i[1] >> this->width_[1]) + this->pages_[1] * (i[2] >> this->width_[2]));
  std::uint64_t within = 0;
  for (std::size_t e = 0; e != this->pattern_.size(); ++e)
  {
    std::uint64_t& axis = i[static_cast<std::size_t>(this->pattern_[e])];
    within |= (axis & 1) << e;
    axis >>= 1;
  }
  return (page << this->pattern_.size()) + within;
}

std::array<std::int64_t, 3> SlotOrder::place(std::uint64_t slot) const noexcept
{
  const std::uint64_t page = slot >> this->pattern_.size();
  const std::array<std::uint64_t, 3> box{ page % this->pages_[0],
    page / this->pages_[0] % this->pages_[1], page / this->pages_[0] / this->pages_[1] };
  std::array<std::uint64_t, 3> within{};
  std::array<int, 3> bit{};
  for (std::size_t e = 0; e != this->pattern_.size(); ++e)
  {
    const auto a = static_cast<std::size_t>(this->pattern_[e]);
    within[a] |= (slot >> e & 1) << bit[a]++;
  }
  std::array<std::int64_t, 3> place{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    place[a] = static_cast<std::int64_t>((box[a] << this->width_[a]) + within[a]);
  }
  return place;
}

FileLayout::FileLayout(const BrickGrid& grid, std::uint64_t text_bytes)
  : order(grid)
  , id(grid_id(grid))
{
  this->preview = { align8(sizeof(HeaderRecord) + text_bytes),
    grid.brick_count() * grid.point_bytes(), this->id + (std::uint64_t{ 1 } << 63) };
  this->index = { this->preview.offset + this->preview.stored_bytes(), 8 * this->order.slot_count(),
    this->id };
  this->bricks_offset = this->index.offset + this->index.stored_bytes();
}

std::size_t points_of_brick(
  const BrickGrid& grid, const std::array<std::int64_t, 3>& place) noexcept
{
  std::size_t points = 1;
  for (std::size_t a = 0; a != 3; ++a)
  {
    points *= static_cast<std::size_t>(grid.brick_points(a, place[a]));
  }
  return points;
}
}
