// SPDX-License-Identifier: BSD-3-Clause
// The order of samples: digits of the bits, hierarchical Z order, and the lattices of levels and
// blocks. Arithmetic only (IDX.md section 5).
#pragma once

#include "bat/idx/dataset.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace bat::idx::format
{
using Point = std::array<std::int64_t, 3>;

/// The samples on one axis that a block and a lattice share: `count` samples; sample i has number
/// block + i * block_step in the block and array + i * array_step in the lattice.
struct Steps
{
  std::int64_t block = 0;
  std::int64_t block_step = 1;
  std::int64_t array = 0;
  std::int64_t array_step = 1;
  std::int64_t count = 0;
};
using StepsOfAxes = std::array<Steps, 3>;

/// All blocks of a level (block 0 covers levels 0 to bits_per_block) have the same shape.
struct LevelBlocks
{
  int level = 0;
  Point origin{};            ///< first sample of the first block
  Point distance{ 1, 1, 1 }; ///< distance of samples
  Point counts{ 1, 1, 1 };   ///< samples per block; their product is 2^bits_per_block
  Point blocks{ 1, 1, 1 };   ///< along each axis
};

/// Blocks from lower to upper along each axis; none if upper is below lower.
struct BlockRange
{
  Point lower{};
  Point upper{};
  [[nodiscard]] std::uint64_t count() const noexcept;
};

class Order
{
public:
  /// Requires a checked header.
  explicit Order(const Header& header);

  /// Returns the number of the finest level.
  [[nodiscard]] int levels() const noexcept { return this->levels_; }
  [[nodiscard]] int bits_per_block() const noexcept { return this->bits_per_block_; }
  [[nodiscard]] std::uint64_t block_count() const noexcept
  {
    return std::uint64_t{ 1 } << (this->levels_ - this->bits_per_block_);
  }
  /// Returns the sample distance at a level.
  [[nodiscard]] const Point& distance(int level) const
  {
    return this->distances_[static_cast<std::size_t>(level)];
  }
  [[nodiscard]] Lattice lattice(int level, const LogicalBox& box) const;

  /// Returns the level of a block's samples; bits_per_block for block 0.
  [[nodiscard]] int level_of_block(std::uint64_t block) const noexcept;
  /// Returns the blocks of a level above bits_per_block, or block 0.
  [[nodiscard]] LevelBlocks blocks_of_level(int level) const;
  [[nodiscard]] BlockRange blocks_with(const LevelBlocks& blocks, const Lattice& lattice) const;
  /// Returns the number of the block at a position among those of its level.
  [[nodiscard]] std::uint64_t block_at(
    const LevelBlocks& blocks, const Point& place) const noexcept;
  /// The inverse of block_at.
  [[nodiscard]] Point place_of(const LevelBlocks& blocks, std::uint64_t block) const noexcept;
  [[nodiscard]] StepsOfAxes common(
    const LevelBlocks& blocks, const Point& place, const Lattice& lattice) const noexcept;

private:
  friend class BlockOrder;
  [[nodiscard]] int axis_of(int place) const noexcept; ///< of the digit there; 1 is the coarsest
  [[nodiscard]] Point halvings(int from, int to) const noexcept; ///< 2^digits of each axis

  std::string digits_;
  int levels_ = 0;
  int bits_per_block_ = 0;
  std::vector<Point> distances_;
};

/// Maps the sample at (x, y, z) of a block's lattice to its place in a block in HZ order, with one
/// table per axis, as long as the lattice.
class BlockOrder
{
public:
  BlockOrder(const Order& order, const LevelBlocks& blocks);

  [[nodiscard]] std::uint64_t row(std::int64_t y, std::int64_t z) const noexcept
  {
    return this->tables_[1][static_cast<std::size_t>(y)] |
      this->tables_[2][static_cast<std::size_t>(z)];
  }
  [[nodiscard]] std::uint64_t place(std::uint64_t row, std::int64_t x) const noexcept
  {
    const std::uint64_t z = row | this->tables_[0][static_cast<std::size_t>(x)];
    return this->is_first_ ? first_block_place(z) : z;
  }

private:
  [[nodiscard]] std::uint64_t first_block_place(std::uint64_t z) const noexcept
  {
    const std::uint64_t marked = z | std::uint64_t{ 1 } << this->bits_;
    return marked >> (static_cast<unsigned>(__builtin_ctzll(marked)) + 1);
  }

  std::array<std::vector<std::uint32_t>, 3> tables_;
  int bits_ = 0;
  bool is_first_ = false; ///< block 0 has several levels, one after another
};

/// The tables of several levels, each created when a block in HZ order first needs it, because the
/// tables of a grid with one axis are larger than its blocks. Several threads may use it.
class BlockOrders
{
public:
  /// `order` must outlive this.
  explicit BlockOrders(const Order& order)
    : order_(order)
    , made_(static_cast<std::size_t>(order.levels() - order.bits_per_block() + 1))
  {
  }
  [[nodiscard]] const BlockOrder& of(const LevelBlocks& blocks) const;

private:
  struct Made
  {
    std::once_flag once;
    std::optional<BlockOrder> order;
  };
  const Order& order_;
  mutable std::vector<Made> made_; ///< starting at the level of block 0
};
}
