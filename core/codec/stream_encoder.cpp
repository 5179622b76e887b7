// SPDX-License-Identifier: BSD-3-Clause
#include "codec/stream_encoder.hpp"

#include "codec/append.hpp"
#include "codec/bit_writer.hpp"
#include "codec/differences.hpp"
#include "common/intrinsics.hpp"
#include "common/processor.hpp"

#include <algorithm>

namespace bat::codec
{
namespace
{
/// Words of a stream's components and, if it stores differences, their lengths.
template <class U>
struct Words
{
  std::array<const U*, kMaxJoint> words{};
  std::array<const std::uint8_t*, kMaxJoint> lengths{};
  std::size_t count = 0;
  bool floating = false;
};

// loop(class, first, end, lane) writes the symbols of a block.
template <class U, class Measure, class Loop>
BAT_INLINE void in_lanes(const StreamPlan& plan, std::size_t count, std::byte* symbols,
  std::array<std::size_t, kLanes>& lanes, std::uint8_t* classes, const Measure& measure,
  const Loop& loop)
{
  const std::size_t blocks = (count + kBlockValues - 1) / kBlockValues;
  const std::size_t in_lane = blocks_in_lane(blocks);
  std::size_t block = 0;
  for (std::size_t l = 0; l != kLanes; ++l)
  {
    BitWriter lane(symbols);
    for (std::size_t end_block = std::min(blocks, (l + 1) * in_lane); block < end_block; ++block)
    {
      const std::size_t first = block * kBlockValues;
      const std::size_t end = std::min(count, first + kBlockValues);
      const std::size_t own = plan.limits.empty()
        ? 0
        : plan.class_of(measure(first, end - first) * kBlockValues / (end - first));
      classes[block] = static_cast<std::uint8_t>(own);
      loop(plan.classes[own], first, end, lane);
    }
    std::byte* const end = lane.finish();
    lanes[l] = static_cast<std::size_t>(end - symbols);
    symbols = end;
  }
}

template <std::size_t components, bool in_one, class U>
BAT_INLINE void put_differences(
  const StreamPlan& plan, const Words<U>& from, typename StreamEncoder<U>::Room& room)
{
  BitWriter bits(room.bits);
  const auto measure = [&](std::size_t first, std::size_t count)
  {
    std::uint64_t sum = 0;
    for (std::size_t c = 0; c != components; ++c)
    {
      sum += compute_sum(from.lengths[c] + first, count);
    }
    return sum;
  };
  const auto put = [&](const ClassPlan& own, std::size_t first, std::size_t end, BitWriter& lane)
  {
    const SizeDictionary::Lookup symbols = own.sizes.lookup();
    for (std::size_t i = first; i != end; ++i)
    {
      std::size_t place = 0;
      for (std::size_t c = 0; c != components; ++c)
      {
        place += symbols.offsets[c][from.lengths[c][i]];
      }
      const unsigned symbol = symbols.at(place);
      lane.put(own.codes[symbol].bits, own.codes[symbol].length);
      if (symbol == own.escape)
      {
        for (std::size_t c = 0; c != components; ++c)
        {
          room.escaped->push_back(from.words[c][i]);
        }
        continue;
      }
      const EntryBits& entry = own.entries[symbol];
      if constexpr (in_one)
      {
        std::uint64_t word = 0;
        unsigned total = 0;
        for (std::size_t c = 0; c != components; ++c)
        {
          word |= (from.words[c][i] & entry.mask[c]) << total;
          total += entry.bits[c];
        }
        bits.put(word, total);
      }
      else
      {
        for (std::size_t c = 0; c != components; ++c)
        {
          const std::uint64_t word = from.words[c][i] & entry.mask[c];
          if constexpr (sizeof(U) <= 4)
          {
            bits.put(word, entry.bits[c]);
          }
          else
          {
            bits.put_long(word, entry.bits[c]);
          }
        }
      }
    }
  };
  in_lanes<U>(plan, from.count, room.symbols, room.lanes, room.classes, measure, put);
  room.bits_bytes = static_cast<std::size_t>(bits.finish() - room.bits);
}

template <class U>
BAT_INLINE void put_heads(
  const StreamPlan& plan, const Words<U>& from, typename StreamEncoder<U>::Room& room)
{
  BitWriter bits(room.bits);
  const U* const words = from.words[0];
  const unsigned dropped = plan.dropped[0];
  const auto measure = [&](std::size_t first, std::size_t count)
  { return sum_heads(words + first, count, from.floating, plan.measure_shift); };
  const auto put = [&](const ClassPlan& own, std::size_t first, std::size_t end, BitWriter& lane)
  {
    const HeadDictionary& heads = own.heads;
    const auto base = static_cast<U>(heads.base());
    const unsigned tail_bits = heads.tail_bits();
    const std::uint64_t mask = (std::uint64_t{ 1 } << tail_bits) - 1;
    for (std::size_t i = first; i != end; ++i)
    {
      const auto whole = static_cast<U>(words[i] >> dropped);
      const auto word = static_cast<U>(whole - base);
      const unsigned symbol = heads.symbol_of(std::uint64_t{ word } >> tail_bits);
      lane.put(own.codes[symbol].bits, own.codes[symbol].length);
      if (symbol == own.escape)
      {
        room.escaped->push_back(whole);
        continue;
      }
      bits.put_long(word & mask, tail_bits);
    }
  };
  in_lanes<U>(plan, from.count, room.symbols, room.lanes, room.classes, measure, put);
  room.bits_bytes = static_cast<std::size_t>(bits.finish() - room.bits);
}

template <class U>
BAT_INLINE void put_stream(
  const StreamPlan& plan, const Words<U>& from, typename StreamEncoder<U>::Room& room)
{
  if (plan.kind == StreamKind::Heads)
  {
    put_heads<U>(plan, from, room);
    return;
  }
  const bool in_one = plan.max_bits <= BitWriter::kMaxPutBits;
  const std::size_t components = plan.components.size();
  if (components == 1)
  {
    in_one ? put_differences<1, true, U>(plan, from, room)
           : put_differences<1, false, U>(plan, from, room);
  }
  else if (components == 2)
  {
    in_one ? put_differences<2, true, U>(plan, from, room)
           : put_differences<2, false, U>(plan, from, room);
  }
  else
  {
    in_one ? put_differences<3, true, U>(plan, from, room)
           : put_differences<3, false, U>(plan, from, room);
  }
}

#ifdef BAT_AVX2
// BMI2 provides the shifts used here.
template <class U>
BAT_AVX2 void put_stream_avx2(
  const StreamPlan& plan, const Words<U>& from, typename StreamEncoder<U>::Room& room)
{
  put_stream<U>(plan, from, room);
}

template <class U>
BAT_AVX2 U fill_differences_avx2(const U* words, std::size_t count, unsigned dropped, bool floating,
  U* zigzags, std::uint8_t* lengths) noexcept
{
  return fill_differences(words, count, dropped, floating, zigzags, lengths);
}
#endif

template <class U>
U fill(const U* words, std::size_t count, unsigned dropped, bool floating, U* zigzags,
  std::uint8_t* lengths) noexcept
{
#ifdef BAT_AVX2
  if (processor::has_avx2())
  {
    return fill_differences_avx2(words, count, dropped, floating, zigzags, lengths);
  }
#endif
  return fill_differences(words, count, dropped, floating, zigzags, lengths);
}

template <class U>
void put(const StreamPlan& plan, const Words<U>& from, typename StreamEncoder<U>::Room& room)
{
#ifdef BAT_AVX2
  if (processor::has_avx2())
  {
    put_stream_avx2<U>(plan, from, room);
    return;
  }
#endif
  put_stream<U>(plan, from, room);
}
}

template <class U>
void StreamEncoder<U>::resize(std::size_t components, std::size_t count)
{
  this->components_ = components;
  this->count_ = count;
  this->words_.resize(std::max(this->words_.size(), components * count));
}

template <class U>
void StreamEncoder<U>::append(
  const std::vector<StreamPlan>& streams, bool floating, std::vector<std::byte>& to)
{
  for (const StreamPlan& plan : streams)
  {
    switch (plan.kind)
    {
      case StreamKind::Differences:
        this->append_differences(plan, floating, to);
        break;
      case StreamKind::Heads:
        this->append_heads(plan, floating, to);
        break;
      case StreamKind::Words:
      {
        const auto* bytes = reinterpret_cast<const std::byte*>(this->words(plan.components[0]));
        to.insert(to.end(), bytes, bytes + this->count_ * sizeof(U));
        break;
      }
    }
  }
}

template <class U>
void StreamEncoder<U>::append_differences(
  const StreamPlan& plan, bool floating, std::vector<std::byte>& to)
{
  const std::size_t components = plan.components.size();
  const std::size_t numbers = components * this->count_;
  this->zigzags_.resize(std::max(this->zigzags_.size(), numbers));
  this->lengths_.resize(std::max(this->lengths_.size(), numbers));
  Words<U> words;
  words.count = this->count_;
  for (std::size_t j = 0; j != components; ++j)
  {
    U* const zigzags = this->zigzags_.data() + j * this->count_;
    std::uint8_t* const lengths = this->lengths_.data() + j * this->count_;
    const U before = fill(
      this->words(plan.components[j]), this->count_, plan.dropped[j], floating, zigzags, lengths);
    append_varint(to, zigzag(before));
    words.words[j] = zigzags;
    words.lengths[j] = lengths;
  }
  Room room = this->make_room(components);
  put<U>(plan, words, room);
  this->append_room(room, plan, to);
}

template <class U>
void StreamEncoder<U>::append_heads(
  const StreamPlan& plan, bool floating, std::vector<std::byte>& to)
{
  Words<U> words;
  words.count = this->count_;
  words.floating = floating;
  words.words[0] = this->words(plan.components[0]);
  Room room = this->make_room(1);
  put<U>(plan, words, room);
  this->append_room(room, plan, to);
}

template <class U>
typename StreamEncoder<U>::Room StreamEncoder<U>::make_room(std::size_t components)
{
  const std::size_t symbols = this->count_ * kMaxCodeBits / 8 + kLanes + kBitSlack;
  const std::size_t bits = components * this->count_ * sizeof(U) + kBitSlack;
  this->symbols_.resize(std::max(this->symbols_.size(), symbols));
  this->bits_.resize(std::max(this->bits_.size(), bits));
  this->classes_.resize(
    std::max(this->classes_.size(), (this->count_ + kBlockValues - 1) / kBlockValues));
  this->escaped_.clear();
  Room room{};
  room.symbols = this->symbols_.data();
  room.bits = this->bits_.data();
  room.classes = this->classes_.data();
  room.escaped = &this->escaped_;
  return room;
}

template <class U>
void StreamEncoder<U>::append_room(
  const Room& room, const StreamPlan& plan, std::vector<std::byte>& to) const
{
  append_varint(to, this->escaped_.size() / plan.components.size());
  std::size_t symbols_bytes = 0;
  for (const std::size_t bytes : room.lanes)
  {
    append_varint(to, bytes);
    symbols_bytes += bytes;
  }
  append_varint(to, room.bits_bytes);
  const std::size_t blocks = (this->count_ + kBlockValues - 1) / kBlockValues;
  const unsigned bits = class_bits(plan.classes.size());
  const std::size_t classes_at = to.size();
  to.resize(classes_at + (blocks * bits + 7) / 8);
  for (std::size_t block = 0; block != blocks; ++block)
  {
    for (unsigned bit = 0; bit != bits; ++bit)
    {
      const std::size_t position = block * bits + bit;
      to[classes_at + position / 8] |=
        static_cast<std::byte>((room.classes[block] >> bit & 1) << position % 8);
    }
  }
  to.insert(to.end(), room.symbols, room.symbols + symbols_bytes);
  to.insert(to.end(), room.bits, room.bits + room.bits_bytes);
  const auto* escaped = reinterpret_cast<const std::byte*>(this->escaped_.data());
  to.insert(to.end(), escaped, escaped + this->escaped_.size() * sizeof(U));
}

template class StreamEncoder<std::uint32_t>;
template class StreamEncoder<std::uint64_t>;
}
