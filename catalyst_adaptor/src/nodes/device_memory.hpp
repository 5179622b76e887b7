// SPDX-License-Identifier: BSD-3-Clause
// Detects addresses that this process cannot read: GPU memory, and unmapped memory.
#pragma once

#include <cstddef>

namespace bat::catalyst
{
/// Queries the CUDA and HIP drivers if this process has loaded one when this object is made.
class DeviceMemory
{
public:
  DeviceMemory() noexcept;

  /// True if `address` is device memory that this process cannot read, which excludes managed and
  /// pinned memory. False if no driver is loaded.
  [[nodiscard]] bool has(const void* address) const noexcept;

private:
  void* cuda_query_ = nullptr;
  void* hip_query_ = nullptr;
};

/// False if the first or the last of `bytes` bytes is not mapped, for example because a simulation
/// has added an offset to a null pointer.
[[nodiscard]] bool is_mapped(const void* address, std::size_t bytes) noexcept;
}
