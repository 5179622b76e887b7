// SPDX-License-Identifier: BSD-3-Clause
#include "pqMemoryWidget.h"

#include <QLocale>

#include <cmath>

namespace
{
constexpr double Unit = 1024.0;
constexpr double MaxMebibytes = 1e12; // the reader's maximum

QString Grouped(double number)
{
  QLocale english(QLocale::English);
  return english.toString(number, 'f', QLocale::FloatingPointShortest);
}
}

//-----------------------------------------------------------------------------
pqMemoryWidget::pqMemoryWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, smproperty, tr("Examples: 512 MiB, 1.5 GiB or 2G"), { &parse, &format },
      parentWidget)
{
}

//-----------------------------------------------------------------------------
pqMemoryWidget::~pqMemoryWidget() = default;

//-----------------------------------------------------------------------------
double pqMemoryWidget::parse(const QString& text)
{
  const auto [number, unit] = parseAmount(text, "(?:([kmgt])(?:i?b)?)?");
  const double factor = unit == "k" ? 1.0 / Unit
    : unit == "g"                   ? Unit
    : unit == "t"                   ? Unit * Unit
                                    : 1.0;
  const double value = number * factor;
  return value >= 0.0 && value <= MaxMebibytes ? value : -1.0;
}

//-----------------------------------------------------------------------------
QString pqMemoryWidget::format(double mebibytes)
{
  // The largest unit in which two digits are exact.
  const QStringList names = { "TiB", "GiB", "MiB" };
  double factor = Unit * Unit;
  for (const QString& name : names)
  {
    const double hundredths = 100.0 * mebibytes / factor;
    if (hundredths >= 100.0 && hundredths == std::floor(hundredths))
    {
      return Grouped(mebibytes / factor) + " " + name;
    }
    factor /= Unit;
  }
  return Grouped(mebibytes) + " MiB";
}
