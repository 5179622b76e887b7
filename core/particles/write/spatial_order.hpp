// SPDX-License-Identifier: BSD-3-Clause
// Builds the order and the spatial index of particles: all of a leaf file except its columns.
#pragma once

#include "bat/particles.hpp"
#include "bat/writer.hpp"
#include "common/memory/large_array.hpp"
#include "particles/format/layout.hpp"
#include "particles/format/levels.hpp"
#include "particles/write/morton_order.hpp"
#include "particles/write/particle_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bat::write
{
/// A treelet in writing order.
struct Treelet
{
  std::uint32_t first = 0; ///< ordinal of its first particle
  std::uint32_t count = 0;
  std::uint32_t first_block = 0;
  bool finite = true;
};

struct SpatialOrder
{
  LevelTable levels;
  std::uint32_t block_particles = 0;
  std::uint64_t block_count = 0;
  Box bounds; ///< of particles with finite coordinates; lower > upper if there are none
  std::vector<Treelet> treelets;
  std::vector<format::NodeRecord> nodes;
  std::vector<format::BlockBoxRecord> block_boxes;
  /// The slot of each of the caller's particles. A treelet's particles have consecutive slots
  /// starting at its first ordinal, in no particular order.
  LargeArray<std::uint32_t> slot;
  /// Per treelet, by level and within a level by ordinal: the particle's slot and its block, both
  /// counted from the treelet's first.
  LargeArray<std::uint16_t> local_slot;
  LargeArray<std::uint16_t> local_block;
  LargeArray<std::byte> positions;                ///< by slot, packed
  std::vector<format::SampleIdRecord> sample_ids; ///< stable samples; empty: levels are even
  /// For stable samples: per level, the number of particles in the treelets before each, and in
  /// all.
  std::vector<std::uint32_t> in_levels;
  std::vector<std::uint8_t> block_levels; ///< BLOCK_LEVELS
  /// The caller's numbers for the first particles of the file: a stratified sample of all.
  std::vector<std::uint32_t> sample;

  /// Calls f(level, file position, offset, count) for each level of a treelet, fine to coarse:
  /// `count` particles starting at `offset`, in the order of local_slot, are contiguous in the
  /// file.
  template <class F>
  void for_each_run(std::size_t treelet, F&& f) const
  {
    const Treelet& all = this->treelets[treelet];
    if (this->sample_ids.empty())
    {
      bat::for_each_run(this->levels, all.first, std::uint64_t{ all.first } + all.count, f);
      return;
    }
    const std::size_t step = this->levels.size();
    const std::uint32_t* before = &this->in_levels[treelet * step];
    std::uint64_t coarser = all.count;
    for (std::size_t level = step; level-- != 0;)
    {
      const std::uint64_t count = before[step + level] - before[level];
      coarser -= count;
      f(level, this->levels.begin(level) + before[level], coarser, count);
    }
  }
};

[[nodiscard]] SpatialOrder build_order(const ParticleParts& particles, const BuildOptions& options);
}
