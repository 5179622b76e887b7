// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATParticleBudgetWidget.h"

#include "pqLineEdit.h"

#include <QHBoxLayout>
#include <QLocale>
#include <QRegularExpression>

#include <cmath>

//-----------------------------------------------------------------------------
pqBATParticleBudgetWidget::pqBATParticleBudgetWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
{
  auto* number = new pqLineEdit(this);
  number->setObjectName("ParticleBudgetNumber");
  number->setToolTip(
    tr("Most particles to load, over all processes: 5,000,000 or 5M or 2.5e6; 0 is no limit"));
  number->setAccessibleName(tr("Particle budget"));
  this->Number = number;

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Number);

  this->connect(this->Number, SIGNAL(textChangedAndEditingFinished()), SLOT(textEdited()));
  this->Number->setText(format(this->Budget));
  this->addPropertyLink(this, "budget", SIGNAL(budgetChanged()), smproperty);
}

//-----------------------------------------------------------------------------
pqBATParticleBudgetWidget::~pqBATParticleBudgetWidget() = default;

//-----------------------------------------------------------------------------
long long pqBATParticleBudgetWidget::parse(const QString& text)
{
  static const QRegularExpression number("^([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+]?[0-9]+)?([kmbg]?)$");
  QString plain = text.trimmed().toLower();
  plain.remove(',').remove(' ').remove('\'');
  if (plain == "nolimit" || plain == "none" || plain == "all")
  {
    return 0;
  }
  const QRegularExpressionMatch match = number.match(plain);
  if (!match.hasMatch())
  {
    return -1;
  }
  const QString unit = match.captured(3);
  const double factor = unit == "k" ? 1e3 : unit == "m" ? 1e6 : unit.isEmpty() ? 1.0 : 1e9;
  bool isInteger = false;
  const long long integer = plain.toLongLong(&isInteger);
  const double value = std::round((match.captured(1) + match.captured(2)).toDouble() * factor);
  return isInteger ? integer : value < 9e18 ? static_cast<long long>(value) : -1;
}

//-----------------------------------------------------------------------------
QString pqBATParticleBudgetWidget::format(long long budget)
{
  return budget == 0 ? tr("no limit") : QLocale(QLocale::English).toString(budget);
}

//-----------------------------------------------------------------------------
void pqBATParticleBudgetWidget::setBudget(const QString& text)
{
  const long long value = parse(text);
  if (value >= 0 && value != this->Budget)
  {
    this->Budget = value;
    Q_EMIT this->budgetChanged();
  }
  this->Number->setText(format(this->Budget));
}

//-----------------------------------------------------------------------------
void pqBATParticleBudgetWidget::textEdited()
{
  this->setBudget(this->Number->text()); // what is no number becomes again what was there
}
