// SPDX-License-Identifier: BSD-3-Clause
#include "GridPlan.h"

#include "bat/error.hpp"
#include "bat/types.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace
{
constexpr std::int64_t LargestNumber = std::numeric_limits<int>::max();

[[noreturn]] void Refuse(const bat::idx::Dataset& file, const std::string& text)
{
  throw bat::Error(bat::ErrorCode::InvalidArgument, file.name() + ": " + text);
}

bat::Box PhysicalBox(const bat::idx::Dataset& file, const std::array<double, 6>& ends)
{
  bat::Box box;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const double lower = ends[2 * axis];
    const double upper = ends[2 * axis + 1];
    if (!(lower <= upper)) // NaN, too
    {
      std::ostringstream text;
      text << "Box goes from " << lower << " to " << upper << " along " << std::string("xyz")[axis]
           << "; its ends must be in ascending order";
      Refuse(file, text.str());
    }
    box.lower[axis] = lower;
    box.upper[axis] = upper;
  }
  return box;
}

bat_vtk::Extent ComputeExtent(
  const bat::idx::Dataset& file, const bat::idx::Lattice& lattice, int level)
{
  bat_vtk::Extent extent = bat_vtk::EmptyExtent;
  if (lattice.samples() == 0)
  {
    return extent;
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const std::int64_t first = lattice.index(axis);
    const std::int64_t last = first + lattice.count[axis] - 1;
    if (last > LargestNumber)
    {
      std::ostringstream text;
      text << "level " << level << " has samples up to number " << last << " along "
           << std::string("xyz")[axis] << "; VTK images are limited to numbers up to "
           << LargestNumber << ": use a lower Resolution";
      Refuse(file, text.str());
    }
    extent[2 * axis] = static_cast<int>(first);
    extent[2 * axis + 1] = static_cast<int>(last);
  }
  return extent;
}

// Returns whether it takes no longer than a first step, considering its arrays and the blocks that
// contain them.
int FirstLevel(const bat::idx::Dataset& file, const bat_vtk::GridSettings& settings,
  const std::optional<bat::idx::LogicalBox>& box, int target)
{
  int level = target;
  for (; level > 0; --level)
  {
    const bat::idx::Cost cost = file.cost(settings.Fields, level, box);
    if (std::max(cost.bytes, cost.block_bytes) <= settings.FirstBytes)
    {
      break;
    }
  }
  return level;
}
}

//------------------------------------------------------------------------------
bat_vtk::GridPlan bat_vtk::MakePlan(const bat::idx::Dataset& file, std::uint64_t generation,
  const GridSettings& settings, const LevelRefining& refining)
{
  GridPlan plan;
  plan.Question.Generation = generation;
  plan.Question.Fields = settings.Fields;
  if (settings.Box)
  {
    plan.Question.Box = file.box_of(PhysicalBox(file, *settings.Box));
  }
  const std::optional<bat::idx::LogicalBox>& box = plan.Question.Box;

  plan.Requested = std::min(settings.Resolution, file.levels());
  plan.Target = settings.BudgetBytes == 0
    ? plan.Requested
    : file.finest_level(settings.Fields, plan.Requested, settings.BudgetBytes, box);
  plan.Level = plan.Target;
  const std::optional<int> first = file.first_level(box.value_or(file.box()));
  if (settings.Refine)
  {
    const int begin = std::max(FirstLevel(file, settings, box, plan.Target), first.value_or(0));
    plan.Level = refining.Choose(plan.Question, begin, plan.Target);
  }

  const bat::idx::Lattice lattice = file.lattice(plan.Level, box);
  plan.Whole = ComputeExtent(file, lattice, plan.Level);
  ComputeExtent(file, file.lattice(plan.Target, box), plan.Target); // is refused at once
  const bat::idx::Geometry geometry = file.geometry();
  plan.Origin = geometry.origin;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    plan.Spacing[axis] = geometry.spacing[axis] * static_cast<double>(lattice.distance[axis]);
  }
  if (IsEmpty(plan.Whole))
  {
    plan.Warning = !first ? "Box has no samples at any level"
                          : "Box has no samples at level " + std::to_string(plan.Level) +
        "; the first level with samples is " + std::to_string(*first);
  }
  else if (!geometry.warning.empty())
  {
    plan.Warning = geometry.warning;
  }
  return plan;
}

//------------------------------------------------------------------------------
std::array<double, 6> bat_vtk::ComputeBounds(const bat::idx::Dataset& file)
{
  const bat::idx::Geometry geometry = file.geometry();
  std::array<double, 6> bounds;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    bounds[2 * axis] =
      geometry.origin[axis] + static_cast<double>(file.box().lower[axis]) * geometry.spacing[axis];
    bounds[2 * axis + 1] =
      geometry.origin[axis] + static_cast<double>(file.box().upper[axis]) * geometry.spacing[axis];
  }
  return bounds;
}
