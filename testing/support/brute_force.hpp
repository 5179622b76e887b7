// SPDX-License-Identifier: BSD-3-Clause
// The oracle: answers queries by testing every particle, with independent arithmetic.
#pragma once

#include "bat/file.hpp"
#include "bat/query.hpp"
#include "support/clouds.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

namespace brute_force
{
/// All of a file's values by file position.
struct Table
{
  struct Column
  {
    bat::Attribute attribute;
    std::vector<std::byte> bytes;
  };
  std::uint64_t count = 0;
  bat::ScalarType position_type = bat::ScalarType::Float32;
  std::vector<std::byte> positions;
  std::vector<Column> columns;
};

inline Table read_all(const bat::File& file)
{
  const bat::Selection all = file.select({});
  Table table;
  table.count = all.count;
  table.position_type = file.position_type();
  table.positions.resize(all.count * 3 * bat::size_of(table.position_type));
  file.read_positions(all, table.positions.data());
  for (std::size_t k = 0; k != file.attributes().size(); ++k)
  {
    const bat::Attribute& a = file.attributes()[k];
    Table::Column column{ a, {} };
    column.bytes.resize(all.count * bat::size_of(a.type) * static_cast<std::size_t>(a.components));
    file.read_attribute(k, all, column.bytes.data());
    table.columns.push_back(std::move(column));
  }
  return table;
}

// Every value fits a long double of x86 exactly (64-bit mantissa), so that one comparison serves
// all types.
static_assert(std::numeric_limits<long double>::digits >= 64);

inline long double value(const std::vector<std::byte>& bytes, bat::ScalarType type, std::size_t i)
{
  const auto load = [&](auto v) -> long double
  {
    std::memcpy(&v, &bytes[i * sizeof(v)], sizeof(v));
    return static_cast<long double>(v);
  };
  switch (type)
  {
    case bat::ScalarType::Int8:
      return load(std::int8_t{});
    case bat::ScalarType::UInt8:
      return load(std::uint8_t{});
    case bat::ScalarType::Int16:
      return load(std::int16_t{});
    case bat::ScalarType::UInt16:
      return load(std::uint16_t{});
    case bat::ScalarType::Int32:
      return load(std::int32_t{});
    case bat::ScalarType::UInt32:
      return load(std::uint32_t{});
    case bat::ScalarType::Int64:
      return load(std::int64_t{});
    case bat::ScalarType::UInt64:
      return load(std::uint64_t{});
    case bat::ScalarType::Float32:
      return load(float{});
    case bat::ScalarType::Float64:
      break;
  }
  return load(double{});
}

inline long double exact(const bat::Number& number)
{
  return std::visit([](auto v) { return static_cast<long double>(v); }, number);
}

/// Value of a key of particle i, or nothing for NaN.
inline std::optional<long double> key_value(
  const Table::Column& column, std::optional<int> component, std::size_t i)
{
  const auto components = static_cast<std::size_t>(column.attribute.components);
  if (component || components == 1)
  {
    const long double v = value(column.bytes, column.attribute.type,
      i * components + static_cast<std::size_t>(component.value_or(0)));
    return std::isnan(v) ? std::nullopt : std::optional<long double>(v);
  }
  double sum = 0;
  for (std::size_t c = 0; c != components; ++c)
  {
    const auto v =
      static_cast<double>(value(column.bytes, column.attribute.type, i * components + c));
    sum += v * v;
  }
  return std::isnan(sum) ? std::nullopt : std::optional<long double>(std::sqrt(sum));
}

inline const Table::Column& column_of(const Table& table, const std::string& name)
{
  return *std::find_if(table.columns.begin(), table.columns.end(),
    [&](const Table::Column& c) { return c.attribute.name == name; });
}

/// Returns whether a position is in a shape, by the formulas of bat/query.hpp.
inline bool is_in(const bat::Shape& shape, const std::array<double, 3>& x)
{
  const auto along = [](const std::array<double, 3>& n, const std::array<double, 3>& d)
  { return (n[0] * d[0] + n[1] * d[1]) + n[2] * d[2]; };
  const auto from = [&](const std::array<double, 3>& c) {
    return std::array<double, 3>{ x[0] - c[0], x[1] - c[1], x[2] - c[2] };
  };
  bool inside = false;
  if (const auto* ball = std::get_if<bat::Sphere>(&shape.form))
  {
    const std::array<double, 3> d = from(ball->center);
    inside = along(d, d) <= ball->radius * ball->radius;
  }
  else if (const auto* slab = std::get_if<bat::Slab>(&shape.form))
  {
    const double at = along(slab->normal, x);
    inside = slab->lower <= at && at <= slab->upper;
  }
  else
  {
    const auto& box = std::get<bat::OrientedBox>(shape.form);
    inside = true;
    for (std::size_t i = 0; i != 3; ++i)
    {
      const double at = along(box.axes[i], from(box.center));
      inside = inside && -box.half_extents[i] <= at && at <= box.half_extents[i];
    }
  }
  return inside != shape.negated;
}

/// The ascending file positions that match; ignores `part`.
inline std::vector<std::uint64_t> select(const Table& table, const bat::Query& query)
{
  const auto count_at = [&](double q)
  {
    return std::min(
      table.count, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(table.count))));
  };
  std::vector<std::vector<long double>> lists;
  for (const bat::AttributeValues& list : query.values)
  {
    lists.emplace_back();
    std::transform(list.values.begin(), list.values.end(), std::back_inserter(lists.back()), exact);
  }
  constexpr long double inf = std::numeric_limits<long double>::infinity();
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = count_at(query.after_quality); i < count_at(query.quality); ++i)
  {
    bool match = true;
    for (std::size_t axis = 0; query.box && axis != 3; ++axis)
    {
      const long double x = value(table.positions, table.position_type, 3 * i + axis);
      match = match && x >= query.box->lower[axis] && x <= query.box->upper[axis] &&
        !(query.half_open && x == query.box->upper[axis] && x != inf);
    }
    for (const bat::Shape& shape : query.shapes)
    {
      std::array<double, 3> x{};
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        x[axis] = static_cast<double>(value(table.positions, table.position_type, 3 * i + axis));
      }
      match = match && is_in(shape, x);
    }
    for (const bat::AttributeRange& range : query.ranges)
    {
      if (!match)
      {
        break;
      }
      const auto v = key_value(column_of(table, range.attribute), range.component, i);
      match = v && *v >= exact(range.lower) && *v <= exact(range.upper);
    }
    for (std::size_t k = 0; match && k != lists.size(); ++k)
    {
      const bat::AttributeValues& list = query.values[k];
      const auto v = key_value(column_of(table, list.attribute), list.component, i);
      const bool found_one = v &&
        (std::find(lists[k].begin(), lists[k].end(), *v) != lists[k].end() ||
          std::any_of(list.ranges.begin(), list.ranges.end(),
            [&](const bat::NumberRange& r)
            { return exact(r.lower) <= *v && *v <= exact(r.upper); }));
      match = found_one != list.negated;
    }
    if (match)
    {
      found.push_back(i);
    }
  }
  return found;
}

inline std::vector<std::uint64_t> positions_of(const bat::Selection& selection)
{
  std::vector<std::uint64_t> positions;
  for (const bat::Span& span : selection.spans)
  {
    for (std::uint64_t i = 0; i != span.count; ++i)
    {
      positions.push_back(span.first + i);
    }
  }
  return positions;
}

/// A number at, or one time in four next to, a value that occurs; any number for NaN.
inline bat::Number random_number(const Table& table, const Table::Column& column,
  std::optional<int> component, clouds::Random& random)
{
  bat::Number number;
  const auto v = key_value(column, component, random() % table.count);
  if (!v)
  {
    number = clouds::normal(random);
  }
  else if (std::isfinite(*v) && *v == std::floor(*v) && *v > -0x1p63L && *v < 0x1p63L)
  {
    number = static_cast<std::int64_t>(*v);
  }
  else if (std::isfinite(*v) && *v == std::floor(*v) && *v >= 0 && *v < 0x1p64L)
  {
    number = static_cast<std::uint64_t>(*v);
  }
  else
  {
    number = static_cast<double>(*v);
  }
  if (random() % 4 == 0)
  {
    number = bat::to_double(number) + clouds::normal(random) * 1e-3;
  }
  return number;
}

/// Two numbers from random_number(), the smaller one first.
inline bat::NumberRange random_range(const Table& table, const Table::Column& column,
  std::optional<int> component, clouds::Random& random)
{
  bat::Number ends[2];
  for (bat::Number& end : ends)
  {
    end = random_number(table, column, component, random);
  }
  if (random() % 4 == 0)
  {
    ends[1] = ends[0];
  }
  const bool ordered = exact(ends[0]) <= exact(ends[1]);
  return { ordered ? ends[0] : ends[1], ordered ? ends[1] : ends[0] };
}

/// A shape with particles on its faces.
inline bat::Shape random_shape(const Table& table, clouds::Random& random)
{
  const auto place = [&]
  {
    std::array<double, 3> x{};
    const std::size_t i = random() % table.count;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const auto at =
        static_cast<double>(value(table.positions, table.position_type, 3 * i + axis));
      x[axis] = std::isfinite(at) ? at : clouds::unit(random);
    }
    return x;
  };
  const auto direction = [&]
  {
    std::array<double, 3> n{};
    n[random() % 3] = random() % 2 ? 1 : -1;
    for (double& component : n)
    {
      component += random() % 2 ? clouds::normal(random) : 0;
    }
    return n;
  };
  const std::array<double, 3> a = place();
  const std::array<double, 3> b = place();
  bat::Shape shape;
  shape.negated = random() % 3 == 0;
  switch (random() % 3)
  {
    case 0:
      shape.form = bat::Sphere{ a, std::hypot(std::hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]) };
      break;
    case 1:
    {
      bat::Slab slab;
      slab.normal = direction();
      const auto at = [&](const std::array<double, 3>& x)
      { return (slab.normal[0] * x[0] + slab.normal[1] * x[1]) + slab.normal[2] * x[2]; };
      slab.lower = std::min(at(a), at(b));
      slab.upper =
        random() % 4 == 0 ? std::numeric_limits<double>::infinity() : std::max(at(a), at(b));
      shape.form = slab;
      break;
    }
    default:
    {
      bat::OrientedBox box;
      box.center = a;
      for (std::size_t i = 0; i != 3; ++i)
      {
        box.axes[i] = direction();
        const std::array<double, 3>& n = box.axes[i];
        box.half_extents[i] =
          std::abs((n[0] * (b[0] - a[0]) + n[1] * (b[1] - a[1])) + n[2] * (b[2] - a[2]));
      }
      shape.form = box;
      break;
    }
  }
  return shape;
}

/// A list of none to some hundred values, most of which occur, sometimes with ranges, sometimes of
/// values to exclude.
inline bat::AttributeValues random_values(
  const Table& table, const bat::AttributeRange& key, clouds::Random& random)
{
  bat::AttributeValues list{ key.attribute, key.component, {}, {}, false };
  const std::uint64_t sizes[] = { 0, 1, 2, 5, 30, 300 };
  for (std::uint64_t left = sizes[random() % 32 == 0 ? 0 : 1 + random() % 5]; left != 0; --left)
  {
    list.values.push_back(
      random_number(table, column_of(table, key.attribute), key.component, random));
    if (random() % 16 == 0)
    {
      list.values.push_back(list.values[random() % list.values.size()]);
    }
    if (random() % 32 == 0)
    {
      const double beyond[] = { std::numeric_limits<double>::infinity(), 0.5, -0.0, 1e300 };
      list.values.emplace_back(beyond[random() % 4]);
    }
  }
  for (std::uint64_t left = random() % 3 == 0 ? 1 + random() % 4 : 0; left != 0; --left)
  {
    list.ranges.push_back(
      random_range(table, column_of(table, key.attribute), key.component, random));
  }
  list.negated = random() % 4 == 0;
  return list;
}

/// A random query whose ends and values often occur in the data, so that the ends themselves
/// matter.
inline bat::Query random_query(const Table& table, clouds::Random& random)
{
  bat::Query query;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::uint64_t kind = random();
  if (kind % 3 == 0)
  {
    query.quality = clouds::unit(random);
    query.after_quality = random() % 2 ? 0 : query.quality * clouds::unit(random);
  }
  if (kind / 3 % 2 == 0 && table.count != 0)
  {
    bat::Box box;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      double ends[2];
      for (double& end : ends)
      {
        const auto at = static_cast<double>(
          value(table.positions, table.position_type, 3 * (random() % table.count) + axis));
        end = std::isnan(at) ? clouds::unit(random) : at;
        end = random() % 16 == 0 ? (random() % 2 ? inf : -inf) : end;
      }
      box.lower[axis] = std::min(ends[0], ends[1]);
      box.upper[axis] = std::max(ends[0], ends[1]);
    }
    query.box = box;
    query.half_open = random() % 4 == 0;
  }
  while (table.count != 0 && random() % 5 == 0)
  {
    query.shapes.push_back(random_shape(table, random));
  }
  const std::uint64_t ranges = kind / 6 % 3;
  for (std::uint64_t r = 0; r != ranges && !table.columns.empty() && table.count != 0; ++r)
  {
    const Table::Column& column = table.columns[random() % table.columns.size()];
    bat::AttributeRange range;
    range.attribute = column.attribute.name;
    const auto components = static_cast<std::uint64_t>(column.attribute.components);
    if (components > 1 && random() % 2)
    {
      range.component = static_cast<int>(random() % components);
    }
    const bat::NumberRange ends = random_range(table, column, range.component, random);
    range.lower = ends.lower;
    range.upper = ends.upper;
    if (random() % 3 == 0)
    {
      query.values.push_back(random_values(table, range, random));
      continue;
    }
    query.ranges.push_back(range);
  }
  return query;
}
}
