// SPDX-License-Identifier: BSD-3-Clause
#include "codec/head_dictionary.hpp"

#include "codec/fixed_log2.hpp"
#include "codec/words.hpp"

#include <algorithm>
#include <limits>

namespace bat::codec
{
namespace
{
constexpr unsigned kMaxHeadBits = 14;
constexpr std::uint64_t kHeadLength = (16 + 4) * kUnitsPerBit; // in a model, including its code
constexpr std::uint64_t kSavedBits = 8;     // minimum that a head saves against an escape
constexpr std::size_t kMaxHeadKinds = 1024; // heads are not frequent
constexpr int kMaxTries = 4;
constexpr unsigned kMaxTailBits = 63;
}

template <class U>
void HeadDictionary::build(const std::vector<U>& words, unsigned word_bits, Share share)
{
  const auto [minimum, maximum] = std::minmax_element(words.begin(), words.end());
  const U base = *minimum;
  const U range = static_cast<U>(*maximum - base);
  this->base_ = base;
  const unsigned range_bits = bit_length(range);
  unsigned tail_bits = range_bits - std::min(range_bits, kMaxHeadBits);
  this->histogram_.assign(static_cast<std::size_t>(range >> tail_bits) + 1, 0);
  for (const U word : words)
  {
    ++this->histogram_[static_cast<U>(word - base) >> tail_bits];
  }
  const std::size_t all_heads = this->histogram_.size();
  const unsigned first_tail_bits = tail_bits;
  while (this->kinds() > kMaxHeadKinds)
  {
    this->fold();
    ++tail_bits;
  }
  this->length_ = std::numeric_limits<std::uint64_t>::max();
  for (int tries = kMaxTries; tries != 0; --tries)
  {
    const std::uint64_t length = this->try_heads(words.size(), tail_bits, word_bits, share);
    if (length < this->length_)
    {
      this->length_ = length;
      this->tail_bits_ = tail_bits;
      const auto own = this->counts_.begin() + static_cast<std::ptrdiff_t>(this->own_);
      this->heads_.clear();
      this->head_counts_.clear();
      this->escaped_ = static_cast<std::uint32_t>(words.size());
      for (auto head = this->counts_.begin(); head != own; ++head)
      {
        this->heads_.push_back(head->head());
        this->head_counts_.push_back(head->count());
        this->escaped_ -= head->count();
      }
      tries = kMaxTries;
    }
    if (tail_bits == std::min(range_bits, kMaxTailBits))
    {
      break;
    }
    this->fold();
    ++tail_bits;
  }
  this->symbols_.assign(((all_heads - 1) >> (this->tail_bits_ - first_tail_bits)) + 2,
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

std::uint64_t HeadDictionary::try_heads(
  std::size_t count, unsigned tail_bits, unsigned word_bits, Share share)
{
  this->counts_.clear();
  for (std::size_t head = 0; head != this->histogram_.size(); ++head)
  {
    if (this->histogram_[head] != 0)
    {
      this->counts_.emplace_back(static_cast<std::uint16_t>(head), this->histogram_[head]);
    }
  }
  this->own_ = std::min(this->counts_.size(), kMaxHeads);
  const auto end = this->counts_.begin() + static_cast<std::ptrdiff_t>(this->own_);
  std::partial_sort(this->counts_.begin(), end, this->counts_.end());
  while (this->own_ > 1 &&
    this->counts_[this->own_ - 1].count() * share.among * kSavedBits * kUnitsPerBit < kHeadLength)
  {
    --this->own_;
  }
  std::uint64_t escaped = count;
  std::uint64_t length = this->own_ * kHeadLength / share.among;
  for (std::size_t i = 0; i != this->own_; ++i)
  {
    const std::uint32_t of_head = this->counts_[i].count();
    escaped -= of_head;
    length += symbols_length(of_head, count) + tail_bits * of_head * kUnitsPerBit;
  }
  return length + symbols_length(escaped, count) + word_bits * escaped * kUnitsPerBit;
}

template void HeadDictionary::build(const std::vector<std::uint32_t>&, unsigned, Share);
template void HeadDictionary::build(const std::vector<std::uint64_t>&, unsigned, Share);
}
