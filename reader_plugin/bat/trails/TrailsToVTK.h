// SPDX-License-Identifier: BSD-3-Clause
// Converts followed particles to lines and points. Independent of the pipeline.
#ifndef TrailsToVTK_h
#define TrailsToVTK_h

#include "bat/follow.hpp"

#include "vtkSmartPointer.h"

#include <cstddef>
#include <string>
#include <vector>

class vtkPolyData;

namespace bat_vtk
{
/// Particles that were followed, and their names.
struct FollowedParticles
{
  bat::Trails Trails;
  std::vector<double> Times;       ///< per step
  std::string IdName;              ///< name of the id attribute
  std::string SecondName;          ///< empty: ids are unique by themselves
  std::vector<bat::Number> Ids;    ///< per id
  std::vector<bat::Number> Second; ///< per id, if there is a second name
};

/// A polyline for each run of consecutive steps, from `first` to before `end`, that contain a
/// particle; a vertex for a single step.
vtkSmartPointer<vtkPolyData> MakeTrails(
  const FollowedParticles& particles, std::size_t first, std::size_t end);

/// The particles of a step, each as a vertex.
vtkSmartPointer<vtkPolyData> MakeHeads(const FollowedParticles& particles, std::size_t step);
}

#endif
