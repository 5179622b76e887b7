// SPDX-License-Identifier: BSD-3-Clause
#include "particles/format/levels.hpp"

namespace bat
{
namespace
{
// Coarser samples are too small to be worth a separate level.
constexpr std::uint64_t kSmallestLevel = 16;

// Thousandths of one decade, fine to coarse. Neighbours differ by at most 1.34, so that a quality
// between two levels is never much denser in one half of space than in the other; more levels would
// scatter a small box over more pages.
constexpr int kSteps[] = { 900, 800, 700, 600, 500, 400, 300, 250, 200, 150, 125, 100 };
}

LevelTable levels_from_ratios(std::uint64_t n, std::vector<std::uint32_t> keep)
{
  LevelTable table;
  table.keep = std::move(keep);
  table.end.assign(table.keep.size() + 1, n);
  for (std::size_t level = table.keep.size(); level-- > 0;)
  {
    table.end[level] = table.coarser(level, table.end[level + 1]);
  }
  return table;
}

LevelTable choose_levels(std::uint64_t n)
{
  std::vector<std::uint32_t> keep; // fine to coarse
  std::uint64_t finer = n;
  for (double decade = 1000; finer > kSmallestLevel; decade *= 10)
  {
    for (const int step : kSteps)
    {
      const std::uint64_t count = count_at(step / decade, n);
      if (count < kSmallestLevel)
      {
        finer = 0;
        break;
      }
      if (count < finer)
      {
        // The smallest ratio that keeps `count` of `finer`: fits 32 bits because count < finer <
        // 2^32.
        keep.push_back(static_cast<std::uint32_t>(((count << 32) + finer - 1) / finer));
        finer = count;
      }
    }
  }
  return levels_from_ratios(n, { keep.rbegin(), keep.rend() });
}
}
