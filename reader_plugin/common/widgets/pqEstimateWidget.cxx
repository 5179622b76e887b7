// SPDX-License-Identifier: BSD-3-Clause
#include "pqEstimateWidget.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqPipelineSource.h"
#include "pqSMAdaptor.h"
#include "pqServer.h"
#include "pqServerManagerModel.h"

#include "vtkCommand.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMPropertyIterator.h"
#include "vtkSMProxy.h"
#include "vtkSMProxyProperty.h"
#include "vtkSMSessionProxyManager.h"
#include "vtkSMSourceProxy.h"

#include <QLabel>

namespace
{
constexpr int Milliseconds = 200;

pqServerManagerModel* Model()
{
  return pqApplicationCore::instance()->getServerManagerModel();
}

// Calls f(name, property) for everything that a user sets.
template <typename F>
void ForEachSetting(vtkSMProxy* proxy, F f)
{
  auto properties = vtkSmartPointer<vtkSMPropertyIterator>::Take(proxy->NewPropertyIterator());
  for (properties->Begin(); !properties->IsAtEnd(); properties->Next())
  {
    vtkSMProperty* property = properties->GetProperty();
    if (!property->GetInformationOnly() && !vtkSMProxyProperty::SafeDownCast(property))
    {
      f(properties->GetKey(), property);
    }
  }
}
}

//-----------------------------------------------------------------------------
pqEstimateWidget::pqEstimateWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, smproperty, "EstimateText", parentWidget)
{
  this->Soon.setSingleShot(true);
  this->Soon.setInterval(Milliseconds);
  QObject::connect(&this->Soon, &QTimer::timeout, this, &pqEstimateWidget::ask);
  ForEachSetting(smproxy,
    [this](const char*, vtkSMProperty* setting)
    {
      pqCoreUtilities::connect(
        setting, vtkCommand::UncheckedPropertyModifiedEvent, this, SLOT(request()));
      pqCoreUtilities::connect(setting, vtkCommand::ModifiedEvent, this, SLOT(request()));
    });
  if (auto* source = Model()->findItem<pqPipelineSource*>(smproxy))
  {
    this->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(request()));
  }
  this->text()->setText(
    QString::fromUtf8(vtkSMPropertyHelper(smproperty).GetAsString())); // takes its room at once
}

//-----------------------------------------------------------------------------
pqEstimateWidget::~pqEstimateWidget() = default;

//-----------------------------------------------------------------------------
void pqEstimateWidget::showEvent(QShowEvent* event)
{
  Superclass::showEvent(event);
  this->request();
}

//-----------------------------------------------------------------------------
void pqEstimateWidget::request()
{
  if (this->isVisible() && !this->Soon.isActive())
  {
    this->Soon.start();
  }
}

//-----------------------------------------------------------------------------
// Not registered, so that it appears neither in the pipeline nor in traces and state files.
vtkSMProxy* pqEstimateWidget::other()
{
  vtkSMProxy* filter = this->proxy();
  if (!this->Other)
  {
    this->Other.TakeReference(
      filter->GetSessionProxyManager()->NewProxy(filter->GetXMLGroup(), filter->GetXMLName()));
    if (this->Other)
    {
      this->Other->SetLocation(filter->GetLocation());
    }
  }
  return this->Other;
}

//-----------------------------------------------------------------------------
void pqEstimateWidget::ask()
{
  vtkSMProxy* filter = this->proxy();
  pqServer* server = filter ? Model()->findServer(filter->GetSession()) : nullptr;
  if (!server)
  {
    return;
  }
  if (server->isProgressPending())
  {
    this->Soon.start();
    return;
  }
  auto* requested = vtkSMSourceProxy::SafeDownCast(this->other());
  if (!requested)
  {
    return;
  }
  const vtkSMPropertyHelper input(filter, "Input");
  vtkSMPropertyHelper(requested, "Input").Set(input.GetAsProxy(), input.GetOutputPort());
  ForEachSetting(requested,
    [&](const char* name, vtkSMProperty* setting)
    {
      if (vtkSMProperty* source = filter->GetProperty(name))
      {
        pqSMAdaptor::setMultipleElementProperty(
          setting, pqSMAdaptor::getMultipleElementProperty(source, pqSMAdaptor::UNCHECKED));
      }
    });
  requested->UpdateVTKObjects();
  requested->UpdatePipelineInformation();
  this->showTextOf(requested, tr("unknown"));
}
