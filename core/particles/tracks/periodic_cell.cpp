// SPDX-License-Identifier: BSD-3-Clause
#include "particles/tracks/periodic_cell.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace bat
{
namespace
{
using Vector = std::array<double, 3>;
using Json = nlohmann::json;

constexpr double kRightAngle = 90;

Vector cross(const Vector& a, const Vector& b)
{
  return { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0] };
}

double dot(const Vector& a, const Vector& b)
{
  return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

PeriodicCell of_lengths(const Vector& lengths, const std::array<bool, 3>& periodic)
{
  PeriodicCell cell;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    // An axis that does not repeat may have any length but 0.
    cell.edges[axis][axis] = periodic[axis] ? lengths[axis] : 1;
  }
  cell.periodic = periodic;
  return cell;
}

Vector vector_of(const Json& json)
{
  const auto numbers = json.get<std::vector<double>>();
  if (numbers.size() != 3)
  {
    throw Error(ErrorCode::Corrupt, fmt::format("expected 3 numbers, found {}", numbers.size()));
  }
  return { numbers[0], numbers[1], numbers[2] };
}

// Parses {"lower": [x, y, z], "upper": [x, y, z]}, null for ends at infinity.
PeriodicCell of_box(const Json& json)
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  Box box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const Json& lower = json.at("lower").at(axis);
    const Json& upper = json.at("upper").at(axis);
    box.lower[axis] = lower.is_null() ? -inf : lower.get<double>();
    box.upper[axis] = upper.is_null() ? inf : upper.get<double>();
  }
  return cell_of(box);
}

// Parses three vectors, or the three lengths of a box with right angles.
PeriodicCell of_edges(const Json& edges, const std::array<bool, 3>& periodic)
{
  if (!edges.at(0).is_array())
  {
    return of_lengths(vector_of(edges), periodic);
  }
  PeriodicCell cell;
  for (std::size_t i = 0; i != 3; ++i)
  {
    cell.edges[i] = vector_of(edges.at(i));
  }
  cell.periodic = periodic;
  return cell;
}

// Parses "pp ff fs": both ends of an axis are periodic, or neither.
PeriodicCell of_lammps(const Json& box)
{
  const Json& boundary = box.at("boundary");
  std::array<bool, 3> periodic{};
  const std::string words = boundary.is_null() ? std::string() : boundary.get<std::string>();
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    periodic[axis] = words.size() > 3 * axis && words[3 * axis] == 'p';
  }
  return of_edges(box.at("edges"), periodic);
}

PeriodicCell of_h5md(const Json& box)
{
  std::array<bool, 3> periodic{};
  if (const auto boundary = box.find("boundary"); boundary != box.end() && boundary->is_array())
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      periodic[axis] = boundary->at(axis) == "periodic";
    }
  }
  return box.contains("edges") ? of_edges(box.at("edges"), periodic) : PeriodicCell{};
}

// Parses lengths and three tilt factors; in two dimensions, the third has no length.
PeriodicCell of_gsd(const Json& box)
{
  const auto numbers = box.get<std::vector<double>>();
  if (numbers.size() != 6)
  {
    throw Error(ErrorCode::Corrupt, fmt::format("expected 6 numbers, found {}", numbers.size()));
  }
  PeriodicCell cell;
  cell.edges = { { { numbers[0], 0, 0 }, { numbers[3] * numbers[1], numbers[1], 0 },
    { numbers[4] * numbers[2], numbers[5] * numbers[2], numbers[2] } } };
  cell.periodic = { true, true, numbers[2] != 0 };
  if (numbers[2] == 0)
  {
    cell.edges[2] = { 0, 0, 1 };
  }
  return cell;
}

// Parses lengths and three angles in degrees.
PeriodicCell of_angles(const Json& box)
{
  const auto numbers = box.get<std::vector<double>>();
  if (numbers.size() != 6)
  {
    throw Error(ErrorCode::Corrupt, fmt::format("expected 6 numbers, found {}", numbers.size()));
  }
  const Vector lengths{ numbers[0], numbers[1], numbers[2] };
  if (lengths == Vector{ 0, 0, 0 })
  {
    return {};
  }
  const auto cosine = [&](std::size_t i)
  { return numbers[i] == kRightAngle ? 0.0 : std::cos(numbers[i] * std::acos(-1.0) / 180); };
  const double alpha = cosine(3);
  const double beta = cosine(4);
  const double gamma = cosine(5);
  const double sine = std::sqrt(1 - gamma * gamma);
  const double y = (alpha - beta * gamma) / sine;
  PeriodicCell cell;
  cell.edges = { { { lengths[0], 0, 0 }, { lengths[1] * gamma, lengths[1] * sine, 0 },
    { lengths[2] * beta, lengths[2] * y, lengths[2] * std::sqrt(1 - beta * beta - y * y) } } };
  cell.periodic = { true, true, true };
  return cell;
}

// The cell that converters keep from another program's file, and its form there.
struct NamedForm
{
  const char* program;
  PeriodicCell (*cell)(const Json&);
};
constexpr NamedForm kForms[] = { { "lammps", of_lammps }, { "gsd", of_gsd }, { "h5md", of_h5md },
  { "md", of_angles }, { "xyz", of_lammps } };

void check(const PeriodicCell& cell)
{
  for (const Vector& edge : cell.edges)
  {
    for (const double x : edge)
    {
      if (!std::isfinite(x))
      {
        throw Error(
          ErrorCode::Corrupt, fmt::format("an edge contains {}; numbers must be finite", x));
      }
    }
  }
  if (cell.any() && dot(cell.edges[0], cross(cell.edges[1], cell.edges[2])) == 0)
  {
    throw Error(ErrorCode::Corrupt, "its edges do not span a volume");
  }
}
}

PeriodicCell cell_of(const Box& box)
{
  Vector lengths{};
  std::array<bool, 3> periodic{};
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    lengths[axis] = box.upper[axis] - box.lower[axis];
    const bool finite = std::isfinite(lengths[axis]);
    const bool open = std::isinf(box.lower[axis]) && std::isinf(box.upper[axis]);
    if (!(box.lower[axis] < box.upper[axis]) || (!finite && !open))
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("the periodic box is {} to {} on axis {}; the ends must be finite and "
                    "ascending, or both infinite for an axis that is not periodic",
          box.lower[axis], box.upper[axis], axis));
    }
    periodic[axis] = finite;
  }
  return of_lengths(lengths, periodic);
}

std::optional<PeriodicCell> named_cell(const std::string& metadata, const std::string& file)
{
  if (metadata.empty())
  {
    return std::nullopt;
  }
  try
  {
    const Json json = Json::parse(metadata);
    std::optional<PeriodicCell> cell;
    if (const auto box = json.find("periodic_box"); box != json.end())
    {
      cell = of_box(*box);
    }
    for (const NamedForm& form : kForms)
    {
      const auto program = json.find(form.program);
      if (!cell && program != json.end() && program->is_object() && program->contains("box") &&
        !program->at("box").is_null())
      {
        cell = form.cell(program->at("box"));
      }
    }
    if (cell)
    {
      check(*cell);
    }
    return cell;
  }
  catch (const Json::exception& e)
  {
    throw Error(ErrorCode::Corrupt,
      fmt::format("{}: the periodic box in the metadata is invalid: {}", file, e.what()));
  }
  catch (const Error& e)
  {
    throw Error(ErrorCode::Corrupt,
      fmt::format("{}: the periodic box in the metadata is invalid: {}", file, e.what()));
  }
}

Vector Unwrapped::next(const Vector& position, const PeriodicCell& cell)
{
  if (!std::isfinite(position[0]) || !std::isfinite(position[1]) || !std::isfinite(position[2]))
  {
    return position;
  }
  const Vector& a = cell.edges[0];
  const Vector& b = cell.edges[1];
  const Vector& c = cell.edges[2];
  if (this->last_)
  {
    const Vector moved{ position[0] - (*this->last_)[0], position[1] - (*this->last_)[1],
      position[2] - (*this->last_)[2] };
    // Coordinates along the edges, by Cramer's rule.
    const double volume = dot(a, cross(b, c));
    const Vector along{ dot(moved, cross(b, c)) / volume, dot(moved, cross(c, a)) / volume,
      dot(moved, cross(a, b)) / volume };
    for (std::size_t edge = 0; edge != 3; ++edge)
    {
      if (cell.periodic[edge])
      {
        this->images_[edge] -= std::round(along[edge]);
      }
    }
  }
  this->last_ = position;
  Vector at = position;
  for (std::size_t edge = 0; edge != 3; ++edge)
  {
    for (std::size_t axis = 0; this->images_[edge] != 0 && axis != 3; ++axis)
    {
      at[axis] += this->images_[edge] * cell.edges[edge][axis];
    }
  }
  return at;
}
}
