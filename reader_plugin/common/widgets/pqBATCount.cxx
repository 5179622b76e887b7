// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATCount.h"

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
QString pqBATCount::text() const
{
  if (this->isExact())
  {
    return bat_count::grouped(this->Most);
  }
  if (this->Likely < 1.0)
  {
    return QCoreApplication::translate("pqBATCount", "hardly any");
  }
  const double unit = std::max(1.0, std::pow(10.0, std::floor(std::log10(this->Likely)) - 2.0));
  const double round = std::round(this->Likely / unit) * unit;
  return QCoreApplication::translate("pqBATCount", "about %1")
    .arg(bat_count::grouped(std::min(this->Most, std::max(this->Least, round))));
}
