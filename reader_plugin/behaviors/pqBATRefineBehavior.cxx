#include "pqBATRefineBehavior.h"

#include "pqAnimationScene.h"
#include "pqApplicationCore.h"
#include "pqDataRepresentation.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"
#include "pqView.h"

#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSourceProxy.h"

#include <QGuiApplication>

#include <algorithm>

namespace
{
// Long enough for the next move of a hand that turns the wheel or clicks again.
constexpr int IdleMilliseconds = 200;
constexpr int LongestMilliseconds = 2000;

double Information(vtkSMProxy* proxy, const char* name)
{
  proxy->UpdatePropertyInformation(proxy->GetProperty(name));
  return vtkSMPropertyHelper(proxy, name).GetAsDouble();
}
}

//-----------------------------------------------------------------------------
pqBATRefineBehavior::pqBATRefineBehavior(QObject* parentObject)
  : QObject(parentObject)
{
  this->Idle.setSingleShot(true);
  this->Idle.setInterval(IdleMilliseconds);
  QObject::connect(&this->Idle, &QTimer::timeout, this, &pqBATRefineBehavior::refine);

  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  QObject::connect(
    model, &pqServerManagerModel::viewAdded, this, &pqBATRefineBehavior::watchView);
  QObject::connect(
    model, &pqServerManagerModel::proxyAdded, this, &pqBATRefineBehavior::watchProxy);
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
// Each picture, one of an interaction too, puts the next step off.
void pqBATRefineBehavior::watchView(pqView* view)
{
  QObject::connect(view, &pqView::endRender, this,
    [this]()
    {
      if (this->Step.isValid())
      {
        const auto took = static_cast<int>(std::min<qint64>(this->Step.elapsed(), LongestMilliseconds));
        this->Idle.setInterval(std::max(IdleMilliseconds, took));
        this->Step.invalidate();
      }
      this->Idle.start();
    });
}

//-----------------------------------------------------------------------------
void pqBATRefineBehavior::watchProxy(pqProxy* proxy)
{
  if (qobject_cast<pqAnimationScene*>(proxy))
  {
    this->connect(proxy, SIGNAL(beginPlay()), SLOT(sceneStarted()));
    this->connect(proxy, SIGNAL(endPlay()), SLOT(sceneStopped()));
  }
}

//-----------------------------------------------------------------------------
void pqBATRefineBehavior::sceneStarted()
{
  ++this->PlayingScenes;
}

//-----------------------------------------------------------------------------
void pqBATRefineBehavior::sceneStopped()
{
  --this->PlayingScenes;
  this->Idle.start();
}

//-----------------------------------------------------------------------------
bool pqBATRefineBehavior::isShown(pqPipelineSource* source) const
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
bool pqBATRefineBehavior::canRefine(pqPipelineSource* source) const
{
  vtkSMProxy* reader = source->getProxy();
  return reader->GetProperty("LoadMore") && source->modifiedState() == pqProxy::UNMODIFIED &&
    vtkSMPropertyHelper(reader, "RefineWhileIdle").GetAsInt() != 0 && this->isShown(source) &&
    Information(reader, "LoadedQuality") < Information(reader, "TargetQuality");
}

//-----------------------------------------------------------------------------
void pqBATRefineBehavior::refine()
{
  if (QGuiApplication::mouseButtons() != Qt::NoButton || this->PlayingScenes > 0)
  {
    this->Idle.start();
    return;
  }
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>())
  {
    if (this->canRefine(source))
    {
      vtkSMProxy* reader = source->getProxy();
      reader->GetProperty("LoadMore")->GetParent()->InvokeCommand("LoadMore");
      reader->MarkModified(reader);
      this->Step.start();
      source->renderAllViews(); // some time later; its end starts the timer again
    }
  }
}
