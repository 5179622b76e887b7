// SPDX-License-Identifier: BSD-3-Clause
// Memory for the bytes of a file.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace bat
{
/// Allocates undefined memory for `count` values of `size` bytes each. Large arrays lie on large
/// pages where the system has them: the first touch of a small page costs as much as building
/// several particles, and gathering through a permutation waits for address translation. While a
/// step of a series is written, it may reuse an earlier step's memory (bat/insitu.hpp,
/// SeriesWriter::keep_memory). Throws std::bad_alloc.
[[nodiscard]] void* allocate_large(std::size_t count, std::size_t size);
/// Frees the memory of allocate_large(count, size).
void free_large(void* memory, std::size_t count, std::size_t size) noexcept;

/// An allocator whose values start undefined. Writing zeros that are overwritten later costs one
/// thread a large part of the time that all threads need to build a file.
template <class T>
struct UndefinedAllocator
{
  using value_type = T;

  UndefinedAllocator() = default;
  template <class U>
  UndefinedAllocator(const UndefinedAllocator<U>&) noexcept
  {
  }
  T* allocate(std::size_t count) { return static_cast<T*>(allocate_large(count, sizeof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept { free_large(memory, count, sizeof(T)); }
  template <class U>
  void construct(U* at)
  {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args)
  {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const UndefinedAllocator&, const UndefinedAllocator&) noexcept
  {
    return true;
  }
  friend bool operator!=(const UndefinedAllocator&, const UndefinedAllocator&) noexcept
  {
    return false;
  }
};

/// A std::vector, except that resize() leaves new bytes undefined.
using Bytes = std::vector<std::byte, UndefinedAllocator<std::byte>>;
}
