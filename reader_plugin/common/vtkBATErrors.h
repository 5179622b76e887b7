// SPDX-License-Identifier: BSD-3-Clause
// Maps the error codes of the core to VTK's.
#ifndef vtkBATErrors_h
#define vtkBATErrors_h

#include "bat/error.hpp"

namespace bat_vtk
{
/// Returns a code for vtkAlgorithm::SetErrorCode. VTK lacks codes for InvalidArgument, WriteFailed
/// and Cancelled: they are vtkErrorCode::UserError + the number of the core's code.
unsigned long ToVTKErrorCode(bat::ErrorCode code);
}

#endif
