// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/repeats.hpp"

#include "bat/query.hpp"
#include "particles/write/check_input.hpp"
#include "particles/write/error_bounds.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_set>

namespace bat::write
{
namespace
{
/// An array, 0 for the positions, and a component of it or -1.
struct Target
{
  std::size_t array = 0;
  int component = -1;
};

constexpr Repeat kPerArray = kMaxComponents + 1;

Repeat encode(const Target& target)
{
  return 1 + static_cast<Repeat>(target.array) * kPerArray + target.component + 1;
}

Target decode(Repeat repeat)
{
  return { static_cast<std::size_t>((repeat - 1) / kPerArray),
    static_cast<int>((repeat - 1) % kPerArray) - 1 };
}

// Returns whether a name suggests that the values are coordinates: x, pos, coords_y, Position[2]
// ...
bool names_coordinates(std::string name)
{
  static const std::unordered_set<std::string_view> kNames{ "x", "y", "z", "xyz", "pos", "position",
    "positions", "coord", "coords", "coordinate", "coordinates", "point", "points", "location" };
  for (char& c : name)
  {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const std::size_t end = name.find_last_not_of("0123456789xyz[]()_-.: ");
  return kNames.count(name) != 0 ||
    (end != std::string::npos && kNames.count(std::string_view(name).substr(0, end + 1)) != 0);
}

class Finder
{
public:
  Finder(const ParticleParts& particles, const BuildOptions& options)
    : particles_(particles)
    , compare_all_(options.compare_values)
  {
    const std::vector<AttributeView>& attributes = particles.schema().attributes;
    std::vector<std::string> names;
    for (const AttributeView& a : attributes)
    {
      names.push_back(a.name);
    }
    for (const auto& requested : { resolve_ids(particles.schema(), options.sorted_indexes, false),
           resolve_ids(particles.schema(), options.stable_samples, true) })
    {
      for (const std::string& name : requested)
      {
        this->indexed_.insert(parse_range_target(name, names).attribute);
      }
    }
    for (const AliasView& alias : particles.schema().aliases)
    {
      this->indexed_.insert(alias.attribute);
    }
    for (const ErrorBound& bound : error_bounds(particles.schema(), options))
    {
      this->bounded_.insert(bound.array);
    }
  }

  std::vector<Repeat> run() const
  {
    const std::vector<AttributeView>& attributes = this->particles_.schema().attributes;
    std::vector<Repeat> repeats(attributes.size(), kNoRepeat);
    if (this->particles_.count() == 0)
    {
      return repeats;
    }
    std::vector<std::size_t> targets(attributes.size() + 1);
    std::iota(targets.begin(), targets.end(), std::size_t{ 0 });
    std::stable_sort(targets.begin() + 1, targets.end(),
      [&](std::size_t a, std::size_t b)
      { return attributes[a - 1].values.components > attributes[b - 1].values.components; });
    for (std::size_t i = 1; i != targets.size(); ++i)
    {
      const AttributeView& attribute = attributes[targets[i] - 1];
      if (this->indexed_.count(attribute.name) == 0 && this->bounded_.count(targets[i]) == 0)
      {
        repeats[targets[i] - 1] = this->find(targets[i], targets.data(), i);
      }
    }
    return repeats;
  }

private:
  // Returns the first of `count` arrays with the same values as `array`.
  [[nodiscard]] Repeat find(std::size_t array, const std::size_t* targets, std::size_t count) const
  {
    const ArrayView& values = this->particles_.array(array);
    const std::string& name = this->particles_.schema().attributes[array - 1].name;
    for (std::size_t i = 0; i != count; ++i)
    {
      const ArrayView& other = this->particles_.array(targets[i]);
      if (other.type != values.type || other.components < values.components ||
        this->bounded_.count(targets[i]) != 0)
      {
        continue;
      }
      const bool compare = this->compare_all_ || (targets[i] == 0 && names_coordinates(name));
      const bool is_whole = other.components == values.components;
      if (!is_whole && values.components != 1)
      {
        continue;
      }
      for (int c = is_whole ? -1 : 0; c != (is_whole ? 0 : other.components); ++c)
      {
        const Target target{ targets[i], c };
        if (this->is_same_memory(array, target) ||
          (compare && this->has_same_values(array, target)))
        {
          return encode(target);
        }
      }
    }
    return kNoRepeat;
  }

  template <class Same>
  [[nodiscard]] bool for_all(std::size_t array, const Target& target, const Same& same) const
  {
    return std::all_of(this->particles_.parts().begin(), this->particles_.parts().end(),
      [&](const ParticleParts::Part& part)
      {
        const ArrayView& a = ParticleParts::array(part, array);
        const ArrayView& b = ParticleParts::array(part, target.array);
        const int first = std::max(target.component, 0);
        for (int c = 0; c != a.components; ++c)
        {
          if (!same(part, a.component[static_cast<std::size_t>(c)], a.stride_bytes,
                b.component[static_cast<std::size_t>(first + c)], b.stride_bytes))
          {
            return false;
          }
        }
        return true;
      });
  }

  [[nodiscard]] bool is_same_memory(std::size_t array, const Target& target) const
  {
    return this->for_all(array, target,
      [](const ParticleParts::Part& part, const std::byte* a, std::size_t a_stride,
        const std::byte* b, std::size_t b_stride)
      { return a == b && (a_stride == b_stride || part.view.count == 1); });
  }

  [[nodiscard]] bool has_same_values(std::size_t array, const Target& target) const
  {
    const std::size_t bytes = size_of(this->particles_.array(array).type);
    return this->for_all(array, target,
      [bytes](const ParticleParts::Part& part, const std::byte* a, std::size_t a_stride,
        const std::byte* b, std::size_t b_stride)
      {
        for (std::uint64_t i = 0; i != part.count; ++i)
        {
          const std::uint64_t row = part.rows ? part.rows[i] : i;
          if (std::memcmp(a + row * a_stride, b + row * b_stride, bytes) != 0)
          {
            return false;
          }
        }
        return true;
      });
  }

  const ParticleParts& particles_;
  bool compare_all_;
  std::unordered_set<std::string> indexed_; ///< names that must stay columns
  std::unordered_set<std::size_t> bounded_; ///< arrays whose stored values are others
};

// Follows a chain of repeats to the array that is kept.
Target find_chain_end(Target target, const std::vector<Repeat>& repeats)
{
  while (target.array != 0 && repeats[target.array - 1] != kNoRepeat)
  {
    const Target next = decode(repeats[target.array - 1]);
    target = { next.array, next.component < 0 ? target.component : next.component };
  }
  return target;
}
}

std::vector<Repeat> find_repeats(const ParticleParts& particles, const BuildOptions& options)
{
  return Finder(particles, options).run();
}

ParticleView without_repeats(
  const ParticleView& view, const std::vector<Repeat>& repeats, Repeats how)
{
  ParticleView result = view;
  result.attributes.clear();
  for (std::size_t i = 0; i != view.attributes.size(); ++i)
  {
    const AttributeView& attribute = view.attributes[i];
    if (repeats[i] == kNoRepeat)
    {
      result.attributes.push_back(attribute);
      continue;
    }
    if (how == Repeats::Link)
    {
      const Target target = find_chain_end(decode(repeats[i]), repeats);
      result.aliases.push_back({ attribute.name,
        target.array == 0 ? std::string() : view.attributes[target.array - 1].name,
        target.component, attribute.role, attribute.host_type });
    }
  }
  return result;
}

ParticleParts link_repeats(const ParticleView& view, const BuildOptions& options)
{
  ParticleParts particles = ParticleParts::of_view(view);
  if (options.repeats == Repeats::Store)
  {
    return particles;
  }
  check_input(particles, options);
  return ParticleParts::of_view(
    without_repeats(view, find_repeats(particles, options), options.repeats));
}
}
