#include "census.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

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

std::string text_of(const json& line)
{
  try
  {
    return line.dump();
  }
  catch (const json::exception&)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("the name of a {} is no UTF-8", line.at(0).get<std::string>()));
  }
}

void add_once(std::vector<std::string>& list, const std::string& value)
{
  if (!contains(list, value))
  {
    list.push_back(value);
  }
}
}

void Census::add(const Step& step)
{
  this->steps_.push_back(step);
}

void Census::add_channel(const std::string& channel)
{
  this->channels_.push_back(channel);
}

void Census::add(const Channel& channel)
{
  for (const FoundSpecies& species : channel.species)
  {
    this->species_.push_back({ channel.name, species.mesh, species.topology });
  }
  if (channel.has_others)
  {
    this->others_.push_back(channel.name);
  }
  else if (channel.species.empty())
  {
    this->empty_.push_back(channel.name);
  }
  this->fields_[channel.name].assign(channel.fields.begin(), channel.fields.end());
  this->add_warnings(channel.warnings);
}

void Census::add_warnings(const std::vector<std::string>& warnings)
{
  for (const std::string& warning : warnings)
  {
    add_once(this->warnings_, warning);
  }
}

std::vector<std::string> Census::texts() const
{
  std::vector<std::string> texts;
  const auto add = [&](json&& line) { texts.push_back(text_of(line)); };
  const auto add_all = [&](const char* kind, const std::vector<std::string>& list)
  {
    for (const std::string& value : list)
    {
      add({ kind, value });
    }
  };
  for (const Step& step : this->steps_)
  {
    add({ "step", step.number, step.time });
  }
  add_all("channel", this->channels_);
  for (const SpeciesKey& s : this->species_)
  {
    add({ "species", s.channel, s.mesh, s.topology });
  }
  add_all("empty", this->empty_);
  add_all("others", this->others_);
  for (const auto& [channel, fields] : this->fields_)
  {
    for (const std::string& field : fields)
    {
      add({ "field", channel, field });
    }
  }
  add_all("warning", this->warnings_);
  return texts;
}

Census Census::of(const std::vector<std::string>& texts)
{
  Census census;
  for (const std::string& text : texts)
  {
    const json line = json::parse(text);
    const auto part = [&](std::size_t i) { return line.at(i).get<std::string>(); };
    const std::string kind = part(0);
    if (kind == "step")
    {
      census.steps_.push_back({ line.at(1).get<std::int64_t>(), line.at(2).get<double>() });
    }
    else if (kind == "species")
    {
      census.species_.push_back({ part(1), part(2), part(3) });
    }
    else if (kind == "field")
    {
      census.fields_[part(1)].push_back(part(2));
    }
    else
    {
      auto& list = kind == "channel" ? census.channels_
        : kind == "empty"            ? census.empty_
        : kind == "others"           ? census.others_
                                     : census.warnings_;
      add_once(list, part(1));
    }
  }
  return census;
}

std::optional<Step> Census::step() const
{
  if (this->steps_.empty())
  {
    return std::nullopt;
  }
  for (const Step& other : this->steps_)
  {
    if (other.number != this->steps_.front().number)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("catalyst/state/timestep is {} on one rank and {} on another; all must have "
                    "the same",
          this->steps_.front().number, other.number));
    }
  }
  return this->steps_.front();
}

std::vector<std::string> Census::fields(const std::string& channel) const
{
  const auto found = this->fields_.find(channel);
  return found == this->fields_.end() ? std::vector<std::string>() : found->second;
}

std::vector<SpeciesKey> Census::species(const SpeciesNames& before) const
{
  std::vector<SpeciesKey> result = this->species_;
  for (const std::string& channel : this->empty_)
  {
    const bool is_empty = !contains(this->others_, channel) &&
      std::none_of(this->species_.begin(), this->species_.end(),
        [&](const SpeciesKey& s) { return s.channel == channel; });
    const std::vector<SpeciesKey> known = before.known(channel);
    if (is_empty && known.empty())
    {
      result.push_back({ channel, "", "" });
    }
    else if (is_empty)
    {
      result.insert(result.end(), known.begin(), known.end());
    }
  }
  return result;
}
}
