// SPDX-License-Identifier: BSD-3-Clause
#include "codec/huffman.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace bat::codec
{
namespace
{
using LengthCounts = std::array<std::uint32_t, kSymbols>; // codes of each length

// Builds Huffman's tree over ascending counts from two queues, of which the queue of sums stays
// ascending by construction.
LengthCounts count_lengths(const std::vector<std::uint64_t>& ascending)
{
  const std::size_t symbols = ascending.size();
  std::vector<std::uint64_t> weights(ascending);
  weights.resize(2 * symbols - 1);
  std::vector<std::size_t> parents(2 * symbols - 1);
  std::size_t leaf = 0;
  std::size_t inner = symbols;
  for (std::size_t next = symbols; next != weights.size(); ++next)
  {
    for (int child = 0; child != 2; ++child)
    {
      const bool is_leaf = leaf != symbols && (inner == next || weights[leaf] <= weights[inner]);
      const std::size_t minimum = is_leaf ? leaf++ : inner++;
      weights[next] += weights[minimum];
      parents[minimum] = next;
    }
  }
  std::vector<std::uint32_t> depths(weights.size());
  LengthCounts counts{};
  for (std::size_t node = weights.size() - 1; node-- != 0;)
  {
    depths[node] = depths[parents[node]] + 1;
    counts[depths[node]] += node < symbols ? 1 : 0;
  }
  return counts;
}

// Shortens codes that are too long, and lengthens others until all fit.
void limit(LengthCounts& counts)
{
  std::uint64_t used = 0; // in units of the longest code
  for (std::size_t length = 1; length != counts.size(); ++length)
  {
    if (length > kMaxCodeBits)
    {
      counts[kMaxCodeBits] += counts[length];
      counts[length] = 0;
    }
  }
  for (std::size_t length = 1; length <= kMaxCodeBits; ++length)
  {
    used += std::uint64_t{ counts[length] } << (kMaxCodeBits - length);
  }
  // One of the longest codes joins a shorter one, which becomes one bit longer.
  for (; used > std::uint64_t{ 1 } << kMaxCodeBits; --used)
  {
    std::size_t length = kMaxCodeBits - 1;
    while (counts[length] == 0)
    {
      --length;
    }
    --counts[length];
    counts[length + 1] += 2;
    --counts[kMaxCodeBits];
  }
}
}

std::vector<std::uint8_t> code_lengths(const std::vector<std::uint32_t>& counts)
{
  std::vector<std::uint8_t> lengths(counts.size());
  if (counts.size() < 2)
  {
    return lengths;
  }
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{ 0 });
  std::sort(order.begin(), order.end(),
    [&](std::size_t a, std::size_t b)
    { return counts[a] != counts[b] ? counts[a] < counts[b] : a > b; });
  std::vector<std::uint64_t> ascending(counts.size());
  for (std::size_t i = 0; i != order.size(); ++i)
  {
    ascending[i] = std::max<std::uint64_t>(1, counts[order[i]]);
  }
  LengthCounts of_length = count_lengths(ascending);
  limit(of_length);
  std::size_t next = 0;
  for (std::size_t length = kMaxCodeBits; length != 0; --length)
  {
    for (std::uint32_t left = of_length[length]; left != 0; --left)
    {
      lengths[order[next++]] = static_cast<std::uint8_t>(length);
    }
  }
  return lengths;
}

bool is_complete(const std::vector<std::uint8_t>& lengths) noexcept
{
  if (lengths.size() < 2)
  {
    return lengths.size() == 1 && lengths[0] == 0;
  }
  std::uint64_t used = 0;
  for (const std::uint8_t length : lengths)
  {
    if (length == 0 || length > kMaxCodeBits)
    {
      return false;
    }
    used += std::uint64_t{ 1 } << (kMaxCodeBits - length);
  }
  return used == std::uint64_t{ 1 } << kMaxCodeBits;
}

std::vector<Code> assign_codes(const std::vector<std::uint8_t>& lengths)
{
  std::vector<Code> codes(lengths.size());
  unsigned next = 0; // first bit on top
  for (unsigned length = 1; length <= kMaxCodeBits; ++length)
  {
    next <<= 1;
    for (std::size_t symbol = 0; symbol != lengths.size(); ++symbol)
    {
      if (lengths[symbol] == length)
      {
        unsigned turned = 0;
        for (unsigned bit = 0; bit != length; ++bit)
        {
          turned |= (next >> bit & 1u) << (length - 1 - bit);
        }
        codes[symbol] = { static_cast<std::uint16_t>(turned), static_cast<std::uint8_t>(length) };
        ++next;
      }
    }
  }
  return codes;
}

CodeTable::CodeTable(const std::vector<std::uint8_t>& lengths)
  : entries_(std::size_t{ 1 } << *std::max_element(lengths.begin(), lengths.end()))
{
  const std::vector<Code> codes = assign_codes(lengths);
  for (std::size_t symbol = 0; symbol != codes.size(); ++symbol)
  {
    const auto entry = static_cast<std::uint16_t>(symbol | codes[symbol].length << 8);
    for (std::size_t i = codes[symbol].bits; i < this->entries_.size();
         i += std::size_t{ 1 } << codes[symbol].length)
    {
      this->entries_[i] = entry;
    }
  }
}
}
