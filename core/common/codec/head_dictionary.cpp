// SPDX-License-Identifier: BSD-3-Clause
#include "common/codec/head_dictionary.hpp"

#include "common/codec/fixed_log2.hpp"

#include <algorithm>
#include <limits>

namespace bat::codec
{
namespace
{
constexpr unsigned kMostHeadBits = 14;
constexpr std::uint64_t kHeadLength = 16 * kOneBit; // in the dictionary
constexpr std::size_t kManyKinds = 1024;            // heads are not frequent
constexpr int kTries = 4;
constexpr unsigned kMostTailBits = 63;
}

template <class U>
void HeadDictionary::build(const U* words, std::size_t count, unsigned dropped)
{
  const auto [least, most] = std::minmax_element(words, words + count);
  const U base = static_cast<U>(*least >> dropped);
  const U range = static_cast<U>(static_cast<U>(*most >> dropped) - base);
  this->base_ = base;
  this->escape_bits_ = bit_length(range);
  unsigned tail_bits = this->escape_bits_ - std::min(this->escape_bits_, kMostHeadBits);
  this->histogram_.assign(static_cast<std::size_t>(range >> tail_bits) + 1, 0);
  for (std::size_t i = 0; i != count; ++i)
  {
    ++this->histogram_[static_cast<U>(static_cast<U>(words[i] >> dropped) - base) >> tail_bits];
  }
  const std::size_t all_heads = this->histogram_.size();
  const unsigned first_tail_bits = tail_bits;
  while (this->kinds() > kManyKinds)
  {
    this->fold();
    ++tail_bits;
  }
  this->length_ = std::numeric_limits<std::uint64_t>::max();
  for (int tries = kTries; tries != 0; --tries)
  {
    if (const std::uint64_t length = this->try_heads(count, tail_bits); length < this->length_)
    {
      this->length_ = length;
      this->tail_bits_ = tail_bits;
      const std::size_t own = std::min(this->counts_.size(), kMostHeads);
      std::sort(this->counts_.begin(), this->counts_.begin() + static_cast<std::ptrdiff_t>(own));
      this->heads_.clear();
      for (std::size_t i = 0; i != own; ++i)
      {
        this->heads_.push_back(this->counts_[i].head());
      }
      tries = kTries;
    }
    if (tail_bits == std::min(this->escape_bits_, kMostTailBits))
    {
      break;
    }
    this->fold();
    ++tail_bits;
  }
  this->symbols_.assign(((all_heads - 1) >> (this->tail_bits_ - first_tail_bits)) + 1,
    static_cast<std::uint8_t>(this->heads_.size()));
  for (std::size_t i = 0; i != this->heads_.size(); ++i)
  {
    this->symbols_[this->heads_[i]] = static_cast<std::uint8_t>(i);
  }
}

void HeadDictionary::fold()
{
  const std::size_t half = (this->histogram_.size() + 1) / 2;
  this->histogram_.push_back(0);
  for (std::size_t i = 0; i != half; ++i)
  {
    this->histogram_[i] = this->histogram_[2 * i] + this->histogram_[2 * i + 1];
  }
  this->histogram_.resize(half);
}

std::size_t HeadDictionary::kinds() const noexcept
{
  return this->histogram_.size() -
    static_cast<std::size_t>(std::count(this->histogram_.begin(), this->histogram_.end(), 0u));
}

std::uint64_t HeadDictionary::try_heads(std::size_t count, unsigned tail_bits)
{
  this->counts_.clear();
  for (std::size_t head = 0; head != this->histogram_.size(); ++head)
  {
    if (this->histogram_[head] != 0)
    {
      this->counts_.emplace_back(static_cast<std::uint16_t>(head), this->histogram_[head]);
    }
  }
  const std::size_t own = std::min(this->counts_.size(), kMostHeads);
  std::nth_element(this->counts_.begin(), this->counts_.begin() + static_cast<std::ptrdiff_t>(own),
    this->counts_.end());
  std::uint64_t escaped = count;
  std::uint64_t length = own * kHeadLength;
  for (std::size_t i = 0; i != own; ++i)
  {
    const std::uint32_t of_head = this->counts_[i].count();
    escaped -= of_head;
    length += symbols_length(of_head, count) + tail_bits * of_head * kOneBit;
  }
  return length + symbols_length(escaped, count) + this->escape_bits_ * escaped * kOneBit;
}

std::uint64_t HeadDictionary::own_length() const noexcept
{
  return this->heads_.size() * kHeadLength;
}

template void HeadDictionary::build(const std::uint32_t*, std::size_t, unsigned);
template void HeadDictionary::build(const std::uint64_t*, std::size_t, unsigned);
}
