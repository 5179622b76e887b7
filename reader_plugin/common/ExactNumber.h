// SPDX-License-Identifier: BSD-3-Clause
// Reads values of VTK arrays without rounding.
#ifndef ExactNumber_h
#define ExactNumber_h

#include "bat/query.hpp"

#include "vtkType.h"

class vtkDataArray;

namespace bat_vtk
{
/// The value in the array's own type: double, int64 or uint64. Thread-safe.
bat::Number NumberAt(vtkDataArray* values, vtkIdType i);

/// The number without rounding: a long double holds any integer of 64 bits.
long double Exact(const bat::Number& number);
}

#endif
