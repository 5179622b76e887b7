// SPDX-License-Identifier: BSD-3-Clause
// Parses from JSON which particles get tracks.

#include "bat/insitu.hpp"
#include "bat/nearest_name.hpp"
#include "common/fail.hpp"
#include "common/numbers.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

namespace bat::insitu
{
namespace
{
using json = nlohmann::json;

constexpr char kSubject[] = "tracks"; // for messages

[[noreturn]] void refuse_value(
  const std::string& key, const json& value, const std::string& allowed)
{
  refuse(kSubject,
    fmt::format("{} is {}; allowed is {}", key,
      value.dump(-1, ' ', false, json::error_handler_t::replace), allowed));
}

Number number_of(const std::string& key, const json& value)
{
  if (value.is_number_unsigned())
  {
    return value.get<std::uint64_t>();
  }
  if (value.is_number_integer())
  {
    return value.get<std::int64_t>();
  }
  if (!value.is_number())
  {
    refuse_value(key, value, "a number");
  }
  const auto number = value.get<double>();
  if (std::abs(number) >= 0x1p63) // a whole number of more than 64 bits is rounded to such a one
  {
    refuse_value(key, value, "a 64-bit number");
  }
  return number;
}

std::int64_t whole_number(const std::string& key, const json& value)
{
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer() ||
    (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMax)) ||
    value.get<std::int64_t>() < 1)
  {
    refuse_value(key, value, fmt::format("a whole number from 1 to {}", kMax));
  }
  return value.get<std::int64_t>();
}

std::string format_text(const std::string& key, const json& value)
{
  if (!value.is_string() || value.get<std::string>().empty())
  {
    refuse_value(key, value, "a name");
  }
  return value.get<std::string>();
}

// A list; or an object, which is easier to build in Conduit.
bool is_list(const json& value)
{
  return value.is_array() || value.is_object();
}

void read_ids(TrackOptions& options, const json& value)
{
  if (value.is_number()) // Conduit writes an array of one as a number
  {
    options.ids.push_back(number_of("ids", value));
    return;
  }
  if (!is_list(value) || value.empty())
  {
    refuse_value("ids", value, "a list of numbers, or of pairs of numbers");
  }
  for (const json& id : value)
  {
    if (!is_list(id))
    {
      options.ids.push_back(number_of("ids", id));
      continue;
    }
    if (id.size() != 2)
    {
      refuse_value("ids", id, "a pair of numbers");
    }
    auto part = id.begin();
    options.ids.push_back(number_of("ids", *part));
    options.second.push_back(number_of("ids", *++part));
  }
}

Box box_of(const json& value)
{
  const bool good = is_list(value) && value.size() == 6 &&
    std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_number(); });
  if (!good)
  {
    refuse_value("box", value, "a list of lower x, y, z, upper x, y, z");
  }
  std::vector<double> ends;
  std::transform(value.begin(), value.end(), std::back_inserter(ends),
    [](const json& v) { return v.get<double>(); });
  return { { ends[0], ends[1], ends[2] }, { ends[3], ends[4], ends[5] } };
}
}

TrackOptions parse_track_options(const std::string& text)
{
  const json given = json::parse(text, nullptr, false);
  if (!given.is_object())
  {
    refuse(kSubject, "the options are not a JSON object: " + text.substr(0, 200));
  }
  TrackOptions options;
  const std::map<std::string, std::function<void(const json&)>> keys = {
    { "ids", [&](const json& v) { read_ids(options, v); } },
    { "box", [&](const json& v) { options.box = box_of(v); } },
    { "every_id",
      [&](const json& v)
      { options.every_id = static_cast<std::uint64_t>(whole_number("every_id", v)); } },
    { "id", [&](const json& v) { options.id_attribute = format_text("id", v); } },
    { "second", [&](const json& v) { options.second_attribute = format_text("second", v); } },
    { "attributes",
      [&](const json& v)
      {
        if (!is_list(v))
        {
          refuse_value("attributes", v, "a list of names");
        }
        options.attributes.emplace();
        for (const json& name : v)
        {
          options.attributes->push_back(format_text("attributes", name));
        }
      } },
    { "every", [&](const json& v) { options.every = whole_number("every", v); } },
  };
  for (const auto& [key, value] : given.items())
  {
    const auto found = keys.find(key);
    if (found == keys.end())
    {
      refuse(kSubject,
        fmt::format("unknown option '{}'{}", key,
          bat::available(key, "ids, box, every_id, id, second, attributes, every")));
    }
    found->second(value);
  }
  return options;
}

void check(const TrackOptions& options)
{
  const int ways =
    (options.ids.empty() ? 0 : 1) + (options.box ? 1 : 0) + (options.every_id == 0 ? 0 : 1);
  if (ways != 1)
  {
    refuse(kSubject, fmt::format("{} of ids, box and every_id are given; allowed is one", ways));
  }
  // Pairs without a name for the second part belong to the attribute that is found.
  const std::size_t second =
    options.ids.empty() || (options.second_attribute.empty() && options.second.empty())
    ? 0
    : options.ids.size();
  if (options.second.size() != second)
  {
    refuse(kSubject,
      fmt::format("{} ids, but {} values of the second attribute '{}'; allowed are {}",
        options.ids.size(), options.second.size(), options.second_attribute, second));
  }
  for (const std::vector<Number>& numbers : { std::cref(options.ids), std::cref(options.second) })
  {
    if (std::any_of(numbers.begin(), numbers.end(), is_nan))
    {
      refuse(kSubject, "an id is NaN; ids must be numbers");
    }
  }
  for (std::size_t axis = 0; options.box && axis != 3; ++axis)
  {
    if (!(options.box->lower[axis] <= options.box->upper[axis]))
    {
      refuse(kSubject,
        fmt::format("the box is {} to {} on axis {}; the lower end must not be above the "
                    "upper one",
          options.box->lower[axis], options.box->upper[axis], axis));
    }
  }
  if (options.attributes)
  {
    std::vector<std::string> names = *options.attributes;
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end())
    {
      refuse(kSubject, fmt::format("the attribute '{}' is listed twice", *twice));
    }
  }
  if (options.every < 1)
  {
    refuse(kSubject, fmt::format("every is {} steps; at least 1 is required", options.every));
  }
}
}
