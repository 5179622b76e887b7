#include "common/codec/stream_encoder.hpp"

#include "common/codec/bit_writer.hpp"
#include "common/codec/fixed_log2.hpp"

#include <algorithm>

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
  HeadDictionary& heads = this->heads_[component];
  heads.build(words, this->count_, dropped);
  const std::uint64_t of_words = kBits<U> * this->count_ * kOneBit;
  const std::uint64_t of_differences = this->differences_length(component);
  const std::uint64_t shorter = std::min(of_differences, heads.length());
  // Less gain is not worth the time to read it.
  this->kinds_[component] = shorter > of_words - of_words / 64 ? StreamKind::Words
    : of_differences <= heads.length()                         ? StreamKind::Differences
                                                               : StreamKind::Heads;
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
  this->bits_.resize(components.size() * this->count_ * sizeof(U) + kBitSlack);
  BitWriter writer(this->bits_.data());
  for (std::size_t i = 0; i != this->count_; ++i)
  {
    Lengths of_value{};
    for (std::size_t j = 0; j != components.size(); ++j)
    {
      of_value[j] = lengths[j][i];
    }
    this->symbols_[i] = sizes.symbol_of(of_value);
    const Lengths& entry = sizes.entry(this->symbols_[i]);
    for (std::size_t j = 0; j != components.size(); ++j)
    {
      const unsigned bits = entry[j] & kEntryBits;
      writer.put(zigzags[j][i] & low_bits(bits), bits);
    }
  }
  const auto bits_bytes = static_cast<std::size_t>(writer.finish() - this->bits_.data());
  this->append_parts(sizes.size() > 1, bits_bytes, zstd, to);
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
    writer.put(word & low_bits(bits), bits);
  }
  const auto bits_bytes = static_cast<std::size_t>(writer.finish() - this->bits_.data());
  this->append_parts(has_symbols, bits_bytes, zstd, to);
}

// Symbols that are all 0 take nothing.
template <class U>
void StreamEncoder<U>::append_parts(
  bool has_symbols, std::size_t bits_bytes, ZstdCompressor& zstd, std::vector<std::byte>& to) const
{
  const std::size_t sizes_at = to.size();
  to.resize(sizes_at + kPartSizes);
  const std::size_t symbols_at = to.size();
  if (has_symbols &&
    !zstd.append(Content::Symbols, this->symbols_.data(), this->count_, this->count_, to))
  {
    const auto* bytes = reinterpret_cast<const std::byte*>(this->symbols_.data());
    to.insert(to.end(), bytes, bytes + this->count_);
  }
  store(to.data() + sizes_at, static_cast<std::uint32_t>(to.size() - symbols_at));
  store(to.data() + sizes_at + 4, static_cast<std::uint32_t>(bits_bytes));
  to.insert(
    to.end(), this->bits_.begin(), this->bits_.begin() + static_cast<std::ptrdiff_t>(bits_bytes));
}

template class StreamEncoder<std::uint32_t>;
template class StreamEncoder<std::uint64_t>;
}
