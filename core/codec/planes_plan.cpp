// SPDX-License-Identifier: BSD-3-Clause
#include "codec/planes_plan.hpp"

#include "codec/words.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace bat::codec
{
namespace
{
constexpr std::size_t kRepeatSampleValues =
  1024; // values of a chunk in which repeats are looked for

constexpr std::array<Filter, 5> kFilters = { { { Prediction::None, false },
  { Prediction::Difference, false }, { Prediction::None, true }, { Prediction::Difference, true },
  { Prediction::Xor, true } } };

template <class U>
bool repeats(std::vector<U>& words)
{
  std::sort(words.begin(), words.end());
  const auto kinds = std::unique(words.begin(), words.end()) - words.begin();
  return 4 * static_cast<std::size_t>(kinds) < 3 * words.size();
}

// Returns whether numbers in a component, or their differences, occur more than once.
template <class U>
bool has_repeats(const ColumnShape& shape, const SampleChunk& chunk)
{
  const std::size_t count = std::min(chunk.count, kRepeatSampleValues);
  std::vector<U> words(count);
  std::vector<U> differences(count);
  for (std::size_t c = 0; c != shape.components; ++c)
  {
    U before = 0;
    for (std::size_t i = 0; i != count; ++i)
    {
      const U word = load<U>(chunk.values + (i * shape.components + c) * sizeof(U));
      words[i] = word;
      differences[i] = static_cast<U>(word - before);
      before = word;
    }
    if (repeats(words) || repeats(differences))
    {
      return true;
    }
  }
  return false;
}

bool may_repeat(const ColumnShape& shape, const SampleChunk& chunk)
{
  switch (size_of(shape.type))
  {
    case sizeof(std::uint32_t):
      return has_repeats<std::uint32_t>(shape, chunk);
    case sizeof(std::uint64_t):
      return has_repeats<std::uint64_t>(shape, chunk);
    default:
      return true;
  }
}
}

PlanesPlan plan_planes(
  const ColumnShape& shape, const std::vector<SampleChunk>& chunks, ZstdCompressor& zstd)
{
  PlanesPlan result;
  if (std::none_of(chunks.begin(), chunks.end(),
        [&](const SampleChunk& chunk) { return may_repeat(shape, chunk); }))
  {
    return result;
  }
  std::size_t minimum = 0;
  for (const SampleChunk& chunk : chunks)
  {
    minimum += chunk.count * shape.value_bytes();
  }
  std::vector<std::byte> planes;
  std::vector<std::byte> frame;
  for (const Filter filter : kFilters)
  {
    std::vector<std::size_t> bytes;
    for (const SampleChunk& chunk : chunks)
    {
      const std::size_t values_bytes = chunk.count * shape.value_bytes();
      planes.resize(values_bytes);
      to_planes(shape, filter, chunk.values, chunk.count, planes.data());
      frame.clear();
      const bool shorter =
        zstd.append(Content::Planes, planes.data(), values_bytes, values_bytes, frame);
      bytes.push_back(shorter ? frame.size() : values_bytes);
    }
    const std::size_t total = std::accumulate(bytes.begin(), bytes.end(), std::size_t{ 0 });
    if (total < minimum)
    {
      minimum = total;
      result.filter = filter;
      result.bytes = std::move(bytes);
    }
  }
  return result;
}
}
