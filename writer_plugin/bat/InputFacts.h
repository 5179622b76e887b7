// SPDX-License-Identifier: BSD-3-Clause
// What an input says of itself: its time and step, and that it is a sample.
#ifndef InputFacts_h
#define InputFacts_h

#include "ConvertedInput.h"
#include "InputLeaves.h"

#include <vector>

class vtkDataObject;

namespace bat_vtk
{
/// Time and step of the input, else of the first leaf that has them; and metadata and a remark if
/// the written particles are a sample loaded by the BAT reader.
void ReadFacts(vtkDataObject* input, const std::vector<Leaf>& leaves, ConvertedInput& result);
}

#endif
