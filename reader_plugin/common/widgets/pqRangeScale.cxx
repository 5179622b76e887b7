// SPDX-License-Identifier: BSD-3-Clause
#include "pqRangeScale.h"

#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <limits>

namespace
{
// The number for a position need not be nearer to it than this share of the axis.
constexpr double Precision = 1.0 / 400;

bool IsInteger(const QString& text)
{
  static const QRegularExpression integer("^[-+]?[0-9]+$");
  return integer.match(text).hasMatch();
}

// Bits of a 64-bit integer, signed or not; differences of two of one kind are exact modulo 2^64.
quint64 ParseBits(const QString& text, bool* ok)
{
  const qlonglong number = text.toLongLong(ok);
  return *ok ? static_cast<quint64>(number) : text.toULongLong(ok);
}

double PowerOfTenBelow(double step)
{
  return std::pow(10.0, std::floor(std::log10(step) + 1e-9));
}
}

//-----------------------------------------------------------------------------
double pqHistogram::largestShare() const
{
  double sum = 0.0;
  double largest = 0.0;
  for (const double count : this->Counts)
  {
    sum += count;
    largest = std::max(largest, count);
  }
  return sum > 0.0 ? largest / sum : 0.0;
}

//-----------------------------------------------------------------------------
pqRangeScale::pqRangeScale(
  const QString& minimum, const QString& maximum, const pqHistogram& histogram)
  : Minimum(minimum)
  , Maximum(maximum)
  , Axis(histogram)
{
  if (this->Axis.Counts.isEmpty())
  {
    this->Axis.Lower = minimum.toDouble();
    this->Axis.Upper = maximum.toDouble();
  }
  if (histogram.Integers && IsInteger(minimum) && IsInteger(maximum))
  {
    bool okMinimum = false;
    bool okMaximum = false;
    this->First = ParseBits(minimum, &okMinimum);
    this->Extent = ParseBits(maximum, &okMaximum) - this->First;
    this->Exact = okMinimum && okMaximum;
  }
}

//-----------------------------------------------------------------------------
bool pqRangeScale::isUsable() const
{
  return this->Exact ? this->Extent > 0 && this->Axis.Lower <= this->Axis.Upper
                     : this->Axis.Lower < this->Axis.Upper && std::isfinite(this->Axis.Lower) &&
      std::isfinite(this->Axis.Upper);
}

//-----------------------------------------------------------------------------
bool pqRangeScale::hasValues() const
{
  return bat_range::hasValues(this->Minimum, this->Maximum);
}

//-----------------------------------------------------------------------------
double pqRangeScale::value(double place) const
{
  if (this->Axis.StraightBelow > 0.0)
  {
    const double lower = std::asinh(this->Axis.Lower / this->Axis.StraightBelow);
    const double upper = std::asinh(this->Axis.Upper / this->Axis.StraightBelow);
    return this->Axis.StraightBelow * std::sinh(lower + place * (upper - lower));
  }
  return (1.0 - place) * this->Axis.Lower + place * this->Axis.Upper;
}

//-----------------------------------------------------------------------------
double pqRangeScale::place(const QString& text, double otherwise) const
{
  bool ok = false;
  const double number = text.toDouble(&ok);
  if (!ok || std::isnan(number) || !this->isUsable())
  {
    return otherwise;
  }
  if (text == this->Minimum || text == this->Maximum)
  {
    return text == this->Minimum ? 0.0 : 1.0;
  }
  if (this->Axis.StraightBelow > 0.0)
  {
    const double lower = std::asinh(this->Axis.Lower / this->Axis.StraightBelow);
    const double upper = std::asinh(this->Axis.Upper / this->Axis.StraightBelow);
    const double at = std::asinh(number / this->Axis.StraightBelow);
    return std::min(1.0, std::max(0.0, (at - lower) / (upper - lower)));
  }
  if (this->Exact && IsInteger(text))
  {
    const quint64 distance = ParseBits(text, &ok) - this->First;
    if (ok && distance <= this->Extent)
    {
      return static_cast<double>(distance) / static_cast<double>(this->Extent);
    }
    return number <= this->Axis.Lower ? 0.0 : 1.0; // as doubles a neighbour may equal an end
  }
  const double extent = 0.5 * this->Axis.Upper - 0.5 * this->Axis.Lower;
  return std::min(1.0, std::max(0.0, (0.5 * number - 0.5 * this->Axis.Lower) / extent));
}

//-----------------------------------------------------------------------------
QString pqRangeScale::text(double place) const
{
  if (!(place > 0.0) || !this->isUsable())
  {
    return this->Minimum;
  }
  if (place >= 1.0)
  {
    return this->Maximum;
  }
  const double step = this->value(std::min(1.0, place + Precision / 2)) -
    this->value(std::max(0.0, place - Precision / 2));
  if (this->Exact)
  {
    const double linear = Precision * static_cast<double>(this->Extent); // doubles may be coarser
    return this->integer(place, this->Axis.StraightBelow > 0.0 ? step : linear);
  }
  const double number = this->value(place);
  if (!(step > 0.0) || !std::isfinite(step))
  {
    return QString::number(number, 'g', 6);
  }
  const QString text = bat_range::rounded(number, step);
  const double shortNumber = text.toDouble();
  return shortNumber <= this->Axis.Lower ? this->Minimum
    : shortNumber >= this->Axis.Upper    ? this->Maximum
                                         : text;
}

//-----------------------------------------------------------------------------
QString pqRangeScale::lowerLimit(const QString& text) const
{
  return text == this->Minimum ? QString() : text;
}

//-----------------------------------------------------------------------------
QString pqRangeScale::upperLimit(const QString& text) const
{
  return text == this->Maximum ? QString() : text;
}

//-----------------------------------------------------------------------------
// Multiples of a power of ten, counted from the smallest value in 64 bits.
QString pqRangeScale::integer(double place, double rounding) const
{
  constexpr quint64 parts = 1u << 20;
  quint64 distance = 0;
  if (this->Axis.StraightBelow > 0.0)
  {
    const double far = std::max(0.0, this->value(place) - this->Axis.Lower);
    distance = far >= static_cast<double>(this->Extent)
      ? this->Extent
      : std::min(this->Extent, static_cast<quint64>(std::llround(std::min(far, 9.2e18))));
  }
  else
  {
    // Rounds to the nearest. Quotient and rest are handled separately, so that products stay below
    // 2^64.
    const auto part = static_cast<quint64>(std::llround(place * static_cast<double>(parts)));
    distance = this->Extent / parts * part + (this->Extent % parts * part + parts / 2) / parts;
  }
  const bool isSigned = this->Minimum.startsWith('-') ||
    this->First + distance <= static_cast<quint64>(std::numeric_limits<qint64>::max());
  const quint64 bits = this->First + distance;
  const double power = rounding >= 10.0 ? PowerOfTenBelow(rounding) : 1.0;
  const auto unit = static_cast<quint64>(std::min(power, 1e18));
  quint64 rest = 0;
  if (isSigned)
  {
    const auto number = static_cast<qint64>(bits);
    const auto remainder = number % static_cast<qint64>(unit);
    rest = static_cast<quint64>(remainder < 0 ? remainder + static_cast<qint64>(unit) : remainder);
  }
  else
  {
    rest = bits % unit;
  }
  // Rounds down, or up if that is nearer and still inside.
  const quint64 up = unit - rest;
  if (rest != 0 && up < rest && up <= this->Extent - distance)
  {
    distance += up;
  }
  else if (rest <= distance)
  {
    distance -= rest;
  }
  if (distance == 0)
  {
    return this->Minimum;
  }
  if (distance == this->Extent)
  {
    return this->Maximum;
  }
  const quint64 number = this->First + distance;
  return isSigned ? QString::number(static_cast<qint64>(number)) : QString::number(number);
}

//-----------------------------------------------------------------------------
QString pqRangeScale::stepped(double place, double step) const
{
  const QString here = this->text(place);
  // Steps grow until they lead to another integer.
  QString there = this->text(place + step);
  for (double far = step; there == here && std::fabs(far) < 1.0;)
  {
    far *= 2.0;
    there = this->text(place + far);
  }
  return there;
}

//-----------------------------------------------------------------------------
bool bat_range::hasValues(const QString& minimum, const QString& maximum)
{
  return !minimum.isEmpty() && minimum.toDouble() <= maximum.toDouble();
}

//-----------------------------------------------------------------------------
QString bat_range::shown(const QString& text)
{
  bool ok = false;
  const double number = text.toDouble(&ok);
  return !ok || IsInteger(text) ? text : QString::number(number, 'g', 4);
}

//-----------------------------------------------------------------------------
QString bat_range::readable(const QString& text)
{
  constexpr int digits = 9;
  constexpr int group = 3;
  bool ok = false;
  const double number = text.toDouble(&ok);
  if (!ok || !IsInteger(text))
  {
    return ok ? QString::number(number, 'g', digits) : text;
  }
  QString grouped = text;
  const int first = text[0].isDigit() ? 0 : 1;
  for (int place = text.size() - group; place > first; place -= group)
  {
    grouped.insert(place, ',');
  }
  return grouped;
}

//-----------------------------------------------------------------------------
QString bat_range::rounded(double value, double step)
{
  const double unit = PowerOfTenBelow(step);
  const int exponent = static_cast<int>(std::lround(std::log10(unit)));
  const double size = std::fabs(value);
  if (size < unit / 2)
  {
    return "0";
  }
  if (size >= 1e-4 && size < 1e7)
  {
    if (exponent > 0)
    {
      return QString::number(std::round(value / unit) * unit, 'f', 0);
    }
    QString text = QString::number(value, 'f', -exponent);
    while (text.contains('.') && (text.endsWith('0') || text.endsWith('.')))
    {
      text.chop(1);
    }
    return text;
  }
  const int digits = static_cast<int>(std::floor(std::log10(size))) - exponent + 1;
  return QString::number(value, 'g', std::max(1, std::min(17, digits)));
}
