#include "build/bin_edges.hpp"

#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace bat::build
{
namespace
{
constexpr std::uint32_t kFewestBins = 32;
constexpr std::uint32_t kMostBins = 2048;
constexpr std::uint64_t kParticlesPerBin = 2048;
constexpr std::size_t kSmallSort = 2048;

// Unsigned numbers in the order of the values.
std::uint64_t ordered(double value)
{
  const std::uint64_t bits = to_bits(value);
  return bits ^ (bits >> 63 ? ~std::uint64_t{ 0 } : std::uint64_t{ 1 } << 63);
}
std::uint64_t ordered(std::int64_t value)
{
  return to_bits(value) ^ std::uint64_t{ 1 } << 63;
}
std::uint64_t ordered(std::uint64_t value)
{
  return value;
}

// By the upper half of the bits that differ: few values share it, and those are sorted after that.
template <class V>
void sort(std::vector<V>& values)
{
  if (values.size() <= kSmallSort)
  {
    std::sort(values.begin(), values.end());
    return;
  }
  constexpr int kDigitBits = 11;
  constexpr int kDigits = 3;
  constexpr std::size_t kBuckets = std::size_t{ 1 } << kDigitBits;
  std::uint64_t differing = 0;
  for (const V value : values)
  {
    differing |= ordered(value) ^ ordered(values.front());
  }
  int dropped_bits = 0;
  while (differing >> dropped_bits >> kDigits * kDigitBits != 0)
  {
    ++dropped_bits;
  }
  const auto bucket = [dropped_bits](V value, int digit)
  { return ordered(value) >> (dropped_bits + kDigitBits * digit) & (kBuckets - 1); };
  std::array<std::array<std::uint32_t, kBuckets>, kDigits> starts{};
  for (const V value : values)
  {
    for (int digit = 0; digit != kDigits; ++digit)
    {
      ++starts[static_cast<std::size_t>(digit)][bucket(value, digit)];
    }
  }
  std::vector<V> other(values.size());
  for (int digit = 0; digit != kDigits; ++digit)
  {
    std::array<std::uint32_t, kBuckets>& start = starts[static_cast<std::size_t>(digit)];
    if (start[bucket(values.front(), digit)] == values.size())
    {
      continue; // the same in all
    }
    std::uint32_t sum = 0;
    for (std::uint32_t& count : start)
    {
      sum += std::exchange(count, sum);
    }
    for (const V value : values)
    {
      other[start[bucket(value, digit)]++] = value;
    }
    values.swap(other);
  }
  for (auto begin = values.begin(); begin != values.end();)
  {
    const auto end = std::find_if(begin, values.end(),
      [&](V value) { return (ordered(value) ^ ordered(*begin)) >> dropped_bits != 0; });
    std::sort(begin, end);
    begin = end;
  }
}
}

std::uint32_t bins_for(std::uint64_t n)
{
  std::uint32_t bins = kFewestBins;
  while (bins < kMostBins && bins * 2 * kParticlesPerBin <= n)
  {
    bins *= 2;
  }
  return bins;
}

template <class V>
std::vector<V> choose_edges(std::vector<V>& sample, std::uint32_t bins)
{
  std::vector<V> edges;
  if (sample.empty())
  {
    return edges;
  }
  sort(sample);
  // Few distinct values (a type, a material): one bin each.
  std::vector<V> distinct;
  std::unique_copy(sample.begin(), sample.end(), std::back_inserter(distinct));
  if (distinct.size() <= bins)
  {
    edges.assign(distinct.begin() + 1, distinct.end());
    return edges;
  }
  for (std::uint32_t bin = 1; bin != bins; ++bin)
  {
    const V edge = sample[sample.size() * bin / bins];
    if (edge > sample.front() && (edges.empty() || edge > edges.back()))
    {
      edges.push_back(edge);
    }
  }
  return edges;
}

template std::vector<double> choose_edges(std::vector<double>&, std::uint32_t);
template std::vector<std::int64_t> choose_edges(std::vector<std::int64_t>&, std::uint32_t);
template std::vector<std::uint64_t> choose_edges(std::vector<std::uint64_t>&, std::uint32_t);
}
