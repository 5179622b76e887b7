// SPDX-License-Identifier: BSD-3-Clause
#include "particles/query/conditions.hpp"

#include "bat/error.hpp"
#include "bat/nearest_name.hpp"
#include "common/fail.hpp"
#include "particles/format/layout.hpp"
#include "particles/format/levels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace bat::query
{
namespace
{
// Names a condition as the user knows it: "range on 'velocity[1]'". `what` is its kind.
std::string describe(
  std::string_view what, const std::string& attribute, const std::optional<int>& component)
{
  return component ? fmt::format("{} '{}[{}]'", what, attribute, *component)
                   : fmt::format("{} '{}'", what, attribute);
}

std::string describe_range(
  const std::string& attribute, const std::optional<int>& component, bool negated)
{
  return describe(negated ? "negated range on" : "range on", attribute, component);
}

// Turns a condition on an alias into a condition on the array that it repeats.
void resolve(const Alias& alias, KeyCondition& condition)
{
  if (alias.component >= 0)
  {
    condition.component = alias.component;
  }
  condition.of_positions = !alias.attribute;
  condition.attribute = alias.attribute.value_or(0);
}

// Looks up the key. `what` is the condition's name in messages.
KeyCondition find_key(const Target& target, const std::string& name,
  const std::optional<int>& component, const std::string& what)
{
  KeyCondition condition;
  condition.attribute = find_attribute(target.name, target.attributes, name);
  const Attribute& attribute = target.attributes[condition.attribute];
  condition.component = component.value_or(attribute.components == 1 ? 0 : -1);
  if (component && (*component < 0 || *component >= attribute.components))
  {
    refuse(target.name,
      fmt::format("{} refers to component {}; allowed are 0 to {}", what, *component,
        attribute.components - 1));
  }
  if (attribute.alias)
  {
    resolve(*attribute.alias, condition);
  }
  if (condition.of_positions)
  {
    return condition;
  }
  for (std::size_t i = 0; i != condition.attribute; ++i)
  {
    condition.key += format::key_count(target.attributes[i].components);
  }
  const int components = target.attributes[condition.attribute].components;
  condition.key +=
    static_cast<std::size_t>(condition.component < 0 ? components : condition.component);
  return condition;
}

ValueClass class_of(const Target& target, const KeyCondition& condition)
{
  return condition.component < 0 || condition.of_positions
    ? ValueClass::Float
    : value_class(target.attributes[condition.attribute].type);
}

void check_range(const Target& target, const std::string& what, const NumberRange& range)
{
  if (is_nan(range.lower) || is_nan(range.upper))
  {
    refuse(target.name, what + " has a NaN end");
  }
  if (compare(range.lower, range.upper) > 0)
  {
    refuse(target.name,
      fmt::format("{} has a minimum {} above its maximum {}", what, to_string(range.lower),
        to_string(range.upper)));
  }
}

KeyCondition make_range(const Target& target, const AttributeRange& range)
{
  const std::string what = describe_range(range.attribute, range.component, false);
  KeyCondition condition = find_key(target, range.attribute, range.component, what);
  check_range(target, what, { range.lower, range.upper });
  condition.requested = dispatch(class_of(target, condition),
    [&](auto value) -> decltype(condition.requested)
    { return to_class<decltype(value)>(range.lower, range.upper); });
  return condition;
}

// Numbers without a gap form a range, which costs less to compare with.
template <class V>
bool is_run(const std::vector<V>& ascending)
{
  if constexpr (std::is_integral_v<V>)
  {
    return !ascending.empty() &&
      static_cast<std::uint64_t>(ascending.back()) -
        static_cast<std::uint64_t>(ascending.front()) ==
      ascending.size() - 1;
  }
  else
  {
    return ascending.size() == 1;
  }
}

// Values and ranges of a list as ranges.
template <class V>
decltype(KeyCondition::requested) with_ranges(
  const Target& target, const AttributeValues& list, const std::vector<V>& values)
{
  const std::string what = describe_range(list.attribute, list.component, list.negated);
  std::vector<ClassRange<V>> ranges;
  for (const V value : values)
  {
    ranges.push_back({ value, value });
  }
  for (const NumberRange& range : list.ranges)
  {
    check_range(target, what, range);
    ranges.push_back(to_class<V>(range.lower, range.upper));
  }
  const IntervalSet<V> set(std::move(ranges));
  if (set.ranges().size() == 1)
  {
    return set.ranges().front();
  }
  return set;
}

KeyCondition make_values(const Target& target, const AttributeValues& list)
{
  const bool only_ranges = list.values.empty() && !list.ranges.empty();
  const std::string what = only_ranges
    ? describe_range(list.attribute, list.component, list.negated)
    : describe("list of values of", list.attribute, list.component);
  KeyCondition condition = find_key(target, list.attribute, list.component, what);
  condition.negated = list.negated;
  condition.requested = dispatch(class_of(target, condition),
    [&](auto value) -> decltype(condition.requested)
    {
      using V = decltype(value);
      std::vector<V> values;
      values.reserve(list.values.size());
      for (const Number& number : list.values)
      {
        if (is_nan(number))
        {
          refuse(target.name, what + " contains NaN");
        }
        const ClassRange<V> one = to_class<V>(number, number);
        if (!is_empty(one)) // otherwise the class has no such number
        {
          values.push_back(one.lower);
        }
      }
      if (!list.ranges.empty())
      {
        return with_ranges<V>(target, list, values);
      }
      const ValueSet<V> set(std::move(values));
      if (is_run(set.values()))
      {
        return ClassRange<V>{ set.values().front(), set.values().back(), false };
      }
      return set;
    });
  return condition;
}
}

Relation relate(const double* lower, const double* upper, const KeyCondition& condition)
{
  double minimum = 0;
  double maximum = 0;
  if (condition.component >= 0)
  {
    minimum = lower[condition.component];
    maximum = upper[condition.component];
  }
  else
  {
    // Rounding keeps the order of numbers, so the same formula applies to the nearest and the
    // farthest place.
    double nearest[3];
    double farthest[3];
    for (int axis = 0; axis != 3; ++axis)
    {
      nearest[axis] = std::clamp(0.0, lower[axis], upper[axis]);
      farthest[axis] = std::max(std::fabs(lower[axis]), std::fabs(upper[axis]));
    }
    minimum = magnitude(nearest, 3);
    maximum = magnitude(farthest, 3);
  }
  const Relation relation = std::visit(
    [&](const auto& requested)
    {
      using V = typename std::decay_t<decltype(requested)>::Value;
      if constexpr (std::is_same_v<V, double>)
      {
        return !meets(requested, minimum, maximum) ? Relation::Outside
          : covers(requested, minimum, maximum)    ? Relation::Inside
                                                   : Relation::Partial;
      }
      return Relation::Partial; // positions are of no other class
    },
    condition.requested);
  return reversed(relation, condition.negated);
}

bool is_absent_when_empty(
  std::uint64_t particle_count, const std::vector<Attribute>& attributes, std::string_view name)
{
  return particle_count == 0 &&
    std::none_of(
      attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == name; });
}

void check_quality(const std::string& file, double quality)
{
  if (!(quality >= 0 && quality <= 1))
  {
    refuse(file, fmt::format("quality is {}; allowed is 0 to 1", quality));
  }
}

std::size_t find_attribute(
  const std::string& file, const std::vector<Attribute>& attributes, std::string_view name)
{
  const auto found = std::find_if(
    attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == name; });
  if (found == attributes.end())
  {
    std::vector<std::string_view> names;
    for (const Attribute& attribute : attributes)
    {
      names.push_back(attribute.name);
    }
    refuse(file,
      fmt::format("unknown attribute '{}'{}", name,
        bat::available(name, fmt::format("{}", fmt::join(names, ", ")))));
  }
  return static_cast<std::size_t>(found - attributes.begin());
}

OrdinalInterval part_ordinals(const std::string& file, std::uint64_t n, const Query& query)
{
  if (query.parts == 0 || query.part >= query.parts)
  {
    refuse(file,
      fmt::format(
        "part {} of {}; allowed are 0 to below the number of parts", query.part, query.parts));
  }
  // Quotient and rest are handled separately, so that products stay below 2^64.
  const auto end_of = [&](std::uint64_t part)
  { return n / query.parts * part + n % query.parts * part / query.parts; };
  return { end_of(query.part), end_of(query.part + std::uint64_t{ 1 }) };
}

Conditions make_conditions(
  const Target& target, const OrdinalInterval& ordinals, const Query& query)
{
  const std::uint64_t n = target.particle_count;
  check_quality(target.name, query.quality);
  check_quality(target.name, query.after_quality);
  if (query.after_quality > query.quality)
  {
    refuse(target.name,
      fmt::format("the step starts at quality {} and ends before it, at {}", query.after_quality,
        query.quality));
  }
  Conditions conditions;
  conditions.after_quality = query.after_quality;
  conditions.quality = query.quality;
  conditions.places = make_places(target.name, query);
  for (const AttributeRange& range : query.ranges)
  {
    if (!is_absent_when_empty(n, target.attributes, range.attribute))
    {
      conditions.keys.push_back(make_range(target, range));
    }
  }
  for (const AttributeValues& list : query.values)
  {
    if (!is_absent_when_empty(n, target.attributes, list.attribute))
    {
      conditions.keys.push_back(make_values(target, list));
    }
  }
  const std::optional<Box>& box = conditions.places.box;
  conditions.never = box && box->lower[0] > box->upper[0];
  for (std::size_t k = conditions.keys.size(); k-- != 0;)
  {
    const KeyCondition& key = conditions.keys[k];
    if (std::visit([](const auto& requested) { return is_empty(requested); }, key.requested))
    {
      conditions.never = conditions.never || !key.negated;
      conditions.keys.erase(conditions.keys.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  return of_leaf(conditions, n, ordinals);
}

Conditions of_leaf(
  const Conditions& dataset, std::uint64_t particle_count, const OrdinalInterval& ordinals)
{
  Conditions conditions = dataset;
  conditions.first_position = count_at(dataset.after_quality, particle_count);
  conditions.end_position = count_at(dataset.quality, particle_count);
  conditions.first_ordinal = ordinals.begin;
  conditions.end_ordinal = ordinals.end;
  return conditions;
}

void check_selection(
  const std::string& file, std::uint64_t particle_count, const Selection& selection)
{
  std::uint64_t total = 0;
  std::uint64_t end = 0;
  for (const Span& span : selection.spans)
  {
    if (span.first < end || span.count > particle_count || span.first > particle_count - span.count)
    {
      refuse(file,
        fmt::format(
          "the selection contains particles {} to {}, out of order or beyond the {} of the file",
          span.first, span.first + span.count, particle_count));
    }
    end = span.first + span.count;
    total += span.count;
  }
  if (total != selection.count)
  {
    refuse(file,
      fmt::format(
        "the selection counts {} particles, but its spans have {}", selection.count, total));
  }
}
}
