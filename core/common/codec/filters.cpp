#include "common/codec/filters.hpp"

#include "common/codec/words.hpp"

#include <array>

namespace bat::codec
{
namespace
{
// Bit j of byte i becomes bit i of byte j.
std::uint64_t transposed(std::uint64_t x) noexcept
{
  std::uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAu;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCu;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0u;
  return x ^ t ^ (t << 28);
}

template <class U>
U predicted(Prediction prediction, U word, U before) noexcept
{
  switch (prediction)
  {
    case Prediction::Difference:
      return zigzag(static_cast<U>(word - before));
    case Prediction::Xor:
      return static_cast<U>(word ^ before);
    default:
      return word;
  }
}

template <class U>
U actual(Prediction prediction, U word, U before) noexcept
{
  switch (prediction)
  {
    case Prediction::Difference:
      return static_cast<U>(from_zigzag(word) + before);
    case Prediction::Xor:
      return static_cast<U>(word ^ before);
    default:
      return word;
  }
}

constexpr std::size_t kGroup = 8; // words whose bits fill a byte of each plane

template <class U>
using Group = std::array<U, kGroup>;

template <class U>
void group_to_bits(const Group<U>& words, std::byte* planes, std::size_t plane_bytes) noexcept
{
  for (std::size_t byte = 0; byte != sizeof(U); ++byte)
  {
    std::uint64_t square = 0;
    for (std::size_t j = 0; j != kGroup; ++j)
    {
      square |= std::uint64_t{ static_cast<std::uint8_t>(words[j] >> (8 * byte)) } << (8 * j);
    }
    square = transposed(square);
    for (std::size_t bit = 0; bit != 8; ++bit)
    {
      planes[(8 * byte + bit) * plane_bytes] = static_cast<std::byte>(square >> (8 * bit));
    }
  }
}

template <class U>
void bits_to_group(const std::byte* planes, std::size_t plane_bytes, Group<U>& words) noexcept
{
  words.fill(0);
  for (std::size_t byte = 0; byte != sizeof(U); ++byte)
  {
    std::uint64_t square = 0;
    for (std::size_t bit = 0; bit != 8; ++bit)
    {
      square |=
        std::uint64_t{ std::to_integer<std::uint8_t>(planes[(8 * byte + bit) * plane_bytes]) }
        << (8 * bit);
    }
    square = transposed(square);
    for (std::size_t j = 0; j != kGroup; ++j)
    {
      words[j] = static_cast<U>(words[j] |
        static_cast<U>(static_cast<U>(static_cast<std::uint8_t>(square >> (8 * j))) << (8 * byte)));
    }
  }
}

// One component: its words are `stride` bytes apart.
template <class U>
void component_to_planes(
  Filter filter, const std::byte* values, std::size_t stride, std::size_t count, std::byte* planes)
{
  U before = 0;
  const auto next = [&](std::size_t i)
  {
    const U word = load<U>(values + i * stride);
    const U result = predicted(filter.prediction, word, before);
    before = word;
    return result;
  };
  if (!filter.bit_planes)
  {
    for (std::size_t i = 0; i != count; ++i)
    {
      const U word = next(i);
      for (std::size_t byte = 0; byte != sizeof(U); ++byte)
      {
        planes[byte * count + i] = static_cast<std::byte>(word >> (8 * byte));
      }
    }
    return;
  }
  const std::size_t groups = count / kGroup;
  for (std::size_t g = 0; g != groups; ++g)
  {
    Group<U> words;
    for (std::size_t j = 0; j != kGroup; ++j)
    {
      words[j] = next(g * kGroup + j);
    }
    group_to_bits(words, planes + g, groups);
  }
  std::byte* rest = planes + groups * kGroup * sizeof(U);
  for (std::size_t i = groups * kGroup; i != count; ++i, rest += sizeof(U))
  {
    store(rest, next(i));
  }
}

template <class U>
void component_from_planes(
  Filter filter, const std::byte* planes, std::size_t count, std::byte* values, std::size_t stride)
{
  U before = 0;
  const auto put = [&](std::size_t i, U word)
  {
    before = actual(filter.prediction, word, before);
    store(values + i * stride, before);
  };
  if (!filter.bit_planes)
  {
    for (std::size_t i = 0; i != count; ++i)
    {
      U word = 0;
      for (std::size_t byte = 0; byte != sizeof(U); ++byte)
      {
        word = static_cast<U>(word |
          static_cast<U>(
            static_cast<U>(std::to_integer<std::uint8_t>(planes[byte * count + i])) << (8 * byte)));
      }
      put(i, word);
    }
    return;
  }
  const std::size_t groups = count / kGroup;
  for (std::size_t g = 0; g != groups; ++g)
  {
    Group<U> words;
    bits_to_group(planes + g, groups, words);
    for (std::size_t j = 0; j != kGroup; ++j)
    {
      put(g * kGroup + j, words[j]);
    }
  }
  const std::byte* rest = planes + groups * kGroup * sizeof(U);
  for (std::size_t i = groups * kGroup; i != count; ++i, rest += sizeof(U))
  {
    put(i, load<U>(rest));
  }
}

template <class F>
void with_word(ScalarType type, const F& f)
{
  switch (size_of(type))
  {
    case 1:
      f(std::uint8_t{});
      break;
    case 2:
      f(std::uint16_t{});
      break;
    case 4:
      f(std::uint32_t{});
      break;
    default:
      f(std::uint64_t{});
      break;
  }
}
}

void to_planes(const ColumnShape& shape, Filter filter, const std::byte* values, std::size_t count,
  std::byte* planes)
{
  with_word(shape.type,
    [&](auto word)
    {
      using U = decltype(word);
      for (std::size_t c = 0; c != shape.components; ++c)
      {
        component_to_planes<U>(filter, values + c * sizeof(U), shape.value_bytes(), count,
          planes + c * count * sizeof(U));
      }
    });
}

void from_planes(const ColumnShape& shape, Filter filter, const std::byte* planes,
  std::size_t count, std::byte* values)
{
  with_word(shape.type,
    [&](auto word)
    {
      using U = decltype(word);
      for (std::size_t c = 0; c != shape.components; ++c)
      {
        component_from_planes<U>(filter, planes + c * count * sizeof(U), count,
          values + c * sizeof(U), shape.value_bytes());
      }
    });
}
}
