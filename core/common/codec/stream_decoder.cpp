// SPDX-License-Identifier: BSD-3-Clause
#include "common/codec/stream_decoder.hpp"

#include "common/codec/stream_loops.hpp"
#include "common/intrinsics.hpp"
#include "common/processor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bat::codec
{
namespace
{
constexpr std::size_t kBatch = 64; // values between two looks at the end of the bits
constexpr std::size_t kMostTotal = 64 * kMostJoint; // bits behind a symbol

/// loop(position, first, end) reads values [first, end) of which none has more than `most_bits`.
/// Reads nothing beyond the bits, which it must use up to the last byte.
template <class Loop>
void in_batches(const std::byte* bits, std::size_t bits_bytes, std::size_t count,
  std::size_t most_bits, const Loop& loop)
{
  const std::size_t batch_bytes = (kBatch * most_bits + 7) / 8 + kBitSlack;
  BitPosition from{ bits, 0 };
  std::size_t i = 0;
  // Several batches at once, as long as the end is far.
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
  if (i != count) // with 0 behind the end
  {
    std::array<std::byte, 2 * (kBatch * kMostTotal / 8 + 2 * kBitSlack)> rest{};
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
    refuse_frame(fmt::format("{} of {} bytes of packed bits are left over", left, bits_bytes));
  }
}

constexpr std::size_t kUnpacked = 256; // values between two loops, in cache

template <class U, std::size_t components, Loads loads, class Sink>
struct Loop
{
  const SymbolMeanings<U, components>& meanings;
  const std::uint8_t* symbols;
  Sink& sink;

  BAT_INLINE void run(BitPosition& from, std::size_t first, std::size_t end) const noexcept
  {
    std::array<U, kUnpacked * components + 1> words; // PackedSink reads one more
    words.back() = 0;
    while (first != end)
    {
      const std::size_t count = end - first < kUnpacked ? end - first : kUnpacked;
      unpack<U, components, loads>(
        this->meanings, this->symbols + first, count, from, words.data());
      this->sink(first, count, words.data());
      first += count;
    }
  }
  void portable(BitPosition& from, std::size_t first, std::size_t end) const noexcept
  {
    this->run(from, first, end);
  }
#ifdef BAT_AVX2
  // BMI2 has the shifts that it needs.
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

struct Packed
{
  const std::uint8_t* symbols;
  const std::byte* bits;
  std::size_t bits_bytes;
  std::size_t count;
};

template <class U, std::size_t components, class Sink>
void run(const SymbolMeanings<U, components>& meanings, const Packed& packed, Sink sink)
{
  std::size_t most = 0;
  std::size_t most_total = 0;
  for (const auto& meaning : meanings)
  {
    most = std::max<std::size_t>(most, *std::max_element(meaning.bits.begin(), meaning.bits.end()));
    most_total = std::max<std::size_t>(most_total, meaning.total);
  }
  const auto with = [&](auto loop)
  { in_batches(packed.bits, packed.bits_bytes, packed.count, most_total, loop); };
  constexpr std::size_t kInOneLoad = 57;
  if (most_total <= kInOneLoad)
  {
    with(Loop<U, components, Loads::One, Sink>{ meanings, packed.symbols, sink });
  }
  else if (sizeof(U) == sizeof(std::uint32_t) || most <= kInOneLoad)
  {
    with(Loop<U, components, Loads::OneEach, Sink>{ meanings, packed.symbols, sink });
  }
  else
  {
    with(Loop<U, components, Loads::TwoEach, Sink>{ meanings, packed.symbols, sink });
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
void run_differences(const SymbolMeanings<U, components>& meanings, const Packed& packed,
  const Places<U, components>& places)
{
#ifdef BAT_AVX2
  if constexpr (sizeof(U) == sizeof(std::uint32_t) && components == 3)
  {
    if (is_packed(places))
    {
      run(meanings, packed,
        PackedSink<numbers>{ places.values[0], places.step, _mm_setzero_si128() });
      return;
    }
  }
#endif
  run(meanings, packed, DifferenceSink<U, components, numbers>{ places, {} });
}

template <class U>
[[nodiscard]] constexpr U mask_of(unsigned bits) noexcept
{
  return bits >= kBits<U> ? static_cast<U>(~U{ 0 }) : static_cast<U>((U{ 1 } << bits) - 1);
}

template <class U>
[[nodiscard]] std::uint8_t take_bits(FrameReader& reader, const char* what, unsigned most)
{
  const auto bits = reader.number<std::uint8_t>(what);
  if (bits > most)
  {
    refuse_frame(fmt::format("{}: {} bits, at most {} are allowed", what, bits, most));
  }
  return bits;
}
}

template <class U>
void StreamDecoder::decode(
  FrameReader& reader, std::size_t components, std::size_t count, const WordsTo& to)
{
  std::uint32_t missing = (1u << components) - 1;
  while (missing != 0)
  {
    const auto kind = reader.number<std::uint8_t>("the kind of a stream");
    const auto mask = reader.number<std::uint16_t>("the components of a stream");
    if (mask == 0 || (mask & ~missing) != 0)
    {
      refuse_frame(
        fmt::format("a stream has components {:#x}, of which {:#x} are missing", mask, missing));
    }
    missing &= ~std::uint32_t{ mask };
    std::vector<std::size_t> which;
    for (std::size_t c = 0; c != components; ++c)
    {
      if ((mask >> c & 1) != 0)
      {
        which.push_back(c);
      }
    }
    const bool is_joint = kind == static_cast<std::uint8_t>(StreamKind::Differences);
    if (which.size() > (is_joint ? kMostJoint : 1))
    {
      refuse_frame(fmt::format("a stream of kind {} has {} components, at most {} are allowed",
        kind, which.size(), is_joint ? kMostJoint : 1));
    }
    if (is_joint && which.size() == 1)
    {
      this->decode_differences<U, 1>(reader, which, count, to);
    }
    else if (is_joint && which.size() == 2)
    {
      this->decode_differences<U, 2>(reader, which, count, to);
    }
    else if (is_joint)
    {
      this->decode_differences<U, 3>(reader, which, count, to);
    }
    else if (to.step == 0 && kind == static_cast<std::uint8_t>(StreamKind::Heads))
    {
      this->decode_heads<U>(reader, which[0], count, to);
    }
    else if (to.step == 0 && kind == static_cast<std::uint8_t>(StreamKind::Words))
    {
      const std::byte* words = reader.take(count * sizeof(U), "a stream of words");
      for (std::size_t i = 0; i != count; ++i)
      {
        store(to.values + which[0] * sizeof(U) + i * to.stride, load<U>(words + i * sizeof(U)));
      }
    }
    else
    {
      refuse_frame(fmt::format("a stream is of kind {}, which is not allowed there", kind));
    }
  }
}

template <class U, std::size_t components>
void StreamDecoder::decode_differences(
  FrameReader& reader, const std::vector<std::size_t>& which, std::size_t count, const WordsTo& to)
{
  Places<U, components> places;
  places.stride = to.stride;
  places.step = to.step;
  for (std::size_t c = 0; c != components; ++c)
  {
    places.values[c] = to.values + which[c] * sizeof(U);
    places.dropped[c] = take_bits<U>(reader, "dropped bits", to.step != 0 ? 0 : kBits<U> - 1);
  }
  const std::size_t entries = reader.number<std::uint8_t>("a dictionary") + std::size_t{ 1 };
  SymbolMeanings<U, components> meanings;
  for (std::size_t symbol = 0; symbol != entries; ++symbol)
  {
    auto& meaning = meanings[symbol];
    for (std::size_t c = 0; c != components; ++c)
    {
      const auto entry = reader.number<std::uint8_t>("a dictionary");
      const bool adds = (entry & kEntryAdds) != 0;
      const std::uint8_t bits = entry & kEntryBits;
      if (bits + unsigned{ adds } > kBits<U>)
      {
        refuse_frame(
          fmt::format("entry {:#x} of a dictionary is of more than {} bits", entry, kBits<U>));
      }
      meaning.bits[c] = bits;
      meaning.mask[c] = mask_of<U>(bits);
      meaning.base[c] = adds ? static_cast<U>(U{ 1 } << bits) : U{ 0 };
      meaning.total = static_cast<std::uint8_t>(meaning.total + bits);
    }
  }
  this->take_parts(reader, entries, count);
  const Packed packed{ this->symbols_, this->bits_, this->bits_bytes_, count };
  if (to.step != 0)
  {
    run_differences<Numbers::GridPoints>(meanings, packed, places);
  }
  else if (to.floating)
  {
    run_differences<Numbers::Floats>(meanings, packed, places);
  }
  else
  {
    run_differences<Numbers::Integers>(meanings, packed, places);
  }
}

template <class U>
void StreamDecoder::decode_heads(
  FrameReader& reader, std::size_t component, std::size_t count, const WordsTo& to)
{
  Places<U, 1> places{ { to.values + component * sizeof(U) }, to.stride, {}, 0 };
  places.dropped[0] = take_bits<U>(reader, "dropped bits", kBits<U> - 1);
  const std::uint8_t tail_bits = take_bits<U>(reader, "bits below a head", kBits<U> - 1);
  const std::uint8_t escape_bits = take_bits<U>(reader, "bits of a word without a head", kBits<U>);
  const auto base = static_cast<U>(reader.number<std::uint64_t>("the base of heads"));
  const std::size_t heads = reader.number<std::uint8_t>("the number of heads");
  SymbolMeanings<U, 1> meanings;
  for (std::size_t symbol = 0; symbol <= heads; ++symbol)
  {
    auto& meaning = meanings[symbol];
    meaning.base[0] = base;
    meaning.total = meaning.bits[0] = escape_bits;
    if (symbol != heads)
    {
      const U head = reader.number<std::uint16_t>("a head");
      meaning.base[0] = static_cast<U>(base + static_cast<U>(head << tail_bits));
      meaning.total = meaning.bits[0] = tail_bits;
    }
    meaning.mask[0] = mask_of<U>(meaning.total);
  }
  this->take_parts(reader, heads + 1, count);
  run(meanings, Packed{ this->symbols_, this->bits_, this->bits_bytes_, count },
    WordSink<U, 1>{ places });
}

void StreamDecoder::take_parts(FrameReader& reader, std::size_t meanings, std::size_t count)
{
  const std::size_t classes = reader.number<std::uint8_t>("the number of classes");
  if (classes == 0 || classes > kMostClasses)
  {
    refuse_frame(fmt::format("symbols of {} classes, 1 to {} are allowed", classes, kMostClasses));
  }
  const auto symbols_bytes = reader.number<std::uint32_t>("the size of symbols");
  const auto bits_bytes = reader.number<std::uint32_t>("the size of packed bits");
  const std::byte* symbols = reader.take(symbols_bytes, "a part of symbols");
  this->bits_bytes_ = bits_bytes;
  this->bits_ = reader.take(bits_bytes, "a part of packed bits");
  if (classes > 1)
  {
    FrameReader own(symbols, symbols_bytes);
    this->take_classes(own, classes, count);
  }
  else if (symbols_bytes == count)
  {
    this->symbols_ = reinterpret_cast<const std::uint8_t*>(symbols);
  }
  else
  {
    this->room_.resize(count);
    this->symbols_ = this->room_.data();
    if (symbols_bytes == 0)
    {
      std::fill(this->room_.begin(), this->room_.end(), std::uint8_t{ 0 });
    }
    else
    {
      this->zstd_.decompress(symbols, symbols_bytes, this->room_.data(), count);
    }
  }
  if (const std::uint8_t most = *std::max_element(this->symbols_, this->symbols_ + count);
      most >= meanings)
  {
    refuse_frame(fmt::format("symbol {} is not one of {}", most, meanings));
  }
}

void StreamDecoder::take_classes(FrameReader& reader, std::size_t classes, std::size_t count)
{
  const std::size_t blocks = (count + kBlockValues - 1) / kBlockValues;
  const std::byte* packed = reader.take((blocks + 1) / 2, "classes of blocks");
  const auto class_of = [&](std::size_t block)
  { return std::to_integer<std::size_t>(packed[block / 2]) >> (block % 2 * 4) & 15u; };
  const auto values_in = [&](std::size_t block)
  { return std::min(kBlockValues, count - block * kBlockValues); };
  std::array<std::size_t, kMostClasses> counts{};
  for (std::size_t block = 0; block != blocks; ++block)
  {
    if (class_of(block) >= classes)
    {
      refuse_frame(fmt::format("block {} is of class {} of {}", block, class_of(block), classes));
    }
    counts[class_of(block)] += values_in(block);
  }
  this->room_.resize(count);
  this->of_class_.resize(count);
  std::array<const std::uint8_t*, kMostClasses> next{};
  std::size_t first = 0;
  for (std::size_t c = 0; c != classes; ++c)
  {
    const auto bytes = reader.number<std::uint32_t>("the size of symbols of a class");
    const std::byte* symbols = reader.take(bytes, "symbols of a class");
    next[c] = this->of_class_.data() + first;
    if (bytes == counts[c])
    {
      std::memcpy(this->of_class_.data() + first, symbols, bytes);
    }
    else
    {
      this->zstd_.decompress(symbols, bytes, this->of_class_.data() + first, counts[c]);
    }
    first += counts[c];
  }
  if (reader.left() != 0)
  {
    refuse_frame(fmt::format("{} bytes behind the symbols of classes", reader.left()));
  }
  for (std::size_t block = 0; block != blocks; ++block)
  {
    std::memcpy(this->room_.data() + block * kBlockValues, next[class_of(block)], values_in(block));
    next[class_of(block)] += values_in(block);
  }
  this->symbols_ = this->room_.data();
}

template void StreamDecoder::decode<std::uint32_t>(
  FrameReader&, std::size_t, std::size_t, const WordsTo&);
template void StreamDecoder::decode<std::uint64_t>(
  FrameReader&, std::size_t, std::size_t, const WordsTo&);
}
