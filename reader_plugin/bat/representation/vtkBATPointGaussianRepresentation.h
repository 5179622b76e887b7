/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATPointGaussianRepresentation
 * @brief   Point Gaussian for particles that are loaded in steps
 *
 * Draws what vtkPointGaussianRepresentation draws, with these differences: the input is not copied
 * point by point; a step that adds particles (vtkBATReader::LOAD_STEPS) prepares only the new ones
 * for drawing, and another radius prepares nothing; while the user turns the scene and ParaView
 * asks for a lower level of detail, it draws an even sample of at most half a million particles
 * times ParaView's LOD resolution in each process, with larger radii; opaque particles on several
 * ranks are drawn where they are instead of being redistributed. It offers Looks that
 * vtkPointGaussianRepresentation does not have.
 */

#ifndef vtkBATPointGaussianRepresentation_h
#define vtkBATPointGaussianRepresentation_h

#include "BlockDrawnEvent.h"            // for BlockDrawn
#include "vtkBATRepresentationModule.h" // for export macro
#include "vtkPointGaussianRepresentation.h"

#include <memory> // for std::unique_ptr
#include <string> // for std::string

class vtkDataObject;

class VTKBATREPRESENTATION_EXPORT vtkBATPointGaussianRepresentation
  : public vtkPointGaussianRepresentation
{
public:
  static vtkBATPointGaussianRepresentation* New();
  vtkTypeMacro(vtkBATPointGaussianRepresentation, vtkPointGaussianRepresentation);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * An event of the render window, between two blocks of particles of a full picture, if it has
   * an observer. The graphics card is idle then. Setting AbortRender of the window ends the
   * picture.
   */
  static constexpr unsigned long BlockDrawnEvent = bat_vtk::BlockDrawn;

  enum Looks
  {
    SPHERES,     // according to ShaderPreset, Emissive, ScaleByArray and SplatSize
    TRUE_SIZE,   // balls with the radii that the particles have
    POINTS,      // PointSize pixels wide
    DENSITY_GLOW // the number of particles behind one another
  };

  ///@{
  /**
   * How particles look, SPHERES by default.
   *
   * TRUE_SIZE takes the radius of each from SizeAttribute. In a sample of quality q, radii are
   * q^(-1/3) times as large, so that it fills the same volume as all particles.
   *
   * DENSITY_GLOW adds up splats whose standard deviation is half of SplatSize, and shows
   * the logarithm of the sum. If several ranks draw, all of them draw the same sample of at
   * most two million particles, because pictures of separate particles could not be added
   * up.
   */
  void SetLook(int look);
  vtkGetMacro(Look, int);
  ///@}

  ///@{
  /**
   * The attribute for TRUE_SIZE: diameters if its name contains "diameter", in upper or lower case,
   * otherwise radii. Empty, the default: the first attribute that IsSizeName() accepts.
   */
  void SetSizeAttribute(const char* name);
  const char* GetSizeAttribute() const { return this->SizeAttribute.c_str(); }
  ///@}

  ///@{
  /**
   * If true, SplatSize is the size of particles with the usual distance to their neighbours, and
   * others are scaled with theirs: SPHERES down to 1/4 and never up, DENSITY_GLOW from 1/4 to
   * twice. The distances come from an even sample, which all ranks share, and vary smoothly; they
   * stay while a load is refined. Off by default. Does not affect TRUE_SIZE, POINTS and
   * ScaleByArray.
   */
  void SetRadiusByRegion(bool byRegion);
  vtkGetMacro(RadiusByRegion, bool);
  vtkBooleanMacro(RadiusByRegion, bool);
  ///@}

  ///@{
  /**
   * Show a legend that explains the brightness of a glow of one colour. Off by default.
   */
  vtkSetMacro(GlowLegend, bool);
  vtkGetMacro(GlowLegend, bool);
  vtkBooleanMacro(GlowLegend, bool);
  ///@}

  ///@{
  /**
   * Draw an even sample of a glow, until this is switched off again: a picture of all particles
   * takes long without a graphics card. Off by default. Has no effect if several ranks draw.
   */
  void SetSampleFirst(bool sample) { this->SampleFirst = sample; } // the data stay as they are
  vtkGetMacro(SampleFirst, bool);
  ///@}

  /**
   * True if an attribute of this name has radii or diameters: radius, diameter, particle_radius,
   * particle_diameter, in upper or lower case.
   */
  static bool IsSizeName(const char* name);

  int ProcessViewRequest(
    vtkInformationRequestKey* request, vtkInformation* inInfo, vtkInformation* outInfo) override;

protected:
  vtkBATPointGaussianRepresentation();
  ~vtkBATPointGaussianRepresentation() override;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  bool AddToView(vtkView* view) override;
  bool RemoveFromView(vtkView* view) override;

private:
  vtkBATPointGaussianRepresentation(const vtkBATPointGaussianRepresentation&) = delete;
  void operator=(const vtkBATPointGaussianRepresentation&) = delete;

  bool IsOpaque();
  const char* FindSizes(vtkDataObject* blocks) const;
  void CheckSizes();
  bool HasFactors() const;
  void PrepareParticles();
  void UpdateLook(vtkInformation* inInfo);
  void UpdateLegend();

  int Look = SPHERES;
  std::string SizeAttribute;
  bool RadiusByRegion = false;
  bool GlowLegend = false;
  bool SampleFirst = false;

  class vtkInternals;
  std::unique_ptr<vtkInternals> Internals;
};

#endif
