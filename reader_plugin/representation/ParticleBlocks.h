// The particles that a reader loads in steps, cut into one block for each step. Knows no renderer.
#ifndef ParticleBlocks_h
#define ParticleBlocks_h

#include "vtkSmartPointer.h"

#include <vector>

class vtkMultiBlockDataSet;
class vtkPolyData;

namespace bat_vtk
{
/// Blocks with the points and point data of particles, none with cells unless asked for. A block
/// whose particles are still there stays the same object, so that what was made of it can be kept.
class ParticleBlocks
{
public:
  /// Cuts `particles` where vtkBATReader::LOAD_STEPS says, or makes one block of them. `vertices`:
  /// one vertex cell for each particle.
  vtkSmartPointer<vtkMultiBlockDataSet> Update(vtkPolyData* particles, bool vertices);

  [[nodiscard]] vtkIdType Count() const;

  /// A block with every n-th particle, not more than `most`; all blocks if they have no more. Its
  /// field data has the array RadiusScaleName: how much larger its particles are to be drawn.
  [[nodiscard]] vtkSmartPointer<vtkMultiBlockDataSet> Sample(vtkIdType most) const;

  static constexpr const char* RadiusScaleName = "radius_scale";

private:
  double Load = 0.0; ///< number of the load that the blocks are from
  std::vector<vtkIdType> Ends;
  std::vector<vtkSmartPointer<vtkPolyData>> Blocks;
};
}

#endif
