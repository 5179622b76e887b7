// SPDX-License-Identifier: BSD-3-Clause
// Computes how many particles lie along a line of sight, which determines the brightness of a glow.
#ifndef ColumnDensity_h
#define ColumnDensity_h

#include <vector>

class vtkDataArray;

namespace bat_vtk
{
/// Counts particles in columns along x, y and z.
class ColumnDensity
{
public:
  /// Counts particles inside these bounds (xmin, xmax, ymin, ymax, zmin, zmax).
  explicit ColumnDensity(const double bounds[6]);

  /// Adds particles, each of which represents the same number of them. Uses every `stride`-th.
  void Add(vtkDataArray* positions, int stride, double each);

  /// Shares of all particles for each square of Length.
  struct Range
  {
    double
      Length; ///< largest extent of the particles: floats know no squares of light years in metres
    double Dark;   ///< where a glow becomes visible
    double Bright; ///< where it is brightest
    double Count;  ///< all particles
  };
  /// Depends only on the particles, not on the size of an even sample nor on the view: a glow keeps
  /// its brightness while particles are loaded and the camera moves.
  [[nodiscard]] Range Find() const;

private:
  double Origin[3];
  double Extent[3];
  std::vector<double> Numbers; ///< columns along x, y and z, then all particles
};
}

#endif
