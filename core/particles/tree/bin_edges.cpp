// SPDX-License-Identifier: BSD-3-Clause
#include "particles/tree/bin_edges.hpp"

#include "common/radix_sort.hpp"

#include <algorithm>
#include <iterator>

namespace bat
{
namespace
{
constexpr std::uint32_t kMinBins = 32;
constexpr std::uint32_t kMaxBins = 2048;
constexpr std::uint64_t kParticlesPerBin = 2048;
}

std::uint32_t bins_for(std::uint64_t n)
{
  std::uint32_t bins = kMinBins;
  while (bins < kMaxBins && bins * 2 * kParticlesPerBin <= n)
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
  radix_sort(sample);
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
