// SPDX-License-Identifier: BSD-3-Clause
// Converts VTK data sets to the core's input: borrows the input's memory if its layout allows,
// otherwise copies. Independent of the pipeline.
#ifndef VTKToBAT_h
#define VTKToBAT_h

#include "ConvertedInput.h"

#include <functional>
#include <string>
#include <vector>

class vtkDataObject;

namespace bat_vtk
{
/// Collective. Returns the texts of all ranks that write together, each once.
using Union = std::function<std::vector<std::string>(const std::vector<std::string>&)>;

/// Collective through `all`, with the same answer on all ranks: grids are omitted if, on any rank,
/// a block without cells contains particles or could contain them. Throws
/// bat::Error{InvalidArgument} on all ranks if no block on any rank has points or rows.
Grids DecideOnGrids(vtkDataObject* input, const Union& all);

/// Converts a vtkPointSet, a vtkTable or a composite data set of these. Blocks are written one
/// after another; blocks of other types are omitted. Cell data is an attribute if all cells are
/// vertices and each point is in exactly one; if points have an array of that name, the cells' is
/// "name_cell". Time and step number are those of TimeOf() and StepOf(). Throws
/// bat::Error{InvalidArgument} for other data sets, coordinate columns that do not exist, arrays
/// that the format does not support, and blocks whose arrays differ.
ConvertedInput ConvertInput(vtkDataObject* input, const InputOptions& options);
}

#endif
