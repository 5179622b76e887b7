// SPDX-License-Identifier: BSD-3-Clause
// Converts column values to words, per component.
#pragma once

#include "codec/column_shape.hpp"
#include "codec/grid_loops.hpp"
#include "codec/words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace bat::codec
{
[[nodiscard]] inline bool is_floating(ScalarType type) noexcept
{
  return type == ScalarType::Float32 || type == ScalarType::Float64;
}

/// Returns the bits of component c.
template <class U>
void fill_words(
  const ColumnShape& shape, const std::byte* values, std::size_t count, std::size_t c, U* words)
{
  for (std::size_t i = 0; i != count; ++i)
  {
    words[i] = load<U>(values + (i * shape.components + c) * sizeof(U));
  }
}

/// Numbers that are not on the grid.
struct Exceptions
{
  std::vector<std::uint32_t> places;

  /// Fills words_of(component)[value] with steps, and places with numbers that have none.
  template <class T, class SplitWords>
  void fill_steps(const ColumnShape& shape, double step, const std::byte* values, std::size_t count,
    const SplitWords& words_of)
  {
    using U = std::conditional_t<sizeof(T) == sizeof(float), std::uint32_t, std::uint64_t>;
    this->places.clear();
    constexpr std::size_t kBlock = 512; // numbers
    std::array<T, kBlock> numbers;
    std::array<U, kBlock> steps;
    std::size_t component = 0;
    std::size_t value = 0;
    for (std::size_t first = 0; first != count * shape.components;)
    {
      const std::size_t block = std::min(kBlock, count * shape.components - first);
      std::memcpy(numbers.data(), values + first * sizeof(T), block * sizeof(T));
      const bool all = to_steps(numbers.data(), block, step, steps.data());
      for (std::size_t i = 0; i != block; ++i)
      {
        U* const words = words_of(component);
        words[value] = steps[i];
        if (!all && !is_grid_point(numbers[i], step))
        {
          this->places.push_back(static_cast<std::uint32_t>(first + i));
          words[value] = value == 0 ? U{ 0 } : words[value - 1];
        }
        if (++component == shape.components)
        {
          component = 0;
          ++value;
        }
      }
      first += block;
    }
  }
};
}
