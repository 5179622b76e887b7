// SPDX-License-Identifier: BSD-3-Clause
#include "pqIDXMemoryBudgetWidget.h"

#include <QLocale>
#include <QRegularExpression>

#include <cmath>

namespace
{
constexpr double Unit = 1024.0;
constexpr double MostMebibytes = 1e12; // that the reader takes
}

//-----------------------------------------------------------------------------
pqIDXMemoryBudgetWidget::pqIDXMemoryBudgetWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, smproperty, "MemoryBudgetNumber", tr("Memory budget"),
      tr("Most memory of a process for the fields: 1024 or 1 GiB or 1.5G; 0 is no limit"),
      { &parse, &format }, parentWidget)
{
}

//-----------------------------------------------------------------------------
pqIDXMemoryBudgetWidget::~pqIDXMemoryBudgetWidget() = default;

//-----------------------------------------------------------------------------
double pqIDXMemoryBudgetWidget::parse(const QString& text)
{
  static const QRegularExpression number(
    "^([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+]?[0-9]+)?(?:([kmgt])(?:i?b)?)?$");
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
  const double factor = unit == "k" ? 1.0 / Unit
    : unit == "g"                   ? Unit
    : unit == "t"                   ? Unit * Unit
                                    : 1.0;
  const double value = (match.captured(1) + match.captured(2)).toDouble() * factor;
  return value <= MostMebibytes ? value : -1.0;
}

//-----------------------------------------------------------------------------
QString pqIDXMemoryBudgetWidget::format(double mebibytes)
{
  if (mebibytes == 0.0)
  {
    return tr("no limit");
  }
  // The largest unit in which two digits say it exactly.
  const QStringList names = { "TiB", "GiB", "MiB" };
  double factor = Unit * Unit;
  for (const QString& name : names)
  {
    const double hundredths = 100.0 * mebibytes / factor;
    if (hundredths >= 100.0 && hundredths == std::floor(hundredths))
    {
      return QString::number(mebibytes / factor, 'g', QLocale::FloatingPointShortest) + " " + name;
    }
    factor /= Unit;
  }
  return QString::number(mebibytes, 'g', QLocale::FloatingPointShortest) + " MiB";
}
