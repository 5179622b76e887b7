// SPDX-License-Identifier: BSD-3-Clause
// Memory of whole pages, which the system has back as soon as it is given up.
#pragma once

#include <cstddef>
#include <utility>

namespace bat
{
/// Zeros; a page that is not touched takes no memory. What malloc() gives may stay with the process
/// when it is given up.
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
