// SPDX-License-Identifier: BSD-3-Clause
#include "particles/tree/ordinal_runs.hpp"

#include "particles/format/stable_levels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bat
{
void OrdinalRuns::move_to(std::uint64_t ordinal)
{
  if (ordinal < this->at_ || ordinal >= this->end_)
  {
    const std::vector<std::uint64_t>& first = this->file_.spatial_index().first_ordinal;
    const auto above = std::upper_bound(first.begin(), first.end(), ordinal);
    this->begin_treelet(static_cast<std::size_t>(above - first.begin()) - 1);
  }
  if (this->at_ != ordinal && this->levels_.empty())
  {
    this->load_levels();
  }
  for (; this->at_ != ordinal; ++this->at_)
  {
    ++this->in_levels_[this->levels_[this->at_ - this->first_]];
  }
}

// The number of treelets marks the end of all treelets.
void OrdinalRuns::begin_treelet(std::size_t treelet)
{
  const SpatialIndex& index = this->file_.spatial_index();
  const std::size_t levels = this->file_.schema.levels.size();
  if (treelet != this->treelet_)
  {
    this->levels_.clear();
  }
  this->treelet_ = treelet;
  this->first_ = index.first_ordinal[treelet];
  this->end_ = treelet == index.treelets.size() ? this->first_ : index.first_ordinal[treelet + 1];
  this->at_ = this->first_;
  const auto* counts = &index.in_levels[treelet * levels];
  this->in_levels_.assign(counts, counts + levels);
}

void OrdinalRuns::load_levels()
{
  const SpatialIndex& index = this->file_.spatial_index();
  const std::size_t level_count = this->file_.schema.levels.size();
  const std::uint64_t size = this->file_.schema.head.block_particles;
  const format::PagedSection& section = this->file_.paged(format::SectionKind::BlockLevels);
  const auto step = static_cast<std::size_t>(section.element_bytes());
  const std::uint64_t first_block = index.first_block[this->treelet_];
  const Span blocks{ first_block, index.first_block[this->treelet_ + 1] - first_block };
  std::vector<std::uint8_t> bytes(blocks.count * step);
  format::PageReader(section).gather(&blocks, 1, reinterpret_cast<std::byte*>(bytes.data()));

  std::vector<std::uint8_t> levels(index.treelets[this->treelet_].count);
  std::vector<std::uint32_t> counts(level_count);
  for (std::uint64_t block = 0; block != blocks.count; ++block)
  {
    std::uint8_t* of_block = &levels[block * size];
    const std::uint64_t particles = std::min<std::uint64_t>(size, levels.size() - block * size);
    if (!format::decode_block_levels(&bytes[block * step], step, particles, level_count, of_block))
    {
      format::corrupt(section.file(),
        fmt::format("{}: block {} does not have a level below {} for each of its {} particles",
          section.name(), first_block + block, level_count, particles));
    }
    for (std::uint64_t i = 0; i != particles; ++i)
    {
      ++counts[of_block[i]];
    }
  }
  for (std::size_t level = 0; level != level_count; ++level)
  {
    const std::size_t at = this->treelet_ * level_count + level;
    const std::uint32_t needed = index.in_levels[at + level_count] - index.in_levels[at];
    if (counts[level] != needed)
    {
      format::corrupt(section.file(),
        fmt::format("{}: treelet {} has {} particles in level {}; expected {}, as in "
                    "TREELET_LEVELS",
          section.name(), this->treelet_, counts[level], level, needed));
    }
  }
  this->levels_ = std::move(levels);
}
}
