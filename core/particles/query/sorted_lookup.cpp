// SPDX-License-Identifier: BSD-3-Clause
#include "particles/query/sorted_lookup.hpp"

#include "common/radix_sort.hpp"
#include "particles/format/index_layout.hpp"
#include "particles/tree/file_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace bat::query
{
namespace
{
// Costs of an index page and of a particle found in it, in tests of particles.
constexpr std::uint64_t kPageCost = 256;
constexpr std::uint64_t kRowCost = 8;

/// Values from `lower` to `upper`, and the pages of a level that contain them if they exist.
template <class V>
struct Probe
{
  V lower;
  V upper;
  std::uint64_t first_page = 0;
  std::uint64_t last_page = 0;
};

template <class V>
std::vector<Probe<V>> make_probes(const ClassRange<V>& range)
{
  return { { range.lower, range.upper } };
}

template <class V>
std::vector<Probe<V>> make_probes(const ValueSet<V>& set)
{
  std::vector<Probe<V>> probes;
  probes.reserve(set.values().size());
  for (const V value : set.values())
  {
    probes.push_back({ value, value });
  }
  return probes;
}

template <class V>
std::vector<Probe<V>> make_probes(const IntervalSet<V>& set)
{
  std::vector<Probe<V>> probes;
  probes.reserve(set.ranges().size());
  for (const ClassRange<V>& range : set.ranges())
  {
    probes.push_back({ range.lower, range.upper });
  }
  return probes;
}

/// Reads one page of the index at a time.
template <class V>
class IndexPage
{
public:
  IndexPage(const File::Impl& file, std::size_t key)
    : section_(file.paged(format::SectionKind::SortedIndex, static_cast<std::uint32_t>(key)))
    , reader_(section_)
  {
  }

  /// Requests pages of a remote file at the same time.
  void prefetch(const std::vector<Span>& pages) const
  {
    if (this->section_.file().is_remote())
    {
      this->section_.prefetch(pages);
    }
  }

  /// Moves to a page, or the used part of it; returns false if it must be read with load().
  [[nodiscard]] bool find(const Span& page)
  {
    this->page_ = this->reader_.find(page);
    return this->page_ != nullptr;
  }
  /// Moves to the first page; the others, which ascend, come next.
  void load(const Span* pages, std::size_t count)
  {
    this->page_ = nullptr;
    this->page_ = this->reader_.inspect(pages, count);
  }

  [[nodiscard]] V fence(std::uint64_t i) const { return this->at<V>(i * sizeof(V)); }
  [[nodiscard]] V value(std::uint64_t i) const
  {
    return this->at<V>(i * sizeof(format::IndexEntry));
  }
  [[nodiscard]] std::uint32_t position(std::uint64_t i) const
  {
    return this->at<std::uint32_t>(
      i * sizeof(format::IndexEntry) + offsetof(format::IndexEntry, position));
  }

private:
  template <class T>
  [[nodiscard]] T at(std::uint64_t offset) const
  {
    T value;
    std::memcpy(&value, this->page_ + offset, sizeof(value));
    return value;
  }

  const format::PagedSection& section_;
  format::PageReader reader_;
  const std::byte* page_ = nullptr; ///< memory of the file or of the reader
};

// Finds the first number from `begin` to `end` for which `before` is false, in a row in which it
// does not become true again. Comparisons with NaN, which comes last, are false. Fast if it is near
// `begin`.
template <class Before>
std::uint64_t first_not(std::uint64_t begin, std::uint64_t end, const Before& before)
{
  for (std::uint64_t stride = 1; end - begin > stride; stride *= 2)
  {
    const std::uint64_t last = begin + stride - 1;
    if (!before(last))
    {
      end = last;
      break;
    }
    begin = last + 1;
  }
  while (begin != end)
  {
    const std::uint64_t middle = begin + (end - begin) / 2;
    if (before(middle))
    {
      begin = middle + 1;
    }
    else
    {
      end = middle;
    }
  }
  return begin;
}

template <class V>
class Lookup
{
public:
  Lookup(const File::Impl& file, std::size_t key, std::vector<Probe<V>> probes)
    : file_(file)
    , key_(key)
    , probes_(std::move(probes))
    , layout_(file.header.particle_count)
    , page_(file, key)
  {
  }

  [[nodiscard]] bool costs_more_than(std::uint64_t tested)
  {
    const std::uint64_t maximum = tested / 2; // pages are scattered, columns are contiguous
    const std::uint64_t pages = this->layout_.page_count(this->layout_.last_level());
    if (std::min<std::uint64_t>(this->probes_.size(), pages) * kPageCost > maximum)
    {
      return true;
    }
    this->find_pages();
    std::uint64_t cost = 0;
    for (std::size_t i = 0; i != this->probes_.size(); ++i)
    {
      const Probe<V>& probe = this->probes_[i];
      const std::uint64_t first =
        probe.first_page + (i != 0 && this->probes_[i - 1].last_page == probe.first_page);
      const std::uint64_t count = probe.last_page + 1 - std::min(first, probe.last_page + 1);
      cost += count * kPageCost;
      cost += count > 2 ? (count - 2) * format::kIndexEntries * kRowCost : 0;
    }
    return cost > maximum;
  }

  /// Calls found(value, file position) in the order of the index.
  template <class Found>
  void for_each(const Found& found)
  {
    std::uint64_t page = 0; // end of the last probe: page, and entry in it
    std::uint64_t i = 0;
    for (std::size_t p = 0; p != this->probes_.size(); ++p)
    {
      const Probe<V>& probe = this->probes_[p];
      if (probe.first_page > page)
      {
        page = probe.first_page;
        i = 0;
      }
      for (; page <= probe.last_page; ++page, i = 0)
      {
        const std::uint64_t count = this->layout_.entry_count(page);
        if (!this->page_.find(this->entries(page)))
        {
          this->load_entries(p, page);
        }
        i =
          first_not(i, count, [&](std::uint64_t k) { return this->page_.value(k) < probe.lower; });
        for (; i != count && this->page_.value(i) <= probe.upper; ++i)
        {
          found(this->page_.value(i), this->position(i));
        }
        if (i != count)
        {
          break;
        }
      }
    }
  }

private:
  [[nodiscard]] Span entries(std::uint64_t page) const
  {
    return { this->layout_.page_offset(this->layout_.last_level(), page),
      this->layout_.entry_count(page) * sizeof(format::IndexEntry) };
  }

  // Returns the page, which belongs to probe p. Pages ascend from call to call.
  void load_entries(std::size_t p, std::uint64_t page)
  {
    const Span requested = this->entries(page);
    while (this->next_first_ != this->next_.size() &&
      this->next_[this->next_first_].first < requested.first)
    {
      ++this->next_first_;
    }
    if (this->next_first_ == this->next_.size() ||
      this->next_[this->next_first_].first != requested.first)
    {
      this->find_next(p, page);
    }
    this->page_.load(&this->next_[this->next_first_], this->next_.size() - this->next_first_);
  }

  // Number of needed pages from this page of probe p on.
  void find_next(std::size_t p, std::uint64_t page)
  {
    constexpr std::size_t maximum = 256;
    this->next_.clear();
    this->next_first_ = 0;
    for (; p != this->probes_.size() && this->next_.size() != maximum; ++p)
    {
      page = std::max(page, this->probes_[p].first_page);
      for (; page <= this->probes_[p].last_page && this->next_.size() != maximum; ++page)
      {
        this->next_.push_back(this->entries(page));
      }
    }
    this->page_.prefetch(this->next_);
  }

  // Searches level by level, so that pages are read in ascending order.
  void find_pages()
  {
    for (std::size_t level = 0; level != this->layout_.last_level(); ++level)
    {
      if (this->file_.source->is_remote())
      {
        this->page_.prefetch(this->fences_of_probes(level));
      }
      std::uint64_t page = 0; // page of the last lower end, and the fence that it precedes
      std::uint64_t fence = 0;
      for (Probe<V>& probe : this->probes_)
      {
        fence = probe.first_page == page ? fence : 0;
        page = probe.first_page;
        this->load_fences(level, page);
        fence = this->fence_not(level, page, fence, [&](V f) { return f < probe.lower; });
        probe.first_page = below(page, fence);
        const bool same = probe.last_page == page;
        this->load_fences(level, probe.last_page);
        const std::uint64_t last = this->fence_not(
          level, probe.last_page, same ? fence : 0, [&](V f) { return f <= probe.upper; });
        probe.last_page = below(probe.last_page, last);
      }
    }
  }

  [[nodiscard]] Span fences(std::size_t level, std::uint64_t page) const
  {
    return { this->layout_.page_offset(level, page),
      this->layout_.fence_count(level, page) * sizeof(V) };
  }

  // Returns the pages of a level that find_pages() reads, in ascending order.
  [[nodiscard]] std::vector<Span> fences_of_probes(std::size_t level) const
  {
    std::vector<Span> pages;
    for (const Probe<V>& probe : this->probes_)
    {
      for (const std::uint64_t page : { probe.first_page, probe.last_page })
      {
        const Span next = this->fences(level, page);
        if (pages.empty() || pages.back().first < next.first)
        {
          pages.push_back(next);
        }
      }
    }
    return pages;
  }

  void load_fences(std::size_t level, std::uint64_t page)
  {
    const Span needed = this->fences(level, page);
    if (!this->page_.find(needed))
    {
      this->page_.load(&needed, 1);
    }
  }

  // Finds the first fence from one on that is not `before`.
  template <class Before>
  [[nodiscard]] std::uint64_t fence_not(
    std::size_t level, std::uint64_t page, std::uint64_t first, const Before& before) const
  {
    return first_not(first, this->layout_.fence_count(level, page),
      [&](std::uint64_t k) { return before(this->page_.fence(k)); });
  }

  // The last page whose fence is before `fence`, else the first.
  [[nodiscard]] static std::uint64_t below(std::uint64_t page, std::uint64_t fence)
  {
    return format::IndexLayout::page_below(page, std::max<std::uint64_t>(fence, 1) - 1);
  }

  [[nodiscard]] std::uint32_t position(std::uint64_t i) const
  {
    const std::uint32_t position = this->page_.position(i);
    if (position >= this->file_.header.particle_count)
    {
      format::corrupt(*this->file_.source,
        fmt::format("SORTED_INDEX {}: file position {} of {} particles", this->key_, position,
          this->file_.header.particle_count));
    }
    return position;
  }

  const File::Impl& file_;
  std::size_t key_;
  std::vector<Probe<V>> probes_; ///< ascending, disjoint
  format::IndexLayout layout_;
  IndexPage<V> page_;
  std::vector<Span> next_; ///< pages of entries
  std::size_t next_first_ = 0;
};

[[noreturn]] void found_twice(const File::Impl& file, std::size_t key, std::uint32_t position)
{
  format::corrupt(
    *file.source, fmt::format("SORTED_INDEX {}: file position {} occurs twice", key, position));
}

// Calls use(lookup) if the index answers and costs less.
template <class Result, class Use>
std::optional<Result> with_lookup(
  const File::Impl& file, const KeyCondition& condition, std::uint64_t tested, const Use& use)
{
  if (condition.of_positions || !file.has_sorted_index(condition.key) || tested == 0 ||
    condition.negated)
  {
    return std::nullopt;
  }
  return std::visit(
    [&](const auto& requested) -> std::optional<Result>
    {
      using V = typename std::decay_t<decltype(requested)>::Value;
      Lookup<V> lookup(file, condition.key, make_probes(requested));
      if (lookup.costs_more_than(tested))
      {
        return std::nullopt;
      }
      return use(lookup);
    },
    condition.requested);
}
}

std::optional<std::vector<std::uint32_t>> look_up(
  const File::Impl& file, const KeyCondition& condition, std::uint64_t tested)
{
  using Positions = std::vector<std::uint32_t>;
  return with_lookup<Positions>(file, condition, tested,
    [&](auto& lookup)
    {
      Positions positions;
      lookup.for_each([&](auto, std::uint32_t position) { positions.push_back(position); });
      radix_sort(positions);
      const auto twice = std::adjacent_find(positions.begin(), positions.end());
      if (twice != positions.end())
      {
        found_twice(file, condition.key, *twice);
      }
      return positions;
    });
}

std::optional<std::vector<IndexRow>> look_up_rows(
  const File::Impl& file, const KeyCondition& condition, std::uint64_t tested)
{
  using Rows = std::vector<IndexRow>;
  return with_lookup<Rows>(file, condition, tested,
    [&](auto& lookup)
    {
      Rows rows;
      lookup.for_each(
        [&](auto value, std::uint32_t position) {
          rows.push_back({ to_bits(value), position });
        });
      std::sort(rows.begin(), rows.end(),
        [](const IndexRow& a, const IndexRow& b) { return a.position < b.position; });
      const auto twice = std::adjacent_find(rows.begin(), rows.end(),
        [](const IndexRow& a, const IndexRow& b) { return a.position == b.position; });
      if (twice != rows.end())
      {
        found_twice(file, condition.key, twice->position);
      }
      return rows;
    });
}
}
