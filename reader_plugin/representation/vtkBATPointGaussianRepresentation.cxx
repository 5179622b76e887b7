#include "vtkBATPointGaussianRepresentation.h"

#include "BlockPointGaussianMapper.h"
#include "ParticleBlocks.h"

#include "vtkActor.h"
#include "vtkInformation.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkMultiProcessController.h"
#include "vtkObjectFactory.h"
#include "vtkPVRenderView.h"
#include "vtkPolyData.h"
#include "vtkScalarsToColors.h"

namespace
{
// A tenth of a second and less to draw half of them, also without a graphics card.
constexpr double MostSampled = 500000.0;

bool IsParallel()
{
  vtkMultiProcessController* controller = vtkMultiProcessController::GetGlobalController();
  return controller && controller->GetNumberOfProcesses() > 1;
}
}

class vtkBATPointGaussianRepresentation::vtkInternals
{
public:
  bat_vtk::ParticleBlocks Blocks;
  vtkSmartPointer<bat_vtk::BlockPointGaussianMapper> Mapper =
    vtkSmartPointer<bat_vtk::BlockPointGaussianMapper>::New();
};

vtkStandardNewMacro(vtkBATPointGaussianRepresentation);

//------------------------------------------------------------------------------
vtkBATPointGaussianRepresentation::vtkBATPointGaussianRepresentation()
  : Internals(std::make_unique<vtkInternals>())
{
  this->Mapper = this->Internals->Mapper;
  this->Actor->SetMapper(this->Mapper);
  bat_vtk::BlockPointGaussianMapper::PrepareActor(this->Actor);
}

vtkBATPointGaussianRepresentation::~vtkBATPointGaussianRepresentation() = default;

//------------------------------------------------------------------------------
int vtkBATPointGaussianRepresentation::RequestData(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkPolyData* particles = vtkPolyData::GetData(inputVector[0], 0);
  if (!particles)
  {
    // Of the same type in all processes, also where there is no input.
    this->ProcessedData = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  }
  else
  {
    this->ProcessedData = IsParallel() ? this->Internals->Blocks.UpdateWithCells(particles)
                                       : this->Internals->Blocks.Update(particles);
  }
  return this->vtkPVDataRepresentation::RequestData(request, inputVector, outputVector);
}

//------------------------------------------------------------------------------
int vtkBATPointGaussianRepresentation::ProcessViewRequest(
  vtkInformationRequestKey* request, vtkInformation* inInfo, vtkInformation* outInfo)
{
  if (!this->Superclass::ProcessViewRequest(request, inInfo, outInfo))
  {
    return 0;
  }
  if (request == vtkPVView::REQUEST_UPDATE() && this->IsOpaque())
  {
    // Images of opaque particles are put together by depth: no particle goes to another rank.
    outInfo->Remove(vtkPVRenderView::NEED_ORDERED_COMPOSITING());
  }
  if (request == vtkPVView::REQUEST_UPDATE_LOD())
  {
    const double share = inInfo->Has(vtkPVRenderView::LOD_RESOLUTION())
      ? inInfo->Get(vtkPVRenderView::LOD_RESOLUTION())
      : 0.5;
    const auto most = static_cast<vtkIdType>(MostSampled * share) + 1;
    vtkPVView::SetPieceLOD(inInfo, this, this->Internals->Blocks.Sample(most));
  }
  else if (request == vtkPVView::REQUEST_RENDER())
  {
    this->Internals->Mapper->SetBlocks(vtkPVView::GetDeliveredPiece(inInfo, this),
      vtkPVView::GetDeliveredPieceLOD(inInfo, this), inInfo->Has(vtkPVRenderView::USE_LOD()) != 0);
  }
  return 1;
}

//------------------------------------------------------------------------------
bool vtkBATPointGaussianRepresentation::IsOpaque()
{
  const bool blends = this->SelectedPreset == GAUSSIAN_BLUR || this->SelectedPreset == CUSTOM;
  return !blends && !this->OpacityByArray && !this->Mapper->GetEmissive() &&
    this->Mapper->GetLookupTable()->IsOpaque() && !this->Actor->HasTranslucentPolygonalGeometry();
}

//------------------------------------------------------------------------------
void vtkBATPointGaussianRepresentation::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Particles: " << this->Internals->Blocks.Count() << '\n';
}
