// SPDX-License-Identifier: BSD-3-Clause
#include "pqLoadWidget.h"

#include "pqPendingReader.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"

#include "vtkCommand.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"

#include <QLabel>
#include <QLocale>
#include <QResizeEvent>

#include <algorithm>

namespace
{
// Returns an error without the path before it, cut so that other text fits.
QString Reason(const QString& error)
{
  constexpr int maximum = 80;
  const int path = error.indexOf(": ");
  const QString reason = path > 0 && error.left(path).contains('/') ? error.mid(path + 2) : error;
  return reason.size() <= maximum ? reason : reason.left(maximum - 1) + QChar(0x2026);
}
}

//-----------------------------------------------------------------------------
QString bat_load::memory(double bytes)
{
  return QLocale(QLocale::English).formattedDataSize(static_cast<qint64>(bytes), 1);
}

//-----------------------------------------------------------------------------
pqLoadWidget::pqLoadWidget(
  vtkSMProxy* smproxy, pqPendingReader* pending, const QString& name, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
  , Pending(pending)
{
  this->Pending->setParent(this);
  this->Text = new QLabel(this);
  this->Text->setObjectName(name);
  this->Text->setWordWrap(true);
  this->Text->setAlignment(Qt::AlignLeft | Qt::AlignTop);
}

//-----------------------------------------------------------------------------
pqLoadWidget::~pqLoadWidget() = default;

//-----------------------------------------------------------------------------
void pqLoadWidget::watch(const QStringList& settings, const QStringList& information)
{
  vtkSMProxy* smproxy = this->proxy();
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  if (pqPipelineSource* source = model->findItem<pqPipelineSource*>(smproxy))
  {
    this->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(dataUpdated()),
      Qt::QueuedConnection); // after Apply
    this->connect(source, SIGNAL(modifiedStateChanged(pqServerManagerModelItem*)),
      SLOT(stateChanged(pqServerManagerModelItem*)), Qt::QueuedConnection);
  }
  QObject::connect(this->Pending, &pqPendingReader::changed, this, &pqLoadWidget::updateText);
  for (const QString& name : settings)
  {
    if (vtkSMProperty* setting = smproxy->GetProperty(name.toUtf8().constData()))
    {
      pqCoreUtilities::connect(
        setting, vtkCommand::UncheckedPropertyModifiedEvent, this, SLOT(settingEdited()));
    }
  }
  this->Information = information + QStringList{ "Aborted", "Error" };
  this->updateInformation();
  this->Loaded = this->isApplied();
  this->updateText();
}

//-----------------------------------------------------------------------------
bool pqLoadWidget::isAborted() const
{
  return vtkSMPropertyHelper(this->proxy(), "Aborted").GetAsInt() != 0;
}

//-----------------------------------------------------------------------------
void pqLoadWidget::edited()
{
  this->Loaded = false;
  this->ask();
  this->updateText();
}

//-----------------------------------------------------------------------------
void pqLoadWidget::dataUpdated()
{
  this->Loaded = this->showsProperty();
  this->Pending->forget(); // it may be of another file
  this->updateInformation();
  this->ask();
  this->updateText();
}

//-----------------------------------------------------------------------------
bool pqLoadWidget::isApplied() const
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  pqPipelineSource* source = model->findItem<pqPipelineSource*>(this->proxy());
  return source && source->modifiedState() == pqProxy::UNMODIFIED;
}

//-----------------------------------------------------------------------------
// The button Reset reverts edits, for which nothing is loaded. A new reader has not been applied. A
// stopped reader must be applied again, and reports it.
void pqLoadWidget::stateChanged(pqServerManagerModelItem* item)
{
  const auto state = qobject_cast<pqProxy*>(item)->modifiedState();
  if (state != pqProxy::MODIFIED)
  {
    this->Loaded = state == pqProxy::UNMODIFIED;
    this->updateInformation();
    this->ask();
    this->updateText();
  }
}

//-----------------------------------------------------------------------------
// Never runs during Apply, because a Python trace would record the fetched values as set by the
// user.
void pqLoadWidget::updateInformation()
{
  vtkSMProxy* smproxy = this->proxy();
  for (const QString& name : this->Information)
  {
    if (vtkSMProperty* information = smproxy->GetProperty(name.toUtf8().constData()))
    {
      smproxy->UpdatePropertyInformation(information);
    }
  }
  this->showNumber();
}

//-----------------------------------------------------------------------------
void pqLoadWidget::settingEdited()
{
  this->edited();
}

//-----------------------------------------------------------------------------
// Only for a text that is visible and contains the answer.
void pqLoadWidget::ask()
{
  if (this->Loaded || !this->isVisible() || !this->needsAnswer())
  {
    this->Pending->forget();
    return;
  }
  this->Pending->request();
}

//-----------------------------------------------------------------------------
void pqLoadWidget::updateText()
{
  vtkSMProxy* smproxy = this->proxy();
  if (!smproxy || !smproxy->GetProperty("Error"))
  {
    this->Text->clear();
    return;
  }
  QString error = QString::fromUtf8(vtkSMPropertyHelper(smproxy, "Error").GetAsString());
  QString problem; // an error that Apply may resolve is not a problem
  if (!error.isEmpty() && !this->isReadable())
  {
    problem = tr("The file cannot be read.");
  }
  else if (!error.isEmpty() && this->Loaded)
  {
    problem = tr("Nothing is loaded: %1").arg(Reason(error));
  }
  else if (!this->Loaded && !this->Pending->error().isEmpty())
  {
    error = this->Pending->error();
    problem = tr("Apply would fail: %1").arg(Reason(error));
  }
  this->Text->setText(!problem.isEmpty() ? problem
      : this->Loaded                     ? this->formatLoaded()
                                         : this->formatPending());
  this->Text->setToolTip(
    problem.isEmpty() ? QString() : "<p>" + error.toHtmlEscaped() + "</p>"); // as a paragraph
  this->updateHeight();
}

//-----------------------------------------------------------------------------
// The controls below stay in place during editing, unless a text needs more lines.
void pqLoadWidget::updateHeight()
{
  const QRect room(0, 0, std::max(1, this->width()), QWIDGETSIZE_MAX);
  const int needed =
    this->Text->fontMetrics().boundingRect(room, Qt::TextWordWrap, this->Text->text()).height();
  this->Height = this->Loaded ? needed : std::max(this->Height, needed);
  this->Text->setFixedHeight(this->Height);
}

//-----------------------------------------------------------------------------
void pqLoadWidget::resizeEvent(QResizeEvent* event)
{
  Superclass::resizeEvent(event);
  if (event->size().width() != event->oldSize().width())
  {
    this->Height = 0; // lines are longer or shorter by now
    this->updateHeight();
  }
}

//-----------------------------------------------------------------------------
void pqLoadWidget::showEvent(QShowEvent* event)
{
  Superclass::showEvent(event);
  this->ask();
}
