// From VTK data sets to what the core writes: borrows the input's memory where its layout allows,
// copies where it does not. Knows no pipeline.
#ifndef VTKToBAT_h
#define VTKToBAT_h

#include "bat/particles.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

class vtkDataObject;

namespace bat_vtk
{
/// The columns of a table that hold x, y and z: names, or "name[component]" for columns with
/// several components. Empty: one of the usual names (x, y, z; X, Y, Z; Points:0, Points:1,
/// Points:2; ...). "none" for z: 0 for all particles.
using CoordinateColumns = std::array<std::string, 3>;

struct InputOptions
{
  CoordinateColumns Columns;
  /// Write ghost points (duplicate or hidden) as well, and the array that marks them.
  bool KeepGhosts = false;
};

/// Particles to write. `Particles` points into the input, which must stay as it is, and into memory
/// held by `Storage`.
struct ConvertedInput
{
  bat::ParticleView Particles;
  /// What of the input will not be in the file, and other remarks, in words.
  std::vector<std::string> Warnings;
  std::vector<std::shared_ptr<void>> Storage;
};

/// Converts a vtkPointSet, a vtkTable or a composite data set of these. Blocks are written one
/// behind the other. Time is the input's DATA_TIME_STEP, the step number a value "timestep" or
/// "cycle" of its field data, which is what ParaView-Catalyst attaches. Throws
/// bat::Error{InvalidArgument} for other data sets, coordinate columns that do not exist, arrays
/// that the format has no room for, and blocks whose arrays do not agree.
ConvertedInput ConvertInput(vtkDataObject* input, const InputOptions& options);
}

#endif
