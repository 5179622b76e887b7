// SPDX-License-Identifier: BSD-3-Clause
// Finds the positions of particles: points, or columns of a table.
#ifndef Coordinates_h
#define Coordinates_h

#include "ArrayViews.h"
#include "ConvertedInput.h"

#include <array>
#include <cstddef>
#include <string>

class vtkDataArray;
class vtkDataSetAttributes;

namespace bat_vtk
{
struct Coordinate
{
  vtkDataArray* Array = nullptr; ///< null for "none"
  int Component = 0;
};

/// Returns the columns with x, y and z. If they do not exist, throws bat::Error{InvalidArgument},
/// whose text begins with `where`.
std::array<Coordinate, 3> FindCoordinates(
  vtkDataSetAttributes* rows, const CoordinateColumns& columns, const std::string& where);

/// Borrows the three coordinates if they have one floating-point type and a layout that the core
/// supports; otherwise copies. Integers and mixed types become float64.
bat::ArrayView PositionsFrom(
  const std::array<Coordinate, 3>& coordinates, std::size_t count, Storage& storage);
}

#endif
