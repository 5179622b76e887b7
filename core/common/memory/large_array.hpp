// SPDX-License-Identifier: BSD-3-Clause
// Memory for one value per particle.
#pragma once

#include "bat/bytes.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>

namespace bat
{
/// Values that start undefined, so that nothing is zeroed only to be overwritten. Uses memory from
/// allocate_large(). The size is fixed until reset().
template <class T>
class LargeArray
{
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
  LargeArray() = default;
  explicit LargeArray(std::size_t size) { this->reset(size); }

  /// Throws std::bad_alloc.
  void reset(std::size_t size)
  {
    this->memory_.reset();
    this->size_ = 0;
    if (size != 0)
    {
      this->memory_ = allocate(size);
      this->size_ = size;
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return this->size_; }
  [[nodiscard]] T* data() noexcept { return this->memory_.get(); }
  [[nodiscard]] const T* data() const noexcept { return this->memory_.get(); }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return this->memory_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return this->memory_.get()[i]; }

private:
  struct Free
  {
    std::size_t size = 0;
    void operator()(T* memory) const noexcept { free_large(memory, this->size, sizeof(T)); }
  };
  using Memory = std::unique_ptr<T, Free>;

  static Memory allocate(std::size_t size)
  {
    return Memory(static_cast<T*>(allocate_large(size, sizeof(T))), Free{ size });
  }

  Memory memory_;
  std::size_t size_ = 0;
};
}
