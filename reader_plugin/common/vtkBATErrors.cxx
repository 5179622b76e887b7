// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATErrors.h"

#include "vtkErrorCode.h"

//------------------------------------------------------------------------------
unsigned long bat_vtk::ToVTKErrorCode(bat::ErrorCode code)
{
  switch (code)
  {
    case bat::ErrorCode::NotFound:
      return vtkErrorCode::FileNotFoundError;
    case bat::ErrorCode::CannotOpen:
      return vtkErrorCode::CannotOpenFileError;
    case bat::ErrorCode::NotABatFile:
      return vtkErrorCode::UnrecognizedFileTypeError;
    case bat::ErrorCode::Truncated:
      return vtkErrorCode::PrematureEndOfFileError;
    case bat::ErrorCode::UnsupportedVersion:
    case bat::ErrorCode::Corrupt:
      return vtkErrorCode::FileFormatError;
    case bat::ErrorCode::NoSpace:
      return vtkErrorCode::OutOfDiskSpaceError;
    case bat::ErrorCode::WriteFailed:
    case bat::ErrorCode::InvalidArgument:
    case bat::ErrorCode::Cancelled:
    case bat::ErrorCode::OutOfMemory:
    case bat::ErrorCode::Internal:
      return vtkErrorCode::UserError + static_cast<unsigned long>(code);
  }
  return vtkErrorCode::UnknownError;
}
