// SPDX-License-Identifier: BSD-3-Clause
// Facts that an input provides: its time and step, and whether it is a sample.
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
