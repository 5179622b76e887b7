// From VTK data sets to what the core writes: borrows the input's memory where its layout allows,
// copies where it does not. Knows no pipeline.
#ifndef VTKToBAT_h
#define VTKToBAT_h

#include "bat/particles.hpp"

#include <array>
#include <cstddef>
#include <functional>
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

/// What becomes of the blocks of a composite data set that have cells other than vertices.
enum class Grids
{
  WritePoints, ///< their points are particles
  LeaveOut
};

struct InputOptions
{
  CoordinateColumns Columns;
  /// Write ghost points (duplicate or hidden) as well, and the array that marks them.
  bool KeepGhosts = false;
  Grids OfGrids = Grids::WritePoints;
};

/// A remark on the input, in words.
struct Warning
{
  std::string Key; ///< the same for all that is worth saying only once
  std::string Text;
  std::string Block; ///< the first that it is about, "block 3 (name)", or empty
  int Blocks;
};

/// Particles to write. `Particles` points into the input, which must stay as it is, and into memory
/// held by `Storage`.
struct ConvertedInput
{
  bat::ParticleView Particles;
  /// What of the input will not be in the file, and other remarks.
  std::vector<Warning> Warnings;
  std::vector<std::shared_ptr<void>> Storage;
};

/// The texts of all ranks that write together, each once. Collective.
using Union = std::function<std::vector<std::string>(const std::vector<std::string>&)>;

/// Collective through `all`, with the same answer on all ranks: grids are left out where some rank
/// has particles, or room for them, a place without cells on any rank. Throws
/// bat::Error{InvalidArgument} on all ranks if no block of any has points or rows.
Grids DecideOnGrids(vtkDataObject* input, const Union& all);

/// Converts a vtkPointSet, a vtkTable or a composite data set of these. Blocks are written one
/// behind the other; other blocks are left out. Cell data is an attribute where all cells are
/// vertices and each point is in exactly one; where points have an array of that name, the cells'
/// is "name_cell". Time is the input's DATA_TIME_STEP, the step number a value "timestep" or
/// "cycle" of its field data, which is what ParaView-Catalyst attaches. Throws
/// bat::Error{InvalidArgument} for other data sets, coordinate columns that do not exist, arrays
/// that the format has no room for, and blocks whose arrays do not agree.
ConvertedInput ConvertInput(vtkDataObject* input, const InputOptions& options);
}

#endif
