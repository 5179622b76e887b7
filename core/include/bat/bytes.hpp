// Bytes of a file in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace bat
{
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
