// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATSummaryWidget.h"

#include "pqApplicationCore.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"

#include "vtkSMProperty.h"
#include "vtkSMProxy.h"

#include <QLabel>

//-----------------------------------------------------------------------------
pqBATSummaryWidget::pqBATSummaryWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, smproperty, "SummaryText", parentWidget)
{
  this->text()->setTextInteractionFlags(Qt::TextSelectableByMouse);
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
void pqBATSummaryWidget::ask()
{
  this->showTextOf(this->proxy(), tr("after Apply"));
}
