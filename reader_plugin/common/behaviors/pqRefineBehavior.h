// SPDX-License-Identifier: BSD-3-Clause
// Refine While Idle: readers load more, step by step, while the application is idle.
#ifndef pqRefineBehavior_h
#define pqRefineBehavior_h

#include "pqHeldEvents.h"

#include "vtkEventQtSlotConnect.h"
#include "vtkNew.h"

#include <QElapsedTimer>
#include <QList>
#include <QObject>
#include <QPointer>
#include <QTimer>

class pqAnimationScene;
class pqAbortBehavior;
class pqPipelineSource;
class pqProxy;
class pqView;
class vtkObject;

/// Takes a step (LoadMore) with each reader that has RefineWhileIdle on and is shown in a view, a
/// moment after the last picture was drawn, or after as long as the last step took if that is
/// longer; never while a mouse button is held down, an animation plays or changes wait for Apply.
/// Stops when LoadedQuality (for a grid, LoadedLevel) is TargetQuality (TargetLevel). As soon as
/// the user presses a button or a key or turns the wheel, a step is postponed and its rendering is
/// cancelled; so is the rendering after the mouse has rotated the scene. Both are completed later.
class pqRefineBehavior : public QObject
{
  Q_OBJECT

public:
  explicit pqRefineBehavior(pqAbortBehavior* loads, QObject* parent = nullptr);

private Q_SLOTS:
  void watchView(pqView* view);
  void watchProxy(pqProxy* proxy);
  void sceneStarted();
  void sceneStopped();
  void refine();
  void blockDrawn(vtkObject* window);
  void mayCancel();
  void mayNotCancel();

private:
  Q_DISABLE_COPY(pqRefineBehavior)

  void pictureEnded(pqView* view);
  void draw(const QList<QPointer<pqView>>& views);
  bool isShown(pqPipelineSource* source) const;
  bool canRefine(pqPipelineSource* source) const;

  QTimer Idle;
  QElapsedTimer Step; ///< from its beginning to its picture
  pqAbortBehavior* Loads;
  vtkNew<vtkEventQtSlotConnect> Turned;
  pqHeldEvents Events;              ///< during a picture
  bool MayCancel = false;           ///< a picture that is drawn now
  bool Cancelled = false;           ///< this picture
  QList<QPointer<pqView>> Outdated; ///< their last pictures were cancelled
  int PlayingScenes = 0;
};

#endif
