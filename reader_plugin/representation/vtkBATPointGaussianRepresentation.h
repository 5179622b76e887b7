/**
 * @class   vtkBATPointGaussianRepresentation
 * @brief   Point Gaussian for particles that are loaded in steps
 *
 * Draws what vtkPointGaussianRepresentation draws, with these differences: the input is not copied
 * point by point; a step that adds particles (vtkBATReader::LOAD_STEPS) prepares only the new ones
 * for drawing, and another radius prepares nothing; while the user turns the scene and ParaView
 * asks for a lower level of detail, it draws an even sample of at most half a million particles
 * times ParaView's LOD resolution in each process, with larger radii; where particles are opaque,
 * those of several ranks are drawn where they are and not dealt out anew.
 */

#ifndef vtkBATPointGaussianRepresentation_h
#define vtkBATPointGaussianRepresentation_h

#include "vtkBATRepresentationModule.h" // for export macro
#include "vtkCommand.h"                 // for UserEvent
#include "vtkPointGaussianRepresentation.h"

#include <memory> // for std::unique_ptr

class VTKBATREPRESENTATION_EXPORT vtkBATPointGaussianRepresentation
  : public vtkPointGaussianRepresentation
{
public:
  static vtkBATPointGaussianRepresentation* New();
  vtkTypeMacro(vtkBATPointGaussianRepresentation, vtkPointGaussianRepresentation);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * An event of the render window, between two blocks of particles of a picture that is no sample,
   * if anybody listens. The graphics card has nothing left to do then. Setting AbortRender of the
   * window ends the picture.
   */
  static constexpr unsigned long BlockDrawnEvent = vtkCommand::UserEvent + 0xba7;

  int ProcessViewRequest(vtkInformationRequestKey* request, vtkInformation* inInfo,
    vtkInformation* outInfo) override;

protected:
  vtkBATPointGaussianRepresentation();
  ~vtkBATPointGaussianRepresentation() override;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkBATPointGaussianRepresentation(const vtkBATPointGaussianRepresentation&) = delete;
  void operator=(const vtkBATPointGaussianRepresentation&) = delete;

  bool IsOpaque();

  class vtkInternals;
  std::unique_ptr<vtkInternals> Internals;
};

#endif
