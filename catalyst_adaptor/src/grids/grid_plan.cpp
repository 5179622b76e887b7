// SPDX-License-Identifier: BSD-3-Clause
#include "grid_plan.hpp"

#include "bat/error.hpp"
#include "bat/nearest_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace bat::catalyst
{
namespace
{
/// Maximum deviation of domains from a common lattice, as a share of a spacing.
constexpr double kTolerance = 1e-3;

// Beyond this, doubles cannot distinguish neighbouring samples.
constexpr double kMaxSpacings = 1e12;

// Types that a velocity or its components can have, by name, with their numbers of components.
struct VelocityType
{
  ScalarType type;
  int components;
};

std::optional<VelocityType> parse_velocity_type(const std::string& name)
{
  for (const ScalarType type : { ScalarType::Float32, ScalarType::Float64 })
  {
    for (const int components : { 1, 2, 3 })
    {
      if (name == type_name(type, components))
      {
        return VelocityType{ type, components };
      }
    }
  }
  return std::nullopt;
}

std::string why_unsuited(const std::vector<std::array<double, 3>>& spacings)
{
  const std::array<double, 3>& first = spacings.front();
  for (const std::array<double, 3>& other : spacings)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      if (std::fabs(other[axis] - first[axis]) > kTolerance * first[axis])
      {
        return fmt::format("domains have spacings of {} and {} along {}, as in refined meshes",
          first[axis], other[axis], "xyz"[axis]);
      }
    }
  }
  return "";
}
}

std::array<double, 3> begin_of(const GridDomain& domain, const idx::LogicalBox& box)
{
  std::array<double, 3> begin{};
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    begin[axis] = domain.origin[axis] + static_cast<double>(box.lower[axis]) * domain.spacing[axis];
  }
  return begin;
}

std::array<std::int64_t, 3> GridPlan::place_of(const GridDomain& domain) const
{
  std::array<std::int64_t, 3> place{};
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const double number = (domain.origin[axis] - this->origin[axis]) / this->spacing[axis];
    if (!(std::fabs(number) <= kMaxSpacings &&
          std::fabs(number - std::round(number)) <= kTolerance))
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("grid {}: a domain starts at {} along {}, which is {} spacings of {} from "
                    "the first sample at {}; all domains must lie on one lattice",
          this->name, domain.origin[axis], "xyz"[axis], number, this->spacing[axis],
          this->origin[axis]));
    }
    place[axis] = std::llround(number);
  }
  return place;
}

Velocity find_velocity(
  const GridPlan& plan, const GridCensus& census, const std::vector<std::string>& requested)
{
  const Schema& types = census.schemas.front(); // fields in a plan have the same types everywhere
  std::vector<std::string> vectors;
  for (const std::string& field : plan.fields)
  {
    const auto type = parse_velocity_type(types.at(field));
    if (type && type->components > 1)
    {
      vectors.push_back(field);
    }
  }
  Velocity velocity;
  velocity.fields = requested;
  if (requested.empty() && std::count(vectors.begin(), vectors.end(), "velocity") != 0)
  {
    vectors = { "velocity" };
  }
  if (requested.empty() && vectors.size() == 1)
  {
    velocity.fields = vectors;
  }
  if (velocity.fields.empty())
  {
    velocity.problem = vectors.empty()
      ? "no field is suitable as a velocity, with 2 or 3 components of type float32 or float64"
      : fmt::format("{} can be its velocity; set bricks_velocity", fmt::join(vectors, ", "));
    return velocity;
  }
  velocity.components = static_cast<int>(velocity.fields.size());
  for (const std::string& field : velocity.fields)
  {
    if (std::find(plan.fields.begin(), plan.fields.end(), field) == plan.fields.end())
    {
      velocity.problem = fmt::format("unknown field {} in bricks_velocity{}", field,
        bat::available(field, fmt::format("{}", fmt::join(plan.fields, ", "))));
      return velocity;
    }
    const auto type = parse_velocity_type(types.at(field));
    const bool is_one = velocity.fields.size() == 1;
    const bool is_like_first = is_one || types.at(field) == types.at(velocity.fields.front());
    if (!type || (type->components == 1) == is_one || !is_like_first)
    {
      velocity.problem = fmt::format("field {} has type {}; a velocity is one field with 2 or 3 "
                                     "components, or 2 or 3 fields with one, of type float32 or "
                                     "of type float64",
        field, types.at(field));
      return velocity;
    }
    velocity.type = type->type;
    velocity.components = is_one ? type->components : velocity.components;
  }
  return velocity;
}

std::map<GridKey, GridPlan> plan_grids(const Census& census)
{
  const std::map<GridKey, GridCensus> grids = census.grids();
  std::map<GridKey, GridPlan> plans;
  std::map<std::string, const GridKey*> names;
  for (const auto& [key, grid] : grids)
  {
    GridPlan plan;
    plan.name = name_of(key.topology);
    plan.name += key.elements && grids.count({ key.topology, false }) != 0 ? "_elements" : "";
    plan.fields = census.written_fields(key);
    plan.spacing = grid.spacings.front();
    plan.unsuited = why_unsuited(grid.spacings);
    if (plan.fields.empty())
    {
      continue;
    }
    const auto [other, is_first] = names.emplace(plan.name, &key);
    if (!is_first)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("two grids are named '{}': topology '{}' of channel '{}' and topology '{}' of "
                    "channel '{}'; names of channels, meshes and topologies must make different "
                    "ones",
          plan.name, other->second->topology.topology, other->second->topology.channel,
          key.topology.topology, key.topology.channel));
    }
    plans.emplace(key, std::move(plan));
  }
  return plans;
}
}
