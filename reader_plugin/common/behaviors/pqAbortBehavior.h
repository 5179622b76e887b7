// SPDX-License-Identifier: BSD-3-Clause
// Lets the user stop long loads.
#ifndef pqAbortBehavior_h
#define pqAbortBehavior_h

#include "pqHeldEvents.h"

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>

class pqPipelineSource;
class pqProxy;
class QEvent;
class QToolButton;
class QWindow;
class vtkObject;

/// While a reader in this process loads, the abort button in the status bar and the Escape key stop
/// it; the previous output stays, and Apply, which is then enabled, tries again.
class pqAbortBehavior : public QObject
{
  Q_OBJECT

public:
  explicit pqAbortBehavior(QObject* parent = nullptr);
  ~pqAbortBehavior() override;

  /// If `yields`, a refining step (the property LoadMore) is postponed as soon as the user does
  /// anything.
  void setYields(bool yields) { this->Yields = yields; }

private Q_SLOTS:
  void watchSource(pqPipelineSource* source);
  void loadStarted();
  void loadProgressed(vtkObject* reader);
  void loadEnded();
  void tryAgain(pqProxy* proxy);

private:
  Q_DISABLE_COPY(pqAbortBehavior)

  bool stops(QWindow* window, QEvent* event);
  bool isOnButton(QWindow* window, QEvent* event) const;
  void markAborted();

  pqHeldEvents Events;
  bool Yields = false;
  bool Offered = false; ///< the button is enabled
  bool Stopped = false;
  QElapsedTimer SinceStart;
  QPointer<QToolButton> Button;
};

#endif
