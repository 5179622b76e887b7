// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/column_source.hpp"

#include <algorithm>

namespace bat::write
{
std::vector<ColumnSource::Part> ColumnSource::open(std::size_t array, std::uint64_t spare)
{
  this->array_ = array;
  std::vector<Part> parts = this->cut(spare / this->bytes_per_slot());
  std::uint64_t bytes = 0;
  for (const Part& part : parts)
  {
    const std::uint64_t slots = part.slots.end - part.slots.begin;
    bytes = std::max(bytes, slots * this->bytes_per_slot());
  }
  // Reuses memory, because the system clears new memory.
  if (this->by_slot_.size() < bytes || this->by_slot_.size() > spare)
  {
    this->by_slot_.reset(bytes);
  }
  return parts;
}

std::vector<ColumnSource::Part> ColumnSource::cut(std::uint64_t max_slots) const
{
  std::vector<Part> parts;
  for (std::size_t t = 0; t != this->order_.treelets.size(); ++t)
  {
    const Treelet& treelet = this->order_.treelets[t];
    const std::uint32_t end = treelet.first + treelet.count;
    if (parts.empty() || end - parts.back().slots.begin > max_slots)
    {
      parts.push_back({ t, t, { treelet.first, treelet.first } });
    }
    parts.back().end = t + 1;
    parts.back().slots.end = end;
  }
  return parts;
}

void ColumnSource::load(const Part& part)
{
  this->first_slot_ = part.slots.begin;
  const LargeArray<std::uint32_t>& slot = this->order_.slot;
  if (this->is_gathered())
  {
    scatter_numbers(slot.data(), slot.size(), part.slots, this->by_slot_.data());
  }
  else
  {
    this->particles_.scatter(slot.data(), this->array_, part.slots, this->by_slot_.data());
  }
}

const std::byte* ColumnSource::values(const Treelet& treelet, Scratch& scratch) const
{
  const std::uint16_t* local_slot = &this->order_.local_slot[treelet.first];
  const std::uint64_t bytes = this->bytes_per_slot();
  const std::byte* slots = this->by_slot_.data() + (treelet.first - this->first_slot_) * bytes;
  scratch.values.resize(treelet.count * this->value_bytes());
  if (!this->is_gathered())
  {
    gather(local_slot, treelet.count, slots, bytes, scratch.values.data());
    return scratch.values.data();
  }
  scratch.numbers.resize(treelet.count);
  auto* const numbers = reinterpret_cast<std::byte*>(scratch.numbers.data());
  gather(local_slot, treelet.count, slots, bytes, numbers);
  gather(scratch.numbers.data(), treelet.count, *this->particles_.single(this->array_),
    scratch.values.data());
  return scratch.values.data();
}
}
