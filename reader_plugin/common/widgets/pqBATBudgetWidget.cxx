// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATBudgetWidget.h"

#include "pqLineEdit.h"

#include <QHBoxLayout>
#include <QLocale>

//-----------------------------------------------------------------------------
pqBATBudgetWidget::pqBATBudgetWidget(vtkSMProxy* smproxy, vtkSMProperty* smproperty,
  const QString& name, const QString& label, const QString& help, const Format& format,
  QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
  , Text(format)
{
  auto* number = new pqLineEdit(this);
  number->setObjectName(name);
  number->setToolTip(help);
  number->setAccessibleName(label);
  this->Number = number;

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Number);

  this->connect(this->Number, SIGNAL(textChangedAndEditingFinished()), SLOT(textEdited()));
  this->Number->setText(this->Text.Write(this->Budget));
  this->addPropertyLink(this, "budget", SIGNAL(budgetChanged()), smproperty);
}

//-----------------------------------------------------------------------------
pqBATBudgetWidget::~pqBATBudgetWidget() = default;

//-----------------------------------------------------------------------------
QString pqBATBudgetWidget::budget() const
{
  return QString::number(this->Budget, 'f', QLocale::FloatingPointShortest);
}

//-----------------------------------------------------------------------------
void pqBATBudgetWidget::setBudget(const QString& text)
{
  const double value = this->Text.Parse(text);
  if (value >= 0.0 && value != this->Budget)
  {
    this->Budget = value;
    Q_EMIT this->budgetChanged();
  }
  this->Number->setText(this->Text.Write(this->Budget));
}

//-----------------------------------------------------------------------------
void pqBATBudgetWidget::textEdited()
{
  this->setBudget(this->Number->text());
}
