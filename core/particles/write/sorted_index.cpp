// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/sorted_index.hpp"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace bat::write
{
namespace
{
std::uint64_t value_of(const format::IndexEntry& entry) noexcept
{
  return std::uint64_t{ entry.value[1] } << 32 | entry.value[0];
}
}

template <class V>
SortedIndex<V>::SortedIndex(std::uint64_t particles)
  : particles_(particles)
  , layout_(particles)
  , bytes_(this->layout_.bytes())
{
}

template <class V>
std::uint64_t SortedIndex<V>::bits_of(std::uint64_t order) noexcept
{
  if constexpr (std::is_same_v<V, double>)
  {
    return order == ~std::uint64_t{ 0 } ? to_bits(std::numeric_limits<double>::quiet_NaN())
      : (order & kSign) != 0            ? order ^ kSign
                                        : ~order;
  }
  else
  {
    return std::is_signed_v<V> ? order ^ kSign : order;
  }
}

template <class V>
LargeArray<std::byte> SortedIndex<V>::finish()
{
  if (this->particles_ == 0)
  {
    return {};
  }
  tbb::parallel_sort(this->entries(), this->entries() + this->particles_,
    [](const format::IndexEntry& a, const format::IndexEntry& b)
    {
      const std::uint64_t x = value_of(a);
      const std::uint64_t y = value_of(b);
      return x != y ? x < y : a.position < b.position;
    });
  this->spread_entries();
  for (std::size_t level = this->layout_.last_level(); level != 0; --level)
  {
    this->make_fences(level - 1);
  }
  return std::move(this->bytes_);
}

// Moves entries to their pages, starting with the last, because pages are slightly longer than
// their entries.
template <class V>
void SortedIndex<V>::spread_entries()
{
  const std::size_t last = this->layout_.last_level();
  const format::IndexEntry* from = this->entries() + this->particles_;
  for (std::uint64_t p = this->layout_.page_count(last); p-- != 0;)
  {
    const std::uint64_t count = this->layout_.entry_count(p);
    from -= count;
    std::byte* const to = this->page(last, p);
    std::memmove(to, from, count * sizeof(format::IndexEntry));
    auto* const entries = reinterpret_cast<format::IndexEntry*>(to);
    for (std::uint64_t i = 0; i != count; ++i)
    {
      const std::uint64_t bits = bits_of(value_of(entries[i]));
      std::memcpy(entries[i].value, &bits, sizeof(bits));
    }
    if (p + 1 != this->layout_.page_count(last))
    {
      std::fill(to + count * sizeof(format::IndexEntry), this->page(last, p + 1), std::byte{ 0 });
    }
  }
}

// The first value of each page in the next level, which also begins with it there.
template <class V>
void SortedIndex<V>::make_fences(std::size_t level)
{
  std::byte* const begin = this->page(level, 0);
  std::fill(begin, this->page(level + 1, 0), std::byte{ 0 });
  for (std::uint64_t p = 0; p != this->layout_.page_count(level + 1); ++p)
  {
    std::memcpy(begin + p * sizeof(V), this->page(level + 1, p), sizeof(V));
  }
}

template class SortedIndex<double>;
template class SortedIndex<std::int64_t>;
template class SortedIndex<std::uint64_t>;
}
