// SPDX-License-Identifier: BSD-3-Clause
// The particles that a reader loads in steps, divided into blocks that persist. Independent of
// rendering.
#ifndef ParticleBlocks_h
#define ParticleBlocks_h

#include "vtkSmartPointer.h"

#include <memory>
#include <vector>

class vtkFloatArray;
class vtkMultiBlockDataSet;
class vtkPolyData;

namespace bat_vtk
{
class LocalSpacing;

/// Blocks with the points and point data of particles. A block whose particles have not changed
/// stays the same object, so that data derived from it can be kept. No values are copied.
class ParticleBlocks
{
public:
  /// Cuts `particles` at vtkBATReader::LOAD_STEPS, and the parts in between into blocks that can be
  /// drawn quickly. They have no cells.
  vtkSmartPointer<vtkMultiBlockDataSet> Update(vtkPolyData* particles);

  /// Returns one block, even without particles, with a vertex cell for each. ParaView moves
  /// particles between processes block by block, all processes together, and relies on cells.
  vtkSmartPointer<vtkMultiBlockDataSet> UpdateWithCells(vtkPolyData* particles);

  [[nodiscard]] vtkIdType Count() const;

  /// Number of the load from which the particles come, the same for all of its steps; 0 if
  /// unknown.
  [[nodiscard]] double Load() const { return this->LoadNumber; }

  /// Gives all blocks, old and new, the point data FactorName, limited to `largest`; removes it if
  /// null.
  void SetSpacing(const std::shared_ptr<const LocalSpacing>& spacing, float largest);

  /// Blocks with every n-th particle; all particles if `stride` is 1. Otherwise they have the
  /// number RadiusScaleName, by which the radii of particles are multiplied.
  [[nodiscard]] vtkSmartPointer<vtkMultiBlockDataSet> EveryNth(vtkIdType stride) const;

  /// If `shows`, blocks have the number QualityName: the share of the file's particles that they
  /// contain.
  void SetShowsQuality(bool shows) { this->ShowsQuality = shows; }

  /// A sample of at most `maximum` particles.
  [[nodiscard]] vtkSmartPointer<vtkMultiBlockDataSet> Sample(vtkIdType maximum) const;

  /// A number stored in a block; 1 if it has none.
  static double NumberOf(vtkPolyData* block, const char* name);

  static constexpr const char* RadiusScaleName = "radius_scale";
  static constexpr const char* QualityName = "quality";
  /// LocalSpacing::Factors of the particles.
  static constexpr const char* FactorName = "vtkBATRadiusFactor";

private:
  struct Steps;
  static Steps StepsOf(vtkPolyData* particles);
  void SetQuality(vtkPolyData* particles);
  void KeepFactors(std::size_t blocks);

  bool ShowsQuality = false;
  double Quality = 1.0;
  double LoadNumber = 0.0;
  std::vector<vtkIdType> Ends;
  std::vector<vtkSmartPointer<vtkPolyData>> Blocks;
  std::shared_ptr<const LocalSpacing> Spacing;
  float LargestFactor = 0.0F;
  std::vector<vtkSmartPointer<vtkFloatArray>> Factors; ///< factors of the blocks, if Spacing is set
};
}

#endif
