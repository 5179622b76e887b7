// Where the pages of a SORTED_INDEX are (FORMAT.md section 11).
#pragma once

#include "bat/format/layout.hpp"

#include <cstdint>
#include <vector>

namespace bat::format
{
struct IndexLevel
{
  std::uint64_t first_page = 0; ///< counted from the beginning of the section
  std::uint64_t pages = 0;
};

/// The levels of an index of `entries` entries, coarse to fine; the last one holds the entries.
[[nodiscard]] inline std::vector<IndexLevel> index_levels(std::uint64_t entries)
{
  std::vector<IndexLevel> levels;
  for (std::uint64_t pages = (entries + kIndexEntries - 1) / kIndexEntries; pages != 0;
       pages = pages == 1 ? 0 : (pages + kIndexFences - 1) / kIndexFences)
  {
    levels.insert(levels.begin(), { 0, pages });
  }
  for (std::size_t i = 1; i < levels.size(); ++i)
  {
    levels[i].first_page = levels[i - 1].first_page + levels[i - 1].pages;
  }
  return levels;
}

/// Entries of page `page` of the last level.
[[nodiscard]] inline std::uint64_t entries_of_page(std::uint64_t entries, std::uint64_t page)
{
  const std::uint64_t left = entries - page * kIndexEntries;
  return left < kIndexEntries ? left : kIndexEntries;
}

/// All pages are whole but the last one, which ends behind its last entry.
[[nodiscard]] inline std::uint64_t index_bytes(std::uint64_t entries)
{
  if (entries == 0)
  {
    return 0;
  }
  const IndexLevel last = index_levels(entries).back();
  return (last.first_page + last.pages - 1) * kPageBytes +
    entries_of_page(entries, last.pages - 1) * sizeof(IndexEntry);
}
}
