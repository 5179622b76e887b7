// SPDX-License-Identifier: BSD-3-Clause
#include "GrowingMemory.h"

#include "bat/bytes.hpp"

#include <algorithm>
#include <cstring>

namespace
{
// Unused memory of large allocations costs only address space, so they may be this many times too
// large.
constexpr std::size_t MaxGrowth = 16;
}

//------------------------------------------------------------------------------
std::byte* bat_vtk::GrowingMemory::Grow(std::size_t bytes, std::size_t kept, std::size_t maximum)
{
  if (!this->Memory || bytes > this->Room)
  {
    const std::size_t room =
      std::max({ bytes, std::min(maximum, MaxGrowth * bytes), std::size_t(1) });
    const std::shared_ptr<void> memory(
      bat::allocate_large(room, 1), [room](void* of) { bat::free_large(of, room, 1); });
    if (kept > 0)
    {
      std::memcpy(memory.get(), this->Memory.get(), kept);
    }
    this->Memory = memory;
    this->Room = room;
  }
  return static_cast<std::byte*>(this->Memory.get());
}
