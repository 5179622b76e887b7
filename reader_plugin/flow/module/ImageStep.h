// SPDX-License-Identifier: BSD-3-Clause
// The velocity in one time step of images: an image, or blocks of one lattice, on all processes.
#ifndef ImageStep_h
#define ImageStep_h

#include "bat/brick_source.hpp"

#include <cstddef>
#include <memory>
#include <string>

class vtkDataObject;
class vtkMultiProcessController;

namespace bat_vtk
{
struct ImageStep
{
  bat::BrickGrid Grid;
  std::string Array;                       ///< name of the velocity
  std::string Remark;                      ///< set for a default if others are possible
  std::shared_ptr<const std::byte> Values; ///< packed, NaN where points are hidden
};

/// Collective with a controller, which may be null. `data`: an image, or a composite data set of
/// images of one lattice; shared points are taken from the first block. Blocks that are null or
/// without points are ignored. Parts of the grid that this process lacks come from the others.
/// `array`: the velocity's name; if empty, the active vectors, else the first array with 3
/// components, else the first with 2, of the first block. Throws the same Failure in all processes,
/// naming the block and what is allowed: another type of data, blocks that are rotated or on
/// another lattice, points in no block, or no such array.
ImageStep ReadImageStep(
  vtkDataObject* data, const std::string& array, vtkMultiProcessController* controller);

/// Finds the box of this process's images without reading their values: points, origin and spacing
/// of the result. It has 1 point along each axis if there are none.
bat::BrickGrid MakeImageGrid(vtkDataObject* data);

/// "65 x 33 x 1 points, origin 0 0 0, spacing 0.5 0.5 1"
std::string FormatGrid(const bat::BrickGrid& grid);

/// True if the points of both are at the same positions, up to rounding.
bool AreAlike(const bat::BrickGrid& a, const bat::BrickGrid& b);
}

#endif
