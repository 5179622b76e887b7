// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATRadiusBehavior.h"

#include "pqApplicationCore.h"
#include "pqDataRepresentation.h"
#include "pqOutputPort.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"

#include "vtkBATPointGaussianRepresentation.h"
#include "vtkPVArrayInformation.h"
#include "vtkPVDataInformation.h"
#include "vtkPVDataSetAttributesInformation.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkSMSettings.h"

#include <cmath>
#include <string>

namespace
{
// Smaller changes of a radius are skipped while time plays. They would not be noticed as growth,
// but many of them make particles tremble.
constexpr double MinChange = 0.1;
// Smaller changes of the quality are skipped, too. A budget causes them where the number of
// particles changes.
constexpr double MinChangeOfQuality = 0.05;

// SpacingSpread: fluids and grains have at most 1.5, even where they splash; a cosmic web has at
// least 2.5, galaxies and their clusters at least 12.
constexpr double MinClusterRatio = 2.0;

// Returns 0 if the source is not a BAT reader or does not know.
double Information(pqPipelineSource* source, const char* name)
{
  vtkSMProperty* property = source->getProxy()->GetProperty(name);
  if (!property)
  {
    return 0.0;
  }
  source->getProxy()->UpdatePropertyInformation(property);
  return vtkSMPropertyHelper(property).GetAsDouble();
}

// Returns the name of a property in the user's settings.
std::string SettingOf(vtkSMProxy* representation, const char* name)
{
  return std::string(".") + representation->GetXMLGroup() + "." + representation->GetXMLName() +
    "." + name;
}

// Returns a radius from the user's settings; 0 if they have none.
double SavedRadius(vtkSMProxy* representation)
{
  const std::string name = SettingOf(representation, "GaussianRadius");
  vtkSMSettings* settings = vtkSMSettings::GetInstance();
  return settings->HasSetting(name.c_str()) ? settings->GetSettingAsDouble(name.c_str(), 0.0) : 0.0;
}

bool HasSizes(pqPipelineSource* source)
{
  vtkPVDataSetAttributesInformation* attributes =
    source->getOutputPort(0)->getDataInformation()->GetPointDataInformation();
  for (int i = 0; i < attributes->GetNumberOfArrays(); ++i)
  {
    vtkPVArrayInformation* array = attributes->GetArrayInformation(i);
    if (array->GetNumberOfComponents() == 1 &&
      vtkBATPointGaussianRepresentation::IsSizeName(array->GetName()))
    {
      return true;
    }
  }
  return false;
}

void SetUnlessSaved(vtkSMProxy* representation, const char* name, int value)
{
  if (representation->GetProperty(name) &&
    !vtkSMSettings::GetInstance()->HasSetting(SettingOf(representation, name).c_str()))
  {
    vtkSMPropertyHelper(representation, name).Set(value);
  }
}

bool IsNear(double a, double b, double share)
{
  return std::abs(a - b) <= share * std::abs(b);
}
}

//-----------------------------------------------------------------------------
pqBATRadiusBehavior::pqBATRadiusBehavior(QObject* parentObject)
  : QObject(parentObject)
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  QObject::connect(
    model, &pqServerManagerModel::sourceAdded, this, &pqBATRadiusBehavior::watchSource);
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>())
  {
    this->watchSource(source);
  }
}

//-----------------------------------------------------------------------------
void pqBATRadiusBehavior::watchSource(pqPipelineSource* source)
{
  if (source->getProxy()->GetProperty("SuggestedRadius"))
  {
    this->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(follow(pqPipelineSource*)));
    this->connect(source,
      SIGNAL(representationAdded(pqPipelineSource*, pqDataRepresentation*, int)),
      SLOT(adopt(pqPipelineSource*, pqDataRepresentation*)));
  }
}

//-----------------------------------------------------------------------------
void pqBATRadiusBehavior::adopt(pqPipelineSource* source, pqDataRepresentation* representation)
{
  if (pqApplicationCore::instance()->isLoadingState())
  {
    return; // it has its own radii
  }
  const double radius = Information(source, "SuggestedRadius");
  vtkSMProxy* proxy = representation->getProxy();
  this->setLook(source, representation);
  if (radius <= 0.0 || !proxy->GetProperty("GaussianRadius"))
  {
    return;
  }
  const double saved = SavedRadius(proxy);
  if (saved > 0.0)
  {
    // Before version 6, ParaView replaces it by a share of the bounds.
    vtkSMPropertyHelper(proxy, "GaussianRadius").Set(saved);
    proxy->UpdateVTKObjects();
  }
  else
  {
    this->setRadius(representation, { radius, Information(source, "LoadedQuality") });
  }
}

//-----------------------------------------------------------------------------
void pqBATRadiusBehavior::setLook(pqPipelineSource* source, pqDataRepresentation* representation)
{
  // Sources that were never applied in the panel were shown by a script.
  if (source->modifiedState() == pqProxy::UNINITIALIZED)
  {
    using Representation = vtkBATPointGaussianRepresentation;
    const int look = HasSizes(source)                           ? Representation::TRUE_SIZE
      : Information(source, "SpacingSpread") >= MinClusterRatio ? Representation::DENSITY_GLOW
                                                                : Representation::SPHERES;
    if (!this->Looks.contains(source))
    {
      QObject::connect(
        source, &QObject::destroyed, this, [this](QObject* gone) { this->Looks.remove(gone); });
    }
    this->Looks.insert(source, look);
  }
  const auto found = this->Looks.constFind(source);
  if (found != this->Looks.constEnd())
  {
    vtkSMProxy* proxy = representation->getProxy();
    SetUnlessSaved(proxy, "Look", *found);
    SetUnlessSaved(proxy, "RadiusByRegion", 1);
    SetUnlessSaved(proxy, "GlowLegend", 1);
    proxy->UpdateVTKObjects();
  }
}

//-----------------------------------------------------------------------------
void pqBATRadiusBehavior::setRadius(pqDataRepresentation* representation, const Shown& shown)
{
  vtkSMProxy* proxy = representation->getProxy();
  vtkSMPropertyHelper(proxy, "GaussianRadius").Set(shown.Radius);
  proxy->UpdateVTKObjects();
  if (!this->Radii.contains(representation))
  {
    QObject::connect(representation, &QObject::destroyed, this,
      [this](QObject* gone) { this->Radii.remove(gone); });
  }
  this->Radii.insert(representation, shown);
}

//-----------------------------------------------------------------------------
void pqBATRadiusBehavior::follow(pqPipelineSource* source)
{
  const Shown requested{ Information(source, "SuggestedRadius"),
    Information(source, "LoadedQuality") };
  if (requested.Radius <= 0.0)
  {
    return;
  }
  for (pqDataRepresentation* representation : source->getRepresentations(0, nullptr))
  {
    vtkSMProxy* proxy = representation->getProxy();
    if (!proxy->GetProperty("GaussianRadius"))
    {
      continue;
    }
    // A radius from a state file follows if it equals the one that would have been suggested.
    const Shown last = this->Radii.value(representation, requested);
    const double radius = vtkSMPropertyHelper(proxy, "GaussianRadius").GetAsDouble();
    const bool isOurs = IsNear(radius, last.Radius, 1e-9);
    const bool isSteady = this->Radii.contains(representation) &&
      IsNear(requested.Radius, last.Radius, MinChange) &&
      IsNear(requested.Quality, last.Quality, MinChangeOfQuality);
    if (isOurs && !isSteady)
    {
      this->setRadius(representation, requested);
    }
  }
}
