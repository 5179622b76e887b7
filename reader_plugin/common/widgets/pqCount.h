// SPDX-License-Identifier: BSD-3-Clause
// Formats an exact or approximate number of particles for the panel.
#ifndef pqCount_h
#define pqCount_h

#include <QString>

struct pqCount
{
  double Minimum = 0.0;
  double Likely = 0.0;
  double Maximum = 0.0;

  bool isExact() const { return this->Minimum == this->Maximum; }
  /// Formats an exact number as "1,955"; otherwise as "about 43,100", with three significant
  /// digits, or "hardly any" if a sample contains none.
  QString text() const;
};

namespace bat_count
{
/// Formats the number with commas between thousands.
QString grouped(double number);
/// Formats a part of a whole for display while it changes: "2.5 of 15 million", "500,000 of
/// 700,000".
QString part(double number, double whole);
}

#endif
