// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMBATRepresentationProxy.h"

#include "vtkBATPointGaussianRepresentation.h"

#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPVXMLElement.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"

#include <string>
#include <utility>

namespace
{
using Representation = vtkBATPointGaussianRepresentation;

// A property appears in the panel only with these values of Look. Its own hints belong to the
// definition that all representations share, and stay unchanged.
void ShowWithLooks(vtkSMProperty* property, const std::string& looks)
{
  vtkNew<vtkPVXMLElement> decorator;
  decorator->SetName("PropertyWidgetDecorator");
  decorator->AddAttribute("type", "GenericDecorator");
  decorator->AddAttribute("mode", "visibility");
  decorator->AddAttribute("property", "Look");
  decorator->AddAttribute("values", looks.c_str());
  vtkNew<vtkPVXMLElement> hints;
  hints->SetName("Hints");
  if (vtkPVXMLElement* own = property->GetHints())
  {
    for (unsigned int i = 0; i < own->GetNumberOfNestedElements(); ++i)
    {
      hints->AddNestedElement(own->GetNestedElement(i), 0);
    }
  }
  hints->AddNestedElement(decorator);
  property->SetHints(hints);
}
}

vtkStandardNewMacro(vtkSMBATRepresentationProxy);

vtkSMBATRepresentationProxy::vtkSMBATRepresentationProxy() = default;
vtkSMBATRepresentationProxy::~vtkSMBATRepresentationProxy() = default;

//------------------------------------------------------------------------------
int vtkSMBATRepresentationProxy::ReadXMLAttributes(
  vtkSMSessionProxyManager* manager, vtkPVXMLElement* element)
{
  if (!this->Superclass::ReadXMLAttributes(manager, element))
  {
    return 0;
  }
  const std::string spheres = std::to_string(Representation::SPHERES);
  const std::string glow = std::to_string(Representation::DENSITY_GLOW);
  const std::pair<const char*, std::string> shown[] = { { "GaussianRadius", spheres + " " + glow },
    { "ShaderPreset", spheres }, { "CustomTriangleScale", spheres }, { "CustomShader", spheres },
    { "Emissive", spheres }, { "ScaleByArray", spheres }, { "SetScaleArray", spheres },
    { "ScaleArrayComponent", spheres }, { "UseScaleFunction", spheres },
    { "ScaleTransferFunction", spheres } };
  for (const auto& [name, looks] : shown)
  {
    if (vtkSMProperty* property = this->GetProperty(name)) // some versions of ParaView lack some
    {
      ShowWithLooks(property, looks);
    }
  }
  return 1;
}

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
