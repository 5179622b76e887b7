// SPDX-License-Identifier: BSD-3-Clause
// The order defined by FORMAT.md section 8: which ordinals are in which level, and their positions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat
{
struct LevelTable
{
  std::vector<std::uint32_t> keep; ///< r: keep[l] leads from level l + 1 to level l
  std::vector<std::uint64_t> end;  ///< s: particles in levels 0 to l

  [[nodiscard]] std::size_t size() const noexcept { return this->end.size(); }
  [[nodiscard]] std::uint64_t begin(std::size_t level) const noexcept
  {
    return level == 0 ? 0 : this->end[level - 1];
  }
  /// Computes x[level](g) from x[level + 1](g).
  [[nodiscard]] std::uint64_t coarser(std::size_t level, std::uint64_t x) const noexcept
  {
    return (x * this->keep[level]) >> 32;
  }
};

/// Returns the levels that the writer uses for n particles: decimal steps, so that 10 % is a whole
/// level.
[[nodiscard]] LevelTable choose_levels(std::uint64_t n);

/// Returns the table described by the keep ratios.
[[nodiscard]] LevelTable levels_from_ratios(std::uint64_t n, std::vector<std::uint32_t> keep);

/// Calls f(level, file position, offset, count) for each level, fine to coarse, for the particles
/// with ordinals [begin, end): `count` of them are contiguous from `file position` on, and `offset`
/// of them are in coarser levels. Runs may be empty; levels coarser than all of the particles are
/// omitted.
template <class F>
void for_each_run(const LevelTable& levels, std::uint64_t begin, std::uint64_t end, F&& f)
{
  std::uint64_t a = begin;
  std::uint64_t b = end;
  for (std::size_t level = levels.size() - 1; level != 0 && a != b; --level)
  {
    const std::uint64_t coarser_a = levels.coarser(level - 1, a);
    const std::uint64_t coarser_b = levels.coarser(level - 1, b);
    f(level, levels.begin(level) + a - coarser_a, coarser_b - coarser_a,
      (b - coarser_b) - (a - coarser_a));
    a = coarser_a;
    b = coarser_b;
  }
  if (a != b)
  {
    f(std::size_t{ 0 }, a, std::uint64_t{ 0 }, b - a);
  }
}

/// count(q) of section 8; q must be in [0, 1].
[[nodiscard]] inline std::uint64_t count_at(double q, std::uint64_t n)
{
  const double count = std::ceil(q * static_cast<double>(n));
  return count >= static_cast<double>(n) ? n : static_cast<std::uint64_t>(count);
}
}
