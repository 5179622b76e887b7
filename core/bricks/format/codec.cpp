// SPDX-License-Identifier: BSD-3-Clause
#include "bricks/format/codec.hpp"

#include "bricks/format/layout.hpp"
#include "codec/words.hpp"

#include <fmt/format.h>
#include <lz4.h>

#include <cstring>

namespace bat::bricks::format
{
namespace
{
using codec::from_ranked;
using codec::from_zigzag;
using codec::load;
using codec::ranked;
using codec::store;
using codec::zigzag;

constexpr std::byte kRawEncoding{ 0 };
constexpr std::byte kPredictedEncoding{ 1 };

template <class U>
inline constexpr U kQuietNaN = static_cast<U>(0x7FC00000u);
template <>
inline constexpr std::uint64_t kQuietNaN<std::uint64_t> = 0x7FF8000000000000u;

std::size_t count_of(const std::array<int, 3>& points)
{
  return static_cast<std::size_t>(points[0]) * static_cast<std::size_t>(points[1]) *
    static_cast<std::size_t>(points[2]);
}

// Calls f with a word of the same size as the values.
template <class F>
void with_words(ScalarType type, F&& f)
{
  if (type == ScalarType::Float64)
  {
    f(std::uint64_t{});
  }
  else
  {
    f(std::uint32_t{});
  }
}

template <class U>
bool are_all(const std::byte* values, std::size_t count, U bits)
{
  U differing = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    differing = static_cast<U>(differing | (load<U>(values + i * sizeof(U)) ^ bits));
  }
  return differing == 0;
}

// Takes differences in place, along x, then y, then z, starting at the far end.
template <class U>
void difference(U* words, const std::array<int, 3>& n)
{
  const auto nx = static_cast<std::size_t>(n[0]);
  const std::size_t plane = nx * static_cast<std::size_t>(n[1]);
  const std::size_t all = plane * static_cast<std::size_t>(n[2]);
  for (std::size_t row = 0; row != all; row += nx)
  {
    for (std::size_t x = nx - 1; x != 0; --x)
    {
      words[row + x] = static_cast<U>(words[row + x] - words[row + x - 1]);
    }
  }
  for (std::size_t z = 0; z != all; z += plane)
  {
    for (std::size_t i = plane - 1; i >= nx; --i)
    {
      words[z + i] = static_cast<U>(words[z + i] - words[z + i - nx]);
    }
  }
  for (std::size_t i = all - 1; i >= plane; --i)
  {
    words[i] = static_cast<U>(words[i] - words[i - plane]);
  }
}

template <class U>
void sum(U* words, const std::array<int, 3>& n)
{
  const auto nx = static_cast<std::size_t>(n[0]);
  const std::size_t plane = nx * static_cast<std::size_t>(n[1]);
  const std::size_t all = plane * static_cast<std::size_t>(n[2]);
  for (std::size_t i = plane; i < all; ++i)
  {
    words[i] = static_cast<U>(words[i] + words[i - plane]);
  }
  for (std::size_t z = 0; z != all; z += plane)
  {
    for (std::size_t i = nx; i < plane; ++i)
    {
      words[z + i] = static_cast<U>(words[z + i] + words[z + i - nx]);
    }
  }
  for (std::size_t row = 0; row != all; row += nx)
  {
    for (std::size_t x = 1; x < nx; ++x)
    {
      words[row + x] = static_cast<U>(words[row + x] + words[row + x - 1]);
    }
  }
}

template <class U>
void to_planes(
  const std::byte* values, std::size_t components, const std::array<int, 3>& n, std::byte* planes)
{
  const std::size_t m = count_of(n);
  constexpr std::size_t kMaxBrickPoints =
    std::size_t{ BrickGrid::max_edge } * BrickGrid::max_edge * BrickGrid::max_edge;
  thread_local std::vector<U> words(kMaxBrickPoints);
  for (std::size_t c = 0; c != components; ++c)
  {
    for (std::size_t i = 0; i != m; ++i)
    {
      words[i] = ranked(load<U>(values + (i * components + c) * sizeof(U)), 0);
    }
    difference(words.data(), n);
    for (std::size_t i = 0; i != m; ++i)
    {
      words[i] = zigzag(words[i]);
    }
    for (std::size_t b = 0; b != sizeof(U); ++b)
    {
      std::byte* const plane = planes + (b * components + c) * m;
      const std::size_t shift = 8 * (sizeof(U) - 1 - b);
      for (std::size_t i = 0; i != m; ++i)
      {
        plane[i] = static_cast<std::byte>(words[i] >> shift);
      }
    }
  }
}

template <class U>
void from_planes(const std::byte* planes, std::size_t components, const std::array<int, 3>& n,
  std::vector<std::byte>& memory, BrickMemory to)
{
  const std::size_t m = count_of(n);
  memory.resize(m * sizeof(U) + alignof(U));
  // std::vector's memory is aligned for any number type.
  U* const words = reinterpret_cast<U*>(memory.data());
  for (std::size_t c = 0; c != components; ++c)
  {
    const std::byte* const first = planes + c * m;
    const std::size_t step = components * m;
    for (std::size_t i = 0; i != m; ++i)
    {
      U word = 0;
      for (std::size_t b = 0; b != sizeof(U); ++b)
      {
        word = static_cast<U>(
          word | static_cast<U>(static_cast<U>(first[b * step + i]) << (8 * (sizeof(U) - 1 - b))));
      }
      words[i] = from_zigzag(word);
    }
    sum(words, n);
    const U* from = words;
    for (int z = 0; z != n[2]; ++z)
    {
      for (int y = 0; y != n[1]; ++y)
      {
        std::byte* const row = to.first + static_cast<std::size_t>(z) * to.plane_bytes +
          static_cast<std::size_t>(y) * to.row_bytes;
        for (int x = 0; x != n[0]; ++x)
        {
          store(row + (static_cast<std::size_t>(x) * components + c) * sizeof(U),
            from_ranked(*from++, 0));
        }
      }
    }
  }
}
}

BrickEncoder::Encoded BrickEncoder::encode(const BrickGrid& grid, const std::array<int, 3>& points,
  const std::byte* values, bool compress, std::uint64_t seed, std::vector<std::byte>& stored)
{
  const auto components = static_cast<std::size_t>(grid.components);
  const std::size_t raw = count_of(points) * grid.point_bytes();
  Encoded encoded = Encoded::Bytes;
  with_words(grid.type,
    [&](auto word)
    {
      using U = decltype(word);
      const std::size_t count = raw / sizeof(U);
      encoded = are_all<U>(values, count, kQuietNaN<U>) ? Encoded::NoFlow
        : are_all<U>(values, count, 0)                  ? Encoded::AtRest
                                                        : Encoded::Bytes;
    });
  if (encoded != Encoded::Bytes)
  {
    stored.clear();
    return encoded;
  }
  std::size_t payload = 0;
  stored.resize(kBrickHead + raw);
  if (compress)
  {
    this->planes_.resize(raw);
    with_words(grid.type,
      [&](auto word)
      { to_planes<decltype(word)>(values, components, points, this->planes_.data()); });
    const int made = LZ4_compress_default(reinterpret_cast<const char*>(this->planes_.data()),
      reinterpret_cast<char*>(stored.data() + kBrickHead), static_cast<int>(raw),
      static_cast<int>(raw - 1)); // 0: it would not be shorter
    payload = static_cast<std::size_t>(made);
  }
  stored[4] = payload != 0 ? kPredictedEncoding : kRawEncoding;
  if (payload == 0)
  {
    payload = raw;
    std::memcpy(stored.data() + kBrickHead, values, raw);
  }
  stored.resize(kBrickHead + payload);
  store(stored.data(),
    static_cast<std::uint32_t>(seeded_checksum(stored.data() + 4, stored.size() - 4, seed)));
  return encoded;
}

std::string BrickDecoder::decode(const BrickGrid& grid, const std::array<int, 3>& points,
  const std::byte* stored, std::size_t bytes, std::uint64_t seed, BrickMemory to)
{
  const std::size_t raw = count_of(points) * grid.point_bytes();
  if (bytes <= kBrickHead || bytes > max_stored_bytes(raw))
  {
    return fmt::format(
      "has {} stored bytes; allowed are {} to {}", bytes, kBrickHead + 1, max_stored_bytes(raw));
  }
  const auto found = load<std::uint32_t>(stored);
  const auto computed = static_cast<std::uint32_t>(seeded_checksum(stored + 4, bytes - 4, seed));
  if (found != computed)
  {
    return fmt::format(
      "does not match its checksum: {:08x} is stored, but its bytes have {:08x}", found, computed);
  }
  const std::byte* const payload = stored + kBrickHead;
  const std::size_t payload_bytes = bytes - kBrickHead;
  if (stored[4] == kRawEncoding)
  {
    if (payload_bytes != raw)
    {
      return fmt::format("has {} bytes of raw values; expected {}", payload_bytes, raw);
    }
    const std::size_t row = static_cast<std::size_t>(points[0]) * grid.point_bytes();
    const std::byte* from = payload;
    for (int z = 0; z != points[2]; ++z)
    {
      for (int y = 0; y != points[1]; ++y, from += row)
      {
        std::memcpy(to.first + static_cast<std::size_t>(z) * to.plane_bytes +
            static_cast<std::size_t>(y) * to.row_bytes,
          from, row);
      }
    }
    return {};
  }
  if (stored[4] != kPredictedEncoding)
  {
    return fmt::format("has codec {}; this library reads raw (0) and predicted (1) bricks",
      static_cast<int>(stored[4]));
  }
  this->planes_.resize(raw);
  const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(payload),
    reinterpret_cast<char*>(this->planes_.data()), static_cast<int>(payload_bytes),
    static_cast<int>(raw));
  if (made < 0 || static_cast<std::size_t>(made) != raw)
  {
    return made < 0 ? fmt::format("does not decode to the {} bytes of its values", raw)
                    : fmt::format("decodes to {} bytes; expected {}", made, raw);
  }
  with_words(grid.type,
    [&](auto word)
    {
      from_planes<decltype(word)>(
        this->planes_.data(), static_cast<std::size_t>(grid.components), points, this->words_, to);
    });
  return {};
}

namespace
{
// Calls fill(first byte) for each row of a brick.
template <class Fill>
void for_each_row(const std::array<int, 3>& points, BrickMemory to, const Fill& fill) noexcept
{
  for (int z = 0; z != points[2]; ++z)
  {
    for (int y = 0; y != points[1]; ++y)
    {
      fill(to.first + static_cast<std::size_t>(z) * to.plane_bytes +
        static_cast<std::size_t>(y) * to.row_bytes);
    }
  }
}
}

void fill_with_zeros(
  const BrickGrid& grid, const std::array<int, 3>& points, BrickMemory to) noexcept
{
  const std::size_t bytes = static_cast<std::size_t>(points[0]) * grid.point_bytes();
  for_each_row(points, to, [&](std::byte* row) { std::memset(row, 0, bytes); });
}

void fill_with_nan(const BrickGrid& grid, const std::array<int, 3>& points, BrickMemory to) noexcept
{
  with_words(grid.type,
    [&](auto word)
    {
      using U = decltype(word);
      const std::size_t values =
        static_cast<std::size_t>(points[0]) * static_cast<std::size_t>(grid.components);
      for_each_row(points, to,
        [&](std::byte* row)
        {
          for (std::size_t i = 0; i != values; ++i)
          {
            store(row + i * sizeof(U), kQuietNaN<U>);
          }
        });
    });
}
}
