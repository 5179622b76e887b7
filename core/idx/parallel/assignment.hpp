// SPDX-License-Identifier: BSD-3-Clause
// Assigns files to the ranks that make them. A pure function of boxes and blocks.
#pragma once

#include "common/rank_boxes.hpp"
#include "idx/format/order.hpp"
#include "idx/write/block_file_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::idx
{
using bat::RankBox;

/// The samples of a box, as a separate lattice.
[[nodiscard]] Lattice make_lattice(const LogicalBox& box) noexcept;

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
  /// The intersection of a block and a box.
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

/// Assigns each file to one rank of the file's window of ranks, so that neighbouring files go to
/// distant ranks: to the rank in the window that has most of its samples.
[[nodiscard]] std::vector<std::uint32_t> makers_of_files(const std::vector<FileBlocks>& files,
  const std::vector<RankBox>& parts, const BlockShapes& shapes, int ranks);
}
