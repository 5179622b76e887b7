// SPDX-License-Identifier: BSD-3-Clause
// Creates cells for particles.
#ifndef VertexCells_h
#define VertexCells_h

#include "GrowingMemory.h"

#include "vtkSmartPointer.h"

#include <cstdint>

class vtkCellArray;

namespace bat_vtk
{
/// Vertex cells for the first points of a growing array. Cells made for fewer points are
/// reused.
class VertexCells
{
public:
  /// Returns a cell for each of `points`, or one poly-vertex of all of them. `maximum` is the
  /// number of points expected later.
  vtkSmartPointer<vtkCellArray> Make(std::uint64_t points, std::uint64_t maximum, bool onePerPoint);

private:
  /// 0, 1, 2, ... as 32-bit or 64-bit integers
  struct Numbers
  {
    GrowingMemory Memory;
    std::uint64_t Known = 0;
  };
  template <typename ArrayT>
  static vtkSmartPointer<ArrayT> MakeNumbers(
    Numbers& numbers, std::uint64_t count, std::uint64_t maximum);
  template <typename ArrayT>
  vtkSmartPointer<vtkCellArray> MakeCells(
    std::uint64_t points, std::uint64_t maximum, bool onePerPoint);

  bool Wide = false; ///< 64 bits
  Numbers Points;
  Numbers Offsets;
};
}

#endif
