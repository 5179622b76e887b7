// The loops that take most of the time of decoding streams, to be compiled for several processors.
#pragma once

#include "common/codec/bit_writer.hpp"
#include "common/codec/grid_point.hpp"
#include "common/codec/stream_format.hpp"
#include "common/codec/words.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace bat::codec
{
/// What a symbol stands for: of each component the bits that follow, and what to add to them.
struct SymbolMeaning
{
  std::array<std::uint64_t, kMostJoint> base{};
  std::array<std::uint8_t, kMostJoint> bits{};
  std::uint8_t total = 0; ///< bits of all components
};
using SymbolMeanings = std::array<SymbolMeaning, kSymbols>;

/// Bits of a word that follow in memory, at a position counted in bits.
template <bool wide>
[[nodiscard]] BAT_INLINE std::uint64_t bits_at(
  const std::byte* memory, std::uint64_t position, unsigned bits) noexcept
{
  const auto shift = static_cast<unsigned>(position & 7);
  std::uint64_t word = load<std::uint64_t>(memory + (position >> 3)) >> shift;
  if constexpr (wide) // more than 57 bits may not be in one load
  {
    word |= load<std::uint64_t>(memory + (position >> 3) + 8) << 1 << (63 - shift);
    return bits == 64 ? word : word & ~(~std::uint64_t{ 0 } << bits);
  }
  return word & ~(~std::uint64_t{ 0 } << bits);
}

/// Puts the bits of numbers without `dropped` lowest bits, in order, to their places.
template <class U, bool floating>
struct PutNumbers
{
  std::byte* values;
  std::size_t stride;
  unsigned dropped;

  BAT_INLINE void operator()(std::size_t i, U word) const noexcept
  {
    store(this->values + i * this->stride,
      floating ? from_ranked(word, this->dropped) : static_cast<U>(word << this->dropped));
  }
};

/// Puts grid points.
template <class T>
struct PutGridPoints
{
  std::byte* values;
  std::size_t stride;
  double step;

  BAT_INLINE void operator()(std::size_t i, std::uint64_t steps) const noexcept
  {
    store(this->values + i * this->stride,
      grid_point<T>(static_cast<double>(static_cast<std::int64_t>(steps)), this->step));
  }
};

/// Where a loop stands in the packed bits.
struct BitPosition
{
  const std::byte* memory;
  std::uint64_t position;
};

template <class U, std::size_t components, bool wide, class Put>
BAT_INLINE void difference_loop(const SymbolMeanings& meanings, const std::uint8_t* symbols,
  std::size_t first, std::size_t end, BitPosition& from, std::array<U, kMostJoint>& before,
  const std::array<Put, components>& put) noexcept
{
  std::uint64_t position = from.position;
  std::array<U, components> words;
  for (std::size_t c = 0; c != components; ++c)
  {
    words[c] = before[c];
  }
  for (std::size_t i = first; i != end; ++i)
  {
    const SymbolMeaning& meaning = meanings[symbols[i]];
    std::uint64_t at = position;
    for (std::size_t c = 0; c != components; ++c)
    {
      const std::uint64_t zigzag =
        bits_at<wide>(from.memory, at, meaning.bits[c]) + meaning.base[c];
      at += meaning.bits[c];
      words[c] = static_cast<U>(words[c] + from_zigzag(static_cast<U>(zigzag)));
      put[c](i, words[c]);
    }
    position += meaning.total;
  }
  for (std::size_t c = 0; c != components; ++c)
  {
    before[c] = words[c];
  }
  from.position = position;
}

template <class U, bool wide>
BAT_INLINE void head_loop(const SymbolMeanings& meanings, const std::uint8_t* symbols,
  std::size_t first, std::size_t end, BitPosition& from, unsigned dropped, std::byte* values,
  std::size_t stride) noexcept
{
  std::uint64_t position = from.position;
  for (std::size_t i = first; i != end; ++i)
  {
    const SymbolMeaning& meaning = meanings[symbols[i]];
    const std::uint64_t word =
      bits_at<wide>(from.memory, position, meaning.bits[0]) + meaning.base[0];
    store(values + i * stride, static_cast<U>(static_cast<U>(word) << dropped));
    position += meaning.total;
  }
  from.position = position;
}
}
