// SPDX-License-Identifier: BSD-3-Clause
// Minimum and maximum x, y, z and magnitude of positions, for ALIASES (FORMAT.md section 7).
#pragma once

#include "bat/types.hpp"
#include "particles/format/layout.hpp"

#include <array>
#include <cstddef>

namespace bat::write
{
class PositionRanges
{
public:
  PositionRanges() noexcept;
  /// Adds packed positions.
  void add(ScalarType type, const std::byte* positions, std::size_t count) noexcept;
  void add(const PositionRanges& other) noexcept;
  [[nodiscard]] std::array<format::LeafKeyRecord, format::kPositionKeys> records() const noexcept;

private:
  template <class T>
  void add(const T* tuples, std::size_t count) noexcept;

  std::array<double, format::kPositionKeys> minimum_;
  std::array<double, format::kPositionKeys> maximum_;
  std::array<bool, format::kPositionKeys> has_nan_{};
};
}
