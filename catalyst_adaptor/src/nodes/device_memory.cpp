// SPDX-License-Identifier: BSD-3-Clause
#include "device_memory.hpp"

#include "conduit_api.hpp"

#include <array>
#include <cerrno>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace bat::catalyst
{
namespace
{
// CUDA driver API: cuPointerGetAttribute(void* value, attribute, address); 0 is success.
using CudaQuery = int (*)(void*, int, std::uintptr_t);
constexpr int kCudaMemoryType = 2;
constexpr int kCudaIsManaged = 8;
constexpr unsigned kCudaDevice = 2;

// HIP: hipPointerGetAttributes(attributes*, address); 0 is success. The number of the memory type
// differs between versions, but the addresses after it do not.
using HipQuery = int (*)(void*, const void*);
struct HipAttributes
{
  int type = 0;
  int device = 0;
  void* device_pointer = nullptr;
  void* host_pointer = nullptr;
  int is_managed = 0;
  unsigned flags = 0;
  std::array<std::uint64_t, 16> of_newer_versions{};
};

bool is_cuda(void* query, const void* address) noexcept
{
  const auto ask = reinterpret_cast<CudaQuery>(query);
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  unsigned type = 0;
  unsigned managed = 0;
  return ask(&type, kCudaMemoryType, number) == 0 && type == kCudaDevice &&
    !(ask(&managed, kCudaIsManaged, number) == 0 && managed != 0);
}

bool is_hip(void* query, const void* address) noexcept
{
  HipAttributes found;
  return reinterpret_cast<HipQuery>(query)(&found, address) == 0 && found.device_pointer &&
    !found.host_pointer && !found.is_managed;
}
}

// The CUDA runtime loads the driver outside the global scope, hence the library names.
DeviceMemory::DeviceMemory() noexcept
  : cuda_query_(find_symbol({ "libcuda.so.1" }, "cuPointerGetAttribute"))
  , hip_query_(find_symbol(
      { "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5" }, "hipPointerGetAttributes"))
{
}

bool DeviceMemory::has(const void* address) const noexcept
{
  return (this->cuda_query_ && is_cuda(this->cuda_query_, address)) ||
    (this->hip_query_ && is_hip(this->hip_query_, address));
}

// True if the page is mapped. mincore does not read the page, and returns ENOMEM if it does not
// exist.
bool is_mapped(const void* address, std::size_t bytes) noexcept
{
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  for (const std::uintptr_t byte : { first, first + (bytes - 1) })
  {
    unsigned char resident = 0;
    void* const begin = reinterpret_cast<void*>(byte / page * page);
    if (::mincore(begin, 1, &resident) != 0 && errno == ENOMEM)
    {
      return false;
    }
  }
  return true;
}
}
