#include "pqBATRadiusBehavior.h"

#include "pqApplicationCore.h"
#include "pqDataRepresentation.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"

#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkSMSettings.h"

#include <cmath>
#include <string>

namespace
{
// 0 if the source is none of ours or does not know.
double SuggestedRadius(pqPipelineSource* source)
{
  vtkSMProperty* suggested = source->getProxy()->GetProperty("SuggestedRadius");
  if (!suggested)
  {
    return 0.0;
  }
  source->getProxy()->UpdatePropertyInformation(suggested);
  return vtkSMPropertyHelper(suggested).GetAsDouble();
}

// A radius in the user's settings. 0 if there is none.
double SavedRadius(vtkSMProxy* representation)
{
  const std::string name = std::string(".") + representation->GetXMLGroup() + "." +
    representation->GetXMLName() + ".GaussianRadius";
  vtkSMSettings* settings = vtkSMSettings::GetInstance();
  return settings->HasSetting(name.c_str()) ? settings->GetSettingAsDouble(name.c_str(), 0.0) : 0.0;
}

bool IsClose(double a, double b)
{
  return std::abs(a - b) <= 1e-9 * std::abs(b);
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
  const double radius = SuggestedRadius(source);
  vtkSMProxy* proxy = representation->getProxy();
  if (radius <= 0.0 || !proxy->GetProperty("GaussianRadius"))
  {
    return;
  }
  const double saved = SavedRadius(proxy);
  if (saved > 0.0)
  {
    // ParaView before 6 puts a share of the bounds in its place.
    vtkSMPropertyHelper(proxy, "GaussianRadius").Set(saved);
    proxy->UpdateVTKObjects();
  }
  else
  {
    this->setRadius(representation, radius);
  }
}

//-----------------------------------------------------------------------------
void pqBATRadiusBehavior::setRadius(pqDataRepresentation* representation, double radius)
{
  vtkSMProxy* proxy = representation->getProxy();
  vtkSMPropertyHelper(proxy, "GaussianRadius").Set(radius);
  proxy->UpdateVTKObjects();
  if (!this->Radii.contains(representation))
  {
    QObject::connect(representation, &QObject::destroyed, this,
      [this](QObject* gone) { this->Radii.remove(gone); });
  }
  this->Radii.insert(representation, radius);
}

//-----------------------------------------------------------------------------
void pqBATRadiusBehavior::follow(pqPipelineSource* source)
{
  const double radius = SuggestedRadius(source);
  if (radius <= 0.0)
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
    // One from a state file follows if it has what would have been suggested.
    const double shown = vtkSMPropertyHelper(proxy, "GaussianRadius").GetAsDouble();
    if (IsClose(shown, this->Radii.value(representation, radius)))
    {
      this->setRadius(representation, radius);
    }
  }
}
