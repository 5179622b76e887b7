// SPDX-License-Identifier: BSD-3-Clause
// Draws blocks of points as vtkOpenGLPointGaussianMapper does, but prepares only new blocks.
#ifndef BlockPointGaussianMapper_h
#define BlockPointGaussianMapper_h

#include "ColumnDensity.h"
#include "GlowBuffer.h"

#include "vtkOpenGLPointGaussianMapper.h"
#include "vtkSmartPointer.h"

#include <memory>
#include <string>
#include <vector>

class vtkPolyData;

namespace bat_vtk
{
/// Each block has a separate mapper, which is kept as long as the arrays of its block; a change of
/// ScaleFactor prepares nothing again. No particle is drawn smaller than a pixel. Keeps its base's
/// class name, which ray tracers check.
class BlockPointGaussianMapper : public vtkOpenGLPointGaussianMapper
{
public:
  static BlockPointGaussianMapper* New();

  /// Sets what to draw: all particles, and a sample of them, each a vtkMultiBlockDataSet of
  /// vtkPolyData or null. Blocks may be in both.
  void SetBlocks(vtkDataObject* all, vtkDataObject* sample, bool drawSample);

  struct Look
  {
    enum Kinds
    {
      Settings, ///< according to the mapper's settings
      TrueSize, ///< balls with the radii that the particles have, larger in samples
      Points,
      Glow ///< drawn by DrawGlow()
    };
    int Kind = Settings;
    std::string Factors;            ///< attribute by which radii are multiplied; may be empty
    std::string Sizes;              ///< attribute with the radii or diameters of TrueSize
    double RadiusOfSize = 1.0;      ///< in units of the attribute
    std::string BallShader;         ///< splat shader of TrueSize
    double BallReach = 1.0;         ///< triangle scale of BallShader
    ColumnDensity::Range Columns{}; ///< columns of a Glow, for all particles
    /// Selects the process whose picture is shown if several draw a Glow.
    enum Shares
    {
      Whole,   ///< this one
      ByDepth, ///< the process with something behind the glow: pixels have its depth
      Nothing  ///< another process
    };
    int Share = Whole;
  };
  void SetLook(const Look& look) { this->CurrentLook = look; }
  [[nodiscard]] bool IsGlow() const { return this->CurrentLook.Kind == Look::Glow; }

  /// The actor for a mapper of this class. It draws a glow after all opaque and translucent
  /// objects.
  static vtkSmartPointer<vtkActor> NewActor();

  /// Splats whose sum is coloured by the number of particles along the line of sight.
  void DrawGlow(vtkRenderer* renderer, vtkActor* actor);

  void Render(vtkRenderer* renderer, vtkActor* actor) override;
  void ReleaseGraphicsResources(vtkWindow* window) override;
  bool HasTranslucentPolygonalGeometry() override;
  void ProcessSelectorPixelBuffers(
    vtkHardwareSelector* selector, std::vector<unsigned int>& pixelOffsets, vtkProp* prop) override;

protected:
  BlockPointGaussianMapper();
  ~BlockPointGaussianMapper() override;

  void ComputeBounds() override;

private:
  struct Part;
  struct Drawing;
  using PartList = std::vector<std::shared_ptr<Part>>;

  PartList CollectParts(vtkDataObject* blocks) const;
  [[nodiscard]] Drawing MakeDrawing(int kind) const;
  void DrawParts(vtkRenderer* renderer, vtkActor* actor, const PartList& parts, int kind);
  void UpdateUniforms(vtkRenderer* renderer, vtkActor* actor, const Drawing& drawing) const;
  void UpdateUniforms(vtkActor* actor, const Drawing& drawing, const Part& part) const;
  void UpdateWhole();
  void CopySettings(const Part& to, const Drawing& drawing);

  PartList All;
  PartList Sample;
  bool DrawSample = false;
  Look CurrentLook;
  GlowBuffer Buffer;
  std::shared_ptr<Part> Whole; ///< for picking: ids count through all blocks
};
}

#endif
