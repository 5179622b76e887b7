// SPDX-License-Identifier: BSD-3-Clause
// Holds back the user's input while something else runs.
#ifndef pqHeldEvents_h
#define pqHeldEvents_h

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QSet>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

class QEvent;
class QWidget;
class QWindow;

/// Work on the GUI thread must process events to notice what the user does; events that could start
/// other work are held, and delivered when it has ended.
class pqHeldEvents : public QObject
{
  Q_OBJECT

public:
  enum class Painting
  {
    Allowed, ///< except for widgets drawn by OpenGL
    Held
  };

  /// `takes` is called first for each event of a window; it returns true if it has handled the
  /// event.
  explicit pqHeldEvents(QObject* parent, std::function<bool(QWindow*, QEvent*)> takes = nullptr);
  ~pqHeldEvents() override;

  void hold(Painting painting);
  /// Processes the events that have arrived, if the last check was long enough ago.
  void look();
  void release();

  bool isHolding() const { return this->Holding; }
  /// True if a button or a key was pressed, or the wheel was turned.
  bool someoneWaits() const;

protected:
  bool eventFilter(QObject* object, QEvent* event) override;

private:
  Q_DISABLE_COPY(pqHeldEvents)

  bool windowEvent(QWindow* window, QEvent* event);
  void wait(QWindow* window, QEvent* event);

  std::function<bool(QWindow*, QEvent*)> Takes;
  bool Holding = false;
  Painting Paints = Painting::Allowed;
  QElapsedTimer SinceLook;
  std::vector<std::pair<QPointer<QWindow>, std::unique_ptr<QEvent>>> Waiting;
  QSet<QObject*> Unpainted;  ///< widgets
  QSet<QObject*> NotUpdated; ///< widgets and windows
};

#endif
