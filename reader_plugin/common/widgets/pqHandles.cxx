// SPDX-License-Identifier: BSD-3-Clause
#include "pqHandles.h"

#include "DataInView.h"

#include "pqView.h"

#include "vtkSMNewWidgetRepresentationProxy.h"
#include "vtkSMPropertyHelper.h"

#include <QMetaObject>

//-----------------------------------------------------------------------------
pqHandles::pqHandles(
  const char* name, vtkSMProxy* smproxy, vtkSMPropertyGroup* smgroup, QWidget* parentWidget)
  : Superclass("representations", name, smproxy, smgroup, parentWidget)
{
}

//-----------------------------------------------------------------------------
pqHandles::~pqHandles() = default;

//-----------------------------------------------------------------------------
void pqHandles::setView(pqView* newView)
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
// The display properties of the data may have changed.
void pqHandles::viewChanges()
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
void pqHandles::updateWidgetVisibility()
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
