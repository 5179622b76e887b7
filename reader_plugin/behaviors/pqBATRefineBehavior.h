// Refine while idle: loads more particles, step by step, while nothing else is to be done.
#ifndef pqBATRefineBehavior_h
#define pqBATRefineBehavior_h

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

class pqAnimationScene;
class pqPipelineSource;
class pqProxy;
class pqView;

/// Takes a step (vtkBATReader::LoadMore) with each reader that has RefineWhileIdle on and is shown in
/// a view, a moment after the last picture was drawn, or for as long as the last step took if that is
/// longer, so that whoever wants to turn the picture gets to it between two steps; never while a mouse button is held down, an
/// animation plays or changes wait for Apply. Stops where Quality or ParticleBudget is reached.
class pqBATRefineBehavior : public QObject
{
  Q_OBJECT

public:
  explicit pqBATRefineBehavior(QObject* parent = nullptr);

private Q_SLOTS:
  void watchView(pqView* view);
  void watchProxy(pqProxy* proxy);
  void sceneStarted();
  void sceneStopped();
  void refine();

private:
  Q_DISABLE_COPY(pqBATRefineBehavior)

  bool isShown(pqPipelineSource* source) const;
  bool canRefine(pqPipelineSource* source) const;

  QTimer Idle;
  QElapsedTimer Step; ///< from its beginning to its picture
  int PlayingScenes = 0;
};

#endif
