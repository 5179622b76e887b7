// SPDX-License-Identifier: BSD-3-Clause
#include "grid_plan.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

namespace bat::catalyst
{
namespace
{
/// Of a spacing: as far as domains may lie beside a common lattice.
constexpr double kTolerance = 1e-3;

// Beyond, doubles do not tell neighbours apart.
constexpr double kMostSpacings = 1e12;

std::string why_unsuited(const std::vector<std::array<double, 3>>& spacings)
{
  const std::array<double, 3>& first = spacings.front();
  for (const std::array<double, 3>& other : spacings)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      if (std::fabs(other[axis] - first[axis]) > kTolerance * first[axis])
      {
        return fmt::format("domains have spacings of {} and {} along {}, as refined meshes do",
          first[axis], other[axis], "xyz"[axis]);
      }
    }
  }
  return "";
}
}

std::array<double, 3> begin_of(const GridDomain& domain)
{
  std::array<double, 3> begin{};
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    begin[axis] =
      domain.origin[axis] + static_cast<double>(domain.own.lower[axis]) * domain.spacing[axis];
  }
  return begin;
}

std::array<std::int64_t, 3> GridPlan::place_of(const GridDomain& domain) const
{
  std::array<std::int64_t, 3> place{};
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const double number = (domain.origin[axis] - this->origin[axis]) / this->spacing[axis];
    if (!(std::fabs(number) <= kMostSpacings &&
          std::fabs(number - std::round(number)) <= kTolerance))
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("grid {}: a domain begins at {} along {}, which is {} spacings of {} from the "
                    "first sample at {}; all domains have to lie on one lattice",
          this->name, domain.origin[axis], "xyz"[axis], number, this->spacing[axis],
          this->origin[axis]));
    }
    place[axis] = std::llround(number);
  }
  return place;
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
