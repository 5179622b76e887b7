// SPDX-License-Identifier: BSD-3-Clause
#include "VertexCells.h"

#include "vtkBATArrays.h"

#include "vtkCellArray.h"
#include "vtkNew.h"
#include "vtkTypeInt32Array.h"
#include "vtkTypeInt64Array.h"

#include <algorithm>
#include <limits>
#include <numeric>

//------------------------------------------------------------------------------
template <typename ArrayT>
vtkSmartPointer<ArrayT> bat_vtk::VertexCells::MakeNumbers(
  Numbers& numbers, std::uint64_t count, std::uint64_t maximum)
{
  using ValueT = typename ArrayT::ValueType;
  auto* values = reinterpret_cast<ValueT*>(numbers.Memory.Grow(count * sizeof(ValueT),
    std::min(numbers.Known, count) * sizeof(ValueT), maximum * sizeof(ValueT)));
  if (count > numbers.Known)
  {
    std::iota(values + numbers.Known, values + count, static_cast<ValueT>(numbers.Known));
    numbers.Known = count;
  }
  auto array = vtkSmartPointer<ArrayT>::New();
  UseMemory(array, values, static_cast<vtkIdType>(count), numbers.Memory.Owner());
  return array;
}

//------------------------------------------------------------------------------
template <typename ArrayT>
vtkSmartPointer<vtkCellArray> bat_vtk::VertexCells::MakeCells(
  std::uint64_t points, std::uint64_t maximum, bool onePerPoint)
{
  const vtkSmartPointer<ArrayT> connectivity = MakeNumbers<ArrayT>(this->Points, points, maximum);
  vtkSmartPointer<ArrayT> offsets;
  if (onePerPoint)
  {
    offsets = MakeNumbers<ArrayT>(this->Offsets, points + 1, maximum + 1);
  }
  else
  {
    offsets = vtkSmartPointer<ArrayT>::New();
    offsets->InsertNextValue(0);
    if (points > 0)
    {
      offsets->InsertNextValue(static_cast<typename ArrayT::ValueType>(points));
    }
  }
  auto cells = vtkSmartPointer<vtkCellArray>::New();
  cells->SetData(offsets, connectivity);
  return cells;
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkCellArray> bat_vtk::VertexCells::Make(
  std::uint64_t points, std::uint64_t maximum, bool onePerPoint)
{
  // Uses 32 bits while they suffice, because cells are easily the largest part of the loaded data.
  const bool wide = points >= static_cast<std::uint64_t>(std::numeric_limits<vtkTypeInt32>::max());
  if (wide != this->Wide)
  {
    *this = {};
    this->Wide = wide;
  }
  return wide ? this->MakeCells<vtkTypeInt64Array>(points, maximum, onePerPoint)
              : this->MakeCells<vtkTypeInt32Array>(points, maximum, onePerPoint);
}
