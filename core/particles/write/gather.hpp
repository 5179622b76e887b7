// SPDX-License-Identifier: BSD-3-Clause
// Copies particle values out of a caller's arrays.
#pragma once

#include "bat/particles.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::write
{
[[nodiscard]] inline std::uint64_t tuple_bytes(const ArrayView& view)
{
  return bat::tuple_bytes(view.type, view.components);
}

/// Gathers values of the caller's particles `source`, packed: shape (count, components).
void gather(const std::uint32_t* source, std::size_t count, const ArrayView& view, std::byte* out);

/// Does the same for tuples of `bytes` bytes that are already packed.
void gather(const std::uint16_t* source, std::size_t count, const std::byte* tuples,
  std::size_t bytes, std::byte* out);

/// Rows of a view that are read one after another.
struct Rows
{
  const std::uint32_t* numbers = nullptr; ///< null: 0, 1, 2 ...
  std::uint64_t first = 0;                ///< index of the first in `numbers`
  std::uint64_t count = 0;
};

/// Gathers their values, packed.
void copy(const Rows& rows, const ArrayView& view, std::byte* out);

/// Slots [begin, end), to be filled in any order.
struct SlotRange
{
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Writes the values of the i-th row to slot[i] of `out` if that is in `range`, which `out` holds
/// packed; a null range holds all slots. Runs in parallel. Reads rows in order and is therefore
/// faster than gather() if the caller's order differs from that of the slots.
void scatter(const std::uint32_t* slot, const Rows& rows, const ArrayView& view,
  const SlotRange* range, std::byte* out);

/// Does the same for the numbers 0 to count - 1, which are std::uint32_t.
void scatter_numbers(
  const std::uint32_t* slot, std::size_t count, const SlotRange& range, std::byte* out);
}
