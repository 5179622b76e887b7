// SPDX-License-Identifier: BSD-3-Clause
#include "census.hpp"

#include "bat/error.hpp"
#include "bat/ids.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace bat::catalyst
{
namespace
{
using json = nlohmann::json;

template <class List, class Value>
bool contains(const List& list, const Value& value)
{
  return std::find(list.begin(), list.end(), value) != list.end();
}

template <class List, class Value>
void add_once(List& list, const Value& value)
{
  if (!contains(list, value))
  {
    list.push_back(value);
  }
}

std::string format_text(const json& line)
{
  try
  {
    return line.dump();
  }
  catch (const json::exception&)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("the name of a {} is not valid UTF-8", line.at(0).get<std::string>()));
  }
}

// Reasons quote the value that was found.
std::string as_utf8(const std::string& text)
{
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
    .get<std::string>();
}

json to_json(const State& state)
{
  return { state.number ? json(*state.number) : json(), state.time ? json(*state.time) : json() };
}

State parse_state(const json& json)
{
  State state;
  if (!json.at(0).is_null())
  {
    state.number = json.at(0).get<std::int64_t>();
  }
  if (!json.at(1).is_null())
  {
    state.time = json.at(1).get<double>();
  }
  return state;
}

int find_components(const std::string& type)
{
  const std::size_t x = type.find(" x ");
  return x == std::string::npos ? 1 : std::stoi(type.substr(x + 3));
}

ScalarType parse_scalar_type(const std::string& type)
{
  const std::string name = type.substr(0, type.find(' '));
  int code = static_cast<int>(ScalarType::Int8);
  while (name_of(static_cast<ScalarType>(code)) != name)
  {
    ++code; // type_name() has made it of one of them
  }
  return static_cast<ScalarType>(code);
}

Schema make_schema(const Domain& domain)
{
  Schema schema;
  for (const AttributeView& attribute : domain.particles.attributes)
  {
    schema.emplace(attribute.name, type_name(attribute.values.type, attribute.values.components));
  }
  return schema;
}

// Returns what the first rank reports. Throws Error{InvalidArgument} if numbers differ.
State agreed(const std::vector<State>& states, const std::string& path)
{
  State found;
  for (const State& state : states)
  {
    if (found.number && state.number && *found.number != *state.number)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}/timestep is {} on one rank and {} on another; all ranks must agree", path,
          *found.number, *state.number));
    }
    found.number = found.number ? found.number : state.number;
    found.time = found.time ? found.time : state.time;
  }
  return found;
}

// The lines of Census::texts(): each is a list that begins with a word for its kind.
class Lines
{
public:
  void add(json&& line) { this->texts_.push_back(format_text(line)); }

  void add_all(const char* kind, const std::vector<std::string>& list)
  {
    for (const std::string& value : list)
    {
      this->add({ kind, value });
    }
  }

  void add_schemas(
    const char* kind, const std::map<SpeciesKey, std::vector<Schema>>& schemas_of_species)
  {
    for (const auto& [s, schemas] : schemas_of_species)
    {
      for (const Schema& schema : schemas)
      {
        this->add({ kind, s.channel, s.mesh, s.topology, schema });
      }
    }
  }

  void add_grid(const GridKey& key, const GridCensus& grid)
  {
    const SpeciesKey& t = key.topology;
    for (const auto& spacing : grid.spacings)
    {
      this->add({ "grid", t.channel, t.mesh, t.topology, key.elements, spacing });
    }
    for (const Schema& schema : grid.schemas)
    {
      this->add({ "grid schema", t.channel, t.mesh, t.topology, key.elements, schema });
    }
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(this->texts_); }

private:
  std::vector<std::string> texts_;
};

struct Difference
{
  std::string field;
  std::string reason;
};

// Fields that are not in all schemas, or that have several types.
std::vector<Difference> differences(const std::vector<Schema>& schemas)
{
  std::vector<Difference> result;
  for (const Schema& schema : schemas)
  {
    for (const auto& [name, type] : schema)
    {
      for (const Schema& other : schemas)
      {
        const auto found = other.find(name);
        if (found != other.end() && found->second == type)
        {
          continue;
        }
        const std::string there = found == other.end()
          ? "missing on another"
          : fmt::format("of type {} on another", found->second);
        result.push_back({ name,
          fmt::format(
            "it has type {} on one rank or domain, and {}; all must agree", type, there) });
      }
    }
  }
  return result;
}
}

std::string type_name(ScalarType type, int components)
{
  const std::string name(name_of(type));
  return components == 1 ? name : fmt::format("{} x {}", name, components);
}

bool UnwrittenField::is_of(const SpeciesKey& species) const
{
  return this->topology.channel == species.channel && this->topology.mesh == species.mesh &&
    (this->topology.topology.empty() || this->topology.topology == species.topology);
}

void Census::add(const State& state)
{
  this->states_.push_back(state);
}

void Census::add_channel(const std::string& channel)
{
  this->channels_.push_back(channel);
}

void Census::add(const Channel& channel)
{
  if (channel.state.number || channel.state.time)
  {
    this->states_of_channels_[channel.name].push_back(channel.state);
  }
  for (const FoundSpecies& species : channel.species)
  {
    const SpeciesKey key{ channel.name, species.mesh, species.topology };
    this->species_.push_back(key);
    for (const Domain& domain : species.domains)
    {
      auto& schemas = domain.particles.count != 0 ? this->schemas_ : this->declared_;
      add_once(schemas[key], make_schema(domain));
      for (const std::string& stem : domain.apart)
      {
        add_once(this->apart_[key], stem);
      }
    }
  }
  if (channel.has_others)
  {
    this->others_.push_back(channel.name);
  }
  else if (channel.species.empty())
  {
    this->empty_.push_back(channel.name);
  }
  if (channel.has_placeholder)
  {
    this->placeholders_.push_back(channel.name);
  }
  this->fields_[channel.name].assign(channel.fields.begin(), channel.fields.end());
  for (const UnreadField& field : channel.unread)
  {
    this->unwritten_.push_back({ { channel.name, field.mesh, field.topology }, field.name,
      as_utf8(field.reason), field.is_wrong });
  }
  this->add_warnings(channel.warnings);
}

void Census::add_grid(
  const GridKey& key, const std::array<double, 3>& spacing, const Schema& schema)
{
  GridCensus& grid = this->grids_[key];
  add_once(grid.spacings, spacing);
  add_once(grid.schemas, schema);
}

void Census::add_unreadable(const std::string& channel, const std::string& reason)
{
  this->unreadable_.emplace_back(channel, as_utf8(reason));
}

void Census::add_warnings(const std::vector<std::string>& warnings)
{
  for (const std::string& warning : warnings)
  {
    add_once(this->warnings_, warning);
  }
}

void Census::add_pipelines(const std::vector<std::string>& names)
{
  this->pipelines_ = names;
}

std::vector<std::string> Census::texts() const
{
  Lines lines;
  for (const State& state : this->states_)
  {
    lines.add({ "state", to_json(state) });
  }
  lines.add_all("channel", this->channels_);
  for (const auto& [channel, states] : this->states_of_channels_)
  {
    lines.add({ "channel state", channel, to_json(states.front()) });
  }
  for (const SpeciesKey& s : this->species_)
  {
    lines.add({ "species", s.channel, s.mesh, s.topology });
  }
  lines.add_schemas("schema", this->schemas_);
  lines.add_schemas("declared", this->declared_);
  for (const auto& [s, stems] : this->apart_)
  {
    for (const std::string& stem : stems)
    {
      lines.add({ "apart", s.channel, s.mesh, s.topology, stem });
    }
  }
  for (const auto& [key, grid] : this->grids_)
  {
    lines.add_grid(key, grid);
  }
  lines.add_all("empty", this->empty_);
  lines.add_all("others", this->others_);
  lines.add_all("placeholder", this->placeholders_);
  for (const auto& [channel, fields] : this->fields_)
  {
    for (const std::string& field : fields)
    {
      lines.add({ "field", channel, field });
    }
  }
  for (const UnwrittenField& f : this->unwritten_)
  {
    const SpeciesKey& t = f.topology;
    lines.add({ "unwritten", t.channel, t.mesh, t.topology, f.field, f.reason, f.is_wrong });
  }
  for (const auto& [channel, reason] : this->unreadable_)
  {
    lines.add({ "unreadable", channel, reason });
  }
  lines.add_all("warning", this->warnings_);
  if (this->pipelines_)
  {
    lines.add({ "pipelines", *this->pipelines_ });
  }
  return lines.take();
}

// Returns the names that are the only content of texts of a kind.
std::vector<std::string>& Census::list_of(const std::string& kind)
{
  return kind == "channel"  ? this->channels_
    : kind == "empty"       ? this->empty_
    : kind == "others"      ? this->others_
    : kind == "placeholder" ? this->placeholders_
                            : this->warnings_;
}

void Census::add_text(const std::string& text)
{
  const json line = json::parse(text);
  const auto part = [&](std::size_t i) { return line.at(i).get<std::string>(); };
  const auto species = [&]() { return SpeciesKey{ part(1), part(2), part(3) }; };
  const std::string kind = part(0);
  if (kind == "state" || kind == "channel state")
  {
    auto& states = kind == "state" ? this->states_ : this->states_of_channels_[part(1)];
    states.push_back(parse_state(line.back()));
  }
  else if (kind == "species")
  {
    this->species_.push_back(species());
  }
  else if (kind == "schema" || kind == "declared")
  {
    auto& schemas = kind == "schema" ? this->schemas_ : this->declared_;
    schemas[species()].push_back(line.at(4).get<Schema>());
  }
  else if (kind == "apart")
  {
    this->apart_[species()].push_back(part(4));
  }
  else if (kind == "grid" || kind == "grid schema")
  {
    GridCensus& grid = this->grids_[{ species(), line.at(4).get<bool>() }];
    if (kind == "grid")
    {
      grid.spacings.push_back(line.at(5).get<std::array<double, 3>>());
    }
    else
    {
      grid.schemas.push_back(line.at(5).get<Schema>());
    }
  }
  else if (kind == "field")
  {
    this->fields_[part(1)].push_back(part(2));
  }
  else if (kind == "unwritten")
  {
    this->unwritten_.push_back({ species(), part(4), part(5), line.at(6).get<bool>() });
  }
  else if (kind == "unreadable")
  {
    if (this->can_be_read(part(1)))
    {
      this->unreadable_.emplace_back(part(1), part(2));
    }
  }
  else if (kind == "pipelines")
  {
    this->pipelines_ = line.at(1).get<std::vector<std::string>>();
  }
  else
  {
    add_once(this->list_of(kind), part(1));
  }
}

Census Census::of(const std::vector<std::string>& texts)
{
  Census census;
  for (const std::string& text : texts)
  {
    census.add_text(text);
  }
  census.agree_on_states_of_channels();
  for (const auto& [species, schemas] : census.schemas_)
  {
    census.with_particles_.push_back(species);
  }
  census.take_declared();
  return census;
}

// Merges the declarations of species without particles on any rank, keeping contradictory ones.
void Census::take_declared()
{
  for (const auto& [species, declared] : this->declared_)
  {
    if (this->schemas_.count(species) != 0)
    {
      continue;
    }
    Schema all;
    for (const Schema& schema : declared)
    {
      all.insert(schema.begin(), schema.end());
    }
    std::vector<Schema>& schemas = this->schemas_[species];
    schemas.push_back(all);
    for (Schema schema : declared)
    {
      schema.insert(all.begin(), all.end());
      add_once(schemas, schema);
    }
  }
}

void Census::agree_on_states_of_channels()
{
  for (auto& [channel, states] : this->states_of_channels_)
  {
    try
    {
      states = { agreed(states, fmt::format("catalyst/channels/{}/state", channel)) };
    }
    catch (const Error& e)
    {
      this->unreadable_.emplace_back(channel, e.what());
    }
  }
}

Step Census::step(std::int64_t counted) const
{
  const State state = agreed(this->states_, "catalyst/state");
  const std::int64_t number = state.number.value_or(counted);
  return { number, state.time.value_or(static_cast<double>(number)) };
}

Step Census::step(const std::string& channel, const Step& of_all) const
{
  const auto found = this->states_of_channels_.find(channel);
  const State state = found == this->states_of_channels_.end() ? State() : found->second.front();
  return { state.number.value_or(of_all.number), state.time.value_or(of_all.time) };
}

std::vector<std::string> Census::fields(const std::string& channel) const
{
  const auto found = this->fields_.find(channel);
  std::vector<std::string> fields =
    found == this->fields_.end() ? std::vector<std::string>() : found->second;
  if (std::any_of(this->unpacked_.begin(), this->unpacked_.end(),
        [&](const SpeciesKey& s) { return s.channel == channel && this->unpacked_ids(s); }))
  {
    fields.insert(fields.end(), { "id", "cpu" });
  }
  return fields;
}

std::map<std::string, int> Census::written_fields(const SpeciesKey& species) const
{
  std::map<std::string, int> fields;
  for (const Attribute& attribute : this->written_attributes(species))
  {
    fields.emplace(attribute.name, attribute.components);
  }
  return fields;
}

Schema Census::agreed_schema(const SpeciesKey& species) const
{
  const auto found = this->schemas_.find(species);
  Schema schema = found == this->schemas_.end() ? Schema() : found->second.front();
  for (const UnwrittenField& field : this->unwritten())
  {
    if (field.is_of(species))
    {
      schema.erase(field.field);
    }
  }
  return schema;
}

std::vector<Attribute> Census::written_attributes(const SpeciesKey& species) const
{
  Schema schema = this->agreed_schema(species);
  if (const std::optional<PackedIds> packed = this->unpacked_ids(species))
  {
    for (const std::string& field : packed->fields)
    {
      schema.erase(field);
    }
    schema["id"] = type_name(ScalarType::Int64, 1);
    schema["cpu"] = type_name(ScalarType::Int32, 1);
  }
  std::vector<Attribute> attributes;
  for (const auto& [name, type] : schema)
  {
    if (this->is_chosen(species, name))
    {
      attributes.push_back({ name, parse_scalar_type(type), find_components(type), 0, 0, {} });
    }
  }
  return attributes;
}

std::optional<PackedIds> Census::packed_ids(const SpeciesKey& species) const
{
  const auto apart = this->apart_.find(species);
  return find_packed_ids(this->agreed_schema(species),
    apart == this->apart_.end() ? std::vector<std::string>() : apart->second);
}

std::optional<PackedIds> Census::unpacked_ids(const SpeciesKey& species) const
{
  std::optional<PackedIds> packed =
    contains(this->unpacked_, species) ? this->packed_ids(species) : std::nullopt;
  return packed && packed->taken.empty() ? packed : std::nullopt;
}

std::map<std::string, int> Census::known_fields(const SpeciesKey& species) const
{
  std::map<std::string, int> fields = this->written_fields(species);
  if (const std::optional<PackedIds> packed = this->unpacked_ids(species))
  {
    for (const std::string& field : packed->fields)
    {
      fields.emplace(field, 1);
    }
  }
  if (find_id_attribute(this->written_attributes(species), species.topology))
  {
    fields.emplace("id", 1);
  }
  return fields;
}

bool Census::has_particles(const SpeciesKey& species) const
{
  return contains(this->with_particles_, species);
}

bool Census::has_values(const std::string& channel) const
{
  return std::any_of(this->with_particles_.begin(), this->with_particles_.end(),
           [&](const SpeciesKey& s) { return s.channel == channel; }) ||
    std::any_of(this->grids_.begin(), this->grids_.end(),
      [&](const auto& grid) { return grid.first.topology.channel == channel; });
}

bool Census::is_chosen(const SpeciesKey& species, const std::string& field) const
{
  const auto found = this->chosen_.find(species);
  return found == this->chosen_.end() || contains(found->second, field) ||
    ((field == "id" || field == "cpu") && this->unpacked_ids(species));
}

std::vector<std::string> Census::resolve(
  const SpeciesKey& species, const std::vector<std::string>& names, bool with_second_ids) const
{
  std::vector<std::string> written = names;
  if (const std::optional<PackedIds> packed = this->unpacked_ids(species))
  {
    std::transform(names.begin(), names.end(), written.begin(),
      [&](const std::string& name) { return packed->name_of(name); });
  }
  return resolve_id_names(
    written, this->written_attributes(species), with_second_ids, species.topology);
}

std::vector<UnwrittenField> Census::unwritten() const
{
  std::vector<UnwrittenField> result;
  const auto is_in = [&](const UnwrittenField& f)
  {
    return std::any_of(result.begin(), result.end(),
      [&](const UnwrittenField& o) { return o.is_of(f.topology) && o.field == f.field; });
  };
  const auto add = [&](UnwrittenField field)
  {
    if (this->can_be_read(field.topology.channel) && !is_in(field))
    {
      result.push_back(std::move(field));
    }
  };
  for (const UnwrittenField& field : this->unwritten_)
  {
    add(field);
  }
  const auto add_differences = [&](const SpeciesKey& key, const std::vector<Schema>& schemas)
  {
    for (Difference& difference : differences(schemas))
    {
      add({ key, difference.field, std::move(difference.reason), true });
    }
  };
  for (const auto& [species, schemas] : this->schemas_)
  {
    add_differences(species, schemas);
  }
  for (const auto& [key, grid] : this->grids_)
  {
    add_differences(key.topology, grid.schemas);
  }
  return result;
}

std::map<GridKey, GridCensus> Census::grids() const
{
  std::map<GridKey, GridCensus> result;
  for (const auto& [key, grid] : this->grids_)
  {
    if (this->can_be_read(key.topology.channel))
    {
      result.emplace(key, grid);
    }
  }
  return result;
}

std::vector<std::string> Census::written_fields(const GridKey& grid) const
{
  const auto found = this->grids_.find(grid);
  std::vector<std::string> fields;
  if (found == this->grids_.end())
  {
    return fields;
  }
  const std::vector<UnwrittenField> unwritten = this->unwritten();
  for (const auto& [name, type] : found->second.schemas.front())
  {
    if (std::none_of(unwritten.begin(), unwritten.end(),
          [&, &n = name](const UnwrittenField& u)
          { return u.is_of(grid.topology) && u.field == n; }))
    {
      fields.push_back(name);
    }
  }
  return fields;
}

bool Census::can_be_read(const std::string& channel) const
{
  return std::none_of(this->unreadable_.begin(), this->unreadable_.end(),
    [&](const auto& entry) { return entry.first == channel; });
}

std::vector<SpeciesKey> Census::species(const std::vector<SpeciesKey>& before) const
{
  std::vector<SpeciesKey> result;
  std::copy_if(this->species_.begin(), this->species_.end(), std::back_inserter(result),
    [&](const SpeciesKey& s) { return this->can_be_read(s.channel); });
  for (const std::string& channel : this->empty_)
  {
    const auto is_of_channel = [&](const SpeciesKey& s) { return s.channel == channel; };
    if (contains(this->others_, channel) || !this->can_be_read(channel) ||
      std::any_of(this->species_.begin(), this->species_.end(), is_of_channel))
    {
      continue;
    }
    if (std::any_of(before.begin(), before.end(), is_of_channel))
    {
      std::copy_if(before.begin(), before.end(), std::back_inserter(result), is_of_channel);
    }
    else if (!contains(this->placeholders_, channel))
    {
      result.push_back({ channel, "", "" });
    }
  }
  return result;
}

bool Census::has_pipeline(const std::string& name) const
{
  return !this->pipelines_ || contains(*this->pipelines_, name);
}
}
