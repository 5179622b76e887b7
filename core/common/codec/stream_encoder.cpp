// SPDX-License-Identifier: BSD-3-Clause
#include "common/codec/stream_encoder.hpp"

#include "common/codec/bit_writer.hpp"
#include "common/codec/fixed_log2.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace bat::codec
{
namespace
{
template <class T>
void append_number(std::vector<std::byte>& to, T number)
{
  const auto* bytes = reinterpret_cast<const std::byte*>(&number);
  to.insert(to.end(), bytes, bytes + sizeof(T));
}

void append_kind(StreamKind kind, std::uint16_t mask, std::vector<std::byte>& to)
{
  append_number(to, static_cast<std::uint8_t>(kind));
  append_number(to, mask);
}

std::uint16_t bit_of(std::size_t component) noexcept
{
  return static_cast<std::uint16_t>(1u << component);
}

// Lowest bits that are 0 in all words.
template <class U>
unsigned zeros_below(const U* words, std::size_t count) noexcept
{
  U all = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    all = static_cast<U>(all | words[i]);
  }
  return all == 0 ? 0 : bit_length(static_cast<U>(all & (0 - all))) - 1;
}

template <class U>
void fill_differences(const U* words, std::size_t count, unsigned dropped, bool floating,
  U* zigzags, std::uint8_t* lengths) noexcept
{
  U before = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    const U word = floating ? ranked(words[i], dropped) : static_cast<U>(words[i] >> dropped);
    zigzags[i] = zigzag(static_cast<U>(word - before));
    lengths[i] = static_cast<std::uint8_t>(bit_length(zigzags[i]));
    before = word;
  }
}

constexpr std::uint64_t low_bits(unsigned bits) noexcept
{
  return bits >= 64 ? ~std::uint64_t{ 0 } : (std::uint64_t{ 1 } << bits) - 1;
}

struct EntryBits
{
  std::array<std::uint64_t, kMostJoint> mask{};
  std::array<std::uint8_t, kMostJoint> bits{};
};

template <std::size_t components, class U>
void put_differences(const SizeDictionary& sizes, const std::uint8_t* symbols,
  const std::array<const U*, kMostJoint>& zigzags, std::size_t count, BitWriter& to)
{
  std::array<EntryBits, kSymbols> entries{};
  unsigned most = 0; // of a value
  for (std::size_t symbol = 0; symbol != sizes.size(); ++symbol)
  {
    unsigned total = 0;
    for (std::size_t c = 0; c != components; ++c)
    {
      const std::uint8_t bits = sizes.entry(symbol)[c] & kEntryBits;
      entries[symbol].bits[c] = bits;
      entries[symbol].mask[c] = low_bits(bits);
      total += bits;
    }
    most = std::max(most, total);
  }
  BitWriter writer = to;
  const auto each = [&](const auto& put)
  {
    for (std::size_t i = 0; i != count; ++i)
    {
      put(i, entries[symbols[i]]);
    }
  };
  if (most <= BitWriter::kMost)
  {
    each(
      [&](std::size_t i, const EntryBits& entry)
      {
        std::uint64_t word = 0;
        unsigned total = 0;
        for (std::size_t c = 0; c != components; ++c)
        {
          word |= (zigzags[c][i] & entry.mask[c]) << total;
          total += entry.bits[c];
        }
        writer.put(word, total);
      });
  }
  else
  {
    each(
      [&](std::size_t i, const EntryBits& entry)
      {
        for (std::size_t c = 0; c != components; ++c)
        {
          const std::uint64_t word = zigzags[c][i] & entry.mask[c];
          if constexpr (sizeof(U) <= 4)
          {
            writer.put(word, entry.bits[c]);
          }
          else
          {
            writer.put_long(word, entry.bits[c]);
          }
        }
      });
  }
  to = writer;
}
}

template <class U>
void StreamEncoder<U>::resize(std::size_t components, std::size_t count)
{
  this->components_ = components;
  this->count_ = count;
  this->words_.resize(components * count);
  this->zigzags_.resize(components * count);
  this->lengths_.resize(components * count);
  this->dropped_.resize(components);
  this->kinds_.resize(components);
  this->heads_.resize(std::max(this->heads_.size(), components));
  this->symbols_.resize(count);
}

template <class U>
void StreamEncoder<U>::append(bool floating, ZstdCompressor& zstd, std::vector<std::byte>& to)
{
  std::vector<std::size_t> joint;
  for (std::size_t c = 0; c != this->components_; ++c)
  {
    this->choose(c, floating);
    if (this->kinds_[c] == StreamKind::Words)
    {
      this->append_words(c, to);
    }
    else if (this->kinds_[c] == StreamKind::Heads)
    {
      this->append_heads(c, zstd, to);
    }
    else
    {
      joint.push_back(c);
    }
    if (joint.size() == kMostJoint || (c + 1 == this->components_ && !joint.empty()))
    {
      this->append_differences(joint, zstd, to);
      joint.clear();
    }
  }
}

template <class U>
void StreamEncoder<U>::append_differences_only(ZstdCompressor& zstd, std::vector<std::byte>& to)
{
  std::vector<std::size_t> joint;
  for (std::size_t c = 0; c != this->components_; ++c)
  {
    this->dropped_[c] = 0;
    fill_differences(this->words(c), this->count_, 0, false,
      this->zigzags_.data() + c * this->count_, this->lengths_.data() + c * this->count_);
    joint.push_back(c);
    if (joint.size() == kMostJoint || c + 1 == this->components_)
    {
      this->append_differences(joint, zstd, to);
      joint.clear();
    }
  }
}

template <class U>
void StreamEncoder<U>::choose(std::size_t component, bool floating)
{
  const U* words = this->words(component);
  const unsigned dropped = zeros_below(words, this->count_);
  this->dropped_[component] = dropped;
  fill_differences(words, this->count_, dropped, floating,
    this->zigzags_.data() + component * this->count_,
    this->lengths_.data() + component * this->count_);
  const std::uint64_t of_differences = this->differences_length(component);
  std::uint64_t shortest = of_differences;
  this->kinds_[component] = StreamKind::Differences;
  if (this->may_have_heads(component, of_differences))
  {
    HeadDictionary& heads = this->heads_[component];
    heads.build(words, this->count_, dropped);
    if (heads.length() < shortest)
    {
      shortest = heads.length();
      this->kinds_[component] = StreamKind::Heads;
    }
  }
  const std::uint64_t of_words = kBits<U> * this->count_ * kOneBit;
  if (shortest > of_words - of_words / 64) // less gain is not worth the time to read it
  {
    this->kinds_[component] = StreamKind::Words;
  }
}

// From a sample: false if heads would be longer.
template <class U>
bool StreamEncoder<U>::may_have_heads(std::size_t component, std::uint64_t others_length)
{
  constexpr std::size_t kSample = 2048;
  const std::size_t step = this->count_ / kSample;
  if (step < 4)
  {
    return true;
  }
  const U* words = this->words(component);
  this->sample_.resize(kSample);
  for (std::size_t i = 0; i != kSample; ++i)
  {
    this->sample_[i] = words[i * step];
  }
  HeadDictionary& heads = this->heads_[component];
  heads.build(this->sample_.data(), kSample, this->dropped_[component]);
  // Few words seem to have fewer kinds of heads than they have.
  return (heads.length() - heads.own_length()) * step < others_length + others_length / 64;
}

template <class U>
std::uint64_t StreamEncoder<U>::differences_length(std::size_t component) const noexcept
{
  std::array<std::uint32_t, 65> counts{};
  const std::uint8_t* lengths = this->lengths_.data() + component * this->count_;
  for (std::size_t i = 0; i != this->count_; ++i)
  {
    ++counts[lengths[i]];
  }
  std::uint64_t result = 0;
  for (std::uint64_t length = 0; length != counts.size(); ++length)
  {
    const std::uint64_t bits = length == 0 ? 0 : length - 1;
    result += symbols_length(counts[length], this->count_) + bits * counts[length] * kOneBit;
  }
  return result;
}

template <class U>
void StreamEncoder<U>::append_words(std::size_t component, std::vector<std::byte>& to) const
{
  append_kind(StreamKind::Words, bit_of(component), to);
  const auto* bytes =
    reinterpret_cast<const std::byte*>(this->words_.data() + component * this->count_);
  to.insert(to.end(), bytes, bytes + this->count_ * sizeof(U));
}

template <class U>
void StreamEncoder<U>::append_differences(
  const std::vector<std::size_t>& components, ZstdCompressor& zstd, std::vector<std::byte>& to)
{
  std::array<const std::uint8_t*, kMostJoint> lengths{};
  std::array<const U*, kMostJoint> zigzags{};
  std::uint16_t mask = 0;
  for (std::size_t j = 0; j != components.size(); ++j)
  {
    lengths[j] = this->lengths_.data() + components[j] * this->count_;
    zigzags[j] = this->zigzags_.data() + components[j] * this->count_;
    mask = static_cast<std::uint16_t>(mask | bit_of(components[j]));
  }
  SizeDictionary& sizes = this->sizes_;
  sizes.build(lengths, components.size(), this->count_);
  append_kind(StreamKind::Differences, mask, to);
  for (const std::size_t component : components)
  {
    append_number(to, static_cast<std::uint8_t>(this->dropped_[component]));
  }
  append_number(to, static_cast<std::uint8_t>(sizes.size() - 1));
  for (std::size_t symbol = 0; symbol != sizes.size(); ++symbol)
  {
    for (std::size_t j = 0; j != components.size(); ++j)
    {
      append_number(to, sizes.entry(symbol)[j]);
    }
  }
  sizes.symbols(this->symbols_.data());
  this->bits_.resize(components.size() * this->count_ * sizeof(U) + kBitSlack);
  BitWriter writer(this->bits_.data());
  switch (components.size())
  {
    case 1:
      put_differences<1>(sizes, this->symbols_.data(), zigzags, this->count_, writer);
      break;
    case 2:
      put_differences<2>(sizes, this->symbols_.data(), zigzags, this->count_, writer);
      break;
    default:
      put_differences<3>(sizes, this->symbols_.data(), zigzags, this->count_, writer);
      break;
  }
  const auto bits_bytes = static_cast<std::size_t>(writer.finish() - this->bits_.data());
  this->sums_.assign((this->count_ + kBlockValues - 1) / kBlockValues, 0);
  for (std::size_t j = 0; j != components.size(); ++j)
  {
    for (std::size_t block = 0; block != this->sums_.size(); ++block)
    {
      const std::size_t first = block * kBlockValues;
      const std::size_t end = std::min(this->count_, first + kBlockValues);
      this->sums_[block] =
        std::accumulate(lengths[j] + first, lengths[j] + end, this->sums_[block]);
    }
  }
  this->append_parts(sizes.size() > 1, true, bits_bytes, zstd, to);
}

template <class U>
void StreamEncoder<U>::append_heads(
  std::size_t component, ZstdCompressor& zstd, std::vector<std::byte>& to)
{
  const HeadDictionary& heads = this->heads_[component];
  const unsigned dropped = this->dropped_[component];
  append_kind(StreamKind::Heads, bit_of(component), to);
  append_number(to, static_cast<std::uint8_t>(dropped));
  append_number(to, static_cast<std::uint8_t>(heads.tail_bits()));
  append_number(to, static_cast<std::uint8_t>(heads.escape_bits()));
  append_number(to, heads.base());
  append_number(to, static_cast<std::uint8_t>(heads.heads().size()));
  for (const std::uint16_t head : heads.heads())
  {
    append_number(to, head);
  }
  this->bits_.resize(this->count_ * sizeof(U) + kBitSlack);
  BitWriter writer(this->bits_.data());
  const U* words = this->words(component);
  const auto base = static_cast<U>(heads.base());
  bool has_symbols = false;
  for (std::size_t i = 0; i != this->count_; ++i)
  {
    const auto word = static_cast<U>(static_cast<U>(words[i] >> dropped) - base);
    const std::uint8_t symbol = heads.symbol_of(std::uint64_t{ word } >> heads.tail_bits());
    this->symbols_[i] = symbol;
    has_symbols |= symbol != 0;
    const unsigned bits = symbol == heads.heads().size() ? heads.escape_bits() : heads.tail_bits();
    writer.put_long(word & low_bits(bits), bits);
  }
  const auto bits_bytes = static_cast<std::size_t>(writer.finish() - this->bits_.data());
  this->append_parts(has_symbols, false, bits_bytes, zstd, to);
}

// Symbols that are all 0 take nothing.
template <class U>
void StreamEncoder<U>::append_parts(bool has_symbols, bool has_classes, std::size_t bits_bytes,
  ZstdCompressor& zstd, std::vector<std::byte>& to)
{
  const std::size_t classes = has_symbols && has_classes ? this->choose_classes() : 1;
  append_number(to, static_cast<std::uint8_t>(classes));
  const std::size_t sizes_at = to.size();
  to.resize(sizes_at + kPartSizes);
  const std::size_t symbols_at = to.size();
  if (classes > 1)
  {
    this->append_classes(classes, zstd, to);
  }
  else if (has_symbols)
  {
    this->append_symbols(this->symbols_.data(), this->count_, zstd, to);
  }
  store(to.data() + sizes_at, static_cast<std::uint32_t>(to.size() - symbols_at));
  store(to.data() + sizes_at + 4, static_cast<std::uint32_t>(bits_bytes));
  to.insert(
    to.end(), this->bits_.begin(), this->bits_.begin() + static_cast<std::ptrdiff_t>(bits_bytes));
}

template <class U>
void StreamEncoder<U>::append_symbols(const std::uint8_t* symbols, std::size_t count,
  ZstdCompressor& zstd, std::vector<std::byte>& to) const
{
  if (!zstd.append(Content::Symbols, symbols, count, count, to))
  {
    const auto* bytes = reinterpret_cast<const std::byte*>(symbols);
    to.insert(to.end(), bytes, bytes + count);
  }
}

// Blocks of as many lengths of words are of one class: what is frequent differs between them.
// Returns 1 if one code for all seems to be shorter.
template <class U>
std::size_t StreamEncoder<U>::choose_classes()
{
  constexpr std::size_t kBlocksInClass = 16;
  constexpr std::uint64_t kCode = 100 * 8 * kOneBit; // of a class more
  const std::size_t blocks = this->sums_.size();
  const std::size_t classes = std::min(kMostClasses, blocks / kBlocksInClass);
  if (classes < 2)
  {
    return 1;
  }
  std::vector<std::uint32_t> sorted = this->sums_;
  std::sort(sorted.begin(), sorted.end());
  this->classes_.resize(blocks);
  std::vector<std::array<std::uint32_t, kSymbols>> counts(classes);
  std::array<std::uint32_t, kSymbols> all{};
  for (std::size_t block = 0; block != blocks; ++block)
  {
    std::size_t own = 0;
    while (own + 1 != classes && this->sums_[block] >= sorted[(own + 1) * blocks / classes])
    {
      ++own;
    }
    this->classes_[block] = static_cast<std::uint8_t>(own);
    const std::size_t end = std::min(this->count_, (block + 1) * kBlockValues);
    for (std::size_t i = block * kBlockValues; i != end; ++i)
    {
      ++counts[own][this->symbols_[i]];
      ++all[this->symbols_[i]];
    }
  }
  const auto length = [](const std::array<std::uint32_t, kSymbols>& some)
  {
    std::uint64_t total = 0;
    for (const std::uint32_t count : some)
    {
      total += count;
    }
    std::uint64_t result = kCode;
    for (const std::uint32_t count : some)
    {
      result += symbols_length(count, total);
    }
    return result;
  };
  std::uint64_t apart = 4 * blocks * kOneBit;
  for (const auto& some : counts)
  {
    apart += length(some);
  }
  return apart < length(all) ? classes : 1;
}

template <class U>
void StreamEncoder<U>::append_classes(
  std::size_t classes, ZstdCompressor& zstd, std::vector<std::byte>& to)
{
  for (std::size_t block = 0; block < this->classes_.size(); block += 2)
  {
    const unsigned next = block + 1 < this->classes_.size() ? this->classes_[block + 1] : 0u;
    append_number(to, static_cast<std::uint8_t>(this->classes_[block] | next << 4));
  }
  for (std::size_t c = 0; c != classes; ++c)
  {
    this->of_class_.clear();
    for (std::size_t block = 0; block != this->classes_.size(); ++block)
    {
      if (this->classes_[block] == c)
      {
        const std::size_t end = std::min(this->count_, (block + 1) * kBlockValues);
        this->of_class_.insert(this->of_class_.end(),
          this->symbols_.begin() + static_cast<std::ptrdiff_t>(block * kBlockValues),
          this->symbols_.begin() + static_cast<std::ptrdiff_t>(end));
      }
    }
    const std::size_t size_at = to.size();
    append_number(to, std::uint32_t{ 0 });
    const std::size_t symbols_at = to.size();
    if (!this->of_class_.empty())
    {
      this->append_symbols(this->of_class_.data(), this->of_class_.size(), zstd, to);
    }
    store(to.data() + size_at, static_cast<std::uint32_t>(to.size() - symbols_at));
  }
}

template class StreamEncoder<std::uint32_t>;
template class StreamEncoder<std::uint64_t>;
}
