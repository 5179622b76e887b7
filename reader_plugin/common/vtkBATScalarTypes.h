// SPDX-License-Identifier: BSD-3-Clause
// Maps the scalar types of the file format to those of VTK.
#ifndef vtkBATScalarTypes_h
#define vtkBATScalarTypes_h

#include "bat/types.hpp"

#include <cstdint>
#include <optional>

namespace bat_vtk
{
/// Returns the type in which values of the VTK type (VTK_FLOAT, VTK_ID_TYPE, ...) are stored on
/// this platform, without loss. Empty for non-numeric types such as VTK_STRING. VTK_BIT is stored
/// as one byte per value.
std::optional<bat::ScalarType> ToScalarType(int vtkType);

/// Returns the VTK type of an array for stored values. `hostType` is the VTK type of the array that
/// was written (bat::Attribute::host_type). It is used if this platform stores it that way;
/// otherwise the fixed-size type is used.
int ToVTKType(bat::ScalarType type, std::uint32_t hostType);
}

#endif
