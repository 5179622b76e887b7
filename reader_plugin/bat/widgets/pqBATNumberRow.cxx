// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATNumberRow.h"

#include "pqNumberEdit.h"

#include <QHBoxLayout>
#include <QLocale>

#include <cmath>

//-----------------------------------------------------------------------------
pqBATNumberRow::pqBATNumberRow(const QString& name, const QStringList& names, QWidget* parentWidget)
  : Superclass(parentWidget)
{
  this->setObjectName(name);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  for (const QString& what : names)
  {
    auto* edit = new pqNumberEdit(false, this);
    edit->setObjectName(name + QString::number(this->Edits.size()));
    edit->setAccessibleName(what);
    layout->addWidget(edit, 1);
    this->Edits << edit;
    this->Values << 0.0;
    this->connect(edit, SIGNAL(textChangedAndEditingFinished()), SLOT(edited()));
  }
  this->showValues();
}

//-----------------------------------------------------------------------------
pqBATNumberRow::~pqBATNumberRow() = default;

//-----------------------------------------------------------------------------
QList<QVariant> pqBATNumberRow::values() const
{
  return this->Values;
}

//-----------------------------------------------------------------------------
void pqBATNumberRow::setValues(const QList<QVariant>& values)
{
  QList<QVariant> all = this->Values;
  for (int i = 0; i < all.size() && i < values.size(); ++i)
  {
    all[i] = values[i].toDouble();
  }
  if (all != this->Values)
  {
    this->Values = all;
    this->showValues();
    Q_EMIT this->valuesChanged();
  }
}

//-----------------------------------------------------------------------------
double pqBATNumberRow::value() const
{
  return this->Values.first().toDouble();
}

//-----------------------------------------------------------------------------
void pqBATNumberRow::setValue(double value)
{
  this->setValues({ value });
}

//-----------------------------------------------------------------------------
void pqBATNumberRow::showValues()
{
  for (int i = 0; i < this->Edits.size(); ++i)
  {
    const double number = this->Values[i].toDouble();
    this->Edits[i]->showNumber(std::isnan(number)
        ? QString()
        : QString::number(number, 'g', QLocale::FloatingPointShortest));
  }
}

//-----------------------------------------------------------------------------
void pqBATNumberRow::edited()
{
  QList<QVariant> values = this->Values;
  for (int i = 0; i < values.size(); ++i)
  {
    bool ok = false;
    const double number = this->Edits[i]->text().toDouble(&ok);
    if (ok)
    {
      values[i] = number;
    }
  }
  this->setValues(values);
  this->showValues();
}
