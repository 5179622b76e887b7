// SPDX-License-Identifier: BSD-3-Clause
// Reads coordinates in any layout of the caller's positions.
#pragma once

#include "bat/particles.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace bat::write
{
/// Coordinates of type T = float or double in a view with three components.
template <class T>
class Positions
{
public:
  explicit Positions(const ArrayView& view)
    : data_{ view.component[0], view.component[1], view.component[2] }
    , stride_(view.stride_bytes)
  {
  }

  [[nodiscard]] std::array<T, 3> operator[](std::size_t i) const noexcept
  {
    std::array<T, 3> point;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      std::memcpy(&point[axis], this->data_[axis] + i * this->stride_, sizeof(T));
    }
    return point;
  }

  /// Prefetches a position that is read soon.
  void prefetch(std::size_t i) const noexcept
  {
    for (const std::byte* data : this->data_)
    {
      __builtin_prefetch(data + i * this->stride_);
    }
  }

  /// Returns the positions of all particles if they are packed; else null.
  [[nodiscard]] const T* packed() const noexcept
  {
    const bool is_packed = this->stride_ == 3 * sizeof(T) &&
      this->data_[1] == this->data_[0] + sizeof(T) &&
      this->data_[2] == this->data_[1] + sizeof(T) &&
      reinterpret_cast<std::uintptr_t>(this->data_[0]) % alignof(T) == 0;
    return is_packed ? reinterpret_cast<const T*>(this->data_[0]) : nullptr;
  }

private:
  std::array<const std::byte*, 3> data_;
  std::size_t stride_;
};

template <class T>
[[nodiscard]] bool is_finite(const std::array<T, 3>& p) noexcept
{
  return std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]);
}
}
