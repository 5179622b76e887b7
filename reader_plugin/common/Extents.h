// SPDX-License-Identifier: BSD-3-Clause
// Counts an image's points along its axes.
#ifndef Extents_h
#define Extents_h

#include "vtkInformation.h"
#include "vtkInformationIntegerVectorKey.h"
#include "vtkType.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace bat_vtk
{
/// A VTK extent: first, last along x, y, z. Empty if a last is below its first.
using Extent = std::array<int, 6>;

constexpr Extent EmptyExtent = { { 0, -1, 0, -1, 0, -1 } };

[[nodiscard]] inline bool IsEmpty(const Extent& extent)
{
  return extent[1] < extent[0] || extent[3] < extent[2] || extent[5] < extent[4];
}

[[nodiscard]] inline Extent Intersection(const Extent& a, const Extent& b)
{
  Extent both;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    both[2 * axis] = std::max(a[2 * axis], b[2 * axis]);
    both[2 * axis + 1] = std::min(a[2 * axis + 1], b[2 * axis + 1]);
  }
  return IsEmpty(both) ? EmptyExtent : both;
}

[[nodiscard]] inline Extent ExtentIn(vtkInformation* info, vtkInformationIntegerVectorKey* key)
{
  Extent extent = EmptyExtent;
  if (info->Has(key))
  {
    info->Get(key, extent.data());
  }
  return extent;
}

/// Returns the largest integer if there are more points, which no memory can hold.
[[nodiscard]] inline vtkIdType PointsIn(const Extent& extent)
{
  constexpr vtkIdType maximum = std::numeric_limits<vtkIdType>::max();
  vtkIdType points = IsEmpty(extent) ? 0 : 1;
  for (std::size_t axis = 0; points != 0 && axis < 3; ++axis)
  {
    const vtkIdType count = vtkIdType{ extent[2 * axis + 1] } - extent[2 * axis] + 1;
    points = points > maximum / count ? maximum : points * count;
  }
  return points;
}
}

#endif
