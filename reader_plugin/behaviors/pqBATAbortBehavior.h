// Loads that take long can be stopped.
#ifndef pqBATAbortBehavior_h
#define pqBATAbortBehavior_h

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QSet>

#include <memory>
#include <vector>

class pqPipelineSource;
class pqProxy;
class QEvent;
class QToolButton;
class QWindow;
class vtkObject;

/// While a reader of this process loads, the abort button of the status bar and the Escape key stop
/// it; what was shown before stays, and Apply, which is then enabled, tries again. A load runs in
/// the thread of the window, so that events must be looked at in between: those that could start
/// other work wait until it has ended.
class pqBATAbortBehavior : public QObject
{
  Q_OBJECT

public:
  explicit pqBATAbortBehavior(QObject* parent = nullptr);
  ~pqBATAbortBehavior() override;

protected:
  bool eventFilter(QObject* object, QEvent* event) override;

private Q_SLOTS:
  void watchSource(pqPipelineSource* source);
  void loadStarted();
  void loadProgressed(vtkObject* reader);
  void loadEnded();
  void tryAgain(pqProxy* proxy);

private:
  Q_DISABLE_COPY(pqBATAbortBehavior)

  bool windowEvent(QWindow* window, QEvent* event);
  bool isOnButton(QWindow* window, QEvent* event) const;
  void wait(QWindow* window, QEvent* event);
  void markAborted();

  bool Loading = false;
  bool Offered = false; ///< the button is enabled
  bool Stopped = false;
  QElapsedTimer SinceStart;
  QElapsedTimer SinceEvents;
  QPointer<QToolButton> Button;
  std::vector<std::pair<QPointer<QWindow>, std::unique_ptr<QEvent>>> Waiting;
  QSet<QWidget*> Unpainted;
};

#endif
