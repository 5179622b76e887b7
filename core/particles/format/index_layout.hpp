// SPDX-License-Identifier: BSD-3-Clause
// Locates the pages, fences and entries in a SORTED_INDEX (FORMAT.md section 11).
#pragma once

#include "particles/format/layout.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bat::format
{
/// The layout of an index. Levels are ordered coarse to fine, and the last one holds the entries;
/// pages are numbered within their level. Offsets count from the beginning of the section.
class IndexLayout
{
public:
  explicit IndexLayout(std::uint64_t entries)
    : entries_(entries)
  {
    for (std::uint64_t pages = pages_of(entries, kIndexEntries); pages != 0;
         pages = pages == 1 ? 0 : pages_of(pages, kIndexFences))
    {
      this->levels_.insert(this->levels_.begin(), { 0, pages });
    }
    for (std::size_t i = 1; i < this->levels_.size(); ++i)
    {
      this->levels_[i].first_page = this->levels_[i - 1].first_page + this->levels_[i - 1].pages;
    }
  }

  /// 0 without entries.
  [[nodiscard]] std::size_t level_count() const noexcept { return this->levels_.size(); }
  [[nodiscard]] std::size_t last_level() const noexcept { return this->levels_.size() - 1; }
  [[nodiscard]] std::uint64_t page_count(std::size_t level) const noexcept
  {
    return this->levels_[level].pages;
  }
  [[nodiscard]] std::uint64_t page_offset(std::size_t level, std::uint64_t page) const noexcept
  {
    return (this->levels_[level].first_page + page) * kPageBytes;
  }

  /// The page of the next level to which a fence refers.
  [[nodiscard]] static std::uint64_t page_below(std::uint64_t page, std::uint64_t fence) noexcept
  {
    return page * kIndexFences + fence;
  }
  /// Number of fences on a page of a level that is not the last.
  [[nodiscard]] std::uint64_t fence_count(std::size_t level, std::uint64_t page) const noexcept
  {
    return std::min(kIndexFences, this->levels_[level + 1].pages - page_below(page, 0));
  }
  /// Number of entries on a page of the last level.
  [[nodiscard]] std::uint64_t entry_count(std::uint64_t page) const noexcept
  {
    return std::min(kIndexEntries, this->entries_ - page * kIndexEntries);
  }
  [[nodiscard]] std::uint64_t entry_offset(std::uint64_t entry) const noexcept
  {
    return this->page_offset(this->last_level(), entry / kIndexEntries) +
      entry % kIndexEntries * sizeof(IndexEntry);
  }

  /// All pages are full except the last one, which ends after its last entry.
  [[nodiscard]] std::uint64_t bytes() const noexcept
  {
    if (this->levels_.empty())
    {
      return 0;
    }
    const std::uint64_t page = this->levels_.back().pages - 1;
    return this->page_offset(this->last_level(), page) +
      this->entry_count(page) * sizeof(IndexEntry);
  }

private:
  struct Level
  {
    std::uint64_t first_page = 0; ///< counted from the beginning of the section
    std::uint64_t pages = 0;
  };

  [[nodiscard]] static std::uint64_t pages_of(std::uint64_t things, std::uint64_t of_page) noexcept
  {
    return (things + of_page - 1) / of_page;
  }

  std::uint64_t entries_;
  std::vector<Level> levels_;
};
}
