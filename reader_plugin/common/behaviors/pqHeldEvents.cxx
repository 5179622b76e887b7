// SPDX-License-Identifier: BSD-3-Clause
#include "pqHeldEvents.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QResizeEvent>
#include <QWheelEvent>
#include <QWidget>
#include <QWindow>

#include <algorithm>

namespace
{
constexpr int LookMilliseconds = 50;

std::unique_ptr<QEvent> Copy(const QEvent* event)
{
#if QT_VERSION >= QT_VERSION_CHECK(6, 0, 0)
  return std::unique_ptr<QEvent>(event->clone());
#else
  switch (event->type())
  {
    case QEvent::KeyPress:
    case QEvent::KeyRelease:
      return std::make_unique<QKeyEvent>(*static_cast<const QKeyEvent*>(event));
    case QEvent::Resize:
      return std::make_unique<QResizeEvent>(*static_cast<const QResizeEvent*>(event));
    case QEvent::Wheel:
      return std::make_unique<QWheelEvent>(*static_cast<const QWheelEvent*>(event));
    default:
      return std::make_unique<QMouseEvent>(*static_cast<const QMouseEvent*>(event));
  }
#endif
}
}

//-----------------------------------------------------------------------------
pqHeldEvents::pqHeldEvents(QObject* parentObject, std::function<bool(QWindow*, QEvent*)> takes)
  : QObject(parentObject)
  , Takes(std::move(takes))
{
}

//-----------------------------------------------------------------------------
pqHeldEvents::~pqHeldEvents() = default;

//-----------------------------------------------------------------------------
void pqHeldEvents::hold(Painting painting)
{
  this->Holding = true;
  this->Paints = painting;
  this->SinceLook.invalidate();
  QCoreApplication::instance()->installEventFilter(this);
}

//-----------------------------------------------------------------------------
void pqHeldEvents::look()
{
  if (!this->SinceLook.isValid() || this->SinceLook.elapsed() >= LookMilliseconds)
  {
    QCoreApplication::processEvents();
    this->SinceLook.start();
  }
}

//-----------------------------------------------------------------------------
bool pqHeldEvents::someoneWaits() const
{
  return std::any_of(this->Waiting.begin(), this->Waiting.end(),
    [](const auto& held)
    {
      const QEvent::Type type = held.second->type();
      return type == QEvent::MouseButtonPress || type == QEvent::MouseButtonDblClick ||
        type == QEvent::KeyPress || type == QEvent::Wheel;
    });
}

//-----------------------------------------------------------------------------
void pqHeldEvents::release()
{
  if (!this->Holding)
  {
    return;
  }
  this->Holding = false;
  QCoreApplication::instance()->removeEventFilter(this);
  for (QWidget* widget : QApplication::allWidgets())
  {
    if (this->Unpainted.contains(widget))
    {
      widget->update();
    }
    if (this->NotUpdated.contains(widget))
    {
      QCoreApplication::postEvent(widget, new QEvent(QEvent::UpdateRequest));
    }
  }
  this->Unpainted.clear();
  for (QWindow* window : QGuiApplication::allWindows())
  {
    if (this->NotUpdated.contains(window))
    {
      QCoreApplication::postEvent(window, new QEvent(QEvent::UpdateRequest));
    }
  }
  this->NotUpdated.clear();
  for (auto& [window, event] : this->Waiting)
  {
    if (window)
    {
      QCoreApplication::postEvent(window, event.release());
    }
  }
  this->Waiting.clear();
}

//-----------------------------------------------------------------------------
bool pqHeldEvents::eventFilter(QObject* object, QEvent* event)
{
  switch (event->type())
  {
    case QEvent::Timer: // comes again
      return true;
    case QEvent::Paint:
      // Drawing would request the data that are being loaded.
      if (object->isWidgetType() &&
        (this->Paints == Painting::Held || object->inherits("QOpenGLWidget")))
      {
        this->Unpainted.insert(object);
        return true;
      }
      return false;
    case QEvent::UpdateRequest:
      if (this->Paints == Painting::Held)
      {
        this->NotUpdated.insert(object);
        return true;
      }
      return false;
    default:
      return object->isWindowType() && this->windowEvent(static_cast<QWindow*>(object), event);
  }
}

//-----------------------------------------------------------------------------
// Widgets receive what their window passes on to them.
bool pqHeldEvents::windowEvent(QWindow* window, QEvent* event)
{
  if (this->Takes && this->Takes(window, event))
  {
    return true;
  }
  switch (event->type())
  {
    case QEvent::Close:
      event->ignore();
      return true;
    case QEvent::ShortcutOverride:
      event->accept(); // a shortcut would not wait
      return true;
    case QEvent::KeyPress:
    case QEvent::KeyRelease:
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonDblClick:
    case QEvent::MouseButtonRelease:
    case QEvent::MouseMove:
    case QEvent::Resize:
    case QEvent::Wheel:
      this->wait(window, event);
      return true;
    case QEvent::ContextMenu:
    case QEvent::DragEnter:
    case QEvent::DragMove:
    case QEvent::Drop:
    case QEvent::TouchBegin:
    case QEvent::TouchUpdate:
    case QEvent::TouchEnd:
      return true;
    default:
      return false;
  }
}

//-----------------------------------------------------------------------------
void pqHeldEvents::wait(QWindow* window, QEvent* event)
{
  // Several moves or resizes are merged into the last one.
  const bool replaces = (event->type() == QEvent::MouseMove || event->type() == QEvent::Resize) &&
    !this->Waiting.empty() && this->Waiting.back().first == window &&
    this->Waiting.back().second->type() == event->type();
  if (replaces)
  {
    this->Waiting.pop_back();
  }
  this->Waiting.emplace_back(window, Copy(event));
}
