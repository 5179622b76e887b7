// SPDX-License-Identifier: BSD-3-Clause
#include "InputLeaves.h"

#include "InputCells.h"

#include "vtkPointSet.h"
#include "vtkTable.h"

//------------------------------------------------------------------------------
bat_vtk::Kind bat_vtk::KindOf(vtkDataObject* leaf)
{
  if (vtkTable* table = vtkTable::SafeDownCast(leaf))
  {
    return table->GetNumberOfRows() > 0 ? Kind::Particles : Kind::Nothing;
  }
  vtkPointSet* points = vtkPointSet::SafeDownCast(leaf);
  if (!points)
  {
    return Kind::Other;
  }
  if (!CellsBesideVertices(points).empty())
  {
    return Kind::Grid;
  }
  return points->GetNumberOfPoints() > 0 ? Kind::Particles : Kind::Nothing;
}
