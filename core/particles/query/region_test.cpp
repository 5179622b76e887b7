// SPDX-License-Identifier: BSD-3-Clause
// Every formula here is evaluated with the same operations in the same order for a particle and for
// the corner of a box that bounds it. Rounding keeps the order of numbers, so that a decision at
// the corners holds for all particles of the box, to the last bit.

#include "particles/query/region_test.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"
#include "common/numbers.hpp"
#include "particles/query/narrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bat::query
{
namespace
{
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Converts to a closed box; an empty one has reversed ends. Coordinates are doubles, or floats,
// which convert exactly.
Box without_upper_faces(const Box& box)
{
  Box closed = box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    if (box.upper[axis] == kInfinity)
    {
      continue;
    }
    if (box.lower[axis] == box.upper[axis])
    {
      return { { kInfinity, kInfinity, kInfinity }, { -kInfinity, -kInfinity, -kInfinity } };
    }
    closed.upper[axis] = std::nextafter(box.upper[axis], -kInfinity);
  }
  return closed;
}

void check_box(const std::string& file, const Box& box)
{
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const double lower = box.lower[axis];
    const double upper = box.upper[axis];
    const char name = "xyz"[axis];
    if (std::isnan(lower) || std::isnan(upper))
    {
      refuse(file, fmt::format("the box is NaN on the {} axis", name));
    }
    if (lower > upper)
    {
      refuse(file,
        fmt::format(
          "the box has a minimum {} above its maximum {} on the {} axis", lower, upper, name));
    }
  }
}

void check_finite(const std::string& file, const std::array<double, 3>& v, const char* what)
{
  if (!std::isfinite(v[0]) || !std::isfinite(v[1]) || !std::isfinite(v[2]))
  {
    refuse(file, fmt::format("{} is {}, {}, {}; it must be finite", what, v[0], v[1], v[2]));
  }
}

void check_direction(const std::string& file, const std::array<double, 3>& v, const char* what)
{
  check_finite(file, v, what);
  if (v[0] == 0 && v[1] == 0 && v[2] == 0)
  {
    refuse(file, fmt::format("{} is 0, 0, 0; a direction must not be zero", what));
  }
}

ShapeCondition make_condition(const std::string& file, const Sphere& sphere)
{
  check_finite(file, sphere.center, "the center of the sphere");
  if (!(sphere.radius >= 0) || !std::isfinite(sphere.radius))
  {
    refuse(file,
      fmt::format(
        "the radius of the sphere is {}; it must be finite and not negative", sphere.radius));
  }
  ShapeCondition condition;
  condition.is_ball = true;
  condition.center = sphere.center;
  condition.radius_squared = sphere.radius * sphere.radius;
  return condition;
}

ShapeCondition make_condition(const std::string& file, const Slab& slab)
{
  check_direction(file, slab.normal, "the normal of the slab");
  if (!(slab.lower <= slab.upper))
  {
    refuse(file,
      fmt::format("the slab goes from {} to {}; its limits must be numbers in ascending order",
        slab.lower, slab.upper));
  }
  ShapeCondition condition;
  condition.bands = { { slab.normal, {}, slab.lower, slab.upper } };
  return condition;
}

ShapeCondition make_condition(const std::string& file, const OrientedBox& box)
{
  check_finite(file, box.center, "the center of the oriented box");
  check_finite(file, box.half_extents, "the half extents of the oriented box");
  ShapeCondition condition;
  for (std::size_t i = 0; i != 3; ++i)
  {
    check_direction(file, box.axes[i], "an axis of the oriented box");
    if (box.half_extents[i] < 0)
    {
      refuse(file,
        fmt::format(
          "a half extent of the oriented box is {}; it must not be negative", box.half_extents[i]));
    }
    condition.bands.push_back(
      { box.axes[i], box.center, -box.half_extents[i], box.half_extents[i] });
  }
  return condition;
}

double sum(double x, double y, double z)
{
  return (x + y) + z;
}

double distance_squared(const ShapeCondition& ball, double x, double y, double z)
{
  const double dx = x - ball.center[0];
  const double dy = y - ball.center[1];
  const double dz = z - ball.center[2];
  return sum(dx * dx, dy * dy, dz * dz);
}

double along(const Band& band, double x, double y, double z)
{
  return sum(band.normal[0] * (x - band.origin[0]), band.normal[1] * (y - band.origin[1]),
    band.normal[2] * (z - band.origin[2]));
}

bool is_inside(const ShapeCondition& shape, double x, double y, double z)
{
  if (shape.is_ball)
  {
    return distance_squared(shape, x, y, z) <= shape.radius_squared;
  }
  bool inside = true;
  for (const Band& band : shape.bands)
  {
    const double at = along(band, x, y, z);
    inside = inside & (at >= band.lower) & (at <= band.upper);
  }
  return inside;
}

Relation relate_ball(const double* lower, const double* upper, const ShapeCondition& ball)
{
  double nearest[3];
  double farthest[3];
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const double c = ball.center[axis];
    nearest[axis] = std::min(std::max(c, lower[axis]), upper[axis]); // whatever a file claims
    farthest[axis] =
      std::abs(lower[axis] - c) > std::abs(upper[axis] - c) ? lower[axis] : upper[axis];
  }
  return distance_squared(ball, nearest[0], nearest[1], nearest[2]) > ball.radius_squared
    ? Relation::Outside
    : distance_squared(ball, farthest[0], farthest[1], farthest[2]) <= ball.radius_squared
    ? Relation::Inside
    : Relation::Partial;
}

Relation relate_band(const double* lower, const double* upper, const Band& band)
{
  double minimum[3];
  double maximum[3];
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const bool up = band.normal[axis] >= 0;
    minimum[axis] = up ? lower[axis] : upper[axis];
    maximum[axis] = up ? upper[axis] : lower[axis];
  }
  const double from = along(band, minimum[0], minimum[1], minimum[2]);
  const double to = along(band, maximum[0], maximum[1], maximum[2]);
  if (!std::isfinite(from) || !std::isfinite(to)) // an overflow, after which NaN may follow
  {
    return Relation::Partial;
  }
  return to < band.lower || from > band.upper ? Relation::Outside
    : from >= band.lower && to <= band.upper  ? Relation::Inside
                                              : Relation::Partial;
}

Relation relate_shape(const double* lower, const double* upper, const ShapeCondition& shape)
{
  Relation relation = shape.is_ball ? relate_ball(lower, upper, shape) : Relation::Inside;
  for (const Band& band : shape.bands)
  {
    const Relation other = relate_band(lower, upper, band);
    relation = relation == Relation::Outside || other == Relation::Outside ? Relation::Outside
      : relation == Relation::Partial || other == Relation::Partial        ? Relation::Partial
                                                                           : Relation::Inside;
  }
  return reversed(relation, shape.negated);
}
}

Places make_places(const std::string& file, const Query& query)
{
  Places places;
  if (query.box)
  {
    check_box(file, *query.box);
    places.box = query.half_open ? without_upper_faces(*query.box) : *query.box;
  }
  for (const Shape& shape : query.shapes)
  {
    places.shapes.push_back(
      std::visit([&](const auto& form) { return make_condition(file, form); }, shape.form));
    places.shapes.back().negated = shape.negated;
  }
  return places;
}

Relation relate(const double* lower, const double* upper, const Places& places)
{
  bool is_finite = true;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    is_finite = is_finite && std::isfinite(lower[axis]) && std::isfinite(upper[axis]);
  }
  bool inside = is_finite;
  for (std::size_t axis = 0; places.box && axis != 3; ++axis)
  {
    if (upper[axis] < places.box->lower[axis] || lower[axis] > places.box->upper[axis])
    {
      return Relation::Outside;
    }
    inside =
      inside && places.box->lower[axis] <= lower[axis] && upper[axis] <= places.box->upper[axis];
  }
  for (const ShapeCondition& shape : places.shapes)
  {
    const Relation relation = is_finite ? relate_shape(lower, upper, shape) : Relation::Partial;
    if (relation == Relation::Outside)
    {
      return relation;
    }
    inside = inside && relation == Relation::Inside;
  }
  return inside ? Relation::Inside : Relation::Partial;
}

void match_places(ScalarType type, const Elements* positions, std::size_t part_count,
  const Places& places, Matches& matches)
{
  dispatch(type,
    [&](auto value)
    {
      using T = decltype(value);
      if constexpr (std::is_floating_point_v<T>)
      {
        T lower[3];
        T upper[3];
        for (std::size_t axis = 0; places.box && axis != 3; ++axis)
        {
          narrow<T, double>(
            { places.box->lower[axis], places.box->upper[axis] }, lower[axis], upper[axis]);
        }
        match_tuples<T>(positions, part_count, 3, matches,
          [&](const T* p, std::size_t count)
          {
            std::uint64_t bits = lowest_bits(count);
            if (places.box)
            {
              bits = bits_where(count,
                [&](std::size_t i)
                {
                  const T x = p[3 * i];
                  const T y = p[3 * i + 1];
                  const T z = p[3 * i + 2];
                  return (x >= lower[0]) & (x <= upper[0]) & (y >= lower[1]) & (y <= upper[1]) &
                    (z >= lower[2]) & (z <= upper[2]);
                });
            }
            for (const ShapeCondition& shape : places.shapes)
            {
              const std::uint64_t inside = bits_where(count,
                [&](std::size_t i)
                {
                  return is_inside(shape, static_cast<double>(p[3 * i]),
                    static_cast<double>(p[3 * i + 1]), static_cast<double>(p[3 * i + 2]));
                });
              bits &= shape.negated ? ~inside : inside;
            }
            return bits;
          });
      }
    });
}
}
