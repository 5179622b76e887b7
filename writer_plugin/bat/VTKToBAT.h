// SPDX-License-Identifier: BSD-3-Clause
// From VTK data sets to what the core writes: borrows the input's memory where its layout allows,
// copies where it does not. Knows no pipeline.
#ifndef VTKToBAT_h
#define VTKToBAT_h

#include "ConvertedInput.h"

#include <functional>
#include <string>
#include <vector>

class vtkDataObject;

namespace bat_vtk
{
/// The texts of all ranks that write together, each once. Collective.
using Union = std::function<std::vector<std::string>(const std::vector<std::string>&)>;

/// Collective through `all`, with the same answer on all ranks: grids are left out where some rank
/// has particles, or room for them, a place without cells on any rank. Throws
/// bat::Error{InvalidArgument} on all ranks if no block of any has points or rows.
Grids DecideOnGrids(vtkDataObject* input, const Union& all);

/// Converts a vtkPointSet, a vtkTable or a composite data set of these. Blocks are written one
/// after another; other blocks are left out. Cell data is an attribute if all cells are vertices
/// and each point is in exactly one; if points have an array of that name, the cells' is
/// "name_cell". Time and step number are those of TimeOf() and StepOf(). Throws
/// bat::Error{InvalidArgument} for other data sets, coordinate columns that do not exist, arrays that
/// the format does not support, and blocks whose arrays differ.
ConvertedInput ConvertInput(vtkDataObject* input, const InputOptions& options);
}

#endif
