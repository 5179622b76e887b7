// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/pages.hpp"

#include <sys/mman.h>

#include <new>

namespace bat
{
Pages::Pages(std::size_t bytes)
  : bytes_(bytes)
{
  void* const mapped =
    ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
  {
    throw std::bad_alloc();
  }
  this->memory_ = mapped;
}

Pages::~Pages()
{
  if (this->memory_)
  {
    (void)::munmap(this->memory_, this->bytes_);
  }
}
}
