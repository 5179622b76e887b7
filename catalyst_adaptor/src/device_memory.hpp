// Addresses that only a GPU can read.
#pragma once

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
}
