// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/key_index.hpp"

#include "common/radix_sort.hpp"
#include "particles/tree/bins.hpp"
#include "particles/write/key_values.hpp"
#include "particles/write/vector_loops.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace bat::write
{
namespace
{
// Block bitmaps with more than this share of the treelet's bits exclude too little to be worth
// their bytes.
constexpr double kMaxBitmapDensity = 0.8;

// Minimum and maximum of an empty set (FORMAT.md section 11).
template <class V>
struct Nothing
{
  static constexpr V minimum = std::numeric_limits<V>::has_infinity
    ? std::numeric_limits<V>::infinity()
    : std::numeric_limits<V>::max();
  static constexpr V maximum = std::numeric_limits<V>::has_infinity
    ? -std::numeric_limits<V>::infinity()
    : std::numeric_limits<V>::lowest();
};

constexpr std::size_t kLanes = vector_loops::kExtremes;

std::uint32_t block_count(const SpatialOrder& order, const Treelet& treelet)
{
  return (treelet.count + order.block_particles - 1) / order.block_particles;
}

// Without the popcnt instruction, which the program does not require, the compiler's built-in calls
// a function.
std::uint32_t bits_in(std::uint32_t bitmap)
{
  bitmap -= bitmap >> 1 & 0x55555555u;
  bitmap = (bitmap & 0x33333333u) + (bitmap >> 2 & 0x33333333u);
  return ((bitmap + (bitmap >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
}

template <class V>
struct Extremes
{
  V minimum;
  V maximum;
  bool has_nan;
};

// Computes extremes of the values that are not NaN. Several lanes run in parallel, because a single
// chain of comparisons would be limited by its latency.
template <class V>
Extremes<V> extremes(const V* values, std::size_t count)
{
  std::array<V, kLanes> minimum;
  std::array<V, kLanes> maximum;
  std::array<bool, kLanes> has_nan{};
  minimum.fill(Nothing<V>::minimum);
  maximum.fill(Nothing<V>::maximum);
  const auto add = [&](std::size_t lane, V value)
  {
    // Comparisons with NaN are false, so that it changes neither.
    minimum[lane] = value < minimum[lane] ? value : minimum[lane];
    maximum[lane] = value > maximum[lane] ? value : maximum[lane];
    has_nan[lane] |= is_nan_value(value);
  };
  std::size_t i = vector_loops::extend(values, count, minimum, maximum, has_nan[0]);
  for (; i + kLanes <= count; i += kLanes)
  {
    for (std::size_t lane = 0; lane != kLanes; ++lane)
    {
      add(lane, values[i + lane]);
    }
  }
  for (; i != count; ++i)
  {
    add(0, values[i]);
  }
  return { *std::min_element(minimum.begin(), minimum.end()),
    *std::max_element(maximum.begin(), maximum.end()),
    std::find(has_nan.begin(), has_nan.end(), true) != has_nan.end() };
}

// ORs the bit of each value into the bitmap of its block.
template <class V, class BitOf>
void mark(const V* values, const std::uint16_t* blocks, std::uint32_t count, const BitOf& bit_of,
  std::uint32_t* bitmaps)
{
  for (std::uint32_t i = 0; i != count; ++i)
  {
    bitmaps[blocks[i]] |= std::uint32_t{ 1 } << bit_of(values[i]);
  }
}

template <class V>
void mark_but_nan(const V* values, const std::uint16_t* blocks, std::uint32_t count,
  const TreeletBits<V>& bit_of, std::uint32_t* bitmaps)
{
  for (std::uint32_t i = 0; i != count; ++i)
  {
    if (!is_nan_value(values[i]))
    {
      bitmaps[blocks[i]] |= std::uint32_t{ 1 } << bit_of(values[i]);
    }
  }
}

// Marks bits in the fastest way for these values.
template <class V>
void mark(const V* values, const std::uint16_t* blocks, std::uint32_t count,
  const Extremes<V>& extremes, const TreeletBits<V>& bits, std::uint32_t* bitmaps)
{
  if (extremes.has_nan)
  {
    mark_but_nan(values, blocks, count, bits, bitmaps);
    return;
  }
  const CellBits<V> cells(bits, extremes.minimum, extremes.maximum);
  if (!cells.usable())
  {
    mark(values, blocks, count, bits, bitmaps);
  }
  else if (!vector_loops::mark(values, blocks, count, cells, bitmaps))
  {
    mark(values, blocks, count, cells, bitmaps);
  }
}
}

template <class V>
KeyIndexer<V>::KeyIndexer(const SpatialOrder& order, BuiltKey& out)
  : order_(order)
  , out_(out)
{
  for (const std::uint64_t edge : out.edges)
  {
    this->edges_.push_back(from_bits<V>(edge));
  }
  out.treelets.resize(order.treelets.size());
  out.bitmaps.resize(order.block_count);
}

template <class V>
void KeyIndexer<V>::add_treelet(std::size_t t, const V* values)
{
  const Treelet& treelet = this->order_.treelets[t];
  const auto [minimum, maximum, has_nan] = extremes(values, treelet.count);
  format::TreeletKeyRecord& record = this->out_.treelets[t];
  record = {};
  record.flags = has_nan ? format::kHasNaN : 0;
  record.minimum = to_bits(minimum);
  record.maximum = to_bits(maximum);
  if (minimum > maximum)
  {
    return;
  }
  record.first_bin = static_cast<std::uint16_t>(find_bin(this->edges_, minimum));
  record.last_bin = static_cast<std::uint16_t>(find_bin(this->edges_, maximum));
  std::uint32_t* bitmaps = &this->out_.bitmaps[treelet.first_block];
  const std::uint16_t* blocks = &this->order_.local_block[treelet.first];
  const TreeletBits<V> bits(this->edges_, record.first_bin, record.last_bin);
  mark(values, blocks, treelet.count, Extremes<V>{ minimum, maximum, has_nan }, bits, bitmaps);
  for (std::uint32_t block = 0; block != block_count(this->order_, treelet); ++block)
  {
    record.bitmap |= bitmaps[block];
  }
}

template <class V>
void KeyIndexer<V>::finish()
{
  V minimum = Nothing<V>::minimum;
  V maximum = Nothing<V>::maximum;
  for (const format::TreeletKeyRecord& record : this->out_.treelets)
  {
    minimum = std::min(minimum, from_bits<V>(record.minimum));
    maximum = std::max(maximum, from_bits<V>(record.maximum));
    this->out_.has_nan |= (record.flags & format::kHasNaN) != 0;
  }
  this->out_.minimum = to_bits(minimum);
  this->out_.maximum = to_bits(maximum);
}

void choose_bitmaps(const SpatialOrder& order, BuiltKey& key)
{
  std::vector<std::uint32_t>& bitmaps = key.bitmaps;
  std::uint64_t set = 0;
  std::uint64_t possible = 0;
  for (const std::uint32_t bitmap : bitmaps)
  {
    set += bits_in(bitmap);
  }
  for (std::size_t t = 0; t != order.treelets.size(); ++t)
  {
    possible +=
      std::uint64_t{ block_count(order, order.treelets[t]) } * bits_in(key.treelets[t].bitmap);
  }
  if (static_cast<double>(set) >= kMaxBitmapDensity * static_cast<double>(possible))
  {
    bitmaps.clear();
    return;
  }
  const std::uint64_t blocks = bitmaps.size();
  std::vector<std::uint64_t> sorted(blocks); // bitmap, and below it the block
  for (std::uint64_t block = 0; block != blocks; ++block)
  {
    sorted[block] = std::uint64_t{ bitmaps[block] } << 32 | block;
  }
  radix_sort(sorted);
  std::vector<std::uint32_t> distinct;
  for (const std::uint64_t entry : sorted)
  {
    const auto bitmap = static_cast<std::uint32_t>(entry >> 32);
    if (distinct.empty() || distinct.back() != bitmap)
    {
      distinct.push_back(bitmap);
    }
  }
  const std::uint8_t bytes = distinct.size() <= 256 ? 1 : 2;
  if (distinct.size() > 65536 || bytes * blocks + 4 * distinct.size() >= 4 * blocks)
  {
    key.bitmap_bytes = 4;
    return;
  }
  std::uint32_t number = 0;
  for (const std::uint64_t entry : sorted)
  {
    number += distinct[number] != entry >> 32;
    bitmaps[static_cast<std::uint32_t>(entry)] = number;
  }
  key.bitmap_bytes = bytes;
  key.dictionary = std::move(distinct);
}

template class KeyIndexer<double>;
template class KeyIndexer<std::int64_t>;
template class KeyIndexer<std::uint64_t>;
}
