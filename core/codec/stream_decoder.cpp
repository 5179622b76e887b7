// SPDX-License-Identifier: BSD-3-Clause
#include "codec/stream_decoder.hpp"

#include "codec/stream_loops.hpp"
#include "common/intrinsics.hpp"
#include "common/processor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <variant>

namespace bat::codec
{
namespace
{
constexpr std::size_t kBatch = kBlockValues; // values between two checks of the end of the bits
constexpr std::size_t kMaxSymbolBits = 64 * kMaxJoint; // bits after a symbol

/// loop(position, first, end) reads values [first, end), none of which has more than `max_bits`.
/// Reads nothing beyond the bits, which it must consume up to the last byte.
template <class Loop>
void in_batches(const std::byte* bits, std::size_t bits_bytes, std::size_t count,
  std::size_t max_bits, const Loop& loop)
{
  const std::size_t batch_bytes = (kBatch * max_bits + 7) / 8 + kBitSlack;
  BitPosition from{ bits, 0 };
  std::size_t i = 0;
  // Decodes several batches at once, as long as the end is far away.
  while (i != count)
  {
    const std::size_t left = bits_bytes - static_cast<std::size_t>(from.position >> 3);
    const std::size_t batches = left / batch_bytes;
    if (batches == 0)
    {
      break;
    }
    const std::size_t end = i + std::min(count - i, batches * kBatch);
    loop(from, i, end);
    i = end;
  }
  std::size_t used = static_cast<std::size_t>(from.position >> 3);
  std::size_t left = bits_bytes - used;
  if (i != count) // zero after the end
  {
    std::array<std::byte, 2 * (kBatch * kMaxSymbolBits / 8 + 2 * kBitSlack)> rest{};
    std::copy_n(bits + used, left, rest.data());
    from = { rest.data(), from.position & 7 };
    for (; i != count;)
    {
      const std::size_t end = i + std::min(count - i, kBatch);
      loop(from, i, end);
      i = end;
      if (from.position > 8 * left)
      {
        refuse_frame(fmt::format("{} bytes of packed bits end before value {}", bits_bytes, end));
      }
    }
    used = 0;
  }
  left -= static_cast<std::size_t>((from.position + 7) >> 3) - used;
  if (left != 0)
  {
    refuse_frame(fmt::format("{} of {} bytes of packed bits are unused", left, bits_bytes));
  }
  if (bits_bytes != 0)
  {
    check_unused_bits(bits + (bits_bytes - 1), from.position & 7, "the packed bits");
  }
}

constexpr std::size_t kValuesPerUnpack = 4 * kBlockValues; // values between two loops, in cache

/// Symbols and bits of a stream.
struct Packed
{
  const std::uint8_t* symbols;
  const std::uint8_t* classes; ///< classes of blocks
  const unsigned* escapes;     ///< symbol of each class
  const std::byte* bits;
  std::size_t bits_bytes;
  std::size_t count;
};

template <class U, std::size_t components, Loads loads, class Sink>
struct Loop
{
  const StreamModel::Meanings<U, components>& meanings;
  const Packed& packed;
  const std::byte*& escaped; ///< words that are next; null if there are none
  Sink& sink;

  // `first` is a multiple of kBlockValues.
  BAT_INLINE void run(BitPosition& from, std::size_t first, std::size_t end) const noexcept
  {
    std::array<U, kValuesPerUnpack * components + 1> words; // PackedSink reads one more
    words.back() = 0;
    while (first != end)
    {
      const std::size_t count = end - first < kValuesPerUnpack ? end - first : kValuesPerUnpack;
      for (std::size_t i = 0; i < count; i += kBlockValues)
      {
        const std::size_t in_block = count - i < kBlockValues ? count - i : kBlockValues;
        const std::uint8_t* symbols = this->packed.symbols + first + i;
        const std::size_t own = this->packed.classes[(first + i) / kBlockValues];
        U* const to = words.data() + i * components;
        unpack<U, components, loads>(this->meanings[own], symbols, in_block, from, to);
        if (this->escaped != nullptr)
        {
          this->replace(symbols, in_block, this->packed.escapes[own], to);
        }
      }
      this->sink(first, count, words.data());
      first += count;
    }
  }
  BAT_INLINE void replace(
    const std::uint8_t* symbols, std::size_t count, unsigned escape, U* words) const noexcept
  {
    constexpr std::size_t kBytes = components * sizeof(U);
    for (std::size_t i = 0; i != count; ++i)
    {
      if (symbols[i] == escape)
      {
        std::memcpy(words + i * components, this->escaped, kBytes);
        this->escaped += kBytes;
      }
    }
  }
  void portable(BitPosition& from, std::size_t first, std::size_t end) const noexcept
  {
    this->run(from, first, end);
  }
#ifdef BAT_AVX2
  // BMI2 provides the shifts used here.
  BAT_AVX2 void avx2(BitPosition& from, std::size_t first, std::size_t end) const noexcept
  {
    this->run(from, first, end);
  }
#endif
  void operator()(BitPosition& from, std::size_t first, std::size_t end) const noexcept
  {
#ifdef BAT_AVX2
    if (processor::has_avx2())
    {
      this->avx2(from, first, end);
      return;
    }
#endif
    this->portable(from, first, end);
  }
};

template <class U, std::size_t components, class Sink>
void run(const StreamModel& model, const Packed& packed, const std::byte* escaped, Sink sink)
{
  const auto& meanings = std::get<StreamModel::Meanings<U, components>>(model.meanings);
  const auto with = [&](auto loop)
  { in_batches(packed.bits, packed.bits_bytes, packed.count, model.max_bits, loop); };
  switch (model.loads)
  {
    case Loads::One:
      with(Loop<U, components, Loads::One, Sink>{ meanings, packed, escaped, sink });
      break;
    case Loads::OneEach:
      with(Loop<U, components, Loads::OneEach, Sink>{ meanings, packed, escaped, sink });
      break;
    case Loads::TwoEach:
      if constexpr (sizeof(U) == sizeof(std::uint64_t)) // 32 bits are always in one
      {
        with(Loop<U, components, Loads::TwoEach, Sink>{ meanings, packed, escaped, sink });
      }
      break;
  }
}

template <class U, std::size_t components>
[[nodiscard]] bool is_packed(const Places<U, components>& places) noexcept
{
  for (std::size_t c = 0; c != components; ++c)
  {
    if (places.values[c] != places.values[0] + c * sizeof(U) || places.dropped[c] != 0)
    {
      return false;
    }
  }
  return places.stride == components * sizeof(U);
}

template <Numbers numbers, class U, std::size_t components>
void run_differences(const StreamModel& model, const Packed& packed, const std::byte* escaped,
  const Places<U, components>& places)
{
#ifdef BAT_AVX2
  if constexpr (sizeof(U) == sizeof(std::uint32_t) && components == 3)
  {
    if (is_packed(places))
    {
      run<U, components>(model, packed, escaped,
        PackedSink<numbers>{ places.values[0], places.step,
          _mm_set_epi32(0, static_cast<int>(places.before[2]), static_cast<int>(places.before[1]),
            static_cast<int>(places.before[0])) });
      return;
    }
  }
#endif
  run<U, components>(
    model, packed, escaped, DifferenceSink<U, components, numbers>{ places, places.before });
}

std::size_t count_escapes(const std::uint8_t* symbols, const std::uint8_t* classes,
  const unsigned* escapes, std::size_t count) noexcept
{
  std::size_t found = 0;
  for (std::size_t first = 0; first < count; first += kBlockValues)
  {
    const unsigned escape = escapes[classes[first / kBlockValues]];
    if (escape != StreamModel::kNoEscape)
    {
      const auto requested = static_cast<std::uint8_t>(escape);
      const std::size_t end = std::min(kBlockValues, count - first);
      std::uint8_t in_block = 0;
      for (std::size_t i = 0; i != end; ++i)
      {
        in_block = static_cast<std::uint8_t>(in_block + (symbols[first + i] == requested ? 1 : 0));
      }
      found += in_block;
    }
  }
  return found;
}
}

template <class U>
void StreamDecoder::decode(
  const StreamModel& model, FrameReader& reader, std::size_t count, const WordsTo& to)
{
  if (model.kind == StreamKind::Words)
  {
    const std::byte* words = reader.take(count * sizeof(U), "a stream of words");
    for (std::size_t i = 0; i != count; ++i)
    {
      store(to.values + model.components[0] * sizeof(U) + i * to.stride,
        load<U>(words + i * sizeof(U)));
    }
    return;
  }
  switch (model.components.size())
  {
    case 1:
      this->decode_symbols<U, 1>(model, reader, count, to);
      break;
    case 2:
      this->decode_symbols<U, 2>(model, reader, count, to);
      break;
    default:
      this->decode_symbols<U, 3>(model, reader, count, to);
      break;
  }
}

template <class U, std::size_t components>
void StreamDecoder::decode_symbols(
  const StreamModel& model, FrameReader& reader, std::size_t count, const WordsTo& to)
{
  Places<U, components> places;
  places.stride = to.stride;
  places.step = to.step;
  for (std::size_t c = 0; c != components; ++c)
  {
    places.values[c] = to.values + model.components[c] * sizeof(U);
    places.dropped[c] = model.dropped[c];
    if (model.kind == StreamKind::Differences)
    {
      const std::uint64_t word = reader.varint("the start of the differences");
      if (word > std::numeric_limits<U>::max())
      {
        refuse_frame(fmt::format("the differences start with {}", word));
      }
      places.before[c] = from_zigzag(static_cast<U>(word));
    }
  }
  const std::uint64_t escaped = reader.varint("the escape count");
  std::array<Lane, kLanes> lanes;
  std::size_t lanes_bytes = 0;
  for (Lane& lane : lanes)
  {
    const std::uint64_t bytes = reader.varint("the size of the symbols");
    if (bytes > reader.left())
    {
      refuse_frame(fmt::format("a symbol lane has {} bytes of {}", bytes, reader.left()));
    }
    lane.count = static_cast<std::size_t>(bytes);
    lanes_bytes += lane.count;
  }
  const std::uint64_t bits_bytes = reader.varint("the size of the packed bits");
  if (bits_bytes > reader.left() || escaped > count)
  {
    refuse_frame(fmt::format("{} bytes of packed bits, of {}, and {} escapes for {} values",
      bits_bytes, reader.left(), escaped, count));
  }
  const std::size_t blocks = (count + kBlockValues - 1) / kBlockValues;
  this->take_classes(reader, model.codes.size(), blocks);
  const std::byte* bytes = reader.take(lanes_bytes, "symbols");
  for (Lane& lane : lanes)
  {
    lane.bytes = bytes;
    bytes += lane.count;
  }
  Packed packed{};
  packed.count = count;
  packed.classes = this->classes_.data();
  packed.escapes = model.escapes.data();
  packed.symbols = this->symbols_.decode(lanes, model.codes, this->classes_.data(), count);
  packed.bits = reader.take(static_cast<std::size_t>(bits_bytes), "the packed bits");
  packed.bits_bytes = static_cast<std::size_t>(bits_bytes);
  if (const std::size_t found =
        count_escapes(packed.symbols, packed.classes, packed.escapes, count);
      found != escaped)
  {
    refuse_frame(fmt::format("{} symbols are escapes, expected {}", found, escaped));
  }
  const std::byte* words = escaped == 0
    ? nullptr
    : reader.take(static_cast<std::size_t>(escaped) * components * sizeof(U), "escapes");
  if (model.kind == StreamKind::Heads)
  {
    run<U, components>(model, packed, words, WordSink<U, components>{ places });
  }
  else if (to.step != 0)
  {
    run_differences<Numbers::GridPoints>(model, packed, words, places);
  }
  else if (to.floating)
  {
    run_differences<Numbers::Floats>(model, packed, words, places);
  }
  else
  {
    run_differences<Numbers::Integers>(model, packed, words, places);
  }
}

void StreamDecoder::take_classes(FrameReader& reader, std::size_t classes, std::size_t blocks)
{
  this->classes_.resize(std::max(this->classes_.size(), blocks));
  const unsigned bits = class_bits(classes);
  const std::byte* packed = reader.take((blocks * bits + 7) / 8, "block classes");
  std::size_t position = 0;
  for (std::size_t block = 0; block != blocks; ++block)
  {
    unsigned own = 0;
    for (unsigned bit = 0; bit != bits; ++bit, ++position)
    {
      own |= (std::to_integer<unsigned>(packed[position / 8]) >> position % 8 & 1u) << bit;
    }
    if (own >= classes)
    {
      refuse_frame(fmt::format("block {} has class {} of {}", block, own, classes));
    }
    this->classes_[block] = static_cast<std::uint8_t>(own);
  }
  check_unused_bits(packed, position, "block classes");
}

template void StreamDecoder::decode<std::uint32_t>(
  const StreamModel&, FrameReader&, std::size_t, const WordsTo&);
template void StreamDecoder::decode<std::uint64_t>(
  const StreamModel&, FrameReader&, std::size_t, const WordsTo&);
}
