// SPDX-License-Identifier: BSD-3-Clause
#include "bat/ids.hpp"

#include "bat/file.hpp"
#include "common/numbers.hpp"

#include <algorithm>
#include <string_view>

namespace bat
{
namespace
{
constexpr std::uint8_t kGlobalIds = 6; // the role of VTK's global ids

bool is_integer_scalar(const Attribute& attribute)
{
  return attribute.components == 1 && value_class(attribute.type) != ValueClass::Float;
}

std::optional<std::size_t> find_named(
  const std::vector<Attribute>& attributes, const std::string& name)
{
  const auto found = std::find_if(attributes.begin(), attributes.end(),
    [&](const Attribute& attribute) { return attribute.name == name; });
  return found == attributes.end()
    ? std::nullopt
    : std::optional(static_cast<std::size_t>(found - attributes.begin()));
}

bool ends_with(std::string_view text, std::string_view end)
{
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

template <class Predicate>
std::optional<std::size_t> find_if(const std::vector<Attribute>& attributes, Predicate&& predicate)
{
  for (std::size_t i = 0; i != attributes.size(); ++i)
  {
    if (predicate(i))
    {
      return i;
    }
  }
  return std::nullopt;
}

bool is_usual_name(const std::string& name)
{
  std::string plain;
  for (const char c : name)
  {
    if (c != '_')
    {
      plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  const auto usual = { "id", "ids", "particleid", "particleids", "globalid", "globalids" };
  return std::find(usual.begin(), usual.end(), plain) != usual.end();
}
}

std::optional<std::size_t> find_second_id_attribute(
  const std::vector<Attribute>& attributes, std::size_t id)
{
  const Attribute& first = attributes[id];
  if (!is_integer_scalar(first) || (first.name != "id" && !ends_with(first.name, "_id")))
  {
    return std::nullopt;
  }
  const std::string name = first.name.substr(0, first.name.size() - 2) + "cpu";
  const auto second = find_named(attributes, name);
  return second && is_integer_scalar(attributes[*second]) ? second : std::nullopt;
}

std::optional<std::size_t> find_id_attribute(
  const std::vector<Attribute>& attributes, const std::string& species)
{
  const auto at = [&](auto&& predicate)
  { return find_if(attributes, [&](std::size_t i) { return predicate(attributes[i]); }); };
  if (const auto i = at([](const Attribute& a) { return a.role == kGlobalIds; }))
  {
    return i;
  }
  if (const auto i = at([](const Attribute& a) { return is_usual_name(a.name); }))
  {
    return i;
  }
  const auto is_packed = [](const Attribute& a)
  {
    return a.components == 1 && a.type == ScalarType::UInt64 &&
      (a.name == "idcpu" || ends_with(a.name, "_idcpu"));
  };
  if (const auto i = at(is_packed))
  {
    return i;
  }
  if (const auto i = find_if(attributes,
        [&](std::size_t n) { return find_second_id_attribute(attributes, n).has_value(); }))
  {
    return i;
  }
  return species.empty() ? std::nullopt : find_named(attributes, species + "_id");
}

std::vector<std::string> resolve_id_names(const std::vector<std::string>& names,
  const std::vector<Attribute>& attributes, bool with_second, const std::string& species)
{
  std::vector<std::string> resolved;
  const auto add = [&](const std::string& name)
  {
    if (std::find(resolved.begin(), resolved.end(), name) == resolved.end())
    {
      resolved.push_back(name);
    }
  };
  for (const std::string& name : names)
  {
    std::optional<std::size_t> found = find_named(attributes, name);
    if (!found && name == "id")
    {
      found = find_id_attribute(attributes, species);
    }
    add(found ? attributes[*found].name : name);
    if (const auto second =
          with_second && found ? find_second_id_attribute(attributes, *found) : std::nullopt)
    {
      add(attributes[*second].name);
    }
  }
  return resolved;
}
}
