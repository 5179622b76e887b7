// SPDX-License-Identifier: BSD-3-Clause
// Extracts the velocity from images.
#ifndef VelocityInput_h
#define VelocityInput_h

#include "GridInput.h"

#include "vtkSmartPointer.h"

#include <optional>
#include <string>
#include <vector>

namespace bat_vtk
{
struct VelocityImages
{
  std::vector<ImagePiece> Images;
  std::vector<vtkSmartPointer<vtkImageData>> Owned; ///< keeps the images alive
  std::optional<std::string> Field;                 ///< empty if there are no images
};

/// Returns images of the same points with one point array, "velocity", and the ghosts of the input.
/// At hidden points, velocities are NaN. `field` is the array's name; empty for the active vectors,
/// or else the only array that can be a velocity. Throws bat::Error{InvalidArgument}, naming array
/// and block, for no such array, several, or one of another type.
VelocityImages FindVelocity(const std::vector<ImagePiece>& images, const std::string& field);
}

#endif
