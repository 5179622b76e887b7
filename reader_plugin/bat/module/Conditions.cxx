// SPDX-License-Identifier: BSD-3-Clause
#include "Conditions.h"

#include "bat/bat.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

namespace
{
using Vector = std::array<double, 3>;

// `what` is the kind of the text.
bat::Number ParseNumber(const std::string& text, const std::string& what)
{
  try
  {
    return bat::parse_number(text);
  }
  catch (const bat::Error& error)
  {
    throw bat::Error(error.code(), what + ": " + error.what());
  }
}

bat::Number ParseEnd(const std::string& text, double ifEmpty, const std::string& target)
{
  return text.empty() ? bat::Number(ifEmpty) : ParseNumber(text, "range of '" + target + "'");
}

std::string Quoted(const std::vector<std::string>& texts)
{
  std::string line;
  for (const std::string& text : texts)
  {
    line += (line.empty() ? "'" : ", '") + text + "'";
  }
  return line;
}

bool IsTarget(const std::string& text, const std::vector<std::string>& names)
{
  try
  {
    static_cast<void>(bat::parse_range_target(text, names));
    return true;
  }
  catch (const bat::Error&)
  {
    return false;
  }
}

// A step without particles may lack columns, in which case no condition is met.
bool IsOfNothing(const bat::Dataset& file, const std::string& text)
{
  const std::vector<std::string> names = file.attribute_names();
  return file.particle_count() == 0 && !IsTarget(text, names) &&
    (text.empty() || text.front() != '!' || !IsTarget(text.substr(1), names));
}

// Parses "!name" and "name", without ranges.
bat::AttributeValues ParseTarget(const bat::Dataset& file, const std::string& text)
{
  const std::vector<std::string> names = file.attribute_names();
  const bool negated = !text.empty() && text.front() == '!' && !IsTarget(text, names);
  const bat::AttributeRange named = bat::parse_range_target(negated ? text.substr(1) : text, names);
  bat::AttributeValues target;
  target.attribute = named.attribute;
  target.component = named.component;
  target.negated = negated;
  // Turns "mass[0]" into "mass".
  if (target.component == 0 &&
    file.attributes()[file.attribute_index(target.attribute)].components == 1)
  {
    target.component.reset();
  }
  return target;
}

// Exact if the matrix consists of zeros and ones, so that points on a face stay on it.
std::pair<double, double> SineAndCosine(double degrees)
{
  const double rest = std::remainder(degrees, 360.0);
  if (rest == 0.0)
  {
    return { 0.0, 1.0 };
  }
  if (std::abs(rest) == 90.0)
  {
    return { rest / 90.0, 0.0 };
  }
  if (std::abs(rest) == 180.0)
  {
    return { 0.0, -1.0 };
  }
  const double radians = rest * std::acos(-1.0) / 180.0;
  return { std::sin(radians), std::cos(radians) };
}

// Rotates a vector about x, y or z, anticlockwise as seen from the axis's end.
Vector Turned(Vector v, std::size_t axis, double degrees)
{
  const auto [sine, cosine] = SineAndCosine(degrees);
  double& a = v[(axis + 1) % 3];
  double& b = v[(axis + 2) % 3];
  const double first = cosine * a - sine * b;
  b = sine * a + cosine * b;
  a = first;
  return v;
}

bool IsSame(const bat::NumberRange& a, const bat::NumberRange& b)
{
  return a.lower == b.lower && a.upper == b.upper;
}

bool IsSame(const bat::Sphere& a, const bat::Sphere& b)
{
  return a.center == b.center && a.radius == b.radius;
}

bool IsSame(const bat::Slab& a, const bat::Slab& b)
{
  return a.normal == b.normal && a.lower == b.lower && a.upper == b.upper;
}

bool IsSame(const bat::OrientedBox& a, const bat::OrientedBox& b)
{
  return a.center == b.center && a.axes == b.axes && a.half_extents == b.half_extents;
}

bool IsSame(const bat::Shape& a, const bat::Shape& b)
{
  const auto sameForm = [&b](const auto& form)
  {
    const auto* other = std::get_if<std::decay_t<decltype(form)>>(&b.form);
    return other && IsSame(form, *other);
  };
  return a.negated == b.negated && std::visit(sameForm, a.form);
}

bool IsSame(const bat::AttributeRange& a, const bat::AttributeRange& b)
{
  return a.attribute == b.attribute && a.component == b.component && a.lower == b.lower &&
    a.upper == b.upper;
}

bool IsSame(const bat::AttributeValues& a, const bat::AttributeValues& b);

template <typename T>
bool AreSame(const std::vector<T>& a, const std::vector<T>& b)
{
  return std::equal(
    a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return IsSame(x, y); });
}

bool IsSame(const bat::AttributeValues& a, const bat::AttributeValues& b)
{
  return a.attribute == b.attribute && a.component == b.component && a.values == b.values &&
    AreSame(a.ranges, b.ranges) && a.negated == b.negated;
}
}

//------------------------------------------------------------------------------
void bat_vtk::AddRanges(
  const bat::Dataset& file, const std::vector<std::string>& texts, bat::Query& query)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (texts.size() % TextsOfRange != 0)
  {
    throw bat::Error(bat::ErrorCode::InvalidArgument,
      "AttributeRanges has " + std::to_string(texts.size()) + " texts, " + Quoted(texts) +
        "; each range has three: a name, a minimum and a maximum, either of which may be empty "
        "for no limit");
  }
  std::vector<bat::AttributeValues> targets;
  for (std::size_t i = 0; i != texts.size(); i += TextsOfRange)
  {
    const bat::NumberRange ends{ ParseEnd(texts[i + 1], -infinity, texts[i]),
      ParseEnd(texts[i + 2], infinity, texts[i]) };
    if (IsOfNothing(file, texts[i]))
    {
      continue;
    }
    bat::AttributeValues target = ParseTarget(file, texts[i]);
    const auto same = std::find_if(targets.begin(), targets.end(),
      [&target](const bat::AttributeValues& other)
      {
        return other.attribute == target.attribute && other.component == target.component &&
          other.negated == target.negated;
      });
    std::vector<bat::NumberRange>& ranges =
      same != targets.end() ? same->ranges : targets.emplace_back(std::move(target)).ranges;
    ranges.push_back(ends);
  }
  for (bat::AttributeValues& target : targets)
  {
    if (!target.negated && target.ranges.size() == 1)
    {
      const bat::NumberRange& range = target.ranges.front();
      query.ranges.push_back({ target.attribute, target.component, range.lower, range.upper });
    }
    else
    {
      query.values.push_back(std::move(target));
    }
  }
}

//------------------------------------------------------------------------------
bat::OrientedBox bat_vtk::MakeOrientedBox(
  const double center[3], const double halfExtents[3], const double rotation[3])
{
  bat::OrientedBox box;
  std::copy_n(center, 3, box.center.begin());
  std::copy_n(halfExtents, 3, box.half_extents.begin());
  for (Vector& axis : box.axes)
  {
    axis = Turned(Turned(Turned(axis, 1, rotation[1]), 0, rotation[0]), 2, rotation[2]);
  }
  return box;
}

//------------------------------------------------------------------------------
bool bat_vtk::SameConditions(const bat::Query& a, const bat::Query& b)
{
  const bool sameBox = a.box.has_value() == b.box.has_value() &&
    (!a.box || (a.box->lower == b.box->lower && a.box->upper == b.box->upper));
  return sameBox && a.half_open == b.half_open && AreSame(a.shapes, b.shapes) &&
    AreSame(a.ranges, b.ranges) && AreSame(a.values, b.values);
}
