// SPDX-License-Identifier: BSD-3-Clause
// The VTK arrays that values of a file are read into.
#ifndef ParticleArrays_h
#define ParticleArrays_h

#include "bat/dataset.hpp"

#include "vtkSmartPointer.h"

#include <vector>

class vtkDataArray;

namespace bat_vtk
{
/// An array for positions, in the type in which they are stored, without any yet.
vtkSmartPointer<vtkDataArray> MakePositions(const bat::Dataset& file);

/// An array for an attribute, in the VTK type that was written if it is known, without values yet.
vtkSmartPointer<vtkDataArray> MakeAttribute(const bat::Attribute& attribute);

/// True if an array has bits where the file has bytes.
bool IsBits(vtkDataArray* array);
/// The values of an array that has bits, from as many bytes. Does nothing to others.
void PackBits(const std::vector<unsigned char>& values, vtkDataArray* array);
}

#endif
