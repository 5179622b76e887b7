// SPDX-License-Identifier: BSD-3-Clause
#include "warnings.hpp"

#include "bat/nearest_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

namespace bat::catalyst
{
namespace
{
std::string key_of(const SpeciesKey& topology, const std::string& field)
{
  return fmt::format("{}\n{}\n{}\n{}", topology.channel, topology.mesh, topology.topology, field);
}

std::string format_text(const UnwrittenField& field)
{
  const std::string series = name_of(field.topology);
  const std::string of = field.topology.topology.empty() || series == field.topology.channel
    ? "channel " + field.topology.channel
    : "series " + series;
  return field.is_wrong
    ? fmt::format("{}, field {} was not written: {}", of, field.field, field.reason)
    : fmt::format("{}, field {} {}: it was not written", of, field.field, field.reason);
}

bool contains(const std::vector<std::string>& names, const std::string& name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}
}

// A line that cannot be printed is dropped because the other ranks continue.
void print_warning(const std::string& warning)
{
  (void)std::fprintf(stderr, "catalyst-bat: warning: %s\n", warning.c_str());
}

void print_note(const std::string& note)
{
  (void)std::fprintf(stderr, "catalyst-bat: %s\n", note.c_str());
}

void Warnings::note(const std::string& text, bool prints)
{
  if (this->reported_.emplace(text, text).second && prints)
  {
    print_note(text);
  }
}

void Warnings::add(const Census& census, const Options& options, bool prints)
{
  for (const std::string& warning : census.warnings())
  {
    this->add(warning, warning, prints);
  }
  const std::vector<std::string>& there = census.channels();
  for (const std::string& channel : options.channels.value_or(std::vector<std::string>()))
  {
    if (!contains(there, channel))
    {
      const std::string what = fmt::format("unknown channel {} in the options{}", channel,
        bat::available(channel, fmt::format("{}", fmt::join(there, ", "))));
      this->add(what, what, prints);
    }
  }
  this->add_fields(options, census.unwritten(), prints);
  this->add_species(census, options, prints);
}

// Species that have options but are in no channel.
void Warnings::add_species(const Census& census, const Options& options, bool prints)
{
  std::map<std::string, ChannelOptions> requested = options.all.of_species;
  for (const auto& [channel, own] : options.of_channel)
  {
    requested.insert(own.of_species.begin(), own.of_species.end());
  }
  std::vector<std::string> there;
  for (const SpeciesKey& key : census.species({}))
  {
    requested.erase(key.topology);
    requested.erase(key.mesh);
    there.push_back(key.topology.empty() ? key.mesh : key.topology);
  }
  for (const auto& [species, own] : requested)
  {
    if (!there.empty())
    {
      const std::string what = fmt::format("unknown species {} in the options{}", species,
        bat::available(species, fmt::format("{}", fmt::join(there, ", "))));
      this->add(what, what, prints);
    }
  }
}

void Warnings::add_fields(
  const Options& options, const std::vector<UnwrittenField>& fields, bool prints)
{
  for (const UnwrittenField& field : fields)
  {
    const bool is_error = field.is_wrong && options.stop_on_error;
    this->add(key_of(field.topology, field.field), format_text(field), prints && !is_error);
  }
}

bool Warnings::has(const SpeciesKey& topology, const std::string& field) const
{
  return this->reported_.count(key_of(topology, field)) != 0;
}

std::string Warnings::of(const UnwrittenField& field) const
{
  const auto found = this->reported_.find(key_of(field.topology, field.field));
  return found == this->reported_.end() ? format_text(field) : found->second;
}

void Warnings::add(const std::string& key, const std::string& text, bool prints)
{
  if (this->reported_.emplace(key, text).second && prints)
  {
    print_warning(text);
  }
}
}
