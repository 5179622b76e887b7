// SPDX-License-Identifier: BSD-3-Clause
// Morton codes of points in a box.
#pragma once

#include "bat/types.hpp"
#include "particles/tree/bounds.hpp"
#include "particles/write/vector_loops.hpp"

#include <array>
#include <cstdint>

namespace bat::write
{
/// Spreads 21 bits to every third bit.
[[nodiscard]] inline std::uint64_t spread_bits(std::uint64_t x) noexcept
{
  x &= 0x1FFFFF;
  x = (x | x << 32) & 0x001F00000000FFFF;
  x = (x | x << 16) & 0x001F0000FF0000FF;
  x = (x | x << 8) & 0x100F00F00F00F00F;
  x = (x | x << 4) & 0x10C30C30C30C30C3;
  x = (x | x << 2) & 0x1249249249249249;
  return x;
}

/// Codes of 63 bits over cubic cells, x in the highest bit of each triple. The cells are cubes
/// instead of boxes with the shape of the domain, because otherwise the treelets of a thin slab
/// would be needles.
class MortonGrid
{
public:
  explicit MortonGrid(const Box& box) noexcept
    : half_lower_{ box.lower[0] * 0.5, box.lower[1] * 0.5, box.lower[2] * 0.5 }
  {
    const std::size_t axis = longest_axis(box);
    const double half_extent = box.upper[axis] * 0.5 - box.lower[axis] * 0.5;
    const double scale = kCells / half_extent;
    // A single point, or an extent too small to divide by: everything is in one cell.
    this->scale_ = half_extent > 0 && scale < 1e300 ? scale : 0;
  }

  template <class Point>
  [[nodiscard]] std::uint64_t code(const Point& p) const noexcept
  {
    return spread_bits(this->cell(p, 0)) << 2 | spread_bits(this->cell(p, 1)) << 1 |
      spread_bits(this->cell(p, 2));
  }

  static constexpr int kMaxCoarseLevels = 6;

  /// The upper 3 * `levels` bits of the code, 1 to kMaxCoarseLevels levels.
  template <class Point>
  [[nodiscard]] std::uint32_t coarse_code(const Point& p, int levels) const noexcept
  {
    const int dropped = 21 - levels;
    return kSpread[this->cell(p, 0) >> dropped] << 2 | kSpread[this->cell(p, 1) >> dropped] << 1 |
      kSpread[this->cell(p, 2) >> dropped];
  }

  /// The same for packed positions.
  template <class T>
  void coarse_codes(
    const T* positions, std::size_t count, int levels, std::uint32_t* codes) const noexcept
  {
    for (std::size_t i = vector_loops::coarse_codes(
           positions, count, this->half_lower_, this->scale_, kCells - 1, 21 - levels, codes);
         i != count; ++i)
    {
      codes[i] = this->coarse_code(positions + 3 * i, levels);
    }
  }

private:
  static constexpr std::array<std::uint32_t, 1 << kMaxCoarseLevels> kSpread = []
  {
    std::array<std::uint32_t, 1 << kMaxCoarseLevels> table{};
    for (std::uint32_t x = 0; x != table.size(); ++x)
    {
      for (std::uint32_t bit = 0; bit != kMaxCoarseLevels; ++bit)
      {
        table[x] |= (x >> bit & 1) << 3 * bit;
      }
    }
    return table;
  }();

  static constexpr double kCells = 2097152; // 2^21

  template <class Point>
  [[nodiscard]] std::uint64_t cell(const Point& p, std::size_t axis) const noexcept
  {
    const double x = (static_cast<double>(p[axis]) * 0.5 - this->half_lower_[axis]) * this->scale_;
    const double inside = x < kCells - 1 ? x : kCells - 1;                // std::min would branch
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(inside)); // faster than unsigned
  }

  std::array<double, 3> half_lower_;
  double scale_ = 0;
};
}
