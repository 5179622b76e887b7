// SPDX-License-Identifier: BSD-3-Clause
// Copies samples between blocks and arrays.
#pragma once

#include "idx/format/order.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace bat::idx
{
/// Distances between neighbouring samples of an array along y and z, in samples.
struct Strides
{
  std::int64_t y = 0;
  std::int64_t z = 0;
};
[[nodiscard]] inline Strides compute_strides(const format::Point& counts) noexcept
{
  return { counts[0], counts[0] * counts[1] };
}

/// Calls f with the sample size as a constant if it is a common one, else 0.
template <class F>
void with_sample_size(std::size_t bytes, F&& f)
{
  switch (bytes)
  {
    case 1:
      return f(std::integral_constant<std::size_t, 1>{});
    case 2:
      return f(std::integral_constant<std::size_t, 2>{});
    case 4:
      return f(std::integral_constant<std::size_t, 4>{});
    case 8:
      return f(std::integral_constant<std::size_t, 8>{});
    case 12:
      return f(std::integral_constant<std::size_t, 12>{});
    case 24:
      return f(std::integral_constant<std::size_t, 24>{});
    default:
      return f(std::integral_constant<std::size_t, 0>{});
  }
}

/// Calls visit(y and z of the block's row, first sample of the array's row) for each row.
template <class Visit>
void for_each_row(const format::StepsOfAxes& steps, const Strides& array, const Visit& visit)
{
  if (steps[0].count == 0)
  {
    return;
  }
  for (std::int64_t z = 0; z != steps[2].count; ++z)
  {
    const std::int64_t array_z = (steps[2].array + z * steps[2].array_step) * array.z;
    for (std::int64_t y = 0; y != steps[1].count; ++y)
    {
      visit(steps[1].block + y * steps[1].block_step, steps[2].block + z * steps[2].block_step,
        array_z + (steps[1].array + y * steps[1].array_step) * array.y);
    }
  }
}

enum class Direction
{
  ToArray,
  ToBlock
};

/// `size` is the number of bytes as a constant, or 0 if only `bytes` has it.
template <Direction direction, std::size_t size, class Block, class Array>
void copy_sample(Block* in_block, Array* in_array, std::size_t bytes)
{
  const std::size_t count = size != 0 ? size : bytes;
  if constexpr (direction == Direction::ToArray)
  {
    std::memcpy(in_array, in_block, count);
  }
  else
  {
    std::memcpy(in_block, in_array, count);
  }
}

/// Copies between a block in row-major order (`order` null; `counts` samples along each axis) or HZ
/// order, and an array.
template <Direction direction, class Block, class Array>
void copy_samples(const format::StepsOfAxes& steps, const format::Point& counts,
  const format::BlockOrder* order, std::size_t sample_bytes, Block* block, Array* array,
  const Strides& strides)
{
  const Strides rows = compute_strides(counts);
  const format::Steps& x = steps[0];
  with_sample_size(sample_bytes,
    [&](auto size)
    {
      constexpr std::size_t kSize = decltype(size)::value;
      const std::size_t bytes = kSize != 0 ? kSize : sample_bytes;
      const auto copy = [&](auto* in_block, auto* in_array)
      { copy_sample<direction, kSize>(in_block, in_array, bytes); };
      for_each_row(steps, strides,
        [&](std::int64_t y, std::int64_t z, std::int64_t to)
        {
          auto* const row = array + static_cast<std::size_t>(to + x.array) * bytes;
          const std::size_t array_step = static_cast<std::size_t>(x.array_step) * bytes;
          const auto count = static_cast<std::size_t>(x.count);
          if (order)
          {
            const std::uint64_t base = order->row(y, z);
            for (std::size_t i = 0; i != count; ++i)
            {
              const std::int64_t at = x.block + static_cast<std::int64_t>(i) * x.block_step;
              copy(block + order->place(base, at) * bytes, row + i * array_step);
            }
            return;
          }
          auto* const from =
            block + static_cast<std::size_t>(z * rows.z + y * rows.y + x.block) * bytes;
          const std::size_t block_step = static_cast<std::size_t>(x.block_step) * bytes;
          if (x.array_step == 1 && x.block_step == 1)
          {
            copy_sample<direction, 0>(from, row, count * bytes);
            return;
          }
          for (std::size_t i = 0; i != count; ++i)
          {
            copy(from + i * block_step, row + i * array_step);
          }
        });
    });
}

/// Copies one sample to all of a block's places in an array.
inline void fill_samples(const format::StepsOfAxes& steps, const std::byte* sample,
  std::size_t sample_bytes, std::byte* array, const Strides& strides)
{
  for_each_row(steps, strides,
    [&](std::int64_t, std::int64_t, std::int64_t to)
    {
      for (std::int64_t i = 0; i != steps[0].count; ++i)
      {
        std::memcpy(array +
            static_cast<std::size_t>(to + steps[0].array + i * steps[0].array_step) * sample_bytes,
          sample, sample_bytes);
      }
    });
}
}
