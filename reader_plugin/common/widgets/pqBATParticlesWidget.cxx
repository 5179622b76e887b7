// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATParticlesWidget.h"

#include <QLocale>
#include <QRegularExpression>

#include <cmath>

namespace
{
// Below 2^53: as exact as the property is.
constexpr double MostParticles = 9e15;
}

//-----------------------------------------------------------------------------
pqBATParticlesWidget::pqBATParticlesWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(
      smproxy, smproperty, tr("Such as 5,000,000, 5M or 2.5e6"), { &parse, &format }, parentWidget)
{
}

//-----------------------------------------------------------------------------
pqBATParticlesWidget::~pqBATParticlesWidget() = default;

//-----------------------------------------------------------------------------
double pqBATParticlesWidget::parse(const QString& text)
{
  static const QRegularExpression number("^([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+]?[0-9]+)?([kmbg]?)$");
  QString plain = text.trimmed().toLower();
  plain.remove(',').remove(' ').remove('\'');
  const QRegularExpressionMatch match = number.match(plain);
  if (!match.hasMatch())
  {
    return -1.0;
  }
  const QString unit = match.captured(3);
  const double factor = unit == "k" ? 1e3 : unit == "m" ? 1e6 : unit.isEmpty() ? 1.0 : 1e9;
  const double value = std::round((match.captured(1) + match.captured(2)).toDouble() * factor);
  return value <= MostParticles ? value : -1.0;
}

//-----------------------------------------------------------------------------
QString pqBATParticlesWidget::format(double particles)
{
  return QLocale(QLocale::English).toString(static_cast<qlonglong>(particles));
}
