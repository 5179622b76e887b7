// SPDX-License-Identifier: BSD-3-Clause
// Readers of a series of files give all images one grid, wherever the files say that they lie.
#ifndef SeriesGrid_h
#define SeriesGrid_h

#include <string>

class vtkAlgorithm;

namespace bat_vtk
{
/// Of `producer` and all that its data come from, after an update: what is wrong if a reader of a
/// series has opened a file whose image has another origin or spacing than the one that it gives,
/// with both; empty if nothing is. Opens the header of the file once more. Throws nothing.
std::string MovedGridAbove(vtkAlgorithm* producer);
}

#endif
