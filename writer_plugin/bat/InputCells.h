// SPDX-License-Identifier: BSD-3-Clause
// Finds the cells of an input that are not particles, and the data of those that are.
#ifndef InputCells_h
#define InputCells_h

#include "vtkType.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

class vtkPointSet;

namespace bat_vtk
{
/// Returns the types of cells other than vertices; none if the points are just particles.
std::vector<std::string> CellsBesideVertices(vtkPointSet* points);

/// Returns values of cells as values of the points in them.
struct CellsAsPoints
{
  std::size_t Cells = 0;
  std::vector<vtkIdType> CellOf; ///< cell of each point; empty if it equals the point's number

  std::size_t Of(std::size_t point) const
  {
    return this->CellOf.empty() ? point : static_cast<std::size_t>(this->CellOf[point]);
  }
};

/// If all cells are vertices, returns the cell of each point. Empty unless each point is in exactly
/// one cell, and each cell has points.
std::optional<CellsAsPoints> MapCells(vtkPointSet* points);
}

#endif
