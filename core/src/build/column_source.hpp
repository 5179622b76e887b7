// Brings the values of a column from the caller's order into that of SpatialOrder::local_slot.
#pragma once

#include "bat/particles.hpp"
#include "build/builder.hpp"
#include "build/gather.hpp"
#include "large_array.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::build
{
/// First all values of many treelets go to their slots, which reads the caller's array from front
/// to end; then those of one treelet are put in order in cache. Gathering them one by one from the
/// caller's array would wait for memory with each.
class ColumnSource
{
public:
  /// Consecutive treelets whose values are brought to their slots together.
  struct Part
  {
    std::size_t begin = 0;
    std::size_t end = 0;
    SlotRange slots;
  };

  /// Memory of one thread.
  struct Scratch
  {
    std::vector<std::byte> values;
    std::vector<std::uint32_t> numbers; ///< of the caller's particles
  };

  /// `order` must outlive the source.
  explicit ColumnSource(const SpatialOrder& order)
    : order_(order)
  {
  }

  /// Turns to a column and says in which parts it must be loaded. Holds at most `spare` bytes from
  /// now on, if that is enough for a treelet.
  [[nodiscard]] std::vector<Part> open(const ArrayView& view, std::uint64_t spare);

  /// In parallel.
  void load(const Part& part);

  /// Values of a treelet of the loaded part, packed, in the order of local_slot; in `scratch`. Safe
  /// to call concurrently.
  [[nodiscard]] const std::byte* values(const Treelet& treelet, Scratch& scratch) const;

private:
  // Gathering reads whole cache lines: little waste where a tuple fills a good part of one. Then
  // only the particles' numbers go to the slots.
  static constexpr std::uint64_t kWideTuple = 16;

  [[nodiscard]] bool is_wide() const { return tuple_bytes(this->view_) > kWideTuple; }
  [[nodiscard]] std::uint64_t bytes_per_slot() const
  {
    return this->is_wide() ? sizeof(std::uint32_t) : tuple_bytes(this->view_);
  }
  [[nodiscard]] std::vector<Part> cut(std::uint64_t most_slots) const;

  const SpatialOrder& order_;
  ArrayView view_;
  LargeArray<std::byte> by_slot_;
  std::uint32_t first_slot_ = 0;
};
}
