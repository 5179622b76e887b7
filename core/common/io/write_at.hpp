// SPDX-License-Identifier: BSD-3-Clause
// Writes all bytes of a buffer at an offset of an open file.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <unistd.h>

namespace bat::io
{
/// If a write fails, calls fail(bytes, offset, errno) with what is left; it must throw.
template <class F>
void write_at(
  int descriptor, std::uint64_t offset, const void* data, std::size_t bytes, const F& fail)
{
  constexpr std::size_t kMaxBytesPerCall = std::size_t{ 1 } << 26;
  const char* from = static_cast<const char*>(data);
  while (bytes != 0)
  {
    const ssize_t done =
      ::pwrite(descriptor, from, std::min(bytes, kMaxBytesPerCall), static_cast<off_t>(offset));
    if (done < 0)
    {
      if (errno == EINTR)
      {
        continue;
      }
      fail(bytes, offset, errno);
    }
    from += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}
}
