// SPDX-License-Identifier: BSD-3-Clause
#include "common/codec/sample.hpp"

#include "common/codec/words.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace bat::codec
{
namespace
{
constexpr std::size_t kRuns = 4;
constexpr std::size_t kRunValues = 1024;

constexpr std::array<Filter, 5> kFilters = { { { Prediction::None, false },
  { Prediction::Difference, false }, { Prediction::None, true }, { Prediction::Difference, true },
  { Prediction::Xor, true } } };

std::vector<std::byte> sample_of(
  const ColumnShape& shape, const std::byte* values, std::size_t count)
{
  const std::size_t bytes = shape.value_bytes();
  if (count <= kRuns * kRunValues)
  {
    return { values, values + count * bytes };
  }
  std::vector<std::byte> result;
  for (std::size_t run = 0; run != kRuns; ++run)
  {
    const std::size_t first = (count - kRunValues) * run / (kRuns - 1);
    result.insert(result.end(), values + first * bytes, values + (first + kRunValues) * bytes);
  }
  return result;
}

template <class U>
bool repeats(std::vector<U>& words)
{
  std::sort(words.begin(), words.end());
  const auto kinds = std::unique(words.begin(), words.end()) - words.begin();
  return 4 * static_cast<std::size_t>(kinds) < 3 * words.size();
}

// Whether numbers of a component, or their differences, occur more than once.
template <class U>
bool has_repeats(const ColumnShape& shape, const std::vector<std::byte>& sample)
{
  const std::size_t count = std::min(sample.size() / shape.value_bytes(), kRunValues);
  std::vector<U> words(count);
  std::vector<U> differences(count);
  for (std::size_t c = 0; c != shape.components; ++c)
  {
    U before = 0;
    for (std::size_t i = 0; i != count; ++i)
    {
      const U word = load<U>(sample.data() + (i * shape.components + c) * sizeof(U));
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
}

PlanesEstimate estimate_planes(
  const ColumnShape& shape, const std::byte* values, std::size_t count, ZstdCompressor& zstd)
{
  PlanesEstimate result;
  const std::vector<std::byte> sample = sample_of(shape, values, count);
  const std::size_t size = size_of(shape.type);
  if ((size == 4 && !has_repeats<std::uint32_t>(shape, sample)) ||
    (size == 8 && !has_repeats<std::uint64_t>(shape, sample)))
  {
    return result;
  }
  const std::size_t in_sample = sample.size() / shape.value_bytes();
  std::vector<std::byte> planes(sample.size());
  std::vector<std::byte> frame;
  std::size_t least = sample.size();
  for (const Filter filter : kFilters)
  {
    frame.clear();
    to_planes(shape, filter, sample.data(), in_sample, planes.data());
    if (zstd.append(Content::Planes, planes.data(), planes.size(), least, frame))
    {
      least = frame.size();
      result.filter = filter;
      result.bytes = least * count / in_sample;
    }
  }
  return result;
}
}
