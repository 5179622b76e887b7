// SPDX-License-Identifier: BSD-3-Clause
#include "pqAbortBehavior.h"

#include "SteppedLoad.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqPipelineSource.h"
#include "pqProgressManager.h"
#include "pqProgressWidget.h"
#include "pqPropertiesPanel.h"
#include "pqServerManagerModel.h"

#include "vtkAlgorithm.h"
#include "vtkCommand.h"
#include "vtkSMProperty.h"
#include "vtkSMProxy.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QTimer>
#include <QToolButton>
#include <QWindow>

namespace
{
// Most loads end before a user could wish to stop them.
constexpr int PatienceMilliseconds = 200;

// Returns null for proxies of other plugins, and for readers on a server, which does not listen
// while it loads.
bat_vtk::SteppedLoad* LoadOf(vtkObjectBase* reader)
{
  return dynamic_cast<bat_vtk::SteppedLoad*>(reader);
}

vtkAlgorithm* ReaderOf(pqPipelineSource* source)
{
  vtkSMProperty* aborted = source->getProxy()->GetProperty("Aborted");
  vtkObjectBase* reader = aborted ? aborted->GetParent()->GetClientSideObject() : nullptr;
  return LoadOf(reader) ? vtkAlgorithm::SafeDownCast(reader) : nullptr;
}

bool IsAborted(vtkAlgorithm* reader)
{
  return reader && LoadOf(reader)->GetAborted();
}

QList<pqPipelineSource*> Sources()
{
  return pqApplicationCore::instance()->getServerManagerModel()->findItems<pqPipelineSource*>();
}
}

//-----------------------------------------------------------------------------
pqAbortBehavior::pqAbortBehavior(QObject* parentObject)
  : QObject(parentObject)
  , Events(this, [this](QWindow* window, QEvent* event) { return this->stops(window, event); })
{
  QObject::connect(pqApplicationCore::instance()->getServerManagerModel(),
    &pqServerManagerModel::sourceAdded, this, &pqAbortBehavior::watchSource);
  for (pqPipelineSource* source : Sources())
  {
    this->watchSource(source);
  }
}

//-----------------------------------------------------------------------------
pqAbortBehavior::~pqAbortBehavior() = default;

//-----------------------------------------------------------------------------
void pqAbortBehavior::watchSource(pqPipelineSource* source)
{
  vtkAlgorithm* reader = ReaderOf(source);
  // The pipeline runs the series reader around this reader.
  auto* series = vtkAlgorithm::SafeDownCast(source->getProxy()->GetClientSideObject());
  if (reader && series)
  {
    LoadOf(reader)->SetKeepWhenAborted(true);
    pqCoreUtilities::connect(series, vtkCommand::StartEvent, this, SLOT(loadStarted()));
    pqCoreUtilities::connect(
      reader, vtkCommand::ProgressEvent, this, SLOT(loadProgressed(vtkObject*)));
    pqCoreUtilities::connect(series, vtkCommand::EndEvent, this, SLOT(loadEnded()));
  }
}

//-----------------------------------------------------------------------------
void pqAbortBehavior::loadStarted()
{
  auto* widget = pqCoreUtilities::mainWidget()->findChild<pqProgressWidget*>();
  this->Button = widget ? widget->abortButton() : nullptr;
  this->Stopped = false;
  this->SinceStart.start();
  this->Events.hold(pqHeldEvents::Painting::Allowed);
}

//-----------------------------------------------------------------------------
void pqAbortBehavior::loadProgressed(vtkObject* object)
{
  if (!this->Events.isHolding())
  {
    return;
  }
  if (!this->Offered && this->SinceStart.elapsed() >= PatienceMilliseconds)
  {
    this->Offered = true;
    pqApplicationCore::instance()->getProgressManager()->setEnableAbort(true);
  }
  if (this->Offered || this->Yields)
  {
    this->Events.look();
  }
  if (this->Stopped)
  {
    vtkAlgorithm::SafeDownCast(object)->SetAbortExecute(1);
  }
  else if (this->Yields && this->Events.someoneWaits())
  {
    LoadOf(object)->PutOffStep();
  }
}

//-----------------------------------------------------------------------------
void pqAbortBehavior::loadEnded()
{
  if (this->Offered)
  {
    this->Offered = false;
    pqApplicationCore::instance()->getProgressManager()->setEnableAbort(false);
  }
  this->Events.release();
  if (this->Stopped)
  {
    QTimer::singleShot(0, this, [this]() { this->markAborted(); }); // after Apply
  }
}

//-----------------------------------------------------------------------------
void pqAbortBehavior::markAborted()
{
  for (pqPipelineSource* source : Sources())
  {
    if (IsAborted(ReaderOf(source)) && source->modifiedState() == pqProxy::UNMODIFIED)
    {
      source->setModifiedState(pqProxy::MODIFIED);
    }
  }
  for (pqPropertiesPanel* panel : pqCoreUtilities::mainWidget()->findChildren<pqPropertiesPanel*>())
  {
    this->connect(panel, SIGNAL(applied(pqProxy*)), SLOT(tryAgain(pqProxy*)), Qt::UniqueConnection);
  }
}

//-----------------------------------------------------------------------------
void pqAbortBehavior::tryAgain(pqProxy* proxy)
{
  auto* source = qobject_cast<pqPipelineSource*>(proxy);
  vtkAlgorithm* reader = source ? ReaderOf(source) : nullptr;
  if (IsAborted(reader))
  {
    reader->Modified();
    source->getProxy()->MarkModified(source->getProxy());
  }
}

//-----------------------------------------------------------------------------
bool pqAbortBehavior::stops(QWindow* window, QEvent* event)
{
  const bool isStop = event->type() == QEvent::KeyPress
    ? static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape
    : event->type() == QEvent::MouseButtonPress && this->isOnButton(window, event);
  this->Stopped = this->Stopped || isStop;
  return isStop;
}

//-----------------------------------------------------------------------------
bool pqAbortBehavior::isOnButton(QWindow* window, QEvent* event) const
{
  if (!this->Button || !this->Button->isVisible() ||
    this->Button->window()->windowHandle() != window)
  {
    return false;
  }
  const QPoint corner = this->Button->mapTo(this->Button->window(), QPoint(0, 0));
  return QRect(corner, this->Button->size()).contains(static_cast<QMouseEvent*>(event)->pos());
}
