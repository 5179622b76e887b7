// SPDX-License-Identifier: BSD-3-Clause
// Detects series whose files lie on different grids: readers of a series give all images one grid,
// whatever the files contain.
#ifndef SeriesGrid_h
#define SeriesGrid_h

#include <string>

class vtkAlgorithm;

namespace bat_vtk
{
/// Checks `producer` and all its sources after an update. If a series reader has opened a file
/// whose image has another origin or spacing than the announced one, returns a message with both;
/// otherwise empty. Opens the header of the file once more. Throws nothing.
std::string MovedGridAbove(vtkAlgorithm* producer);
}

#endif
