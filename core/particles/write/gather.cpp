// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/gather.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace bat::write
{
namespace
{
// Calls f with the number of bytes; common sizes are passed as constants, which turns a copy into a
// move.
template <class F>
void with_constant_size(std::size_t bytes, const F& f)
{
  using std::integral_constant;
  switch (bytes)
  {
    case 1:
      return f(integral_constant<std::size_t, 1>{});
    case 2:
      return f(integral_constant<std::size_t, 2>{});
    case 4:
      return f(integral_constant<std::size_t, 4>{});
    case 8:
      return f(integral_constant<std::size_t, 8>{});
    case 12:
      return f(integral_constant<std::size_t, 12>{});
    case 24:
      return f(integral_constant<std::size_t, 24>{});
    default:
      return f(bytes);
  }
}

bool is_collective(const ArrayView& view)
{
  if (!view.component[0])
  {
    return true; // without particles, no base address may exist
  }
  for (int c = 1; c < view.components; ++c)
  {
    if (view.component[static_cast<std::size_t>(c)] !=
      view.component[0] + size_of(view.type) * static_cast<std::uint64_t>(c))
    {
      return false;
    }
  }
  return true;
}

// Calls f(copy, bytes), where copy(i, to) copies the tuple of the caller's particle i, which has
// `bytes` bytes.
template <class F>
void with_copy(const ArrayView& view, const F& f)
{
  if (is_collective(view))
  {
    with_constant_size(tuple_bytes(view),
      [&](auto bytes)
      {
        f([from = view.component[0], stride = view.stride_bytes, bytes](
            std::size_t i, std::byte* to) { std::memcpy(to, from + i * stride, bytes); },
          bytes);
      });
    return;
  }
  with_constant_size(size_of(view.type),
    [&](auto bytes)
    {
      f(
        [&view, bytes](std::size_t i, std::byte* to)
        {
          for (int c = 0; c != view.components; ++c, to += bytes)
          {
            std::memcpy(
              to, view.component[static_cast<std::size_t>(c)] + i * view.stride_bytes, bytes);
          }
        },
        tuple_bytes(view));
    });
}

// Calls copy(i, to) for particles [begin, end), in their slot of `out` if it is in the range.
template <class Copy, class Bytes>
void scatter_slice(const std::uint32_t* slot, std::size_t begin, std::size_t end,
  const SlotRange& range, std::byte* out, Copy copy, Bytes bytes)
{
  // Copied even if it is not needed: a branch would often be mispredicted.
  std::array<std::byte, kMaxComponents * sizeof(double)> elsewhere;
  std::byte* const targets[] = { elsewhere.data(), out };
  const std::uint32_t first = range.begin;
  const std::uint32_t room = range.end - range.begin;
  for (std::size_t i = begin; i != end; ++i)
  {
    const std::uint32_t place = slot[i] - first;
    const bool inside = place < room;
    copy(i, targets[inside] + (place & (0 - std::uint32_t{ inside })) * std::size_t{ bytes });
  }
}

template <class Copy, class Bytes>
void scatter_all(const std::uint32_t* slot, std::size_t begin, std::size_t end, std::byte* out,
  Copy copy, Bytes bytes)
{
  constexpr std::size_t kPrefetchDistance = 32; // the processor looks less far ahead
  for (std::size_t i = begin; i != end; ++i)
  {
    __builtin_prefetch(
      out + slot[std::min(i + kPrefetchDistance, end - 1)] * std::size_t{ bytes }, 1);
    copy(i, out + slot[i] * std::size_t{ bytes });
  }
}

template <class Copy, class Bytes>
void scatter_with(const std::uint32_t* slot, std::size_t count, const SlotRange* range,
  std::byte* out, const Copy& copy, Bytes bytes)
{
  constexpr std::size_t kRowsPerTask = 16384;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, kRowsPerTask),
    [&](const auto& particles)
    {
      if (range)
      {
        scatter_slice(slot, particles.begin(), particles.end(), *range, out, copy, bytes);
      }
      else
      {
        scatter_all(slot, particles.begin(), particles.end(), out, copy, bytes);
      }
    });
}

// Works as with_copy, but copy(i, to) copies the tuple of the i-th row.
template <class F>
void with_copy(const Rows& rows, const ArrayView& view, const F& f)
{
  with_copy(view,
    [&](const auto& copy, auto bytes)
    {
      if (rows.numbers)
      {
        f([copy, numbers = rows.numbers + rows.first](std::size_t i, std::byte* to)
          { copy(numbers[i], to); },
          bytes);
      }
      else
      {
        f([copy, first = rows.first](std::size_t i, std::byte* to) { copy(first + i, to); }, bytes);
      }
    });
}
}

void gather(const std::uint32_t* source, std::size_t count, const ArrayView& view, std::byte* out)
{
  with_copy(view,
    [&](const auto& copy, auto bytes)
    {
      for (std::size_t i = 0; i != count; ++i)
      {
        copy(source[i], out + i * bytes);
      }
    });
}

void gather(const std::uint16_t* source, std::size_t count, const std::byte* tuples,
  std::size_t tuple_bytes, std::byte* out)
{
  // Memory returns tuples faster in order than in the order in which they are used below.
  constexpr std::size_t kCacheLine = 64;
  for (std::size_t at = 0; at < count * tuple_bytes; at += kCacheLine)
  {
    __builtin_prefetch(tuples + at);
  }
  with_constant_size(tuple_bytes,
    [&](auto bytes)
    {
      for (std::size_t i = 0; i != count; ++i)
      {
        std::memcpy(out + i * bytes, tuples + source[i] * std::size_t{ bytes }, bytes);
      }
    });
}

void copy(const Rows& rows, const ArrayView& view, std::byte* out)
{
  with_copy(rows, view,
    [&](const auto& copy, auto bytes)
    {
      for (std::size_t i = 0; i != rows.count; ++i)
      {
        copy(i, out + i * bytes);
      }
    });
}

void scatter(const std::uint32_t* slot, const Rows& rows, const ArrayView& view,
  const SlotRange* range, std::byte* out)
{
  with_copy(rows, view,
    [&](const auto& copy, auto bytes) { scatter_with(slot, rows.count, range, out, copy, bytes); });
}

void scatter_numbers(
  const std::uint32_t* slot, std::size_t count, const SlotRange& range, std::byte* out)
{
  using Number = std::uint32_t;
  scatter_with(
    slot, count, range.end - range.begin == count ? nullptr : &range, out,
    [](std::size_t i, std::byte* to)
    {
      const auto number = static_cast<Number>(i);
      std::memcpy(to, &number, sizeof(number));
    },
    std::integral_constant<std::size_t, sizeof(Number)>{});
}
}
