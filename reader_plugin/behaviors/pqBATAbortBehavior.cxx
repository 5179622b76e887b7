#include "pqBATAbortBehavior.h"

#include "vtkBATReader.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqPipelineSource.h"
#include "pqProgressManager.h"
#include "pqProgressWidget.h"
#include "pqPropertiesPanel.h"
#include "pqServerManagerModel.h"

#include "vtkCommand.h"
#include "vtkSMProperty.h"
#include "vtkSMProxy.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QResizeEvent>
#include <QTimer>
#include <QToolButton>
#include <QWheelEvent>
#include <QWindow>

namespace
{
// Most loads end before anybody could wish to stop them.
constexpr int PatienceMilliseconds = 200;
constexpr int EventsMilliseconds = 50;

// Null for proxies that are none of ours, and for readers on a server, which does not listen while
// it loads.
vtkBATReader* ReaderOf(pqPipelineSource* source)
{
  vtkSMProperty* aborted = source->getProxy()->GetProperty("Aborted");
  return aborted ? vtkBATReader::SafeDownCast(aborted->GetParent()->GetClientSideObject())
                 : nullptr;
}

QList<pqPipelineSource*> Sources()
{
  return pqApplicationCore::instance()->getServerManagerModel()->findItems<pqPipelineSource*>();
}

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
pqBATAbortBehavior::pqBATAbortBehavior(QObject* parentObject)
  : QObject(parentObject)
{
  QObject::connect(pqApplicationCore::instance()->getServerManagerModel(),
    &pqServerManagerModel::sourceAdded, this, &pqBATAbortBehavior::watchSource);
  for (pqPipelineSource* source : Sources())
  {
    this->watchSource(source);
  }
}

//-----------------------------------------------------------------------------
pqBATAbortBehavior::~pqBATAbortBehavior() = default;

//-----------------------------------------------------------------------------
void pqBATAbortBehavior::watchSource(pqPipelineSource* source)
{
  vtkBATReader* reader = ReaderOf(source);
  // What the pipeline runs is the series around the reader.
  auto* series = vtkAlgorithm::SafeDownCast(source->getProxy()->GetClientSideObject());
  if (reader && series)
  {
    reader->SetKeepWhenAborted(true);
    pqCoreUtilities::connect(series, vtkCommand::StartEvent, this, SLOT(loadStarted()));
    pqCoreUtilities::connect(
      reader, vtkCommand::ProgressEvent, this, SLOT(loadProgressed(vtkObject*)));
    pqCoreUtilities::connect(series, vtkCommand::EndEvent, this, SLOT(loadEnded()));
  }
}

//-----------------------------------------------------------------------------
void pqBATAbortBehavior::loadStarted()
{
  auto* widget = pqCoreUtilities::mainWidget()->findChild<pqProgressWidget*>();
  this->Button = widget ? widget->abortButton() : nullptr;
  this->Loading = true;
  this->Stopped = false;
  this->SinceStart.start();
  this->SinceEvents.start();
  QCoreApplication::instance()->installEventFilter(this);
}

//-----------------------------------------------------------------------------
void pqBATAbortBehavior::loadProgressed(vtkObject* reader)
{
  if (!this->Loading)
  {
    return;
  }
  if (!this->Offered && this->SinceStart.elapsed() >= PatienceMilliseconds)
  {
    this->Offered = true;
    pqApplicationCore::instance()->getProgressManager()->setEnableAbort(true);
  }
  if (this->Offered && this->SinceEvents.elapsed() >= EventsMilliseconds)
  {
    QCoreApplication::processEvents();
    this->SinceEvents.start();
  }
  if (this->Stopped)
  {
    vtkAlgorithm::SafeDownCast(reader)->SetAbortExecute(1);
  }
}

//-----------------------------------------------------------------------------
void pqBATAbortBehavior::loadEnded()
{
  this->Loading = false;
  QCoreApplication::instance()->removeEventFilter(this);
  if (this->Offered)
  {
    this->Offered = false;
    pqApplicationCore::instance()->getProgressManager()->setEnableAbort(false);
  }
  for (QWidget* widget : QApplication::allWidgets())
  {
    if (this->Unpainted.contains(widget))
    {
      widget->update();
    }
  }
  this->Unpainted.clear();
  for (auto& [window, event] : this->Waiting)
  {
    if (window)
    {
      QCoreApplication::postEvent(window, event.release());
    }
  }
  this->Waiting.clear();
  if (this->Stopped)
  {
    QTimer::singleShot(0, this, [this]() { this->markAborted(); }); // after Apply
  }
}

//-----------------------------------------------------------------------------
void pqBATAbortBehavior::markAborted()
{
  for (pqPipelineSource* source : Sources())
  {
    vtkBATReader* reader = ReaderOf(source);
    if (reader && reader->GetAborted() && source->modifiedState() == pqProxy::UNMODIFIED)
    {
      source->setModifiedState(pqProxy::MODIFIED);
    }
  }
  for (pqPropertiesPanel* panel : pqCoreUtilities::mainWidget()->findChildren<pqPropertiesPanel*>())
  {
    this->connect(panel, SIGNAL(applied(pqProxy*)), SLOT(tryAgain(pqProxy*)), Qt::UniqueConnection);
  }
}

//-----------------------------------------------------------------------------
void pqBATAbortBehavior::tryAgain(pqProxy* proxy)
{
  auto* source = qobject_cast<pqPipelineSource*>(proxy);
  vtkBATReader* reader = source ? ReaderOf(source) : nullptr;
  if (reader && reader->GetAborted())
  {
    reader->Modified();
    source->getProxy()->MarkModified(source->getProxy());
  }
}

//-----------------------------------------------------------------------------
bool pqBATAbortBehavior::eventFilter(QObject* object, QEvent* event)
{
  switch (event->type())
  {
    case QEvent::Timer: // comes again
      return true;
    case QEvent::Paint:
      // Drawing asks for the data that are being loaded.
      if (object->inherits("QOpenGLWidget"))
      {
        this->Unpainted.insert(static_cast<QWidget*>(object));
        return true;
      }
      return false;
    default:
      return object->isWindowType() && this->windowEvent(static_cast<QWindow*>(object), event);
  }
}

//-----------------------------------------------------------------------------
// Widgets get what their window passes on to them.
bool pqBATAbortBehavior::windowEvent(QWindow* window, QEvent* event)
{
  switch (event->type())
  {
    case QEvent::Close:
      event->ignore();
      return true;
    case QEvent::ShortcutOverride:
      event->accept(); // a shortcut would not wait
      return true;
    case QEvent::KeyPress:
      if (static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape)
      {
        this->Stopped = true;
        return true;
      }
      this->wait(window, event);
      return true;
    case QEvent::MouseButtonPress:
      if (this->isOnButton(window, event))
      {
        this->Stopped = true;
        return true;
      }
      this->wait(window, event);
      return true;
    case QEvent::KeyRelease:
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
bool pqBATAbortBehavior::isOnButton(QWindow* window, QEvent* event) const
{
  if (!this->Button || !this->Button->isVisible() ||
    this->Button->window()->windowHandle() != window)
  {
    return false;
  }
  const QPoint corner = this->Button->mapTo(this->Button->window(), QPoint(0, 0));
  return QRect(corner, this->Button->size()).contains(static_cast<QMouseEvent*>(event)->pos());
}

//-----------------------------------------------------------------------------
void pqBATAbortBehavior::wait(QWindow* window, QEvent* event)
{
  // Of moves and sizes only the last matters.
  const bool replaces = (event->type() == QEvent::MouseMove || event->type() == QEvent::Resize) &&
    !this->Waiting.empty() && this->Waiting.back().first == window &&
    this->Waiting.back().second->type() == event->type();
  if (replaces)
  {
    this->Waiting.pop_back();
  }
  this->Waiting.emplace_back(window, Copy(event));
}
