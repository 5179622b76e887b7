// SPDX-License-Identifier: BSD-3-Clause
// From particles to their order and spatial index: everything about a leaf file but its columns.
#pragma once

#include "bat/format/layout.hpp"
#include "bat/format/levels.hpp"
#include "bat/particles.hpp"
#include "bat/write/morton_order.hpp"
#include "bat/write/particle_parts.hpp"
#include "bat/writer.hpp"
#include "common/large_array.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace bat::write
{
/// A treelet in the order that is written.
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
  Box bounds; ///< of the particles with finite coordinates; lower > upper if there are none
  std::vector<Treelet> treelets;
  std::vector<format::NodeRecord> nodes;
  std::vector<format::BlockBoxRecord> block_boxes;
  /// Of each particle of the caller: its slot. A treelet's particles are in consecutive slots from
  /// its first ordinal on, in no particular order.
  LargeArray<std::uint32_t> slot;
  /// Per treelet, by level and inside a level by ordinal: slot of the particle, and its block, both
  /// counted from the treelet's first.
  LargeArray<std::uint16_t> local_slot;
  LargeArray<std::uint16_t> local_block;
  LargeArray<std::byte> positions; ///< by slot, packed
  /// Caller's numbers of the first particles of the file: a stratified sample of all.
  std::vector<std::uint32_t> sample;
};

[[nodiscard]] SpatialOrder build_order(const ParticleParts& particles, const BuildOptions& options);
}
