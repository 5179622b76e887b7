#include "query/conditions.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace bat::query
{
namespace
{
[[noreturn]] void refuse(const std::string& file, const std::string& what)
{
  throw Error(ErrorCode::InvalidArgument, file + ": " + what);
}

RangeCondition make_range(const File& file, const AttributeRange& range)
{
  RangeCondition condition;
  condition.attribute = file.attribute_index(range.attribute);
  const Attribute& attribute = file.attributes()[condition.attribute];
  const std::string what = fmt::format("range on '{}'", range.attribute);
  if (is_nan(range.lower) || is_nan(range.upper))
  {
    refuse(file.name(), what + " has NaN for an end");
  }
  if (compare(range.lower, range.upper) > 0)
  {
    refuse(file.name(),
      fmt::format("{} has its minimum {} above its maximum {}", what, to_string(range.lower),
        to_string(range.upper)));
  }
  condition.component = range.component.value_or(attribute.components == 1 ? 0 : -1);
  if (range.component &&
    (*range.component < 0 || *range.component >= attribute.components))
  {
    refuse(file.name(),
      fmt::format("{} asks for component {}; there are 0 to {}", what, *range.component,
        attribute.components - 1));
  }
  const File::Impl& impl = file.impl();
  condition.key = impl.schema.first_keys[condition.attribute] +
    static_cast<std::size_t>(
      condition.component < 0 ? attribute.components : condition.component);
  condition.range = dispatch(impl.schema.key_class(condition.key),
    [&](auto value) -> decltype(condition.range) {
      return to_class<decltype(value)>(range.lower, range.upper);
    });
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

Conditions make_conditions(const File& file, const Query& query)
{
  const std::uint64_t n = file.particle_count();
  check_quality(file.name(), query.quality);
  check_quality(file.name(), query.after_quality);
  if (query.after_quality > query.quality)
  {
    refuse(file.name(),
      fmt::format("the step begins at quality {} and ends before it, at {}", query.after_quality,
        query.quality));
  }
  if (query.parts == 0 || query.part >= query.parts)
  {
    refuse(file.name(),
      fmt::format("part {} of {}; allowed are 0 up to the number of parts", query.part, query.parts));
  }
  Conditions conditions;
  conditions.first_position = count_at(query.after_quality, n);
  conditions.end_position = count_at(query.quality, n);
  conditions.first_rank = n * query.part / query.parts; // n and part are below 2^32
  conditions.end_rank = n * (query.part + std::uint64_t{ 1 }) / query.parts;
  if (query.box)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const double lower = query.box->lower[axis];
      const double upper = query.box->upper[axis];
      const char name = "xyz"[axis];
      if (std::isnan(lower) || std::isnan(upper))
      {
        refuse(file.name(), fmt::format("the box has NaN on the {} axis", name));
      }
      if (lower > upper)
      {
        refuse(file.name(),
          fmt::format(
            "the box has its minimum {} above its maximum {} on the {} axis", lower, upper, name));
      }
    }
    conditions.box = query.box;
  }
  for (const AttributeRange& range : query.ranges)
  {
    conditions.ranges.push_back(make_range(file, range));
    conditions.nothing |= std::visit(
      [](const auto& r) { return r.empty || r.lower > r.upper; }, conditions.ranges.back().range);
  }
  conditions.nothing |= conditions.first_position >= conditions.end_position ||
    conditions.first_rank >= conditions.end_rank;
  return conditions;
}
}
