// SPDX-License-Identifier: BSD-3-Clause
#include "named_fields.hpp"

#include "bat/nearest_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace bat::catalyst
{
namespace
{
struct Use
{
  bool is_found = false;
  bool has_values = false;      // particles or grids that may have it exist
  bool is_unwritten = false;    // already reported
  std::set<std::string> fields; // fields available instead
};

using Uses = std::map<std::pair<std::string, std::string>, Use>; // keys: option and name

template <class List>
bool contains(const List& list, const std::string& name)
{
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::set<std::string> names_in(const std::map<std::string, int>& fields)
{
  std::set<std::string> names;
  for (const auto& [name, components] : fields)
  {
    names.insert(name);
  }
  return names;
}

// Returns the field named in velocity[2] or temperature=0.5.
std::string field_of(const std::string& name)
{
  return name.substr(0, name.find_last_of("[="));
}

bool is_unwritten(const Census& census, const std::string& channel, const std::string& field)
{
  const std::vector<UnwrittenField> all = census.unwritten();
  return std::any_of(all.begin(), all.end(),
    [&](const UnwrittenField& u) { return u.topology.channel == channel && u.field == field; });
}

void add_species(Uses& uses, const Census& census, const SpeciesKey& key, const BuildOptions& build)
{
  const std::map<std::string, int> written = census.written_fields(key);
  const std::map<std::string, int> known = census.known_fields(key);
  const auto add = [&](const char* option, const std::string& name, bool is_found)
  {
    Use& use = uses[{ option, name }];
    use.is_found = use.is_found || is_found;
    use.has_values = use.has_values || census.has_particles(key);
    use.is_unwritten = use.is_unwritten || is_unwritten(census, key.channel, field_of(name));
    use.fields.merge(names_in(written));
  };
  for (const std::string& name : build.sorted_indexes)
  {
    add("sorted_indexes", name, !resolve_indexes({ name }, known).empty());
  }
  for (const std::string& name : build.stable_samples)
  {
    add("stable_samples", name, !resolve_indexes({ name }, known).empty());
  }
  for (const std::string& bound : build.error_bounds)
  {
    add("error_bounds", bound, !resolve_error_bounds({ bound }, written).empty());
  }
}

// Adds the names that particle and grid options use.
void add_channel(
  Uses& uses, const Census& census, const std::string& channel, const ChannelOptions& options)
{
  const std::vector<std::string> fields = census.fields(channel);
  for (const std::string& name : options.fields.value_or(std::vector<std::string>()))
  {
    Use& use = uses[{ "fields", name }];
    use.is_found = use.is_found || contains(fields, name);
    use.has_values = use.has_values || census.has_values(channel);
    use.is_unwritten = use.is_unwritten || is_unwritten(census, channel, name);
    use.fields.insert(fields.begin(), fields.end());
  }
}
}

std::vector<std::string> NamedFields::find_missing(
  const Census& census, const Options& options, const std::vector<SpeciesKey>& keys)
{
  Uses uses;
  for (const SpeciesKey& key : keys)
  {
    add_species(uses, census, key, options.of(key).write.build);
  }
  for (const std::string& channel : census.channels())
  {
    const ChannelOptions& own = options.of(channel);
    add_channel(uses, census, channel, own);
    for (const auto& [species, of_species] : own.of_species)
    {
      add_channel(uses, census, channel, of_species);
    }
  }
  std::vector<std::string> missing;
  for (const auto& [named, use] : uses)
  {
    const auto& [option, name] = named;
    const std::string key = option + "\n" + name;
    if (use.is_found)
    {
      this->found_.insert(key);
    }
    // A channel that cannot be read in this step may contain it.
    else if (use.has_values && !use.is_unwritten && this->found_.count(key) == 0 &&
      census.unreadable().empty())
    {
      missing.push_back(fmt::format("unknown field {} in the option {}{}", name, option,
        bat::available(name, fmt::format("{}", fmt::join(use.fields, ", ")))));
    }
  }
  return missing;
}
}
