// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATMemoryWidget.h"

#include <QLocale>
#include <QRegularExpression>

#include <cmath>

namespace
{
constexpr double Unit = 1024.0;
constexpr double MostMebibytes = 1e12; // that the reader takes

QString Grouped(double number)
{
  QLocale english(QLocale::English);
  return english.toString(number, 'f', QLocale::FloatingPointShortest);
}
}

//-----------------------------------------------------------------------------
pqBATMemoryWidget::pqBATMemoryWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(
      smproxy, smproperty, tr("Such as 512 MiB, 1.5 GiB or 2G"), { &parse, &format }, parentWidget)
{
}

//-----------------------------------------------------------------------------
pqBATMemoryWidget::~pqBATMemoryWidget() = default;

//-----------------------------------------------------------------------------
double pqBATMemoryWidget::parse(const QString& text)
{
  static const QRegularExpression number(
    "^([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+]?[0-9]+)?(?:([kmgt])(?:i?b)?)?$");
  QString plain = text.trimmed().toLower();
  plain.remove(',').remove(' ').remove('\'');
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
QString pqBATMemoryWidget::format(double mebibytes)
{
  // The largest unit in which two digits say it exactly.
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
