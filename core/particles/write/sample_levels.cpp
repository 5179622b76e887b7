// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/sample_levels.hpp"

#include "common/numbers.hpp"
#include "particles/format/stable_levels.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace bat::write
{
namespace
{
constexpr std::uint64_t kParticlesPerTask = 1 << 16; // particles of a task
constexpr unsigned kBinBits = 16;                    // bits of a hash that select a bin
constexpr std::size_t kBins = std::size_t{ 1 } << kBinBits;

/// A hash and a number that distinguishes its particle from all others.
using Ranked = std::pair<std::uint64_t, std::uint32_t>;

// Ranks particles with equal hash by multiples of the golden ratio of 2^32, so that each level
// takes them from all parts of the caller's order, which may be spatial.
Ranked ranked(std::uint64_t hash, std::uint64_t number)
{
  return { hash, static_cast<std::uint32_t>(number) * 0x9E3779B1u };
}

std::size_t find_bin(std::uint64_t hash)
{
  return static_cast<std::size_t>(hash >> (64 - kBinBits));
}

// Calls f(first, count) for portions of n particles, in parallel.
template <class F>
void for_each_portion(std::uint64_t n, const F& f)
{
  tbb::parallel_for(std::uint64_t{ 0 }, (n + kParticlesPerTask - 1) / kParticlesPerTask,
    [&](std::uint64_t portion) {
      f(portion * kParticlesPerTask, std::min(kParticlesPerTask, n - portion * kParticlesPerTask));
    });
}

template <class T>
void add_numbers(const ParticleParts& particles, const format::SampleIdRecord& id,
  LargeArray<std::uint64_t>& hashes)
{
  const std::size_t array = id.attribute + std::size_t{ 1 };
  const auto components = static_cast<std::size_t>(particles.array(array).components);
  const std::size_t begin = id.component < 0 ? 0 : static_cast<std::size_t>(id.component);
  const std::size_t end = id.component < 0 ? components : begin + 1;
  for_each_portion(particles.count(),
    [&](std::uint64_t first, std::uint64_t count)
    {
      std::vector<std::uint32_t> numbers(count);
      for (std::uint64_t i = 0; i != count; ++i)
      {
        numbers[i] = static_cast<std::uint32_t>(first + i);
      }
      std::vector<T> values(count * components);
      particles.gather(numbers.data(), count, array, reinterpret_cast<std::byte*>(values.data()));
      for (std::uint64_t i = 0; i != count; ++i)
      {
        for (std::size_t c = begin; c != end; ++c)
        {
          hashes[first + i] = format::hash_next(
            hashes[first + i], static_cast<std::uint64_t>(values[i * components + c]));
        }
      }
    });
}

LargeArray<std::uint64_t> hash_all(
  const ParticleParts& particles, const std::vector<format::SampleIdRecord>& ids)
{
  LargeArray<std::uint64_t> hashes(particles.count());
  for_each_portion(particles.count(),
    [&](std::uint64_t first, std::uint64_t count)
    { std::fill_n(hashes.data() + first, count, std::uint64_t{ 0 }); });
  for (const format::SampleIdRecord& id : ids)
  {
    dispatch(particles.array(id.attribute + std::size_t{ 1 }).type,
      [&](auto value)
      {
        using T = decltype(value);
        if constexpr (std::is_integral_v<T>)
        {
          add_numbers<T>(particles, id, hashes);
        }
      });
  }
  return hashes;
}

// Computes where each bin begins among the hashes in ascending order, then n.
std::vector<std::uint64_t> compute_bin_begins(const LargeArray<std::uint64_t>& hashes)
{
  constexpr std::uint64_t kHashesPerTask = 1 << 22; // a count of its own takes 512 KiB
  const std::uint64_t n = hashes.size();
  const std::uint64_t tasks = (n + kHashesPerTask - 1) / kHashesPerTask;
  std::vector<std::vector<std::uint64_t>> counts(tasks, std::vector<std::uint64_t>(kBins));
  tbb::parallel_for(std::uint64_t{ 0 }, tasks,
    [&](std::uint64_t task)
    {
      const std::uint64_t end = std::min(n, (task + 1) * kHashesPerTask);
      for (std::uint64_t i = task * kHashesPerTask; i != end; ++i)
      {
        ++counts[task][find_bin(hashes[i])];
      }
    });
  std::vector<std::uint64_t> begins(kBins + 1);
  for (std::size_t bin = 0; bin != kBins; ++bin)
  {
    begins[bin + 1] = begins[bin];
    for (const std::vector<std::uint64_t>& some : counts)
    {
      begins[bin + 1] += some[bin];
    }
  }
  return begins;
}

// Finds the first particle after each level but the last, in ascending order of hashes.
std::vector<Ranked> find_borders(const LargeArray<std::uint64_t>& hashes, const LevelTable& levels,
  const std::vector<std::uint64_t>& begins)
{
  std::vector<std::size_t> bins; // bin of each border
  std::vector<std::vector<Ranked>> contents(kBins);
  std::vector<bool> is_needed(kBins);
  for (std::size_t level = 0; level + 1 < levels.size(); ++level)
  {
    const auto above = std::upper_bound(begins.begin(), begins.end(), levels.end[level]);
    bins.push_back(static_cast<std::size_t>(above - begins.begin()) - 1);
    is_needed[bins.back()] = true;
  }
  for (std::uint64_t i = 0; i != hashes.size(); ++i)
  {
    const std::size_t bin = find_bin(hashes[i]);
    if (is_needed[bin])
    {
      contents[bin].push_back(ranked(hashes[i], i));
    }
  }
  std::vector<Ranked> borders;
  for (std::size_t level = 0; level != bins.size(); ++level)
  {
    std::vector<Ranked>& all = contents[bins[level]];
    if (is_needed[bins[level]])
    {
      std::sort(all.begin(), all.end());
      is_needed[bins[level]] = false;
    }
    borders.push_back(all[levels.end[level] - begins[bins[level]]]);
  }
  return borders;
}
}

LargeArray<std::uint8_t> sample_levels(const ParticleParts& particles,
  const std::vector<format::SampleIdRecord>& ids, const LevelTable& levels)
{
  const std::uint64_t n = particles.count();
  LargeArray<std::uint8_t> result(n);
  if (n == 0)
  {
    return result;
  }
  const LargeArray<std::uint64_t> hashes = hash_all(particles, ids);
  const std::vector<Ranked> borders = find_borders(hashes, levels, compute_bin_begins(hashes));
  // Returns for each bin the level of its hashes, if it has only one level.
  constexpr std::uint16_t kSeveralLevels = 0xFFFF;
  std::vector<std::uint16_t> of_bin(kBins);
  std::size_t level = 0;
  for (std::size_t bin = 0; bin != kBins; ++bin)
  {
    const std::size_t first = level;
    while (level != borders.size() && find_bin(borders[level].first) == bin)
    {
      ++level;
    }
    of_bin[bin] = level == first ? static_cast<std::uint16_t>(level) : kSeveralLevels;
  }
  for_each_portion(n,
    [&](std::uint64_t first, std::uint64_t count)
    {
      for (std::uint64_t i = first; i != first + count; ++i)
      {
        const std::uint16_t known = of_bin[find_bin(hashes[i])];
        result[i] = static_cast<std::uint8_t>(known != kSeveralLevels
            ? known
            : std::upper_bound(borders.begin(), borders.end(), ranked(hashes[i], i)) -
              borders.begin());
      }
    });
  return result;
}
}
