// SPDX-License-Identifier: BSD-3-Clause
// Which rank makes which file. A pure function of boxes and blocks.
#pragma once

#include "idx/format/order.hpp"
#include "idx/write/block_file_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::idx
{
/// A piece of some rank, or a part of one.
struct RankBox
{
  std::int64_t rank = 0;
  std::int64_t piece = 0; ///< number among those of the rank
  LogicalBox box;
};

/// Boxes by rank and piece, without what an earlier one has too: every sample is in one part at
/// most, that of the lowest rank that has it. In the same order.
[[nodiscard]] std::vector<RankBox> disjoint_parts(const std::vector<RankBox>& boxes);
/// Whether disjoint boxes are all of a box of fewer than 2^63 samples, in which they lie.
[[nodiscard]] bool cover(const std::vector<RankBox>& disjoint, const LogicalBox& whole);

/// The samples of a box, as a lattice of its own.
[[nodiscard]] Lattice lattice_of(const LogicalBox& box) noexcept;

/// The shapes of blocks, by level.
class BlockShapes
{
public:
  explicit BlockShapes(const format::Order& order);

  [[nodiscard]] const format::LevelBlocks& of(std::uint64_t block) const
  {
    return this->levels_[this->index(block)];
  }
  [[nodiscard]] const format::BlockOrder& order_of(std::uint64_t block) const
  {
    return this->orders_.of(this->of(block));
  }
  /// What a block and a box have in common.
  [[nodiscard]] format::StepsOfAxes common(std::uint64_t block, const LogicalBox& box) const;

private:
  [[nodiscard]] std::size_t index(std::uint64_t block) const
  {
    return static_cast<std::size_t>(
      this->order_.level_of_block(block) - this->order_.bits_per_block());
  }
  const format::Order& order_;
  std::vector<format::LevelBlocks> levels_;
  format::BlockOrders orders_;
};

/// The rank that makes each file: one of the file's window of ranks, so that neighbours in the
/// order of files are apart, and in it the one that has most of its samples.
[[nodiscard]] std::vector<std::uint32_t> makers_of_files(const std::vector<FileBlocks>& files,
  const std::vector<RankBox>& parts, const BlockShapes& shapes, int ranks);
}
