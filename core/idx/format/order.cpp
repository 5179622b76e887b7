// SPDX-License-Identifier: BSD-3-Clause
#include "idx/format/order.hpp"

#include <algorithm>

namespace bat::idx::format
{
namespace
{
std::int64_t divide_up(std::int64_t a, std::int64_t b) noexcept // b > 0
{
  return a >= 0 ? a / b + (a % b != 0) : -(-a / b);
}

std::int64_t divide_down(std::int64_t a, std::int64_t b) noexcept
{
  return -divide_up(-a, b);
}
}

std::uint64_t BlockRange::count() const noexcept
{
  std::uint64_t count = 1;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    count *= this->upper[axis] < this->lower[axis]
      ? 0
      : static_cast<std::uint64_t>(this->upper[axis] - this->lower[axis] + 1);
  }
  return count;
}

Order::Order(const Header& header)
  : digits_(header.bits.substr(1))
  , levels_(header.levels())
  , bits_per_block_(header.bits_per_block)
{
  for (int level = 0; level <= this->levels_; ++level)
  {
    this->distances_.push_back(this->halvings(level + 1, this->levels_));
  }
}

int Order::axis_of(int place) const noexcept
{
  return this->digits_[static_cast<std::size_t>(place - 1)] - '0';
}

Point Order::halvings(int from, int to) const noexcept
{
  Point product{ 1, 1, 1 };
  for (int place = from; place <= to; ++place)
  {
    product[static_cast<std::size_t>(this->axis_of(place))] *= 2;
  }
  return product;
}

Lattice Order::lattice(int level, const LogicalBox& box) const
{
  Lattice lattice;
  lattice.distance = this->distance(level);
  bool empty = false;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const std::int64_t distance = lattice.distance[axis];
    const std::int64_t first = divide_up(box.lower[axis], distance);
    const std::int64_t last = divide_down(box.upper[axis], distance);
    lattice.first[axis] = first * distance;
    lattice.count[axis] = std::max<std::int64_t>(0, last - first + 1);
    empty = empty || lattice.count[axis] == 0;
  }
  if (empty)
  {
    lattice.count = {};
  }
  return lattice;
}

int Order::level_of_block(std::uint64_t block) const noexcept
{
  return block == 0 ? this->bits_per_block_ : this->bits_per_block_ + 64 - __builtin_clzll(block);
}

LevelBlocks Order::blocks_of_level(int level) const
{
  LevelBlocks blocks;
  blocks.level = level;
  const int b = this->bits_per_block_;
  if (level <= b)
  {
    blocks.level = b;
    blocks.distance = this->distance(b);
    blocks.counts = this->halvings(1, b);
    return blocks;
  }
  const auto own = static_cast<std::size_t>(this->axis_of(level));
  blocks.origin[own] = this->distance(level)[own];
  blocks.distance = this->distance(level - 1);
  blocks.counts = this->halvings(level - b, level - 1);
  blocks.blocks = this->halvings(1, level - b - 1);
  return blocks;
}

BlockRange Order::blocks_with(const LevelBlocks& blocks, const Lattice& lattice) const
{
  BlockRange range;
  if (lattice.samples() == 0)
  {
    return { {}, { -1, -1, -1 } };
  }
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    // Considers samples of the level with first <= s <= last. The samples of block 0 that are on no
    // coarser level's lattice change nothing, since both lie on multiples of each other.
    const std::int64_t last =
      lattice.first[axis] + (lattice.count[axis] - 1) * lattice.distance[axis];
    const std::int64_t s0 =
      divide_up(lattice.first[axis] - blocks.origin[axis], blocks.distance[axis]);
    const std::int64_t s1 = divide_down(last - blocks.origin[axis], blocks.distance[axis]);
    const std::int64_t maximum = blocks.counts[axis] * blocks.blocks[axis] - 1;
    const std::int64_t lower = std::max<std::int64_t>(s0, 0);
    const std::int64_t upper = std::min(s1, maximum);
    if (upper < lower)
    {
      return { {}, { -1, -1, -1 } };
    }
    range.lower[axis] = lower / blocks.counts[axis];
    range.upper[axis] = upper / blocks.counts[axis];
  }
  return range;
}

std::uint64_t Order::block_at(const LevelBlocks& blocks, const Point& place) const noexcept
{
  const int free = blocks.level - this->bits_per_block_ - 1; // digits that blocks differ in
  if (free < 0)
  {
    return 0;
  }
  Point left = place;
  std::uint64_t block = 0;
  for (int digit = free; digit >= 1; --digit)
  {
    auto& coordinate = left[static_cast<std::size_t>(this->axis_of(digit))];
    block |= static_cast<std::uint64_t>(coordinate & 1) << (free - digit);
    coordinate >>= 1;
  }
  return block | std::uint64_t{ 1 } << free;
}

Point Order::place_of(const LevelBlocks& blocks, std::uint64_t block) const noexcept
{
  const int free = blocks.level - this->bits_per_block_ - 1;
  Point place{};
  for (int digit = 1; digit <= free; ++digit)
  {
    auto& coordinate = place[static_cast<std::size_t>(this->axis_of(digit))];
    coordinate = coordinate << 1 | static_cast<std::int64_t>(block >> (free - digit) & 1);
  }
  return place;
}

StepsOfAxes Order::common(
  const LevelBlocks& blocks, const Point& place, const Lattice& lattice) const noexcept
{
  StepsOfAxes axes;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    Steps& steps = axes[axis];
    const std::int64_t d = blocks.distance[axis];
    const std::int64_t n = blocks.counts[axis];
    const std::int64_t origin = blocks.origin[axis] + place[axis] * n * d;
    const std::int64_t distance = lattice.distance[axis];
    const std::int64_t first = lattice.first[axis];
    const std::int64_t last = first + (lattice.count[axis] - 1) * distance;
    // One distance divides the other. Only block 0 is finer than the lattice, and it begins at 0.
    const std::int64_t step = std::max(d, distance);
    const std::int64_t offset = d >= distance ? origin : 0;
    const std::int64_t begin = offset + divide_up(std::max(first, origin) - offset, step) * step;
    const std::int64_t end = std::min(last, origin + (n - 1) * d);
    steps.count = end < begin ? 0 : (end - begin) / step + 1;
    steps.block = (begin - origin) / d;
    steps.block_step = step / d;
    steps.array = (begin - first) / distance;
    steps.array_step = step / distance;
  }
  return axes;
}

BlockOrder::BlockOrder(const Order& order, const LevelBlocks& blocks)
  : bits_(order.bits_per_block())
  , is_first_(blocks.level == order.bits_per_block())
{
  const int last = this->is_first_ ? blocks.level : blocks.level - 1;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    this->tables_[axis].resize(static_cast<std::size_t>(blocks.counts[axis]));
    for (std::size_t i = 0; i != this->tables_[axis].size(); ++i)
    {
      std::uint32_t place = 0;
      std::size_t left = i;
      for (int digit = last; digit > last - this->bits_; --digit)
      {
        if (static_cast<std::size_t>(order.axis_of(digit)) == axis)
        {
          place |= static_cast<std::uint32_t>(left & 1) << (last - digit);
          left >>= 1;
        }
      }
      this->tables_[axis][i] = place;
    }
  }
}

const BlockOrder& BlockOrders::of(const LevelBlocks& blocks) const
{
  Made& made = this->made_[static_cast<std::size_t>(blocks.level - this->order_.bits_per_block())];
  std::call_once(made.once, [&] { made.order.emplace(this->order_, blocks); });
  return *made.order;
}
}
