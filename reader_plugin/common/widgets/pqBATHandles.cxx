// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATHandles.h"

#include "DataInView.h"

#include "pqView.h"

#include "vtkSMNewWidgetRepresentationProxy.h"
#include "vtkSMPropertyHelper.h"

#include <QMetaObject>

//-----------------------------------------------------------------------------
pqBATHandles::pqBATHandles(
  const char* name, vtkSMProxy* smproxy, vtkSMPropertyGroup* smgroup, QWidget* parentWidget)
  : Superclass("representations", name, smproxy, smgroup, parentWidget)
{
}

//-----------------------------------------------------------------------------
pqBATHandles::~pqBATHandles() = default;

//-----------------------------------------------------------------------------
void pqBATHandles::setView(pqView* newView)
{
  if (this->view())
  {
    QObject::disconnect(this->view(), nullptr, this, SLOT(viewChanges()));
  }
  Superclass::setView(newView);
  if (this->view())
  {
    this->connect(this->view(), SIGNAL(beginRender()), SLOT(viewChanges()));
  }
  this->viewChanges();
}

//-----------------------------------------------------------------------------
// The display properties of the data may be what has changed.
void pqBATHandles::viewChanges()
{
  const bool inPlace = bat_view::isInPlace(this->view(), this->proxy());
  if (inPlace != this->InPlace)
  {
    this->InPlace = inPlace;
    QMetaObject::invokeMethod(this, "updateWidgetVisibility", Qt::QueuedConnection);
    Q_EMIT this->inPlaceChanged(inPlace);
  }
}

//-----------------------------------------------------------------------------
void pqBATHandles::updateWidgetVisibility()
{
  Superclass::updateWidgetVisibility();
  if (!this->InPlace)
  {
    vtkSMProxy* widget = this->widgetProxy();
    vtkSMPropertyHelper(widget, "Visibility").Set(0);
    vtkSMPropertyHelper(widget, "Enabled").Set(0);
    widget->UpdateVTKObjects();
    this->render();
  }
}
