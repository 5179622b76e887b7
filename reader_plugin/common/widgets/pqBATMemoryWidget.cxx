// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATMemoryWidget.h"

#include "vtkPVXMLElement.h"
#include "vtkSMProperty.h"
#include "vtkSMProxy.h"

#include <QLocale>
#include <QRegularExpression>

#include <cmath>

namespace
{
constexpr double Unit = 1024.0;
constexpr double MostMebibytes = 1e12; // that the reader takes

QString Hint(vtkSMProperty* property, const char* name)
{
  vtkPVXMLElement* hints = property->GetHints();
  vtkPVXMLElement* hint = hints ? hints->FindNestedElementByName("Memory") : nullptr;
  return hint ? QString::fromUtf8(hint->GetAttribute(name)) : QString();
}

QString Grouped(double number)
{
  QLocale english(QLocale::English);
  return english.toString(number, 'f', QLocale::FloatingPointShortest);
}

pqBATBudgetWidget::Format FormatOf(vtkSMProperty* property)
{
  const QString zero = Hint(property, "zero");
  const QString per = Hint(property, "per");
  const auto parse = [zero, per](const QString& text)
  {
    QString plain = text.trimmed();
    if (!per.isEmpty() && plain.endsWith(per, Qt::CaseInsensitive))
    {
      plain.chop(per.size());
    }
    const QString word = plain.trimmed().toLower();
    const bool isZero = !zero.isEmpty() &&
      (word == zero.toLower() || word == "no limit" || word == "none" || word == "all");
    return isZero ? 0.0 : pqBATMemoryWidget::parse(plain);
  };
  const auto write = [zero, per](double mebibytes)
  {
    return mebibytes == 0.0 && !zero.isEmpty()
      ? zero
      : pqBATMemoryWidget::format(mebibytes) + (per.isEmpty() ? per : " " + per);
  };
  return { parse, write };
}
}

//-----------------------------------------------------------------------------
pqBATMemoryWidget::pqBATMemoryWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, smproperty, QString(smproxy->GetPropertyName(smproperty)) + "Number",
      smproperty->GetXMLLabel(), getTooltip(smproperty) + "<p>Such as 512 MiB, 1.5 GiB or 2G</p>",
      FormatOf(smproperty), parentWidget)
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
