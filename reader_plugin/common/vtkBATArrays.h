// SPDX-License-Identifier: BSD-3-Clause
// Arrays in memory that others use too, and points whose bounds are known.
#ifndef vtkBATArrays_h
#define vtkBATArrays_h

#include "vtkSmartPointer.h"
#include "vtkType.h"

#include <memory>
#include <string>

class vtkDataArray;
class vtkPoints;

namespace bat_vtk
{
/// True if the values of an array are contiguous in memory, each in separate bytes.
bool IsPlain(vtkDataArray* array);

/// Lets a plain array have `tuples` tuples at `memory`, and keep `owner` for as long as it uses
/// them. All owners that are given for the same address must keep the same memory. Thread-safe for
/// different arrays.
void UseMemory(
  vtkDataArray* array, void* memory, vtkIdType tuples, const std::shared_ptr<void>& owner);

/// Lets a plain array have memory for `tuples` tuples, whose values are not defined. Where numbers
/// of a file or of a panel decide how much it is, arrays of VTK get it by this: their own
/// allocation ends the program when it fails. Throws bat::Error{OutOfMemory}, as
/// bat::check_memory(), to which `what` and `advice` go, and std::bad_alloc.
void TakeMemory(
  vtkDataArray* array, vtkIdType tuples, const std::string& what, const std::string& advice = {});

/// Points at `positions`, of which VTK is told the bounds (xmin, xmax, ymin, ymax, zmin, zmax)
/// until they are modified; null lets it look for them.
vtkSmartPointer<vtkPoints> MakePoints(vtkDataArray* positions, const double* bounds);
}

#endif
