#include "pqBATEventPlayer.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqEventDispatcher.h"
#include "pqProgressManager.h"
#include "pqProgressWidget.h"

#include "vtkPythonInterpreter.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPointer>
#include <QToolButton>
#include <QVariant>
#include <QWidget>
#include <QWindow>
#include <QtDebug>
#include <QtTest/QTest>

namespace
{
constexpr int PollMilliseconds = 100;
constexpr int PatienceMilliseconds = 60000;

bool WaitFor(const QPointer<QObject>& object, const QString& property, const QString& wanted)
{
  QString found;
  QElapsedTimer clock;
  clock.start();
  while (object && clock.elapsed() < PatienceMilliseconds)
  {
    found = object->property(property.toUtf8().constData()).toString();
    if (found == wanted)
    {
      return true;
    }
    pqEventDispatcher::processEventsAndWait(PollMilliseconds);
  }
  qCritical() << "Waited in vain:" << property << "is" << found << "instead of" << wanted;
  return false;
}

bool Mouse(QWidget* widget, const QString& position, bool down)
{
  const QStringList parts = position.split(',');
  if (!widget || parts.size() != 2)
  {
    qCritical() << "No place in a widget:" << position;
    return false;
  }
  QWidget* top = widget->window();
  const QPoint local(static_cast<int>(parts[0].toDouble() * widget->width()),
    static_cast<int>(parts[1].toDouble() * widget->height()));
  const QPoint inWindow = widget->mapTo(top, local);
  if (down)
  {
    QTest::mousePress(top->windowHandle(), Qt::LeftButton, Qt::NoModifier, inWindow);
  }
  else
  {
    QTest::mouseRelease(top->windowHandle(), Qt::LeftButton, Qt::NoModifier, inWindow);
  }
  return true;
}

// Where the events of a user come in, and as late: when ParaView looks at events next.
void Stop(const QString& by)
{
  pqProgressManager* manager = pqApplicationCore::instance()->getProgressManager();
  auto* waiting = new QObject(manager);
  const auto press = [manager, waiting, by]()
  {
    QWidget* top = pqCoreUtilities::mainWidget();
    QObject::disconnect(manager, nullptr, waiting, nullptr);
    waiting->deleteLater();
    if (by == "Escape")
    {
      QCoreApplication::postEvent(
        top->windowHandle(), new QKeyEvent(QEvent::KeyPress, Qt::Key_Escape, Qt::NoModifier));
      return;
    }
    QWidget* button = top->findChild<pqProgressWidget*>()->abortButton();
    const QPoint center = button->rect().center();
    QCoreApplication::postEvent(top->windowHandle(),
      new QMouseEvent(QEvent::MouseButtonPress, button->mapTo(top, center),
        button->mapToGlobal(center), Qt::LeftButton, Qt::LeftButton, Qt::NoModifier));
  };
  QObject::connect(manager, &pqProgressManager::progress, waiting, press);
}
}

//-----------------------------------------------------------------------------
pqBATEventPlayer::pqBATEventPlayer(QObject* parentObject)
  : Superclass(parentObject)
{
}

//-----------------------------------------------------------------------------
bool pqBATEventPlayer::playEvent(
  QObject* object, const QString& command, const QString& arguments, bool& error)
{
  if (command == "bat_wait_for")
  {
    const int split = static_cast<int>(arguments.indexOf('='));
    error = !WaitFor(object, arguments.left(split), arguments.mid(split + 1));
  }
  else if (command == "bat_wait")
  {
    pqEventDispatcher::processEventsAndWait(arguments.toInt());
  }
  else if (command == "bat_press" || command == "bat_release")
  {
    error = !Mouse(qobject_cast<QWidget*>(object), arguments, command == "bat_press");
  }
  else if (command == "bat_stop")
  {
    Stop(arguments);
  }
  else if (command == "bat_python")
  {
    error = vtkPythonInterpreter::RunSimpleString(arguments.toUtf8().constData()) != 0;
  }
  else
  {
    return false;
  }
  return true;
}
