// SPDX-License-Identifier: BSD-3-Clause
// Arrays in shared memory, and points with known bounds.
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

/// Makes a plain array use `tuples` tuples at `memory`, and keep `owner` as long as it uses them.
/// All owners given for the same address must keep the same memory. Thread-safe for different
/// arrays.
void UseMemory(
  vtkDataArray* array, void* memory, vtkIdType tuples, const std::shared_ptr<void>& owner);

/// Allocates memory for `tuples` tuples of a plain array, whose values are undefined. VTK arrays
/// whose size depends on a file or a panel use this, because their own allocation ends the program
/// if it fails. Throws bat::Error{OutOfMemory}, as bat::check_memory(), which gets `what` and
/// `advice`, and std::bad_alloc.
void TakeMemory(
  vtkDataArray* array, vtkIdType tuples, const std::string& what, const std::string& advice = {});

/// Returns points at `positions`, with the given bounds (xmin, xmax, ymin, ymax, zmin, zmax) for
/// VTK until they are modified; if null, VTK computes them.
vtkSmartPointer<vtkPoints> MakePoints(vtkDataArray* positions, const double* bounds);
}

#endif
