// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATParticleBudgetWidget.h"

#include <QLocale>
#include <QRegularExpression>

#include <cmath>

namespace
{
// Below 2^53: as exact as the property is.
constexpr double MostParticles = 9e15;
}

//-----------------------------------------------------------------------------
pqBATParticleBudgetWidget::pqBATParticleBudgetWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, smproperty, "ParticleBudgetNumber", tr("Particle budget"),
      tr("Most particles to load, over all processes: 5,000,000 or 5M or 2.5e6; 0 is no limit"),
      { &parse, &format }, parentWidget)
{
}

//-----------------------------------------------------------------------------
pqBATParticleBudgetWidget::~pqBATParticleBudgetWidget() = default;

//-----------------------------------------------------------------------------
double pqBATParticleBudgetWidget::parse(const QString& text)
{
  static const QRegularExpression number("^([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+]?[0-9]+)?([kmbg]?)$");
  QString plain = text.trimmed().toLower();
  plain.remove(',').remove(' ').remove('\'');
  if (plain == "nolimit" || plain == "none" || plain == "all")
  {
    return 0.0;
  }
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
QString pqBATParticleBudgetWidget::format(double budget)
{
  return budget == 0.0 ? tr("no limit")
                       : QLocale(QLocale::English).toString(static_cast<qlonglong>(budget));
}
