// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATSummaryWidget.h"

#include "pqApplicationCore.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"

#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"

#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>

//-----------------------------------------------------------------------------
pqBATSummaryWidget::pqBATSummaryWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
  , Text(new QLabel(this))
  , Name(smproxy->GetPropertyName(smproperty))
{
  this->Text->setObjectName("SummaryText");
  this->Text->setWordWrap(true);
  this->Text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Text);
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  if (auto* source = model->findItem<pqPipelineSource*>(smproxy))
  {
    this->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(ask()));
  }
  this->ask();
}

//-----------------------------------------------------------------------------
pqBATSummaryWidget::~pqBATSummaryWidget() = default;

//-----------------------------------------------------------------------------
void pqBATSummaryWidget::showEvent(QShowEvent* event)
{
  Superclass::showEvent(event);
  this->ask();
}

//-----------------------------------------------------------------------------
// The panel takes it for a field that nobody may edit, and would paint it so.
void pqBATSummaryWidget::changeEvent(QEvent* event)
{
  Superclass::changeEvent(event);
  if (event->type() == QEvent::StyleChange && !this->styleSheet().isEmpty())
  {
    this->setStyleSheet(QString());
  }
  if (event->type() == QEvent::EnabledChange && !this->isEnabledTo(this->parentWidget()))
  {
    this->setEnabled(true);
  }
}

//-----------------------------------------------------------------------------
void pqBATSummaryWidget::ask()
{
  vtkSMProxy* filter = this->proxy();
  filter->UpdatePropertyInformation(filter->GetProperty(this->Name));
  const QString text =
    QString::fromUtf8(vtkSMPropertyHelper(filter, this->Name.constData()).GetAsString());
  this->Text->setText(text.isEmpty() ? tr("after Apply") : text);
}
