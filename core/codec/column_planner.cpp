// SPDX-License-Identifier: BSD-3-Clause
#include "codec/column_planner.hpp"

#include "codec/append.hpp"
#include "codec/column_words.hpp"
#include "codec/frame_encoder.hpp"
#include "codec/planes_plan.hpp"
#include "codec/words.hpp"

#include <algorithm>
#include <cmath>

namespace bat::codec
{
namespace
{
constexpr std::uint64_t kMaxSampleValues = 1 << 17; // maximum that a plan samples
constexpr std::uint64_t kMinSampleValues = 1 << 15; // minimum, or all; between: an eighth
constexpr std::uint64_t kRunValues = 2048;          // consecutive values in a sampled run
constexpr std::size_t kPlanesChunks = 8;            // runs that are tried as planes
constexpr std::size_t kPlanesGain = 32;             // minimum saving by planes: Zstandard is slow

// All values, or evenly spread runs of them.
std::vector<SampleChunk> take_sample(
  const ColumnShape& shape, const std::byte* values, std::uint64_t count, std::size_t chunk)
{
  const std::uint64_t in_run = std::min<std::uint64_t>(kRunValues, chunk);
  const std::uint64_t runs = (count + in_run - 1) / in_run;
  const std::uint64_t requested =
    std::min(runs, std::clamp(count / 8, kMinSampleValues, kMaxSampleValues) / in_run);
  std::vector<SampleChunk> sample;
  for (std::uint64_t i = 0; i != requested; ++i)
  {
    const std::uint64_t first = (requested == runs ? i : (runs - 1) * i / (requested - 1)) * in_run;
    sample.push_back({ values + first * shape.value_bytes(),
      static_cast<std::size_t>(std::min(in_run, count - first)) });
  }
  return sample;
}

// Counts the lowest bits that are 0 in all words of each component.
template <class U>
std::vector<unsigned> zeros_below(
  const ColumnShape& shape, const std::byte* values, std::uint64_t count)
{
  std::vector<U> all(shape.components, U{ 0 });
  constexpr std::uint64_t kBlock = 4096; // values until it is seen that no bit is 0 in all
  bool some = true;
  for (std::uint64_t first = 0; first < count && some; first += kBlock)
  {
    const std::uint64_t end = std::min(count, first + kBlock);
    some = false;
    for (std::size_t c = 0; c != shape.components; ++c)
    {
      U of_component = all[c];
      for (std::uint64_t i = first; i != end; ++i)
      {
        of_component |= load<U>(values + (i * shape.components + c) * sizeof(U));
      }
      all[c] = of_component;
      some = some || (of_component & 1) == 0;
    }
  }
  std::vector<unsigned> result;
  for (const U word : all)
  {
    result.push_back(word == 0 ? 0 : bit_length(static_cast<U>(word & (0 - word))) - 1);
  }
  return result;
}

// Returns false if the grid holds too few numbers.
template <class U, class T>
bool fill_steps(const ColumnShape& shape, double step, const std::vector<SampleChunk>& sample,
  WordSample<U>& words)
{
  Exceptions exceptions;
  std::size_t first = 0;
  std::size_t found = 0;
  for (const SampleChunk& chunk : sample)
  {
    exceptions.fill_steps<T>(shape, step, chunk.values, chunk.count,
      [&](std::size_t c) { return words.words[c].data() + first; });
    found += exceptions.places.size();
    first += chunk.count;
  }
  return found <= first * shape.components / 8;
}

template <class U, class T>
void plan_words(ColumnPlan& plan, Grid grid, const std::byte* values, std::uint64_t count,
  const std::vector<SampleChunk>& sample)
{
  WordKind kind;
  kind.floating = is_floating(plan.shape.type);
  WordSample<U> words;
  words.words.resize(plan.shape.components);
  std::size_t total = 0;
  for (const SampleChunk& chunk : sample)
  {
    words.chunk_counts.push_back(chunk.count);
    total += chunk.count;
  }
  for (std::vector<U>& of_component : words.words)
  {
    of_component.resize(total);
  }
  if (kind.floating && grid.step > 0 && std::isfinite(grid.step) &&
    fill_steps<U, T>(plan.shape, grid.step, sample, words))
  {
    plan.step = grid.step;
    kind.only_differences = true;
    kind.floating = false;
    kind.dropped.assign(plan.shape.components, 0);
  }
  else
  {
    std::size_t first = 0;
    for (const SampleChunk& chunk : sample)
    {
      for (std::size_t c = 0; c != plan.shape.components; ++c)
      {
        fill_words(plan.shape, chunk.values, chunk.count, c, words.words[c].data() + first);
      }
      first += chunk.count;
    }
    kind.dropped = zeros_below<U>(plan.shape, values, count);
  }
  StreamPlans plans = plan_streams(words, kind, count);
  // Unchanged words are stored without streams.
  if (std::any_of(plans.streams.begin(), plans.streams.end(),
        [](const StreamPlan& stream) { return stream.kind != StreamKind::Words; }))
  {
    append_number(plan.model, plan.step);
    plan.model.insert(plan.model.end(), plans.model.begin(), plans.model.end());
    plan.streams = std::move(plans.streams);
  }
}

// Checks whether planes or streams are always longer, and whether planes are worth the time to try
// both.
void compare_planes(ColumnPlan& plan, const std::vector<SampleChunk>& sample)
{
  std::vector<SampleChunk> tried;
  const std::size_t requested = std::min(kPlanesChunks, sample.size());
  for (std::size_t i = 0; i != requested; ++i)
  {
    tried.push_back(sample[(sample.size() - 1) * i / std::max<std::size_t>(1, requested - 1)]);
  }
  ZstdCompressor zstd;
  const PlanesPlan planes = plan_planes(plan.shape, tried, zstd);
  plan.filter = planes.filter;
  if (planes.bytes.empty())
  {
    return;
  }
  if (plan.streams.empty())
  {
    plan.has_planes = true;
    return;
  }
  FrameEncoder encoder;
  std::vector<std::byte> frame;
  std::size_t of_streams = 0; // chunks that are shorter as these
  std::size_t streams_bytes = 0;
  std::size_t min_bytes = 0;
  for (std::size_t i = 0; i != tried.size(); ++i)
  {
    encoder.stream_frame(plan, tried[i].values, tried[i].count, frame);
    of_streams += frame.size() <= planes.bytes[i] ? 1 : 0;
    streams_bytes += frame.size();
    min_bytes += std::min<std::size_t>(frame.size(), planes.bytes[i]);
  }
  plan.has_planes = streams_bytes - min_bytes > streams_bytes / kPlanesGain;
  if (of_streams == 0)
  {
    plan.streams.clear();
    plan.model.clear();
  }
}
}

ColumnPlan plan_column(const ColumnShape& shape, Grid grid, const std::byte* values,
  std::uint64_t count, std::size_t chunk)
{
  ColumnPlan plan;
  plan.shape = shape;
  if (count < 2)
  {
    return plan;
  }
  const std::vector<SampleChunk> sample = take_sample(shape, values, count, chunk);
  if (size_of(shape.type) == sizeof(std::uint32_t))
  {
    plan_words<std::uint32_t, float>(plan, grid, values, count, sample);
  }
  else if (size_of(shape.type) == sizeof(std::uint64_t))
  {
    plan_words<std::uint64_t, double>(plan, grid, values, count, sample);
  }
  compare_planes(plan, sample);
  return plan;
}
}
