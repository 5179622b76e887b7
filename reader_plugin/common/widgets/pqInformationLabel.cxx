// SPDX-License-Identifier: BSD-3-Clause
#include "pqInformationLabel.h"

#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"

#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>

//-----------------------------------------------------------------------------
pqInformationLabel::pqInformationLabel(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, const QString& name, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
  , Text(new QLabel(this))
  , Name(smproxy->GetPropertyName(smproperty))
{
  this->Text->setObjectName(name);
  this->Text->setWordWrap(true);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Text);
}

//-----------------------------------------------------------------------------
pqInformationLabel::~pqInformationLabel() = default;

//-----------------------------------------------------------------------------
void pqInformationLabel::showTextOf(vtkSMProxy* filter, const QString& otherwise)
{
  filter->UpdatePropertyInformation(filter->GetProperty(this->Name));
  const QString text =
    QString::fromUtf8(vtkSMPropertyHelper(filter, this->Name.constData()).GetAsString());
  this->Text->setText(text.isEmpty() ? otherwise : text);
}

//-----------------------------------------------------------------------------
// The panel treats it as a read-only field, and would style it as one.
void pqInformationLabel::changeEvent(QEvent* event)
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
