// SPDX-License-Identifier: BSD-3-Clause
// Chooses from a sample the streams of a column, and their dictionaries and codes.
#pragma once

#include "codec/head_dictionary.hpp"
#include "codec/huffman.hpp"
#include "codec/size_dictionary.hpp"
#include "codec/stream_format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// Words of several chunks of a column, one after another.
template <class U>
struct WordSample
{
  std::vector<std::vector<U>> words;     ///< words per component
  std::vector<std::size_t> chunk_counts; ///< values of each chunk
};

/// The bits that follow a symbol in a stream of differences.
struct EntryBits
{
  std::array<std::uint64_t, kMaxJoint> mask{};
  std::array<std::uint8_t, kMaxJoint> bits{};
};

struct ClassPlan
{
  SizeDictionary sizes; ///< for a stream of differences
  HeadDictionary heads; ///< for a stream of heads
  std::array<Code, kSymbols> codes{};
  std::array<EntryBits, kSymbols> entries{}; ///< for a stream of differences
  unsigned escape = kSymbols;                ///< symbol; kSymbols: none
};

struct StreamPlan
{
  StreamKind kind = StreamKind::Words;
  std::vector<std::size_t> components;
  std::array<unsigned, kMaxJoint> dropped{};
  std::vector<ClassPlan> classes;
  std::vector<std::uint64_t> limits; ///< class of a block: limits that are not above its measure
  unsigned measure_shift = 0;        ///< for a stream of heads
  std::size_t max_bits = 0;          ///< maximum for values that are not escapes

  [[nodiscard]] std::size_t class_of(std::uint64_t measure) const noexcept
  {
    std::size_t own = 0;
    for (const std::uint64_t limit : this->limits)
    {
      own += measure >= limit ? 1 : 0;
    }
    return own;
  }
};

/// Properties of a column's words.
struct WordKind
{
  bool floating = false;         ///< bits of floating-point numbers
  bool only_differences = false; ///< each stream is to be of these
  std::vector<unsigned> dropped; ///< per component: number of lowest bits that are 0 in all words
};

struct StreamPlans
{
  std::vector<StreamPlan> streams;
  std::vector<std::byte> model; ///< the streams as they stand in a model
  /// Estimated length of the sample, in parts of a bit (fixed_log2.hpp), including its share of the
  /// model.
  std::uint64_t length = 0;
};

/// `count` is the number of values in the column.
template <class U>
[[nodiscard]] StreamPlans plan_streams(
  const WordSample<U>& sample, const WordKind& kind, std::uint64_t count);
}
