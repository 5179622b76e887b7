// SPDX-License-Identifier: BSD-3-Clause
// Memory shared by arrays, each of which is longer than the previous one.
#ifndef GrowingMemory_h
#define GrowingMemory_h

#include <cstddef>
#include <memory>

namespace bat_vtk
{
/// Copies refer to the same memory.
class GrowingMemory
{
public:
  /// Returns `bytes` of memory whose first `kept` bytes keep their values. New memory has
  /// space to grow up to `maximum` bytes, as far as that is likely to be used. Throws
  /// std::bad_alloc.
  std::byte* Grow(std::size_t bytes, std::size_t kept, std::size_t maximum);

  /// Keeps the memory.
  [[nodiscard]] const std::shared_ptr<void>& Owner() const { return this->Memory; }

private:
  std::shared_ptr<void> Memory;
  std::size_t Room = 0;
};
}

#endif
