// SPDX-License-Identifier: BSD-3-Clause
// Options for converting an input, and the result.
#ifndef ConvertedInput_h
#define ConvertedInput_h

#include "bat/particles.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace bat_vtk
{
/// The table columns that contain x, y and z: names, or "name[component]" for columns with several
/// components. Empty: one of the usual names (x, y, z; X, Y, Z; Points:0, Points:1, Points:2; ...).
/// "none" for z: 0 for all particles.
using CoordinateColumns = std::array<std::string, 3>;

/// Handling of blocks of a composite data set that have cells other than vertices.
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

/// A remark on the input, as text.
struct Warning
{
  std::string Key; ///< equal for remarks that are reported only once
  std::string Text;
  std::string Block; ///< the first that it is about, "block 3 (name)", or empty
  int Blocks;
};

/// Particles to write. `Particles` points into the input, which must stay unchanged, and into
/// memory held by `Storage`.
struct ConvertedInput
{
  bat::ParticleView Particles;
  /// Warnings about parts of the input that will not be in the file, and other remarks.
  std::vector<Warning> Warnings;
  std::vector<std::shared_ptr<void>> Storage;
};

}

#endif
