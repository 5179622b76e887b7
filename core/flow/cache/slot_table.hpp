// SPDX-License-Identifier: BSD-3-Clause
// Maps bricks to slots: a hash table with open addressing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::flow
{
/// Maps keys to objects that have a member `key`. Not thread-safe.
template <class Slot>
class SlotTable
{
public:
  SlotTable()
    : places_(kMinTableSlots)
  {
  }

  [[nodiscard]] Slot* find(std::uint64_t key) const noexcept
  {
    for (std::size_t at = this->home(key);; at = this->next(at))
    {
      Slot* const slot = this->places_[at];
      if (!slot || slot->key == key)
      {
        return slot;
      }
    }
  }

  /// Inserts a slot whose key is absent. Throws std::bad_alloc and then changes nothing.
  void insert(Slot* slot)
  {
    if (2 * (this->count_ + 1) > this->places_.size())
    {
      this->grow();
    }
    this->place(slot);
    ++this->count_;
  }

  /// Erases a slot that is in the table.
  void erase(const Slot* slot) noexcept
  {
    std::size_t hole = this->home(slot->key);
    while (this->places_[hole] != slot)
    {
      hole = this->next(hole);
    }
    --this->count_;
    // Later entries that could no longer be found past the hole move into it.
    for (std::size_t at = this->next(hole); this->places_[at]; at = this->next(at))
    {
      const std::size_t home = this->home(this->places_[at]->key);
      const bool stays = hole < at ? home > hole && home <= at : home > hole || home <= at;
      if (!stays)
      {
        this->places_[hole] = this->places_[at];
        hole = at;
      }
    }
    this->places_[hole] = nullptr;
  }

  [[nodiscard]] std::size_t size() const noexcept { return this->count_; }

private:
  static constexpr std::size_t kMinTableSlots = 64;

  [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept
  {
    key ^= key >> 32; // spreads levels and bricks that differ in high bits only
    key *= 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(key >> 20) & (this->places_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept
  {
    return (at + 1) & (this->places_.size() - 1);
  }
  void place(Slot* slot) noexcept
  {
    std::size_t at = this->home(slot->key);
    while (this->places_[at])
    {
      at = this->next(at);
    }
    this->places_[at] = slot;
  }
  void grow()
  {
    std::vector<Slot*> before(2 * this->places_.size());
    before.swap(this->places_);
    for (Slot* const slot : before)
    {
      if (slot)
      {
        this->place(slot);
      }
    }
  }

  std::vector<Slot*> places_; ///< size is a power of two; at most half is used
  std::size_t count_ = 0;
};
}
