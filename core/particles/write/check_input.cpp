// SPDX-License-Identifier: BSD-3-Clause
// Checks particles and options before anything is written, and resolves the names in options.
#include "particles/write/check_input.hpp"

#include "bat/error.hpp"
#include "bat/file.hpp"
#include "bat/ids.hpp"
#include "bat/query.hpp"
#include "bat/write_options.hpp"
#include "common/fail.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "particles/write/error_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace bat::write
{
namespace
{
void check_array(const ParticleParts& particles, std::size_t array, const std::string& what)
{
  const ArrayView& view = particles.array(array);
  const auto code = static_cast<int>(view.type);
  if (code < 1 || code > 10)
  {
    refuse(fmt::format("{}: unknown scalar type {}; allowed are 1 to 10", what, code));
  }
  if (view.components < 1 || view.components > kMaxComponents)
  {
    refuse(
      fmt::format("{}: {} components; allowed are 1 to {}", what, view.components, kMaxComponents));
  }
  for (const ParticleParts::Part& part : particles.parts())
  {
    const std::size_t stride = particles.array(part, array).stride_bytes;
    if (part.count > 1 && stride < size_of(view.type))
    {
      refuse(fmt::format("{}: values are {} bytes apart, less than their size of {} bytes", what,
        stride, size_of(view.type)));
    }
    for (int c = 0; c != view.components; ++c)
    {
      if (!particles.array(part, array).component[static_cast<std::size_t>(c)])
      {
        refuse(fmt::format("{}: component {} has no data for {} particles", what, c, part.count));
      }
    }
  }
}

void check_name(
  const std::string& what, const std::string& name, std::unordered_set<std::string>& names)
{
  if (name.empty() || name.size() > 65535 || name.find('\0') != std::string::npos || !is_utf8(name))
  {
    refuse(fmt::format(
      "{}: a name must have 1 to 65535 bytes of UTF-8 without a zero byte, found {} bytes", what,
      name.size()));
  }
  if (!names.insert(name).second)
  {
    refuse(what + " occurs twice; names must differ");
  }
}

void check_alias(const ParticleView& schema, const AliasView& alias)
{
  const auto target = std::find_if(schema.attributes.begin(), schema.attributes.end(),
    [&](const AttributeView& a) { return a.name == alias.attribute; });
  if (!alias.attribute.empty() && target == schema.attributes.end())
  {
    refuse(fmt::format(
      "alias '{}': there is no attribute '{}' to refer to", alias.name, alias.attribute));
  }
  const int components = alias.attribute.empty() ? 3 : target->values.components;
  if (alias.component < -1 || alias.component >= components)
  {
    refuse(fmt::format("alias '{}' refers to component {} of {}; allowed are -1 (all) to {}",
      alias.name, alias.component,
      alias.attribute.empty() ? "the positions" : "'" + alias.attribute + "'", components - 1));
  }
}

/// An attribute with its own column, or one component of it.
struct StoredTarget
{
  std::size_t attribute = 0;
  std::optional<int> component;
};

/// The name of an option in messages, and the text for an alias.
struct TargetUse
{
  const char* name;
  const char* of_alias;
};

StoredTarget stored_target(
  const ParticleView& particles, const std::string& requested, const TargetUse& use)
{
  std::vector<std::string> names;
  for (const AttributeView& attribute : particles.attributes)
  {
    names.push_back(attribute.name);
  }
  const std::size_t stored = names.size();
  for (const AliasView& alias : particles.aliases)
  {
    names.push_back(alias.name);
  }
  AttributeRange target;
  try
  {
    target = parse_range_target(requested, names);
  }
  catch (const Error& error)
  {
    refuse(fmt::format("{}: {}", use.name, error.what()));
  }
  const auto attribute = static_cast<std::size_t>(
    std::find(names.begin(), names.end(), target.attribute) - names.begin());
  if (attribute >= stored)
  {
    const AliasView& alias = particles.aliases[attribute - stored];
    refuse(fmt::format("{} of '{}': '{}' is an alias of {}; {}", use.name, requested, alias.name,
      alias.attribute.empty() ? "the positions" : "'" + alias.attribute + "'", use.of_alias));
  }
  const int components = particles.attributes[attribute].values.components;
  if (target.component.value_or(0) >= components)
  {
    refuse(fmt::format(
      "{} of '{}': allowed are components 0 to {}", use.name, requested, components - 1));
  }
  return { attribute, target.component };
}
}

void check_input(const ParticleView& particles, const BuildOptions& options)
{
  check_input(ParticleParts::of_view(particles), options);
}

void check_metadata(const std::string& metadata)
{
  if (metadata.find('\0') != std::string::npos)
  {
    refuse("metadata contains a zero byte; it must be a JSON object in UTF-8");
  }
  constexpr std::size_t kMaxDepth = 1000; // programs that print it recurse
  const std::optional<JsonObject> object = scan_json_object(metadata);
  if (!object)
  {
    refuse("metadata must be a JSON object in UTF-8");
  }
  if (object->depth > kMaxDepth)
  {
    refuse(fmt::format(
      "metadata is nested {} levels deep; at most {} are allowed", object->depth, kMaxDepth));
  }
}

void check_input(const ParticleParts& particles, const BuildOptions& options)
{
  if (particles.count() > format::kMaxParticles)
  {
    refuse(fmt::format("{} particles in one leaf file; at most {} are allowed", particles.count(),
      format::kMaxParticles));
  }
  const ParticleView& schema = particles.schema();
  const ArrayView& positions = schema.positions;
  check_array(particles, 0, "positions");
  if (positions.components != 3 ||
    (positions.type != ScalarType::Float32 && positions.type != ScalarType::Float64))
  {
    refuse(fmt::format("positions are {} x {}; allowed are 3 x float32 or 3 x float64",
      positions.components, name_of(positions.type)));
  }
  const std::size_t all_attributes = schema.attributes.size() + schema.aliases.size();
  if (all_attributes > format::kMaxAttributes)
  {
    refuse(
      fmt::format("{} attributes; at most {} are allowed", all_attributes, format::kMaxAttributes));
  }
  std::unordered_set<std::string> names;
  for (std::size_t k = 0; k != schema.attributes.size(); ++k)
  {
    const AttributeView& attribute = schema.attributes[k];
    const std::string what = "attribute '" + attribute.name + "'";
    check_name(what, attribute.name, names);
    check_array(particles, k + 1, what);
  }
  for (const AliasView& alias : schema.aliases)
  {
    check_name("alias '" + alias.name + "'", alias.name, names);
    check_alias(schema, alias);
  }
  if (!schema.metadata.empty())
  {
    check_metadata(schema.metadata);
  }
  WriteOptions all;
  all.build = options;
  check_options(all);
  if (options.chunk_particles != 0 && options.compression == Compression::None)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("chunk_particles is {}, but compression is 'none', which has no chunks; "
                  "allowed is 0, or choose a compression",
        options.chunk_particles));
  }
  (void)indexed_keys(schema, options);
  (void)sample_ids(schema, options);
  (void)error_bounds(schema, options);
}

std::vector<std::string> resolve_ids(
  const ParticleView& particles, const std::vector<std::string>& names, bool with_second)
{
  std::vector<Attribute> attributes;
  for (const AttributeView& a : particles.attributes)
  {
    attributes.push_back({ a.name, a.values.type, a.values.components, a.role, a.host_type, {} });
  }
  return resolve_id_names(names, attributes, with_second);
}

std::vector<std::size_t> indexed_keys(const ParticleView& particles, const BuildOptions& options)
{
  std::vector<std::size_t> first_keys{ 0 };
  for (const AttributeView& attribute : particles.attributes)
  {
    first_keys.push_back(first_keys.back() + format::key_count(attribute.values.components));
  }
  std::vector<std::size_t> keys;
  for (const std::string& requested : resolve_ids(particles, options.sorted_indexes, false))
  {
    const StoredTarget target = stored_target(
      particles, requested, { "sorted index", "only stored attributes can be indexed" });
    const int components = particles.attributes[target.attribute].values.components;
    keys.push_back(first_keys[target.attribute] +
      static_cast<std::size_t>(target.component.value_or(components == 1 ? 0 : components)));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::vector<format::SampleIdRecord> sample_ids(
  const ParticleView& particles, const BuildOptions& options)
{
  const std::vector<std::string> names = resolve_ids(particles, options.stable_samples, true);
  if (names.size() > format::kMaxSampleIds)
  {
    refuse(fmt::format("stable samples: {} attributes; at most {} are allowed", names.size(),
      format::kMaxSampleIds));
  }
  std::vector<format::SampleIdRecord> ids;
  for (const std::string& requested : names)
  {
    const StoredTarget target =
      stored_target(particles, requested, { "stable samples", "specify a stored attribute" });
    const ArrayView& values = particles.attributes[target.attribute].values;
    if (value_class(values.type) == ValueClass::Float)
    {
      refuse(fmt::format("stable samples of '{}': its type is {}; only integer attributes are "
                         "allowed",
        requested, name_of(values.type)));
    }
    format::SampleIdRecord id{};
    id.attribute = static_cast<std::uint32_t>(target.attribute);
    id.component = static_cast<std::int16_t>(target.component.value_or(-1));
    ids.push_back(id);
  }
  return ids;
}
}

namespace bat
{
bool names_attribute(const ParticleView& particles, const std::string& requested)
{
  const std::string name = write::resolve_ids(particles, { requested }, false).front();
  const auto is_known = [&](std::string_view text)
  {
    const auto is_it = [&](const auto& column) { return column.name == text; };
    return std::any_of(particles.attributes.begin(), particles.attributes.end(), is_it) ||
      std::any_of(particles.aliases.begin(), particles.aliases.end(), is_it);
  };
  return is_known(name) || is_known(std::string_view(name).substr(0, name.rfind('[')));
}
}
