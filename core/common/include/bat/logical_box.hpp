// SPDX-License-Identifier: BSD-3-Clause
// A box of samples of a grid.
#pragma once

#include <array>
#include <cstdint>

namespace bat
{
/// Samples along each axis are numbered; a box contains those from `lower` to `upper`, both
/// included.
struct LogicalBox
{
  std::array<std::int64_t, 3> lower{};
  std::array<std::int64_t, 3> upper{};

  [[nodiscard]] bool is_empty() const noexcept
  {
    return this->upper[0] < this->lower[0] || this->upper[1] < this->lower[1] ||
      this->upper[2] < this->lower[2];
  }
  friend bool operator==(const LogicalBox& a, const LogicalBox& b) noexcept
  {
    return a.lower == b.lower && a.upper == b.upper;
  }
};
}
