// SPDX-License-Identifier: BSD-3-Clause
#include "ColumnDensity.h"

#include "vtkDataArray.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace
{
constexpr int Cells = 96; ///< along an axis
constexpr int Columns = Cells * Cells;

// Shares of all particles in columns below the dark end and below the bright end.
constexpr double DarkShare = 0.25;
constexpr double BrightShare = 0.98;
// Pixels resolve more than the columns do.
constexpr double BelowDark = 0.3;
constexpr double AboveBright = 2.0;
}

//------------------------------------------------------------------------------
bat_vtk::ColumnDensity::ColumnDensity(const double bounds[6])
  : Numbers(3 * Columns + 1, 0.0)
{
  double largest = 0.0;
  for (int axis = 0; axis < 3; ++axis)
  {
    this->Origin[axis] = bounds[2 * axis];
    this->Extent[axis] = std::max(0.0, bounds[2 * axis + 1] - bounds[2 * axis]);
    largest = std::max(largest, this->Extent[axis]);
  }
  for (double& extent : this->Extent)
  {
    extent = largest > 0.0 ? std::max(extent, 1e-3 * largest) : 1.0;
  }
}

//------------------------------------------------------------------------------
void bat_vtk::ColumnDensity::Add(vtkDataArray* positions, int stride, double each)
{
  const vtkIdType count = positions->GetNumberOfTuples();
  for (vtkIdType row = 0; row < count; row += stride)
  {
    double point[3];
    positions->GetTuple(row, point);
    int cell[3];
    for (int axis = 0; axis < 3; ++axis)
    {
      const double at = Cells * (point[axis] - this->Origin[axis]) / this->Extent[axis];
      cell[axis] = at > 0.0 ? static_cast<int>(std::min(at, Cells - 1.0)) : 0;
    }
    // The last columns also represent the particles that were left out.
    const double stands = each * static_cast<double>(std::min<vtkIdType>(stride, count - row));
    this->Numbers[cell[1] * Cells + cell[2]] += stands;
    this->Numbers[Columns + cell[2] * Cells + cell[0]] += stands;
    this->Numbers[2 * Columns + cell[0] * Cells + cell[1]] += stands;
    this->Numbers.back() += stands;
  }
}

//------------------------------------------------------------------------------
bat_vtk::ColumnDensity::Range bat_vtk::ColumnDensity::Find() const
{
  const double length = *std::max_element(std::begin(this->Extent), std::end(this->Extent));
  Range range{ length, 1.0, 10.0, this->Numbers.back() };
  if (!(range.Count > 0.0))
  {
    return range;
  }
  double dark = 0.0;
  double bright = 0.0;
  for (int axis = 0; axis < 3; ++axis)
  {
    std::vector<double> counts(
      this->Numbers.begin() + axis * Columns, this->Numbers.begin() + (axis + 1) * Columns);
    std::sort(counts.begin(), counts.end());
    double below = 0.0;
    std::size_t at = 0;
    const auto share = [&](double requested)
    {
      while (at + 1 < counts.size() && below + counts[at] < requested * range.Count)
      {
        below += counts[at++];
      }
      return counts[at] / range.Count;
    };
    const double area =
      (this->Extent[(axis + 1) % 3] / length) * (this->Extent[(axis + 2) % 3] / length) / Columns;
    dark += std::log(share(DarkShare) / area);
    bright += std::log(share(BrightShare) / area);
  }
  range.Dark = BelowDark * std::exp(dark / 3.0);
  range.Bright = AboveBright * std::exp(bright / 3.0);
  return range;
}
