#include "pqBATEventPlayer.h"

#include "pqEventDispatcher.h"

#include "vtkPythonInterpreter.h"

#include <QElapsedTimer>
#include <QPointer>
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
