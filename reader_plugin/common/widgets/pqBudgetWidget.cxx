// SPDX-License-Identifier: BSD-3-Clause
#include "pqBudgetWidget.h"

#include "pqLineEdit.h"

#include "vtkPVXMLElement.h"
#include "vtkSMProperty.h"
#include "vtkSMProxy.h"

#include <QHBoxLayout>
#include <QLocale>
#include <QRegularExpression>

namespace
{
QString Hint(vtkSMProperty* property, const char* name)
{
  vtkPVXMLElement* hints = property->GetHints();
  vtkPVXMLElement* hint = hints ? hints->FindNestedElementByName("Amount") : nullptr;
  return hint ? QString::fromUtf8(hint->GetAttribute(name)) : QString();
}

// Returns a format with the words of the property's hint.
pqBudgetWidget::Format FormatOf(vtkSMProperty* property, const pqBudgetWidget::Format& numbers)
{
  const QString zero = Hint(property, "zero");
  const QString per = Hint(property, "per");
  const QString max = Hint(property, "max");
  const auto parse = [zero, per, max, numbers](const QString& text)
  {
    QString plain = text.trimmed();
    if (!per.isEmpty() && plain.endsWith(per, Qt::CaseInsensitive))
    {
      plain.chop(per.size());
    }
    const QString word = plain.simplified().toLower();
    const bool isZero =
      !zero.isEmpty() && (word == zero || word == "no limit" || word == "none" || word == "all");
    const double value = isZero ? 0.0 : numbers.Parse(plain);
    return max.isEmpty() || value <= max.toDouble() ? value : -1.0;
  };
  const auto write = [zero, per, numbers](double number)
  {
    return number == 0.0 && !zero.isEmpty()
      ? zero
      : numbers.Write(number) + (per.isEmpty() ? per : " " + per);
  };
  return { parse, write };
}
}

//-----------------------------------------------------------------------------
pqBudgetWidget::pqBudgetWidget(vtkSMProxy* smproxy, vtkSMProperty* smproperty,
  const QString& examples, const Format& format, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
  , Text(FormatOf(smproperty, format))
{
  auto* number = new pqLineEdit(this);
  number->setObjectName(QString(smproxy->GetPropertyName(smproperty)) + "Number");
  number->setToolTip(getTooltip(smproperty) + "<p>" + examples + "</p>");
  number->setAccessibleName(smproperty->GetXMLLabel());
  this->Number = number;

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Number);

  this->connect(this->Number, SIGNAL(textChangedAndEditingFinished()), SLOT(textEdited()));
  this->Number->setText(this->Text.Write(this->Budget));
  this->addPropertyLink(this, "budget", SIGNAL(budgetChanged()), smproperty);
}

//-----------------------------------------------------------------------------
pqBudgetWidget::~pqBudgetWidget() = default;

//-----------------------------------------------------------------------------
pqBudgetWidget::Amount pqBudgetWidget::parseAmount(const QString& text, const QString& units)
{
  const QRegularExpression amount("^([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+]?[0-9]+)?" + units + "$");
  QString plain = text.trimmed().toLower();
  plain.remove(',').remove(' ').remove('\'');
  const QRegularExpressionMatch match = amount.match(plain);
  if (!match.hasMatch())
  {
    return {};
  }
  return { (match.captured(1) + match.captured(2)).toDouble(), match.captured(3) };
}

//-----------------------------------------------------------------------------
QString pqBudgetWidget::budget() const
{
  return QString::number(this->Budget, 'f', QLocale::FloatingPointShortest);
}

//-----------------------------------------------------------------------------
void pqBudgetWidget::setBudget(const QString& text)
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
void pqBudgetWidget::textEdited()
{
  this->setBudget(this->Number->text());
}
