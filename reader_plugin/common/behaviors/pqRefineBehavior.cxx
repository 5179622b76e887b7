// SPDX-License-Identifier: BSD-3-Clause
#include "pqRefineBehavior.h"

#include "BlockDrawnEvent.h"
#include "pqAbortBehavior.h"

#include "pqAnimationScene.h"
#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqDataRepresentation.h"
#include "pqPipelineSource.h"
#include "pqServer.h"
#include "pqServerManagerModel.h"
#include "pqView.h"

#include "vtkCommand.h"
#include "vtkEventQtSlotConnect.h"
#include "vtkRenderWindow.h"
#include "vtkRenderWindowInteractor.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSourceProxy.h"
#include "vtkSMViewProxy.h"

#include <QGuiApplication>

#include <algorithm>
#include <utility>

namespace
{
// Long enough for the next move of a user who turns the wheel or clicks again.
constexpr int IdleMilliseconds = 200;
constexpr int LongestMilliseconds = 2000;

// True while the window waits for something else and processes events meanwhile.
bool IsBusy()
{
  for (pqServer* server :
    pqApplicationCore::instance()->getServerManagerModel()->findItems<pqServer*>())
  {
    if (server->isProgressPending())
    {
      return true;
    }
  }
  return false;
}

double Information(vtkSMProxy* proxy, const char* name)
{
  proxy->UpdatePropertyInformation(proxy->GetProperty(name));
  return vtkSMPropertyHelper(proxy, name).GetAsDouble();
}

// Ends the samples that were drawn only for a first picture; returns true if there were any.
bool EndSample(pqView* view)
{
  bool found = false;
  for (pqRepresentation* representation : view->getRepresentations())
  {
    vtkSMProxy* proxy = representation->getProxy();
    if (proxy->GetProperty("SampleFirst") &&
      vtkSMPropertyHelper(proxy, "SampleFirst").GetAsInt() != 0 && representation->isVisible())
    {
      vtkSMPropertyHelper(proxy, "SampleFirst").Set(0);
      proxy->UpdateVTKObjects();
      found = true;
    }
  }
  return found;
}

bool HasMoreToLoad(vtkSMProxy* reader)
{
  const bool isGrid = reader->GetProperty("LoadedLevel") != nullptr;
  return Information(reader, isGrid ? "LoadedLevel" : "LoadedQuality") <
    Information(reader, isGrid ? "TargetLevel" : "TargetQuality");
}
}

//-----------------------------------------------------------------------------
pqRefineBehavior::pqRefineBehavior(pqAbortBehavior* loads, QObject* parentObject)
  : QObject(parentObject)
  , Loads(loads)
  , Events(this)
{
  this->Idle.setSingleShot(true);
  this->Idle.setInterval(IdleMilliseconds);
  QObject::connect(&this->Idle, &QTimer::timeout, this, &pqRefineBehavior::refine);

  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  QObject::connect(model, &pqServerManagerModel::viewAdded, this, &pqRefineBehavior::watchView);
  QObject::connect(model, &pqServerManagerModel::proxyAdded, this, &pqRefineBehavior::watchProxy);
  for (pqView* view : model->findItems<pqView*>())
  {
    this->watchView(view);
  }
  for (pqProxy* proxy : model->findItems<pqProxy*>())
  {
    this->watchProxy(proxy);
  }
}

//-----------------------------------------------------------------------------
void pqRefineBehavior::watchView(pqView* view)
{
  QObject::connect(view, &pqView::endRender, this, [this, view]() { this->pictureEnded(view); });
  vtkSMViewProxy* proxy = view->getViewProxy();
  vtkRenderWindow* window = proxy->GetRenderWindow();
  if (!window)
  {
    return;
  }
  constexpr auto event = static_cast<int>(bat_vtk::BlockDrawn);
  pqCoreUtilities::connect(window, event, this, SLOT(blockDrawn(vtkObject*)));
  if (vtkRenderWindowInteractor* interactor = proxy->GetInteractor())
  {
    // ParaView draws the scene at rest between these two priorities.
    constexpr float first = 1.0F;
    constexpr float last = -1.0F;
    constexpr auto end = vtkCommand::EndInteractionEvent;
    this->Turned->Connect(interactor, end, this, SLOT(mayCancel()), nullptr, first);
    this->Turned->Connect(interactor, end, this, SLOT(mayNotCancel()), nullptr, last);
  }
}

//-----------------------------------------------------------------------------
void pqRefineBehavior::mayCancel()
{
  this->MayCancel = true;
}

//-----------------------------------------------------------------------------
void pqRefineBehavior::mayNotCancel()
{
  this->MayCancel = false;
}

//-----------------------------------------------------------------------------
void pqRefineBehavior::blockDrawn(vtkObject* window)
{
  if (!this->MayCancel)
  {
    return; // it may be for a file
  }
  if (!this->Events.isHolding())
  {
    this->Events.hold(pqHeldEvents::Painting::Held);
  }
  this->Events.look();
  if (this->Events.someoneWaits())
  {
    vtkRenderWindow::SafeDownCast(window)->SetAbortRender(1);
    this->Cancelled = true;
  }
}

//-----------------------------------------------------------------------------
// Each rendering, also during interaction, postpones the next step.
void pqRefineBehavior::pictureEnded(pqView* view)
{
  this->Outdated.removeAll(view);
  const bool wasSample = EndSample(view);
  if (std::exchange(this->Cancelled, false) || wasSample)
  {
    this->Outdated.append(view);
  }
  this->Events.release();
  if (this->Step.isValid())
  {
    const auto took = static_cast<int>(std::min<qint64>(this->Step.elapsed(), LongestMilliseconds));
    this->Idle.setInterval(std::max(IdleMilliseconds, took));
    this->Step.invalidate();
  }
  this->Idle.start();
}

//-----------------------------------------------------------------------------
void pqRefineBehavior::watchProxy(pqProxy* proxy)
{
  if (qobject_cast<pqAnimationScene*>(proxy))
  {
    this->connect(proxy, SIGNAL(beginPlay()), SLOT(sceneStarted()));
    this->connect(proxy, SIGNAL(endPlay()), SLOT(sceneStopped()));
  }
}

//-----------------------------------------------------------------------------
void pqRefineBehavior::sceneStarted()
{
  ++this->PlayingScenes;
}

//-----------------------------------------------------------------------------
void pqRefineBehavior::sceneStopped()
{
  --this->PlayingScenes;
  this->Idle.start();
}

//-----------------------------------------------------------------------------
bool pqRefineBehavior::isShown(pqPipelineSource* source) const
{
  for (pqView* view : source->getViews())
  {
    if (source->getRepresentation(0, view) && source->getRepresentation(0, view)->isVisible())
    {
      return true;
    }
  }
  return false;
}

//-----------------------------------------------------------------------------
bool pqRefineBehavior::canRefine(pqPipelineSource* source) const
{
  vtkSMProxy* reader = source->getProxy();
  return reader->GetProperty("LoadMore") && source->modifiedState() == pqProxy::UNMODIFIED &&
    vtkSMPropertyHelper(reader, "RefineWhileIdle").GetAsInt() != 0 && this->isShown(source) &&
    HasMoreToLoad(reader);
}

//-----------------------------------------------------------------------------
void pqRefineBehavior::draw(const QList<QPointer<pqView>>& views)
{
  this->MayCancel = true;
  this->Loads->setYields(true);
  for (const QPointer<pqView>& view : views)
  {
    if (view)
    {
      view->forceRender(); // now, so that no other picture is cancelled
    }
  }
  this->Loads->setYields(false);
  this->MayCancel = false;
}

//-----------------------------------------------------------------------------
void pqRefineBehavior::refine()
{
  if (QGuiApplication::mouseButtons() != Qt::NoButton || this->PlayingScenes > 0 || IsBusy())
  {
    this->Idle.start();
    return;
  }
  if (!this->Outdated.empty())
  {
    this->draw(std::exchange(this->Outdated, {}));
    return;
  }
  QList<QPointer<pqView>> views;
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>())
  {
    if (this->canRefine(source))
    {
      vtkSMProxy* reader = source->getProxy();
      reader->GetProperty("LoadMore")->GetParent()->InvokeCommand("LoadMore");
      reader->MarkModified(reader);
      for (pqView* view : source->getViews())
      {
        if (!views.contains(view))
        {
          views.append(view);
        }
      }
    }
  }
  if (!views.empty())
  {
    this->Step.start();
    this->draw(views); // the end of a picture starts the timer again
  }
}
