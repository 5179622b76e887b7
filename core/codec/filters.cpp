// SPDX-License-Identifier: BSD-3-Clause
#include "codec/filters.hpp"

#include "codec/words.hpp"
#include "common/intrinsics.hpp"
#include "common/processor.hpp"

#include <algorithm>
#include <array>

namespace bat::codec
{
namespace
{
// Transposes 8 x 8 bits: bit j of byte i becomes bit i of byte j.
BAT_INLINE std::uint64_t transposed(std::uint64_t x) noexcept
{
  std::uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAu;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCu;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0u;
  return x ^ t ^ (t << 28);
}

template <class U>
BAT_INLINE U predicted(Prediction prediction, U word, U before) noexcept
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
BAT_INLINE U actual(Prediction prediction, U word, U before) noexcept
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

constexpr std::size_t kWordsPerGroup = 8; // words whose bits fill a byte of each plane

constexpr std::size_t kBlock = 256; // words, in cache

template <class U>
using Block = std::array<U, kBlock>;

// Compilers vectorise these loops over blocks because no iteration depends on another.
template <class U>
BAT_INLINE void block_to_bytes(
  const Block<U>& words, std::size_t count, std::byte* planes, std::size_t plane_bytes) noexcept
{
  for (std::size_t byte = 0; byte != sizeof(U); ++byte)
  {
    auto* const plane = reinterpret_cast<std::uint8_t*>(planes + byte * plane_bytes);
    for (std::size_t i = 0; i != count; ++i)
    {
      plane[i] = static_cast<std::uint8_t>(words[i] >> (8 * byte));
    }
  }
}

template <class U>
BAT_INLINE void bytes_to_block(
  const std::byte* planes, std::size_t plane_bytes, std::size_t count, Block<U>& words) noexcept
{
  words.fill(0);
  for (std::size_t byte = 0; byte != sizeof(U); ++byte)
  {
    const auto* const plane = reinterpret_cast<const std::uint8_t*>(planes + byte * plane_bytes);
    for (std::size_t i = 0; i != count; ++i)
    {
      words[i] = static_cast<U>(words[i] | static_cast<U>(static_cast<U>(plane[i]) << (8 * byte)));
    }
  }
}

// Turns bytes of kWordsPerGroup words, side by side, into a byte for each of 8 planes.
BAT_INLINE void bytes_to_bits(
  const std::byte* bytes, std::size_t groups, std::byte* planes, std::size_t plane_bytes) noexcept
{
  for (std::size_t g = 0; g != groups; ++g)
  {
    const std::uint64_t square = transposed(load<std::uint64_t>(bytes + g * kWordsPerGroup));
    for (std::size_t bit = 0; bit != 8; ++bit)
    {
      planes[bit * plane_bytes + g] = static_cast<std::byte>(square >> (8 * bit));
    }
  }
}

BAT_INLINE void bits_to_bytes(
  const std::byte* planes, std::size_t plane_bytes, std::size_t groups, std::byte* bytes) noexcept
{
  for (std::size_t g = 0; g != groups; ++g)
  {
    std::uint64_t square = 0;
    for (std::size_t bit = 0; bit != 8; ++bit)
    {
      square |= std::uint64_t{ std::to_integer<std::uint8_t>(planes[bit * plane_bytes + g]) }
        << (8 * bit);
    }
    store(bytes + g * kWordsPerGroup, transposed(square));
  }
}

// Processes one component, whose words are `stride` bytes apart.
template <class U>
BAT_INLINE void component_to_planes(
  Filter filter, const std::byte* values, std::size_t stride, std::size_t count, std::byte* planes)
{
  const std::size_t groups = count / kWordsPerGroup;
  U before = 0;
  Block<U> words;
  std::array<std::byte, kBlock * sizeof(U)> bytes;
  for (std::size_t first = 0; first != count;)
  {
    const std::size_t block = count - first < kBlock ? count - first : kBlock;
    for (std::size_t i = 0; i != block; ++i)
    {
      const U word = load<U>(values + (first + i) * stride);
      words[i] = predicted(filter.prediction, word, before);
      before = word;
    }
    if (!filter.bit_planes)
    {
      block_to_bytes(words, block, planes + first, count);
      first += block;
      continue;
    }
    block_to_bytes(words, block, bytes.data(), kBlock);
    for (std::size_t byte = 0; byte != sizeof(U); ++byte)
    {
      bytes_to_bits(bytes.data() + byte * kBlock, block / kWordsPerGroup,
        planes + 8 * byte * groups + first / kWordsPerGroup, groups);
    }
    const std::size_t rest = block % kWordsPerGroup; // in the last block only
    std::memcpy(
      planes + groups * kWordsPerGroup * sizeof(U), words.data() + block - rest, rest * sizeof(U));
    first += block;
  }
}

template <class U>
BAT_INLINE void component_from_planes(
  Filter filter, const std::byte* planes, std::size_t count, std::byte* values, std::size_t stride)
{
  const std::size_t groups = count / kWordsPerGroup;
  U before = 0;
  Block<U> words;
  std::array<std::byte, kBlock * sizeof(U)> bytes;
  for (std::size_t first = 0; first != count;)
  {
    const std::size_t block = count - first < kBlock ? count - first : kBlock;
    if (!filter.bit_planes)
    {
      bytes_to_block(planes + first, count, block, words);
    }
    else
    {
      for (std::size_t byte = 0; byte != sizeof(U); ++byte)
      {
        bits_to_bytes(planes + 8 * byte * groups + first / kWordsPerGroup, groups,
          block / kWordsPerGroup, bytes.data() + byte * kBlock);
      }
      bytes_to_block(bytes.data(), kBlock, block / kWordsPerGroup * kWordsPerGroup, words);
      const std::size_t rest = block % kWordsPerGroup; // in the last block only
      std::memcpy(words.data() + block - rest, planes + groups * kWordsPerGroup * sizeof(U),
        rest * sizeof(U));
    }
    for (std::size_t i = 0; i != block; ++i)
    {
      before = actual(filter.prediction, words[i], before);
      store(values + (first + i) * stride, before);
    }
    first += block;
  }
}

#ifdef BAT_AVX2
template <class U>
BAT_AVX2 void component_to_planes_avx2(
  Filter filter, const std::byte* values, std::size_t stride, std::size_t count, std::byte* planes)
{
  component_to_planes<U>(filter, values, stride, count, planes);
}

template <class U>
BAT_AVX2 void component_from_planes_avx2(
  Filter filter, const std::byte* planes, std::size_t count, std::byte* values, std::size_t stride)
{
  component_from_planes<U>(filter, planes, count, values, stride);
}
#endif

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
#ifdef BAT_AVX2
        if (processor::has_avx2())
        {
          component_to_planes_avx2<U>(filter, values + c * sizeof(U), shape.value_bytes(), count,
            planes + c * count * sizeof(U));
          continue;
        }
#endif
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
#ifdef BAT_AVX2
        if (processor::has_avx2())
        {
          component_from_planes_avx2<U>(filter, planes + c * count * sizeof(U), count,
            values + c * sizeof(U), shape.value_bytes());
          continue;
        }
#endif
        component_from_planes<U>(filter, planes + c * count * sizeof(U), count,
          values + c * sizeof(U), shape.value_bytes());
      }
    });
}
}
