// SPDX-License-Identifier: BSD-3-Clause
// Reorders the values of a column from the caller's order to that of SpatialOrder::local_slot.
#pragma once

#include "common/memory/large_array.hpp"
#include "particles/write/gather.hpp"
#include "particles/write/particle_parts.hpp"
#include "particles/write/spatial_order.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::write
{
/// First, all values of many treelets are moved to their slots, which reads the caller's array from
/// front to end; then those of one treelet are ordered in cache. Gathering them one by one from the
/// caller's array would wait for memory with each.
class ColumnSource
{
public:
  /// Consecutive treelets whose values are moved to their slots together.
  struct Part
  {
    std::size_t begin = 0;
    std::size_t end = 0;
    SlotRange slots;
  };

  /// Scratch memory of one thread.
  struct Scratch
  {
    std::vector<std::byte> values;
    std::vector<std::uint32_t> numbers; ///< numbers of the caller's particles
  };

  /// Both must outlive the source.
  ColumnSource(const ParticleParts& particles, const SpatialOrder& order)
    : particles_(particles)
    , order_(order)
  {
  }

  /// Switches to an array of ParticleParts and returns the parts in which to load it. From now on
  /// it holds at most `spare` bytes, if that is enough for a treelet.
  [[nodiscard]] std::vector<Part> open(std::size_t array, std::uint64_t spare);

  /// Loads a part in parallel.
  void load(const Part& part);

  /// Returns the values of a treelet in the loaded part, packed, in the order of local_slot; uses
  /// `scratch`. Safe to call concurrently.
  [[nodiscard]] const std::byte* values(const Treelet& treelet, Scratch& scratch) const;

private:
  // Gathering reads whole cache lines, which wastes little if a tuple fills much of one. Then only
  // the particles' numbers go to the slots.
  static constexpr std::uint64_t kWideTuple = 16;

  [[nodiscard]] std::uint64_t value_bytes() const
  {
    return tuple_bytes(this->particles_.array(this->array_));
  }
  [[nodiscard]] bool is_gathered() const
  {
    return this->value_bytes() > kWideTuple && this->particles_.single(this->array_);
  }
  [[nodiscard]] std::uint64_t bytes_per_slot() const
  {
    return this->is_gathered() ? sizeof(std::uint32_t) : this->value_bytes();
  }
  [[nodiscard]] std::vector<Part> cut(std::uint64_t max_slots) const;

  const ParticleParts& particles_;
  const SpatialOrder& order_;
  std::size_t array_ = 0;
  LargeArray<std::byte> by_slot_;
  std::uint32_t first_slot_ = 0;
};
}
