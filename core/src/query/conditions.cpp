#include "query/conditions.hpp"

#include "bat/error.hpp"
#include "format/layout.hpp"
#include "levels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace bat::query
{
namespace
{
[[noreturn]] void refuse(const std::string& file, const std::string& what)
{
  throw Error(ErrorCode::InvalidArgument, file + ": " + what);
}

RangeCondition make_range(const Target& target, const AttributeRange& range)
{
  RangeCondition condition;
  condition.attribute = find_attribute(target.name, target.attributes, range.attribute);
  const Attribute& attribute = target.attributes[condition.attribute];
  const std::string what = fmt::format("range on '{}'", range.attribute);
  if (is_nan(range.lower) || is_nan(range.upper))
  {
    refuse(target.name, what + " has NaN for an end");
  }
  if (compare(range.lower, range.upper) > 0)
  {
    refuse(target.name,
      fmt::format("{} has its minimum {} above its maximum {}", what, to_string(range.lower),
        to_string(range.upper)));
  }
  condition.component = range.component.value_or(attribute.components == 1 ? 0 : -1);
  if (range.component &&
    (*range.component < 0 || *range.component >= attribute.components))
  {
    refuse(target.name,
      fmt::format("{} asks for component {}; there are 0 to {}", what, *range.component,
        attribute.components - 1));
  }
  for (std::size_t i = 0; i != condition.attribute; ++i)
  {
    condition.key += format::key_count(target.attributes[i].components);
  }
  condition.key +=
    static_cast<std::size_t>(condition.component < 0 ? attribute.components : condition.component);
  const ValueClass key_class =
    condition.component < 0 ? ValueClass::Float : value_class(attribute.type);
  condition.range = dispatch(key_class,
    [&](auto value) -> decltype(condition.range)
    { return to_class<decltype(value)>(range.lower, range.upper); });
  return condition;
}
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
      fmt::format("no attribute '{}'; there are: {}", name,
        names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "))));
  }
  return static_cast<std::size_t>(found - attributes.begin());
}

RankInterval part_ranks(const std::string& file, std::uint64_t n, const Query& query)
{
  if (query.parts == 0 || query.part >= query.parts)
  {
    refuse(file,
      fmt::format(
        "part {} of {}; allowed are 0 up to the number of parts", query.part, query.parts));
  }
  // The quotient apart from the rest, so that products stay below 2^64.
  const auto end_of = [&](std::uint64_t part)
  { return n / query.parts * part + n % query.parts * part / query.parts; };
  return { end_of(query.part), end_of(query.part + std::uint64_t{ 1 }) };
}

Conditions make_conditions(
  const Target& target, const RankInterval& ranks, const Query& query)
{
  const std::uint64_t n = target.particle_count;
  check_quality(target.name, query.quality);
  check_quality(target.name, query.after_quality);
  if (query.after_quality > query.quality)
  {
    refuse(target.name,
      fmt::format("the step begins at quality {} and ends before it, at {}", query.after_quality,
        query.quality));
  }
  Conditions conditions;
  conditions.first_position = count_at(query.after_quality, n);
  conditions.end_position = count_at(query.quality, n);
  conditions.first_rank = ranks.begin;
  conditions.end_rank = ranks.end;
  if (query.box)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const double lower = query.box->lower[axis];
      const double upper = query.box->upper[axis];
      const char name = "xyz"[axis];
      if (std::isnan(lower) || std::isnan(upper))
      {
        refuse(target.name, fmt::format("the box has NaN on the {} axis", name));
      }
      if (lower > upper)
      {
        refuse(target.name,
          fmt::format(
            "the box has its minimum {} above its maximum {} on the {} axis", lower, upper, name));
      }
    }
    conditions.box = query.box;
  }
  for (const AttributeRange& range : query.ranges)
  {
    conditions.ranges.push_back(make_range(target, range));
    conditions.nothing |= std::visit(
      [](const auto& r) { return r.empty || r.lower > r.upper; }, conditions.ranges.back().range);
  }
  conditions.nothing |= conditions.first_position >= conditions.end_position ||
    conditions.first_rank >= conditions.end_rank;
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
          "the selection has particles {} to {}, out of order or beyond the {} of the file",
          span.first, span.first + span.count, particle_count));
    }
    end = span.first + span.count;
    total += span.count;
  }
  if (total != selection.count)
  {
    refuse(file,
      fmt::format("the selection counts {} particles; its spans have {}", selection.count, total));
  }
}
}
