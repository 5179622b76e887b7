// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATAmountWidget.h"

#include <QLocale>

#include <cmath>

namespace
{
double ParseAmount(const QString& text)
{
  bool isNumber = false;
  const double value = text.trimmed().toDouble(&isNumber);
  return isNumber && std::isfinite(value) ? value : -1.0;
}

// Formats the number short, but exact.
QString WriteAmount(double amount)
{
  return QString::number(amount, 'g', QLocale::FloatingPointShortest);
}
}

//-----------------------------------------------------------------------------
pqBATAmountWidget::pqBATAmountWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, smproperty, tr("Examples: 2.5 or 1e-3"), { &ParseAmount, &WriteAmount },
      parentWidget)
{
}

//-----------------------------------------------------------------------------
pqBATAmountWidget::~pqBATAmountWidget() = default;
