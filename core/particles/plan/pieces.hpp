// SPDX-License-Identifier: BSD-3-Clause
// Weighted boxes while a tree is cut: the parts of the caller's cells inside one node.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace bat::plan
{
/// Cells are boxes of floats: a position beyond them counts as being at their end.
[[nodiscard]] inline float to_float(double x) noexcept
{
  constexpr auto maximum = static_cast<double>(std::numeric_limits<float>::max());
  return static_cast<float>(std::clamp(x, -maximum, maximum));
}

/// A cell, or the part of it left by cuts. Its particles count as evenly spread.
struct Piece
{
  std::array<float, 3> lower{};
  std::array<float, 3> upper{};
  double particles = 0;
};

/// Returns the tight box around pieces.
struct Extent
{
  std::array<float, 3> lower{ kMax, kMax, kMax };
  std::array<float, 3> upper{ -kMax, -kMax, -kMax };

  void add(const Piece& piece) noexcept
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      this->lower[axis] = std::min(this->lower[axis], piece.lower[axis]);
      this->upper[axis] = std::max(this->upper[axis], piece.upper[axis]);
    }
  }

  [[nodiscard]] double length(std::size_t axis) const noexcept
  {
    return static_cast<double>(this->upper[axis]) - static_cast<double>(this->lower[axis]);
  }

  /// Returns the axes, longest first; equal ones in order.
  [[nodiscard]] std::array<std::size_t, 3> axes_by_length() const noexcept
  {
    std::array<std::size_t, 3> axes{ 0, 1, 2 };
    std::stable_sort(axes.begin(), axes.end(),
      [this](std::size_t a, std::size_t b) { return this->length(a) > this->length(b); });
    return axes;
  }

private:
  static constexpr float kMax = std::numeric_limits<float>::max();
};
}
