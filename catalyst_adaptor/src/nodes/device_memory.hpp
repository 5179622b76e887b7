// SPDX-License-Identifier: BSD-3-Clause
// Addresses that cannot be read here: those of a GPU, and those of nothing.
#pragma once

#include <cstddef>

namespace bat::catalyst
{
/// Asks the drivers of CUDA and HIP, if one of them is in this process when this is made.
class DeviceMemory
{
public:
  DeviceMemory() noexcept;

  /// True if `address` is memory of a device that this process cannot read; managed and pinned
  /// memory is not. False where no driver is loaded.
  [[nodiscard]] bool has(const void* address) const noexcept;

private:
  void* cuda_query_ = nullptr;
  void* hip_query_ = nullptr;
};

/// False if no memory exists at the first or the last of `bytes` bytes, for example because a
/// simulation has added an offset to a null pointer.
[[nodiscard]] bool is_mapped(const void* address, std::size_t bytes) noexcept;
}
