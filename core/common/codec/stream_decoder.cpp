#include "common/codec/stream_decoder.hpp"

#include "common/codec/stream_loops.hpp"
#include "common/intrinsics.hpp"
#include "common/processor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>

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

/// f, and f where the processor has BMI2.
template <class F>
struct Twins
{
  const F& f;

  void portable(BitPosition& from, std::size_t first, std::size_t end) const
  {
    this->f(from, first, end);
  }
#ifdef BAT_AVX2
  BAT_AVX2 void avx2(BitPosition& from, std::size_t first, std::size_t end) const
  {
    this->f(from, first, end);
  }
#endif
  void operator()(BitPosition& from, std::size_t first, std::size_t end) const
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

template <class U, std::size_t components, bool wide, class Put>
struct DifferenceLoop
{
  const SymbolMeanings& meanings;
  const std::uint8_t* symbols;
  std::array<U, kMostJoint>& before;
  const std::array<Put, components>& put;

  BAT_INLINE void operator()(BitPosition& from, std::size_t first, std::size_t end) const
  {
    difference_loop<U, components, wide>(
      this->meanings, this->symbols, first, end, from, this->before, this->put);
  }
};

template <class U, bool wide>
struct HeadLoop
{
  const SymbolMeanings& meanings;
  const std::uint8_t* symbols;
  unsigned dropped;
  std::byte* values;
  std::size_t stride;

  BAT_INLINE void operator()(BitPosition& from, std::size_t first, std::size_t end) const
  {
    head_loop<U, wide>(
      this->meanings, this->symbols, first, end, from, this->dropped, this->values, this->stride);
  }
};

struct Packed
{
  const std::uint8_t* symbols;
  const std::byte* bits;
  std::size_t bits_bytes;
  std::size_t count;
};

[[nodiscard]] std::size_t most_total(const SymbolMeanings& meanings) noexcept
{
  std::size_t most = 0;
  for (const SymbolMeaning& meaning : meanings)
  {
    most = std::max<std::size_t>(most, meaning.total);
  }
  return most;
}

[[nodiscard]] bool is_wide(const SymbolMeanings& meanings) noexcept
{
  return std::any_of(meanings.begin(), meanings.end(),
    [](const SymbolMeaning& meaning)
    { return *std::max_element(meaning.bits.begin(), meaning.bits.end()) > 57; });
}

template <class U, bool wide, std::size_t components, class Put>
void run_differences(
  const SymbolMeanings& meanings, const Packed& packed, const std::array<Put, components>& put)
{
  std::array<U, kMostJoint> before{};
  const DifferenceLoop<U, components, wide, Put> loop{ meanings, packed.symbols, before, put };
  in_batches(packed.bits, packed.bits_bytes, packed.count, most_total(meanings),
    Twins<DifferenceLoop<U, components, wide, Put>>{ loop });
}

template <class U, std::size_t components, class Put>
void put_differences(
  const SymbolMeanings& meanings, const Packed& packed, const std::array<Put, components>& put)
{
  if (is_wide(meanings))
  {
    run_differences<U, true>(meanings, packed, put);
  }
  else
  {
    run_differences<U, false>(meanings, packed, put);
  }
}

template <class U, std::size_t components>
void put_differences(const SymbolMeanings& meanings, const Packed& packed,
  const std::vector<std::size_t>& which, const std::array<std::uint8_t, kMostJoint>& dropped,
  const WordsTo& to, std::size_t component_bytes)
{
  const auto fill = [&](auto make)
  {
    std::array<decltype(make(std::size_t{})), components> put;
    for (std::size_t j = 0; j != components; ++j)
    {
      put[j] = make(j);
    }
    put_differences<U>(meanings, packed, put);
  };
  const auto place = [&](std::size_t j) { return to.values + which[j] * component_bytes; };
  if constexpr (sizeof(U) == sizeof(std::uint64_t))
  {
    if (to.step != 0 && to.float32)
    {
      fill([&](std::size_t j) { return PutGridPoints<float>{ place(j), to.stride, to.step }; });
      return;
    }
    if (to.step != 0)
    {
      fill([&](std::size_t j) { return PutGridPoints<double>{ place(j), to.stride, to.step }; });
      return;
    }
  }
  if (to.floating)
  {
    fill([&](std::size_t j) { return PutNumbers<U, true>{ place(j), to.stride, dropped[j] }; });
  }
  else
  {
    fill([&](std::size_t j) { return PutNumbers<U, false>{ place(j), to.stride, dropped[j] }; });
  }
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
void StreamDecoder::decode(FrameReader& reader, std::size_t components, std::size_t count,
  const WordsTo& to, std::size_t component_bytes)
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
    WordsTo own = to;
    own.values += which[0] * component_bytes;
    if (is_joint)
    {
      this->decode_differences<U>(reader, which, count, to, component_bytes);
    }
    else if (to.step == 0 && kind == static_cast<std::uint8_t>(StreamKind::Heads))
    {
      this->decode_heads<U>(reader, count, own);
    }
    else if (to.step == 0 && kind == static_cast<std::uint8_t>(StreamKind::Words))
    {
      this->decode_words<U>(reader, count, own);
    }
    else
    {
      refuse_frame(fmt::format("a stream is of kind {}, which is not allowed there", kind));
    }
  }
}

template <class U>
void StreamDecoder::decode_words(FrameReader& reader, std::size_t count, const WordsTo& to)
{
  const std::byte* words = reader.take(count * sizeof(U), "a stream of words");
  for (std::size_t i = 0; i != count; ++i)
  {
    store(to.values + i * to.stride, load<U>(words + i * sizeof(U)));
  }
}

template <class U>
void StreamDecoder::decode_differences(FrameReader& reader, const std::vector<std::size_t>& which,
  std::size_t count, const WordsTo& to, std::size_t component_bytes)
{
  std::array<std::uint8_t, kMostJoint> dropped{};
  for (std::size_t j = 0; j != which.size(); ++j)
  {
    dropped[j] = take_bits<U>(reader, "dropped bits", to.step != 0 ? 0 : kBits<U> - 1);
  }
  const std::size_t entries = reader.number<std::uint8_t>("a dictionary") + std::size_t{ 1 };
  SymbolMeanings meanings;
  for (std::size_t symbol = 0; symbol != entries; ++symbol)
  {
    SymbolMeaning& meaning = meanings[symbol];
    for (std::size_t j = 0; j != which.size(); ++j)
    {
      const auto entry = reader.number<std::uint8_t>("a dictionary");
      const bool adds = (entry & kEntryAdds) != 0;
      meaning.bits[j] = entry & kEntryBits;
      if (meaning.bits[j] + unsigned{ adds } > kBits<U>)
      {
        refuse_frame(
          fmt::format("entry {:#x} of a dictionary is of more than {} bits", entry, kBits<U>));
      }
      meaning.base[j] = adds ? std::uint64_t{ 1 } << meaning.bits[j] : 0;
      meaning.total = static_cast<std::uint8_t>(meaning.total + meaning.bits[j]);
    }
  }
  this->take_parts(reader, entries, count);
  const Packed packed{ this->symbols_, this->bits_, this->bits_bytes_, count };
  switch (which.size())
  {
    case 1:
      put_differences<U, 1>(meanings, packed, which, dropped, to, component_bytes);
      break;
    case 2:
      put_differences<U, 2>(meanings, packed, which, dropped, to, component_bytes);
      break;
    default:
      put_differences<U, 3>(meanings, packed, which, dropped, to, component_bytes);
      break;
  }
}

template <class U>
void StreamDecoder::decode_heads(FrameReader& reader, std::size_t count, const WordsTo& to)
{
  const unsigned dropped = take_bits<U>(reader, "dropped bits", kBits<U> - 1);
  const std::uint8_t tail_bits = take_bits<U>(reader, "bits below a head", kBits<U> - 1);
  const std::uint8_t escape_bits = take_bits<U>(reader, "bits of a word without a head", kBits<U>);
  const auto base = reader.number<std::uint64_t>("the base of heads");
  const std::size_t heads = reader.number<std::uint8_t>("the number of heads");
  SymbolMeanings meanings;
  for (std::size_t symbol = 0; symbol <= heads; ++symbol)
  {
    SymbolMeaning& meaning = meanings[symbol];
    meaning.base[0] = base;
    meaning.total = meaning.bits[0] = escape_bits;
    if (symbol != heads)
    {
      meaning.base[0] += std::uint64_t{ reader.number<std::uint16_t>("a head") } << tail_bits;
      meaning.total = meaning.bits[0] = tail_bits;
    }
  }
  this->take_parts(reader, heads + 1, count);
  const auto put = [&](auto loop)
  {
    in_batches(
      this->bits_, this->bits_bytes_, count, most_total(meanings), Twins<decltype(loop)>{ loop });
  };
  if (is_wide(meanings))
  {
    put(HeadLoop<U, true>{ meanings, this->symbols_, dropped, to.values, to.stride });
  }
  else
  {
    put(HeadLoop<U, false>{ meanings, this->symbols_, dropped, to.values, to.stride });
  }
}

void StreamDecoder::take_parts(FrameReader& reader, std::size_t meanings, std::size_t count)
{
  const auto symbols_bytes = reader.number<std::uint32_t>("the size of symbols");
  const auto bits_bytes = reader.number<std::uint32_t>("the size of packed bits");
  const std::byte* symbols = reader.take(symbols_bytes, "a part of symbols");
  this->bits_bytes_ = bits_bytes;
  this->bits_ = reader.take(bits_bytes, "a part of packed bits");
  if (symbols_bytes == count)
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

template void StreamDecoder::decode<std::uint32_t>(
  FrameReader&, std::size_t, std::size_t, const WordsTo&, std::size_t);
template void StreamDecoder::decode<std::uint64_t>(
  FrameReader&, std::size_t, std::size_t, const WordsTo&, std::size_t);
}
