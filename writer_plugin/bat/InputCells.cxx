// SPDX-License-Identifier: BSD-3-Clause
#include "InputCells.h"

#include "vtkCellArray.h"
#include "vtkCellType.h"
#include "vtkPointSet.h"
#include "vtkPolyData.h"
#include "vtkUnsignedCharArray.h"
#include "vtkUnstructuredGrid.h"
#include "vtkVersionMacros.h"

#include <array>
#include <set>
#include <utility>

namespace
{
std::string NameOfCells(int type)
{
  switch (type)
  {
    case VTK_LINE:
    case VTK_POLY_LINE:
      return "lines";
    case VTK_TRIANGLE:
    case VTK_TRIANGLE_STRIP:
      return "triangles";
    case VTK_POLYGON:
      return "polygons";
    case VTK_PIXEL:
    case VTK_QUAD:
      return "quadrilaterals";
    case VTK_TETRA:
      return "tetrahedra";
    case VTK_VOXEL:
    case VTK_HEXAHEDRON:
      return "hexahedra";
    case VTK_WEDGE:
      return "wedges";
    case VTK_PYRAMID:
      return "pyramids";
    case VTK_POLYHEDRON:
      return "polyhedra";
    default:
      return "cells of VTK's type " + std::to_string(type);
  }
}

// GetDistinctCellTypesArray() is not used: in a VTK without optimization it takes longer than
// writing the particles.
std::set<int> CollectCellTypes(vtkUnstructuredGrid* grid)
{
  std::array<bool, 256> found{};
  const vtkIdType count = grid->GetNumberOfCells();
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  const unsigned char* types = count > 0 ? grid->GetCellTypesArray()->GetPointer(0) : nullptr;
  for (vtkIdType i = 0; i < count; ++i)
  {
    found[types[i]] = true;
  }
#else
  for (vtkIdType i = 0; i < count; ++i)
  {
    found[static_cast<unsigned char>(grid->GetCellType(i))] = true;
  }
#endif
  std::set<int> distinct;
  for (int type = 0; type < 256; ++type)
  {
    if (found[static_cast<std::size_t>(type)])
    {
      distinct.insert(type);
    }
  }
  return distinct;
}

// If all cells are vertices, returns the cell of each point. Empty unless each point is in exactly
// one cell, and each cell has points.
std::optional<std::vector<vtkIdType>> FindVertices(vtkPointSet* points)
{
  vtkCellArray* cells = nullptr;
  if (vtkPolyData* surface = vtkPolyData::SafeDownCast(points))
  {
    cells = surface->GetVerts();
  }
  else if (vtkUnstructuredGrid* grid = vtkUnstructuredGrid::SafeDownCast(points))
  {
    cells = grid->GetCells();
  }
  std::vector<vtkIdType> vertex(static_cast<std::size_t>(points->GetNumberOfPoints()), -1);
  std::size_t found = 0;
  for (vtkIdType cell = 0; cell < (cells ? cells->GetNumberOfCells() : 0); ++cell)
  {
    vtkIdType count = 0;
    const vtkIdType* members = nullptr;
    cells->GetCellAtId(cell, count, members);
    if (count == 0)
    {
      return std::nullopt;
    }
    for (vtkIdType i = 0; i < count; ++i, ++found)
    {
      const std::size_t point = static_cast<std::size_t>(members[i]);
      if (point >= vertex.size() || vertex[point] >= 0)
      {
        return std::nullopt;
      }
      vertex[point] = cell;
    }
  }
  return found == vertex.size() ? std::optional(std::move(vertex)) : std::nullopt;
}
}

//------------------------------------------------------------------------------
std::vector<std::string> bat_vtk::CellsBesideVertices(vtkPointSet* points)
{
  std::set<std::string> names;
  if (vtkPolyData* surface = vtkPolyData::SafeDownCast(points))
  {
    const std::pair<vtkIdType, const char*> kinds[] = { { surface->GetNumberOfLines(), "lines" },
      { surface->GetNumberOfPolys(), "polygons" }, { surface->GetNumberOfStrips(), "triangles" } };
    for (const auto& [count, name] : kinds)
    {
      if (count > 0)
      {
        names.insert(name);
      }
    }
  }
  else if (vtkUnstructuredGrid* grid = vtkUnstructuredGrid::SafeDownCast(points))
  {
    for (const int type : CollectCellTypes(grid))
    {
      if (type != VTK_EMPTY_CELL && type != VTK_VERTEX && type != VTK_POLY_VERTEX)
      {
        names.insert(NameOfCells(type));
      }
    }
  }
  else if (points->GetNumberOfCells() > 0)
  {
    names.insert(std::string("cells of a ") + points->GetClassName());
  }
  return { names.begin(), names.end() };
}

//------------------------------------------------------------------------------
std::optional<bat_vtk::CellsAsPoints> bat_vtk::MapCells(vtkPointSet* points)
{
  std::optional<std::vector<vtkIdType>> vertex = FindVertices(points);
  if (!vertex)
  {
    return std::nullopt;
  }
  CellsAsPoints map;
  map.Cells = static_cast<std::size_t>(points->GetNumberOfCells());
  bool same = map.Cells == vertex->size();
  for (std::size_t i = 0; same && i < vertex->size(); ++i)
  {
    same = (*vertex)[i] == static_cast<vtkIdType>(i);
  }
  if (!same)
  {
    map.CellOf = std::move(*vertex);
  }
  return map;
}
