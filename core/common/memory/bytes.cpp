// SPDX-License-Identifier: BSD-3-Clause
#include "bat/bytes.hpp"

#include "common/memory/kept_memory.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>
#include <new>

namespace bat
{
namespace
{
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kLargePage = std::size_t{ 1 } << 21;

std::size_t alignment_of(std::size_t bytes) noexcept
{
  return bytes >= kLargePage ? kLargePage : kCacheLine;
}
}

void* allocate_large(std::size_t count, std::size_t size)
{
  constexpr std::size_t kMax = PTRDIFF_MAX;
  if (count > kMax / size)
  {
    throw std::bad_alloc();
  }
  const std::size_t bytes = count * size;
  void* memory =
    bytes >= KeptMemory::kMinBytes ? detail::take_from_kept(bytes, alignment_of(bytes)) : nullptr;
  if (!memory)
  {
    memory = ::operator new (bytes, std::align_val_t{ alignment_of(bytes) });
  }
#ifdef MADV_HUGEPAGE
  // The rest is on small pages.
  if (const std::size_t whole = bytes / kLargePage * kLargePage; whole != 0)
  {
    (void)::madvise(memory, whole, MADV_HUGEPAGE);
  }
#endif
  return memory;
}

void free_large(void* memory, std::size_t count, std::size_t size) noexcept
{
  const std::size_t bytes = count * size;
  if (bytes < KeptMemory::kMinBytes || !detail::give_to_kept(memory))
  {
    ::operator delete (memory, std::align_val_t{ alignment_of(bytes) });
  }
}
}
