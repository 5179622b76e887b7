// SPDX-License-Identifier: BSD-3-Clause
#include "idx/parallel/assignment.hpp"

#include <algorithm>

namespace bat::idx
{
Lattice make_lattice(const LogicalBox& box) noexcept
{
  Lattice lattice;
  lattice.first = box.lower;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    lattice.count[axis] = box.upper[axis] - box.lower[axis] + 1;
  }
  return lattice;
}

BlockShapes::BlockShapes(const format::Order& order)
  : order_(order)
  , orders_(order)
{
  for (int level = order.bits_per_block(); level <= order.levels(); ++level)
  {
    this->levels_.push_back(order.blocks_of_level(level));
  }
}

format::StepsOfAxes BlockShapes::common(std::uint64_t block, const LogicalBox& box) const
{
  const format::LevelBlocks& level = this->of(block);
  return this->order_.common(level, this->order_.place_of(level, block), make_lattice(box));
}

std::vector<std::uint32_t> makers_of_files(const std::vector<FileBlocks>& files,
  const std::vector<RankBox>& parts, const BlockShapes& shapes, int ranks)
{
  std::vector<std::uint32_t> makers;
  const auto count = static_cast<std::int64_t>(files.size());
  for (std::int64_t i = 0; i != count; ++i)
  {
    const std::int64_t first = i * ranks / count;
    const std::int64_t end = std::max(first + 1, (i + 1) * ranks / count);
    std::vector<std::int64_t> samples(static_cast<std::size_t>(end - first), 0);
    for (const RankBox& box : parts)
    {
      if (end - first == 1 || box.rank < first || box.rank >= end)
      {
        continue;
      }
      for (const std::uint64_t block : files[static_cast<std::size_t>(i)].blocks)
      {
        const format::StepsOfAxes steps = shapes.common(block, box.box);
        samples[static_cast<std::size_t>(box.rank - first)] +=
          steps[0].count * steps[1].count * steps[2].count;
      }
    }
    const auto maximum = std::max_element(samples.begin(), samples.end());
    makers.push_back(static_cast<std::uint32_t>(first + (maximum - samples.begin())));
  }
  return makers;
}
}
