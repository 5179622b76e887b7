// Bytes of a file in memory.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace bat
{
/// Undefined memory for `bytes` bytes, on large pages where the system has them and there are many:
/// the first touch of each small page costs as much as the building of twenty particles, and what
/// is gathered through a permutation waits for address translation. Throws std::bad_alloc.
[[nodiscard]] void* allocate_large(std::size_t bytes);
/// Of allocate_large(bytes).
void free_large(void* memory, std::size_t bytes) noexcept;

/// An allocator whose values start undefined. Zeros that are only written over cost a thread, alone, a
/// good part of the time that all of them take to build a file.
template <class T>
struct UndefinedAllocator : std::allocator<T>
{
  template <class U>
  struct rebind
  {
    using other = UndefinedAllocator<U>;
  };
  UndefinedAllocator() = default;
  template <class U>
  UndefinedAllocator(const UndefinedAllocator<U>&) noexcept
  {
  }
  T* allocate(std::size_t count)
  {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
    {
      throw std::bad_array_new_length();
    }
    return static_cast<T*>(allocate_large(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept { free_large(memory, count * sizeof(T)); }
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
};

/// A std::vector but for this: resize() leaves new bytes undefined.
using Bytes = std::vector<std::byte, UndefinedAllocator<std::byte>>;
}
