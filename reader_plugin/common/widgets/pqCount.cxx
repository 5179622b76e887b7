// SPDX-License-Identifier: BSD-3-Clause
#include "pqCount.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <cmath>

//-----------------------------------------------------------------------------
QString bat_count::grouped(double number)
{
  return QLocale(QLocale::English).toString(static_cast<qlonglong>(number));
}

//-----------------------------------------------------------------------------
QString bat_count::part(double number, double whole)
{
  constexpr double million = 1e6;
  if (whole < million)
  {
    return QCoreApplication::translate("pqCount", "%1 of %2")
      .arg(bat_count::grouped(number), bat_count::grouped(whole));
  }
  const auto millions = [](double count)
  {
    // Rounds to tenths, or shows all digits of a whole that has more, so that nothing is reported
    // complete too early.
    const double tenths = std::floor(10.0 * count / million) / 10.0;
    return QLocale(QLocale::English).toString(tenths, 'f', tenths == std::floor(tenths) ? 0 : 1);
  };
  return QCoreApplication::translate("pqCount", "%1 of %2 million")
    .arg(millions(number), millions(whole));
}

//-----------------------------------------------------------------------------
QString pqCount::text() const
{
  if (this->isExact())
  {
    return bat_count::grouped(this->Maximum);
  }
  if (this->Likely < 1.0)
  {
    return QCoreApplication::translate("pqCount", "very few");
  }
  const double unit = std::max(1.0, std::pow(10.0, std::floor(std::log10(this->Likely)) - 2.0));
  const double round = std::round(this->Likely / unit) * unit;
  return QCoreApplication::translate("pqCount", "about %1")
    .arg(bat_count::grouped(std::min(this->Maximum, std::max(this->Minimum, round))));
}
