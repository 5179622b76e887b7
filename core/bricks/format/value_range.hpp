// SPDX-License-Identifier: BSD-3-Clause
// Computes value ranges and the maximum speed (BRICKS.md section 3).
#pragma once

#include "bat/bricks/file.hpp"

#include <array>
#include <cstddef>
#include <limits>

namespace bat::bricks::format
{
/// The range of the values seen so far. Their order does not matter.
class ValueRange
{
public:
  /// Adds `count` points, components interleaved.
  void add(const BrickGrid& grid, const std::byte* values, std::size_t count) noexcept;
  void add(const ValueRange& other) noexcept;
  void copy_to(Header& header) const noexcept;
  [[nodiscard]] bool is_of(const Header& header) const noexcept;

private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  template <class T>
  void add_values(int components, const std::byte* values, std::size_t count) noexcept;

  int components_ = 0;
  double largest_square_ = 0;
  std::array<double, 3> minimum_{ kInfinity, kInfinity, kInfinity };
  std::array<double, 3> maximum_{ -kInfinity, -kInfinity, -kInfinity };
};
}
