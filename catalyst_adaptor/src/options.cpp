// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include "bat/error.hpp"
#include "bat/ids.hpp"
#include "bat/idx/write_options.hpp"
#include "bat/insitu.hpp"
#include "bat/nearest_name.hpp"
#include "bat/query.hpp"
#include "bat/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

namespace bat::catalyst
{
namespace
{
using json = nlohmann::json;

[[noreturn]] void refuse(const std::string& what)
{
  throw Error(ErrorCode::InvalidArgument, what);
}

// One option: its name for messages, and its value.
struct Option
{
  std::string name;
  const json& value;

  [[noreturn]] void refuse(const std::string& allowed) const
  {
    catalyst::refuse(
      fmt::format("{} is {}; {} is allowed", this->name, this->value.dump(), allowed));
  }

  [[nodiscard]] std::string text() const
  {
    if (!this->value.is_string())
    {
      this->refuse("a string");
    }
    return this->value.get<std::string>();
  }

  [[nodiscard]] std::uint64_t whole_number(std::uint64_t lowest, std::uint64_t highest) const
  {
    // Fortran and Conduit have only signed numbers; JSON reads positive ones as unsigned.
    if (!this->value.is_number_integer() ||
      (!this->value.is_number_unsigned() && this->value.get<std::int64_t>() < 0) ||
      this->value.get<std::uint64_t>() < lowest || this->value.get<std::uint64_t>() > highest)
    {
      this->refuse(fmt::format("a whole number from {} to {}", lowest, highest));
    }
    return this->value.get<std::uint64_t>();
  }

  [[nodiscard]] std::string one_of(const std::vector<std::string>& allowed) const
  {
    const auto found = std::find(allowed.begin(), allowed.end(),
      this->value.is_string() ? this->value.get<std::string>() : "");
    if (found == allowed.end())
    {
      this->refuse(fmt::format("one of {}", fmt::join(allowed, ", ")));
    }
    return *found;
  }

  // A list, or an object of texts: in Conduit, a node with named children is easier to make than a
  // list.
  [[nodiscard]] std::vector<std::string> texts(
    const std::string& allowed = "a list of strings") const
  {
    const bool is_list = (this->value.is_array() || this->value.is_object()) &&
      std::all_of(
        this->value.begin(), this->value.end(), [](const json& v) { return v.is_string(); });
    if (!is_list)
    {
      this->refuse(allowed);
    }
    return { this->value.begin(), this->value.end() };
  }

  [[nodiscard]] std::vector<std::string> text_or_texts() const
  {
    return this->value.is_string() ? std::vector<std::string>{ this->text() }
                                   : this->texts("a string, or a list of strings,");
  }

  // "xz": each of the three letters at most once.
  [[nodiscard]] std::array<bool, 3> axes() const
  {
    std::array<bool, 3> axes{};
    for (const char name : this->text())
    {
      const std::size_t axis = std::string("xyz").find(name);
      if (axis == std::string::npos || axes[axis])
      {
        this->refuse("a string of axes, such as \"x\" or \"xyz\",");
      }
      axes[axis] = true;
    }
    return axes;
  }

  // Returns the value for a write option, whose description says what is allowed.
  [[nodiscard]] OptionValue as_it_is(const std::string& allowed) const
  {
    if (this->value.is_string())
    {
      return this->text();
    }
    if (this->value.is_boolean())
    {
      return this->value.get<bool>();
    }
    // JSON integers beyond 63 bits are too large for every option.
    if (this->value.is_number_unsigned() &&
      this->value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    {
      return this->value.get<double>();
    }
    if (this->value.is_number_integer())
    {
      return this->value.get<std::int64_t>();
    }
    return this->value.is_number() ? OptionValue(this->value.get<double>())
                                   : OptionValue(this->texts(allowed));
  }
};

// The write options by key; two of them have different names here.
const std::map<std::string, OptionInfo>& write_options()
{
  static const std::map<std::string, OptionInfo> options = []
  {
    std::map<std::string, OptionInfo> made;
    for (const OptionInfo& info : option_table())
    {
      const std::string key = info.name == "target_bytes" ? "target_size"
        : info.name == "repeats"                          ? "aliases"
                                                          : info.name;
      made.emplace(key, info);
    }
    return made;
  }();
  return options;
}

// The grid write options by key: options that only grids have are prefixed. Steps come from the
// simulation.
const std::map<std::string, idx::OptionInfo>& grid_options()
{
  static const std::map<std::string, idx::OptionInfo> options = []
  {
    std::map<std::string, idx::OptionInfo> made;
    for (const idx::OptionInfo& info : idx::option_table())
    {
      if (info.name != "mode" && info.name != "step" && info.name != "time")
      {
        made.emplace((write_options().count(info.name) != 0 ? "" : "grid_") + info.name, info);
      }
    }
    return made;
  }();
  return options;
}

// Sets a grid option under the name that users know.
void set_grid_option(idx::WriteOptions& options, const idx::OptionInfo& info, const Option& option)
{
  const OptionValue value = option.as_it_is(info.allowed);
  const auto* flag = std::get_if<bool>(&value);
  const auto* number = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const auto* text = std::get_if<std::string>(&value);
  if (!flag && !number && !real && !text)
  {
    option.refuse(info.allowed);
  }
  try
  {
    idx::set_option(options, info.name,
      flag       ? idx::OptionValue(std::int64_t{ *flag })
        : number ? idx::OptionValue(*number)
        : real   ? idx::OptionValue(*real)
                 : idx::OptionValue(*text));
  }
  catch (const Error&)
  {
    option.refuse(info.allowed);
  }
}

// Sets an option for particles, for grids, or for both.
bool set_write_option(ChannelOptions& options, const std::string& key, const Option& option)
{
  const auto of_particles = write_options().find(key);
  if (of_particles != write_options().end())
  {
    const OptionInfo& info = of_particles->second;
    set_option(options.write, info.name, option.as_it_is(info.allowed), option.name);
  }
  const auto of_grids = grid_options().find(key);
  if (of_grids != grid_options().end())
  {
    set_grid_option(options.write_grid, of_grids->second, option);
  }
  return of_particles != write_options().end() || of_grids != grid_options().end();
}

void set_tracks(ChannelOptions& options, const Option& option)
{
  options.tracks_text = option.value.dump(-1, ' ', false, json::error_handler_t::replace);
  try
  {
    options.tracks = insitu::parse_track_options(options.tracks_text);
    insitu::check(*options.tracks);
  }
  catch (const Error& e)
  {
    refuse(fmt::format("{}: {}", option.name, e.what()));
  }
}

// Sets an option for output files or bricks. Returns false for any other key.
bool set_output_option(ChannelOptions& options, const std::string& key, const Option& option)
{
  if (key == "grid_output" || (key == "output" && GridPattern::is_one(option.text())))
  {
    options.grid_outputs = option.text_or_texts();
    for (const std::string& pattern : options.grid_outputs)
    {
      static_cast<void>(GridPattern(pattern));
    }
  }
  else if (key == "bricks_velocity")
  {
    options.bricks.velocity = option.text_or_texts();
    if (options.bricks.velocity.size() > 3)
    {
      option.refuse("a field name, or one for each of 2 or 3 components,");
    }
  }
  else if (key == "bricks_cyclic")
  {
    options.bricks.cyclic = option.axes();
  }
  else if (key == "bricks_compress")
  {
    options.bricks.compress = option.whole_number(0, 1) != 0;
  }
  else if (key == "output")
  {
    options.output = option.text();
    static_cast<void>(insitu::FilePattern(options.output));
  }
  else
  {
    return false;
  }
  return true;
}

bool set_channel_option(ChannelOptions& options, const std::string& key, const Option& option)
{
  if (set_output_option(options, key, option))
  {
    return true;
  }
  if (key == "fields")
  {
    options.fields = option.texts();
  }
  else if (key == "every")
  {
    options.every = option.whole_number(1, std::numeric_limits<std::int64_t>::max());
  }
  else if (key == "tracks")
  {
    set_tracks(options, option);
  }
  else if (key == "amrex_ids")
  {
    options.unpack_ids = option.one_of({ "unpack", "keep" }) == "unpack";
  }
  else if (key == "ghosts")
  {
    options.keep_ghosts = option.one_of({ "drop", "keep" }) == "keep";
  }
  else
  {
    return set_write_option(options, key, option);
  }
  return true;
}

std::string channel_keys()
{
  std::string keys = "output, fields, every, tracks, ghosts, amrex_ids, species";
  for (const auto& [key, option] : write_options())
  {
    keys += ", " + key;
  }
  keys += ", bricks_velocity, bricks_cyclic, bricks_compress, grid_output";
  for (const auto& [key, option] : grid_options())
  {
    keys += write_options().count(key) != 0 ? "" : ", " + key;
  }
  return keys;
}

// True if a channel's option applies to all of its species.
bool is_option_of_channel(const std::string& key)
{
  return key == "ghosts" || key == "species" || key.rfind("grid_", 0) == 0 ||
    key.rfind("bricks_", 0) == 0;
}

// Objects with the options in which species differ.
void set_species(ChannelOptions& options, const Option& option)
{
  const json& value = option.value;
  if (!value.is_object() ||
    !std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_object(); }))
  {
    option.refuse("an object with an object of options for each species");
  }
  std::map<std::string, ChannelOptions> of_species;
  for (const auto& [species, overrides] : value.items())
  {
    ChannelOptions own = options;
    for (const auto& [key, v] : overrides.items())
    {
      const std::string name = fmt::format("{}/{}/{}", option.name, species, key);
      if (is_option_of_channel(key) || !set_channel_option(own, key, { name, v }))
      {
        refuse(fmt::format("{} is not a species option; channel options are, except ghosts and "
                           "those of grids and velocity fields",
          name));
      }
    }
    of_species.emplace(species, std::move(own));
  }
  options.of_species = std::move(of_species);
}

// Accepts names, or objects with the options in which a channel differs. `of_species` has the
// species options shared by all channels.
void set_channels(Options& options, const Option& option, const json& of_species)
{
  const json& value = option.value;
  const bool is_object = value.is_object() && !value.empty() &&
    std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_object(); });
  if (!is_object)
  {
    options.channels = option.texts();
    return;
  }
  options.channels.emplace();
  for (const auto& [channel, overrides] : value.items())
  {
    options.channels->push_back(channel);
    ChannelOptions own = options.all;
    json species = of_species;
    for (const auto& [key, v] : overrides.items())
    {
      const std::string name = fmt::format("{}/{}/{}", option.name, channel, key);
      if (key == "species")
      {
        set_species(own, { name, v }); // alone, for the names in messages
        species.merge_patch(v);
      }
      else if (!set_channel_option(own, key, { name, v }))
      {
        refuse(
          fmt::format("unknown channel option {}{}", name, bat::available(name, channel_keys())));
      }
    }
    set_species(own, { fmt::format("{}/{}/species", option.name, channel), species });
    options.of_channel.emplace(channel, std::move(own));
  }
}
}

std::vector<std::string> ChannelOptions::list_grid_outputs() const
{
  const std::filesystem::path folder = std::filesystem::path(this->output).parent_path();
  return this->grid_outputs.empty() ? std::vector{ (folder / "{name}.idx").string() }
                                    : this->grid_outputs;
}

const ChannelOptions& Options::of(const std::string& channel) const
{
  const auto found = this->of_channel.find(channel);
  return found == this->of_channel.end() ? this->all : found->second;
}

const ChannelOptions& species_options(const ChannelOptions& channel, const SpeciesKey& species)
{
  const auto of_topology = channel.of_species.find(species.topology);
  const auto found =
    of_topology == channel.of_species.end() ? channel.of_species.find(species.mesh) : of_topology;
  return found == channel.of_species.end() ? channel : found->second;
}

const ChannelOptions& Options::of(const SpeciesKey& species) const
{
  return species_options(this->of(species.channel), species);
}

insitu::TrackOptions track_options_for(const insitu::TrackOptions& tracks,
  const std::vector<Attribute>& attributes, const std::set<std::string>& of_others,
  const std::string& topology)
{
  insitu::TrackOptions result = tracks;
  if (attributes.empty())
  {
    return result; // nothing is unpacked without particles
  }
  const auto is_of_others = [&](const std::string& name)
  {
    return of_others.count(name) != 0 &&
      std::none_of(
        attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == name; });
  };
  if (result.id_attribute.empty())
  {
    const std::optional<std::size_t> id = find_id_attribute(attributes, topology);
    result.id_attribute = id ? attributes[*id].name : "";
  }
  if (is_of_others(result.second_attribute))
  {
    result.second_attribute.clear();
  }
  if (result.attributes)
  {
    result.attributes->erase(
      std::remove_if(result.attributes->begin(), result.attributes->end(), is_of_others),
      result.attributes->end());
  }
  return result;
}

bool Options::has(const std::string& channel) const
{
  return !this->channels ||
    std::find(this->channels->begin(), this->channels->end(), channel) != this->channels->end();
}

std::vector<std::string> resolve_indexes(
  const std::vector<std::string>& requested, const std::map<std::string, int>& fields)
{
  std::vector<std::string> names;
  for (const auto& [name, components] : fields)
  {
    names.push_back(name);
  }
  std::vector<std::string> found;
  for (const std::string& index : requested)
  {
    try
    {
      const AttributeRange target = parse_range_target(index, names);
      if (target.component.value_or(0) < fields.at(target.attribute))
      {
        found.push_back(index);
      }
    }
    catch (const Error&)
    {
      continue; // the field does not exist
    }
  }
  return found;
}

std::vector<std::string> resolve_error_bounds(
  const std::vector<std::string>& requested, const std::map<std::string, int>& fields)
{
  std::vector<std::string> found;
  std::copy_if(requested.begin(), requested.end(), std::back_inserter(found),
    [&](const std::string& bound)
    {
      const std::size_t equals = bound.rfind('=');
      const std::string name = bound.substr(0, equals);
      return equals == std::string::npos || name == "positions" || fields.count(name) != 0;
    });
  return found;
}

nlohmann::json to_json(const Node& node)
{
  if (node.is_object() || node.is_list())
  {
    json result = node.is_object() ? json::object() : json::array();
    for (std::size_t i = 0; i != node.size(); ++i)
    {
      const Node child = node.child(i);
      (node.is_object() ? result[child.name()] : result.emplace_back()) = to_json(child);
    }
    return result;
  }
  if (const auto text = node.string())
  {
    if (!is_utf8(*text))
    {
      refuse(fmt::format("{} is not valid UTF-8", node.path()));
    }
    return *text;
  }
  const auto numbers = node.numbers();
  if (!numbers)
  {
    refuse(fmt::format(
      "{} has type {}; it must be a string, a number or a list", node.path(), node.type_name()));
  }
  json all = json::array();
  for (std::uint64_t i = 0; i != static_cast<std::uint64_t>(numbers->count); ++i)
  {
    all.push_back(numbers->type == ScalarType::UInt64
        ? json(static_cast<std::uint64_t>(int64_at(*numbers, i))) // keeps the bits
        : is_integer(numbers->type) ? json(int64_at(*numbers, i))
                                    : json(float64_at(*numbers, i)));
  }
  return all.size() == 1 ? all[0] : all;
}

nlohmann::json read_config(const std::string& path)
{
  std::ifstream file(path);
  if (!file)
  {
    refuse(fmt::format("{}, set in CATALYST_BAT_CONFIG, cannot be read", path));
  }
  try
  {
    return json::parse(file);
  }
  catch (const json::exception& e)
  {
    refuse(fmt::format("{}: {}", path, e.what()));
  }
}

Options parse_options(const nlohmann::json& json, const std::string& source)
{
  if (!json.is_object())
  {
    refuse(fmt::format("{} is {}; it must be an object", source, json.type_name()));
  }
  Options options;
  for (const auto& [key, value] : json.items())
  {
    const Option option{ fmt::format("{}/{}", source, key), value };
    if (key == "on_error")
    {
      options.stop_on_error = option.one_of({ "continue", "stop" }) == "stop";
    }
    else if (key != "channels" && key != "species" && !set_channel_option(options.all, key, option))
    {
      refuse(fmt::format("unknown option {}{}", option.name,
        bat::available(option.name, fmt::format("channels, on_error, {}", channel_keys()))));
    }
  }
  options.names_output = json.contains("output") || json.contains("channels");
  // Parsed last: their objects start from the options of all species.
  const auto species = json.value("species", nlohmann::json::object());
  if (json.contains("channels"))
  {
    set_channels(options, { fmt::format("{}/channels", source), json["channels"] }, species);
  }
  set_species(options.all, { fmt::format("{}/species", source), species });
  return options;
}

nlohmann::json merged(const nlohmann::json& json, const nlohmann::json& over)
{
  nlohmann::json result = json;
  result.update(over);
  return result;
}
}
