// SPDX-License-Identifier: BSD-3-Clause
// The starting points of particles: the points or lines of any data on all processes, and the
// assignment of their particles to processes.
#ifndef FlowSeeds_h
#define FlowSeeds_h

#include "vtkSmartPointer.h"

#include <array>
#include <cstddef>
#include <vector>

class vtkDataObject;
class vtkMultiProcessController;
class vtkPolyData;

namespace bat_vtk
{
/// Collective. Returns the points of all data sets on all processes, in their order, without
/// ghosts, with the arrays shared by all of them. The same in all processes. A null controller
/// means a single process.
vtkSmartPointer<vtkPolyData> GatherSeeds(
  vtkDataObject* data, vtkMultiProcessController* controller);

/// Collective. Returns the lines of all data sets on all processes, without ghosts; consecutive
/// segments form one line. The same in all processes. Throws Failure if there are points but no
/// lines.
std::vector<std::vector<std::array<double, 3>>> GatherLines(
  vtkDataObject* data, vtkMultiProcessController* controller);

std::vector<std::array<double, 3>> CollectPositions(vtkPolyData* seeds);

/// Numbers of the seeds that process `rank` of `ranks` follows, ascending: nearby seeds go
/// together, so that few bricks are read by two processes.
std::vector<std::size_t> DealSeeds(
  const std::vector<std::array<double, 3>>& positions, int rank, int ranks);
}

#endif
