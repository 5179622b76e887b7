// SPDX-License-Identifier: BSD-3-Clause
// Memory in whole pages, which returns to the system as soon as it is freed.
#pragma once

#include <cstddef>
#include <utility>

namespace bat
{
/// Zeroed memory; an untouched page takes no memory. In contrast, memory from malloc() may stay
/// with the process after it is freed.
class Pages
{
public:
  Pages() = default;
  /// Throws std::bad_alloc.
  explicit Pages(std::size_t bytes);
  Pages(Pages&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr))
    , bytes_(std::exchange(other.bytes_, 0))
  {
  }
  Pages& operator=(Pages&& other) noexcept
  {
    std::swap(this->memory_, other.memory_);
    std::swap(this->bytes_, other.bytes_);
    return *this;
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages();

  [[nodiscard]] void* memory() const noexcept { return this->memory_; }

private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};
}
