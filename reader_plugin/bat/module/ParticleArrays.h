// SPDX-License-Identifier: BSD-3-Clause
// The VTK arrays into which values of a file are read.
#ifndef ParticleArrays_h
#define ParticleArrays_h

#include "bat/dataset.hpp"

#include "vtkSmartPointer.h"

#include <vector>

class vtkDataArray;

namespace bat_vtk
{
/// Returns an empty array for positions, with their stored type.
vtkSmartPointer<vtkDataArray> MakePositions(const bat::Dataset& file);

/// Returns an empty array for an attribute, with the VTK type that was written, if known.
vtkSmartPointer<vtkDataArray> MakeAttribute(const bat::Attribute& attribute);

/// True if an array stores bits for which the file has bytes.
bool IsBits(vtkDataArray* array);
/// Converts as many bytes to the values of a bit array. Does nothing to other arrays.
void PackBits(const std::vector<unsigned char>& values, vtkDataArray* array);
}

#endif
