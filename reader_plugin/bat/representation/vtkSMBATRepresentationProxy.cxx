#include "vtkSMBATRepresentationProxy.h"

#include "vtkObjectFactory.h"
#include "vtkSMPropertyHelper.h"

vtkStandardNewMacro(vtkSMBATRepresentationProxy);

vtkSMBATRepresentationProxy::vtkSMBATRepresentationProxy() = default;
vtkSMBATRepresentationProxy::~vtkSMBATRepresentationProxy() = default;

//------------------------------------------------------------------------------
// Comes before every update.
void vtkSMBATRepresentationProxy::CreateVTKObjects()
{
  this->Superclass::CreateVTKObjects();
  vtkSMProxy* own = this->GetSubProxy("BATPointGaussianRepresentation");
  vtkSMProxy* standard = this->GetSubProxy("PointGaussianRepresentation");
  for (const char* name : { "ScaleTransferFunction", "OpacityTransferFunction" })
  {
    vtkSMProxy* function = vtkSMPropertyHelper(standard, name).GetAsProxy();
    vtkSMPropertyHelper helper(own, name);
    if (function && helper.GetAsProxy() != function)
    {
      helper.Set(function);
      own->UpdateVTKObjects();
    }
  }
}

//------------------------------------------------------------------------------
void vtkSMBATRepresentationProxy::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
}
