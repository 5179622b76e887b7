// SPDX-License-Identifier: BSD-3-Clause
#include "pqSummaryWidget.h"

#include "pqApplicationCore.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"

#include "vtkSMProperty.h"
#include "vtkSMProxy.h"

#include <QLabel>

//-----------------------------------------------------------------------------
pqSummaryWidget::pqSummaryWidget(
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
pqSummaryWidget::~pqSummaryWidget() = default;

//-----------------------------------------------------------------------------
void pqSummaryWidget::showEvent(QShowEvent* event)
{
  Superclass::showEvent(event);
  this->ask();
}

//-----------------------------------------------------------------------------
void pqSummaryWidget::ask()
{
  this->showTextOf(this->proxy(), tr("after Apply"));
}
