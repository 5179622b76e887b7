// Draws blocks of points as vtkOpenGLPointGaussianMapper does, but prepares only new blocks.
#ifndef BlockPointGaussianMapper_h
#define BlockPointGaussianMapper_h

#include "vtkOpenGLPointGaussianMapper.h"
#include "vtkSmartPointer.h"

#include <memory>
#include <vector>

class vtkPolyData;

namespace bat_vtk
{
/// Each block has a mapper of its own, which is kept while the arrays of its block are; a change of
/// ScaleFactor prepares nothing anew. No particle is drawn smaller than a pixel. Has no class name of its own: ray tracers go by that of the
/// class it is derived from.
class BlockPointGaussianMapper : public vtkOpenGLPointGaussianMapper
{
public:
  static BlockPointGaussianMapper* New();

  /// What to draw, two vtkMultiBlockDataSet of vtkPolyData or null: all particles, and a sample of
  /// them. Blocks may be in both.
  void SetBlocks(vtkDataObject* all, vtkDataObject* sample, bool drawSample);

  /// Must be called once for the actor that is drawn with this mapper.
  static void PrepareActor(vtkActor* actor);

  void Render(vtkRenderer* renderer, vtkActor* actor) override;
  void ReleaseGraphicsResources(vtkWindow* window) override;
  void ProcessSelectorPixelBuffers(vtkHardwareSelector* selector,
    std::vector<unsigned int>& pixelOffsets, vtkProp* prop) override;

protected:
  BlockPointGaussianMapper();
  ~BlockPointGaussianMapper() override;

  void ComputeBounds() override;

private:
  struct Part;
  using PartList = std::vector<std::shared_ptr<Part>>;

  PartList PartsOf(vtkDataObject* blocks) const;
  void UpdateUniforms(vtkRenderer* renderer, vtkActor* actor) const;
  void UpdateWhole();
  void CopySettings(const Part& to);

  PartList All;
  PartList Sample;
  bool DrawSample = false;
  std::shared_ptr<Part> Whole; ///< for what is picked: ids count through all blocks
};
}

#endif
