// SPDX-License-Identifier: BSD-3-Clause
// Builds SORTED_INDEX sections (FORMAT.md section 11).
#pragma once

#include "common/memory/large_array.hpp"
#include "common/numbers.hpp"
#include "particles/format/index_layout.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::write
{
/// Takes 12 bytes per particle: entries are sorted in the memory in which the pages are then made.
template <class V>
class SortedIndex
{
public:
  explicit SortedIndex(std::uint64_t particles);

  /// Sets the key's value for the particle at a file position. Different positions may be set
  /// concurrently.
  void set(std::uint64_t position, V value) noexcept
  {
    this->entries()[position] = { { static_cast<std::uint32_t>(order_of(value)),
                                    static_cast<std::uint32_t>(order_of(value) >> 32) },
      static_cast<std::uint32_t>(position) };
  }

  /// Returns the section, once all are set.
  [[nodiscard]] LargeArray<std::byte> finish();

private:
  static constexpr std::uint64_t kSign = std::uint64_t{ 1 } << 63;

  // Integers in the order of the values, NaN last. -0 and +0 map to one number.
  [[nodiscard]] static std::uint64_t order_of(V value) noexcept
  {
    if constexpr (std::is_same_v<V, double>)
    {
      const std::uint64_t bits = to_bits(value + 0.0);
      return value != value ? ~std::uint64_t{ 0 } : (bits & kSign) != 0 ? ~bits : bits | kSign;
    }
    else
    {
      return std::is_signed_v<V> ? to_bits(value) ^ kSign : to_bits(value);
    }
  }
  [[nodiscard]] static std::uint64_t bits_of(std::uint64_t order) noexcept;

  [[nodiscard]] std::byte* page(std::size_t level, std::uint64_t page) noexcept
  {
    return this->bytes_.data() + this->layout_.page_offset(level, page);
  }
  /// The entries without gaps, starting where the last level begins.
  [[nodiscard]] format::IndexEntry* entries() noexcept
  {
    return reinterpret_cast<format::IndexEntry*>(this->page(this->layout_.last_level(), 0));
  }
  void spread_entries();
  void make_fences(std::size_t level);

  std::uint64_t particles_;
  format::IndexLayout layout_;
  LargeArray<std::byte> bytes_;
};
}
