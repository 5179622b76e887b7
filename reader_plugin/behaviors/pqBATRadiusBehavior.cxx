#include "pqBATRadiusBehavior.h"

#include "pqApplicationCore.h"
#include "pqDataRepresentation.h"
#include "pqPipelineSource.h"
#include "pqRepresentation.h"
#include "pqServerManagerModel.h"

#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"

#include <cmath>

namespace
{
// 0 if the source is none of ours or does not know.
double SuggestedRadius(pqPipelineSource* source)
{
  vtkSMProperty* suggested = source ? source->getProxy()->GetProperty("SuggestedRadius") : nullptr;
  if (!suggested)
  {
    return 0.0;
  }
  source->getProxy()->UpdatePropertyInformation(suggested);
  return vtkSMPropertyHelper(suggested).GetAsDouble();
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
  QObject::connect(
    model, &pqServerManagerModel::representationAdded, this, &pqBATRadiusBehavior::adopt);
}

//-----------------------------------------------------------------------------
void pqBATRadiusBehavior::watchSource(pqPipelineSource* source)
{
  if (source->getProxy()->GetProperty("SuggestedRadius"))
  {
    this->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(follow(pqPipelineSource*)));
  }
}

//-----------------------------------------------------------------------------
void pqBATRadiusBehavior::adopt(pqRepresentation* added)
{
  auto* representation = qobject_cast<pqDataRepresentation*>(added);
  // A state file has its own radii.
  if (!representation || pqApplicationCore::instance()->isLoadingState())
  {
    return;
  }
  // The representation itself does not know its input yet.
  vtkSMProxy* proxy = representation->getProxy();
  vtkSMProxy* input = vtkSMPropertyHelper(proxy, "Input", /*quiet=*/true).GetAsProxy();
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  const double radius = SuggestedRadius(input ? model->findItem<pqPipelineSource*>(input) : nullptr);
  if (radius > 0.0 && proxy->GetProperty("GaussianRadius"))
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
    QObject::connect(
      representation, &QObject::destroyed, this, [this](QObject* gone) { this->Radii.remove(gone); });
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
