// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATEventPlayer.h"

#include "vtkBATPointGaussianRepresentation.h"

#include "pqActiveObjects.h"
#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqEventDispatcher.h"
#include "pqProgressManager.h"
#include "pqProgressWidget.h"
#include "pqView.h"

#include "vtkCommand.h"
#include "vtkNew.h"
#include "vtkPythonInterpreter.h"
#include "vtkRenderWindow.h"
#include "vtkSMViewProxy.h"

#include <QAction>
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QMenu>
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

bool WaitFor(const QPointer<QObject>& object, const QString& property, const QString& expected)
{
  QString found;
  QElapsedTimer clock;
  clock.start();
  while (object && clock.elapsed() < PatienceMilliseconds)
  {
    found = object->property(property.toUtf8().constData()).toString();
    if (found == expected)
    {
      return true;
    }
    pqEventDispatcher::processEventsAndWait(PollMilliseconds);
  }
  qCritical() << "Waited in vain:" << property << "is" << found << "instead of" << expected;
  return false;
}

// An expression in ParaView's own Python. Its value comes back through the environment.
bool Evaluate(const QString& expression, QString& value)
{
  const QString code = QString("import os; os.environ['BAT_GUI_VALUE'] = str(%1)").arg(expression);
  if (vtkPythonInterpreter::RunSimpleString(code.toUtf8().constData()) != 0)
  {
    return false;
  }
  value = QString::fromUtf8(qgetenv("BAT_GUI_VALUE"));
  return true;
}

QAction* FindFilter(QMenu* menu, const QString& category, const QString& filter)
{
  for (QAction* entry : menu->actions())
  {
    if (!entry->menu() || !entry->isVisible() || entry->text().remove('&') != category)
    {
      continue;
    }
    for (QAction* action : entry->menu()->actions())
    {
      if (action->isVisible() && action->data().toStringList() == QStringList{ "filters", filter })
      {
        return action;
      }
    }
  }
  return nullptr;
}

// ParaView fills the menu and enables its actions when it is shown; the names of the objects in it
// differ between versions of ParaView.
bool ChooseFilter(QMenu* menu, const QString& category, const QString& filter)
{
  QPointer<QAction> action;
  QElapsedTimer clock;
  clock.start();
  while (menu && clock.elapsed() < PatienceMilliseconds)
  {
    menu->popup(menu->mapToGlobal(QPoint()));
    action = FindFilter(menu, category, filter);
    const bool enabled = action && action->isEnabled();
    menu->hide();
    if (enabled)
    {
      action->trigger();
      return true;
    }
    pqEventDispatcher::processEventsAndWait(PollMilliseconds);
  }
  qCritical() << "The filter" << filter << "is" << (action ? "disabled in" : "missing from")
              << "the category" << category << "of the menu" << menu;
  return false;
}

// Shares of the widget; null if they are not two.
QPoint PlaceIn(QWidget* widget, const QString& position)
{
  const QStringList parts = position.split(',');
  if (!widget || parts.size() != 2)
  {
    qCritical() << "No place in a widget:" << position;
    return {};
  }
  return { static_cast<int>(parts[0].toDouble() * widget->width()),
    static_cast<int>(parts[1].toDouble() * widget->height()) };
}

bool Mouse(QWidget* widget, const QString& position, bool down)
{
  const QPoint local = PlaceIn(widget, position);
  if (local.isNull())
  {
    return false;
  }
  QWidget* top = widget->window();
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

void SendMouse(QWidget* widget, QEvent::Type type, const QPoint& local, Qt::MouseButtons held)
{
  const Qt::MouseButton button = type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton;
  QMouseEvent event(type, local, widget->mapToGlobal(local), button, held, Qt::NoModifier);
  QCoreApplication::sendEvent(widget, &event);
}

// From one position to another. A held one ends with the next.
bool Drag(QWidget* widget, const QString& positions, bool hold)
{
  const QPoint from = PlaceIn(widget, positions.section(' ', 0, 0));
  const QPoint to = PlaceIn(widget, positions.section(' ', 1, 1));
  if (from.isNull() || to.isNull())
  {
    return false;
  }
  SendMouse(widget, QEvent::MouseButtonPress, from, Qt::LeftButton);
  SendMouse(widget, QEvent::MouseMove, to, Qt::LeftButton);
  if (!hold)
  {
    SendMouse(widget, QEvent::MouseButtonRelease, to, Qt::NoButton);
  }
  return true;
}

bool Hover(QWidget* widget, const QString& position)
{
  const QPoint local = PlaceIn(widget, position);
  if (!local.isNull())
  {
    SendMouse(widget, QEvent::MouseMove, local, Qt::NoButton);
  }
  return !local.isNull();
}

void PostMouse(QWidget* widget, const QPoint& local, bool down)
{
  QWidget* top = widget->window();
  QCoreApplication::postEvent(top->windowHandle(),
    new QMouseEvent(down ? QEvent::MouseButtonPress : QEvent::MouseButtonRelease,
      widget->mapTo(top, local), widget->mapToGlobal(local), Qt::LeftButton,
      down ? Qt::LeftButton : Qt::NoButton, Qt::NoModifier));
}

// In the middle of each picture, until one is given up for it.
class ClickInPicture : public vtkCommand
{
public:
  static ClickInPicture* New() { return new ClickInPicture; }
  void Execute(vtkObject* window, unsigned long event, void*) override
  {
    constexpr unsigned long block = vtkBATPointGaussianRepresentation::BlockDrawnEvent;
    auto* drawing = vtkRenderWindow::SafeDownCast(window);
    if (event == block && !this->Clicked)
    {
      this->Clicked = true;
      PostMouse(this->Widget, this->Local, true);
      PostMouse(this->Widget, this->Local, false);
    }
    else if (event == vtkCommand::EndEvent && this->Clicked)
    {
      if (drawing->GetAbortRender() != 0)
      {
        window->RemoveObserver(this); // done
      }
      this->Clicked = false;
    }
  }

  QPointer<QWidget> Widget;
  QPoint Local;
  bool Clicked = false;
};

bool Interrupt(QWidget* widget, const QString& position)
{
  const QPoint local = PlaceIn(widget, position);
  pqView* view = pqActiveObjects::instance().activeView();
  vtkRenderWindow* window = view ? view->getViewProxy()->GetRenderWindow() : nullptr;
  if (local.isNull() || !window)
  {
    return false;
  }
  vtkNew<ClickInPicture> click;
  click->Widget = widget;
  click->Local = local;
  constexpr float first = 2.0F;
  window->AddObserver(vtkBATPointGaussianRepresentation::BlockDrawnEvent, click, first);
  window->AddObserver(vtkCommand::EndEvent, click);
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
  else if (command == "bat_wait_for_value")
  {
    const int split = static_cast<int>(arguments.indexOf('='));
    QString value;
    error =
      !Evaluate(arguments.mid(split + 1), value) || !WaitFor(object, arguments.left(split), value);
  }
  else if (command == "bat_wait")
  {
    pqEventDispatcher::processEventsAndWait(arguments.toInt());
  }
  else if (command == "bat_press" || command == "bat_release")
  {
    error = !Mouse(qobject_cast<QWidget*>(object), arguments, command == "bat_press");
  }
  else if (command == "bat_drag" || command == "bat_hold")
  {
    error = !Drag(qobject_cast<QWidget*>(object), arguments, command == "bat_hold");
  }
  else if (command == "bat_hover")
  {
    error = !Hover(qobject_cast<QWidget*>(object), arguments);
  }
  else if (command == "bat_interrupt")
  {
    error = !Interrupt(qobject_cast<QWidget*>(object), arguments);
  }
  else if (command == "bat_stop")
  {
    Stop(arguments);
  }
  else if (command == "bat_filter")
  {
    error = !ChooseFilter(
      qobject_cast<QMenu*>(object), arguments.section('/', 0, 0), arguments.section('/', 1));
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
