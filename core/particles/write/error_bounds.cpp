// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/error_bounds.hpp"

#include "bat/error.hpp"
#include "bat/nearest_name.hpp"
#include "common/fail.hpp"
#include "common/numbers.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bat::write
{
namespace
{
constexpr const char* kPositions = "positions";
constexpr std::uint64_t kParticlesPerBatch = 1 << 14; // particles

bool is_floating_point(ScalarType type)
{
  return type == ScalarType::Float32 || type == ScalarType::Float64;
}

std::size_t find_array(const ParticleView& schema, const std::string& name)
{
  const auto& attributes = schema.attributes;
  const auto attribute = std::find_if(attributes.begin(), attributes.end(),
    [&](const AttributeView& candidate) { return candidate.name == name; });
  const bool is_attribute = attribute != attributes.end();
  if (name == kPositions && is_attribute)
  {
    refuse("error_bounds: 'positions' is ambiguous, because an attribute has this name; rename "
           "the attribute to give the positions a bound");
  }
  if (name == kPositions)
  {
    return 0;
  }
  if (is_attribute)
  {
    return static_cast<std::size_t>(attribute - attributes.begin()) + 1;
  }
  for (const AliasView& alias : schema.aliases)
  {
    if (alias.name == name)
    {
      refuse(fmt::format("error_bounds: '{}' is an alias of {}; only stored arrays can have a "
                         "bound",
        name, alias.attribute.empty() ? "the positions" : "'" + alias.attribute + "'"));
    }
  }
  std::string names = "positions";
  for (const AttributeView& candidate : attributes)
  {
    names += ", " + candidate.name;
  }
  refuse(fmt::format("error_bounds: unknown attribute '{}'{}", name, bat::available(name, names)));
}

// The distance between grid points is twice the bound.
void check_size(const ErrorBound& bound)
{
  constexpr double kMax = std::numeric_limits<double>::max() / 4;
  if (!(bound.value <= kMax))
  {
    refuse(fmt::format("error_bounds: the bound of '{}' is {}; at most {} is allowed", bound.name,
      bound.value, kMax));
  }
}

ErrorBound parse(const ParticleView& schema, const std::string& text)
{
  const auto refuse_text = [&]()
  {
    refuse(fmt::format(
      "error_bounds: '{}' is not a bound; use NAME=NUMBER in the units of the array, or "
      "NAME=NUMBER% of its range, with a finite number of at least 0",
      text));
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
  {
    refuse_text();
  }
  ErrorBound bound;
  bound.name = text.substr(0, equals);
  std::string number = text.substr(equals + 1);
  bound.is_relative = !number.empty() && number.back() == '%';
  if (bound.is_relative)
  {
    number.pop_back();
  }
  try
  {
    bound.value = to_double(parse_number(number));
  }
  catch (const Error&)
  {
    refuse_text();
  }
  if (!std::isfinite(bound.value) || bound.value < 0)
  {
    refuse_text();
  }
  bound.value /= bound.is_relative ? 100 : 1;
  check_size(bound);
  bound.array = find_array(schema, bound.name);
  const ArrayView& array =
    bound.array == 0 ? schema.positions : schema.attributes[bound.array - 1].values;
  if (!is_floating_point(array.type))
  {
    refuse(fmt::format("error_bounds: '{}' is {}; only float32 and float64 can have a bound",
      bound.name, name_of(array.type)));
  }
  return bound;
}

template <class T>
void extend(FiniteRange& range, T value)
{
  if (std::isfinite(value))
  {
    range.lower = std::min(range.lower, static_cast<double>(value));
    range.upper = std::max(range.upper, static_cast<double>(value));
  }
}

// Adds the ranges of particles [begin, end), range_count() in number.
template <class T>
void add_ranges(const ParticleParts& particles, std::size_t array, std::uint64_t begin,
  std::uint64_t end, std::vector<FiniteRange>& ranges)
{
  const auto components = static_cast<std::size_t>(particles.array(array).components);
  std::vector<T> values((end - begin) * components);
  particles.copy(begin, end - begin, array, reinterpret_cast<std::byte*>(values.data()));
  for (std::size_t i = 0; i != values.size(); ++i)
  {
    extend(ranges[array == 0 ? i % components : 0], values[i]);
  }
}
}

void FiniteRange::add(const FiniteRange& other) noexcept
{
  this->lower = std::min(this->lower, other.lower);
  this->upper = std::max(this->upper, other.upper);
}

std::vector<ErrorBound> error_bounds(const ParticleView& schema, const BuildOptions& options)
{
  std::vector<ErrorBound> bounds;
  if (options.compression != Compression::Bounded)
  {
    if (!options.error_bounds.empty())
    {
      refuse(fmt::format("error_bounds are given ('{}'), but compression is not 'bounded'",
        options.error_bounds.front()));
    }
    return bounds;
  }
  if (options.error_bounds.empty())
  {
    refuse("compression is 'bounded', but no error_bounds are given; examples: "
           "\"positions=0.01%\", \"temperature=0.5\"");
  }
  for (const std::string& text : options.error_bounds)
  {
    const ErrorBound bound = parse(schema, text);
    for (const ErrorBound& other : bounds)
    {
      if (other.array == bound.array)
      {
        refuse(fmt::format("error_bounds: '{}' has more than one bound", bound.name));
      }
    }
    bounds.push_back(bound);
  }
  return bounds;
}

std::vector<FiniteRange> compute_ranges(
  const ParticleParts& particles, const std::vector<ErrorBound>& bounds)
{
  std::vector<FiniteRange> all;
  for (const ErrorBound& bound : bounds)
  {
    const std::vector<FiniteRange> none(range_count(bound));
    const std::vector<FiniteRange> found = !bound.is_relative
      ? none
      : tbb::parallel_reduce(
          tbb::blocked_range<std::uint64_t>(0, particles.count(), kParticlesPerBatch), none,
          [&](const auto& range, std::vector<FiniteRange> ranges)
          {
            for (std::uint64_t first = range.begin(); first < range.end();
                 first += kParticlesPerBatch)
            {
              const std::uint64_t end = std::min(first + kParticlesPerBatch, range.end());
              if (particles.array(bound.array).type == ScalarType::Float32)
              {
                add_ranges<float>(particles, bound.array, first, end, ranges);
              }
              else
              {
                add_ranges<double>(particles, bound.array, first, end, ranges);
              }
            }
            return ranges;
          },
          [](std::vector<FiniteRange> a, const std::vector<FiniteRange>& b)
          {
            for (std::size_t i = 0; i != a.size(); ++i)
            {
              a[i].add(b[i]);
            }
            return a;
          });
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

std::vector<ErrorBound> absolute_bounds(
  const std::vector<ErrorBound>& bounds, const std::vector<FiniteRange>& ranges)
{
  std::vector<ErrorBound> absolute;
  std::size_t first = 0;
  for (ErrorBound bound : bounds)
  {
    if (bound.is_relative)
    {
      double longest = 0;
      for (std::size_t i = first; i != first + range_count(bound); ++i)
      {
        longest = std::max(longest, ranges[i].upper - ranges[i].lower);
      }
      if (!std::isfinite(longest))
      {
        refuse(fmt::format("error_bounds: the range of '{}' exceeds the largest number; only a "
                           "bound in its units is allowed",
          bound.name));
      }
      bound.value *= longest;
      bound.is_relative = false;
      check_size(bound);
    }
    first += range_count(bound);
    absolute.push_back(bound);
  }
  return absolute;
}

std::vector<ErrorBound> absolute_bounds(const ParticleParts& particles, const BuildOptions& options)
{
  const std::vector<ErrorBound> bounds = error_bounds(particles.schema(), options);
  return absolute_bounds(bounds, compute_ranges(particles, bounds));
}

std::vector<std::string> format_texts(const std::vector<ErrorBound>& bounds)
{
  std::vector<std::string> texts;
  for (const ErrorBound& bound : bounds)
  {
    texts.push_back(fmt::format("{}={}", bound.name, bound.value));
  }
  return texts;
}
}
