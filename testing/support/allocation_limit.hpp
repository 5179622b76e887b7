// SPDX-License-Identifier: BSD-3-Clause
// Counts what a test program allocates, so that a malicious count cannot request excessive memory
// unnoticed. Replaces operator new, including the aligned one (of bat::Bytes): include it in one
// source file of a program.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace allocations
{
inline std::atomic<std::size_t> largest{ 0 };

/// Maximum bytes requested at once since the last call.
inline std::size_t take_largest()
{
  return largest.exchange(0);
}

inline void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t))
{
  std::size_t before = largest.load(std::memory_order_relaxed);
  while (before < bytes && !largest.compare_exchange_weak(before, bytes))
  {
  }
  if (bytes > PTRDIFF_MAX)
  {
    throw std::bad_alloc();
  }
  const std::size_t whole =
    (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, whole);
  if (!memory)
  {
    throw std::bad_alloc();
  }
  return memory;
}
}

void* operator new(std::size_t bytes)
{
  return allocations::allocate(bytes);
}
void* operator new[](std::size_t bytes)
{
  return allocations::allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment)
{
  return allocations::allocate(bytes, static_cast<std::size_t>(alignment));
}
// libstdc++'s sorting algorithms allocate their buffers with this operator.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
  try
  {
    return allocations::allocate(bytes);
  }
  catch (const std::bad_alloc&)
  {
    return nullptr;
  }
}
void operator delete(void* memory, const std::nothrow_t&) noexcept
{
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept
{
  std::free(memory);
}
void operator delete(void* memory) noexcept
{
  std::free(memory);
}
void operator delete[](void* memory) noexcept
{
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept
{
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept
{
  std::free(memory);
}
