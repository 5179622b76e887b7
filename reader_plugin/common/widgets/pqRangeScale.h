// SPDX-License-Identifier: BSD-3-Clause
// Maps the numbers of a range to positions on its slider, and back.
#ifndef pqRangeScale_h
#define pqRangeScale_h

#include <QString>
#include <QVector>

/// Numbers of particles in bins of equal width, as in the property AttributeHistograms.
struct pqHistogram
{
  double Lower = 0.0;         ///< smallest finite value
  double Upper = 0.0;         ///< largest finite value
  bool Integers = false;      ///< all values are
  double StraightBelow = 0.0; ///< magnitude below which a logarithmic axis is linear; 0 if linear
  QVector<double> Counts;     ///< empty if unknown

  /// Largest share of all particles in one bin. 0 without particles.
  double largestShare() const;
};

/// The axis of a slider over the values of an attribute: 0 is the smallest, 1 the largest. Its ends
/// are the texts of the file, so that no end is rounded; in between are short numbers or, for
/// integers, integers, which keep all their digits.
class pqRangeScale
{
public:
  pqRangeScale() = default;
  pqRangeScale(const QString& minimum, const QString& maximum, const pqHistogram& histogram);

  /// True if there is more than one value; otherwise there is nothing to choose.
  bool isUsable() const;
  bool hasValues() const;
  /// Position of a number, in [0, 1]; `otherwise` for texts that are not numbers, including the
  /// empty text.
  double place(const QString& text, double otherwise) const;
  /// The number at a position, or a shorter number near it.
  QString text(double place) const;
  /// A number from text() or stepped() as one end of a range: empty at the end of the axis, which
  /// means no limit, because other files may have values beyond it.
  QString lowerLimit(const QString& text) const;
  QString upperLimit(const QString& text) const;
  /// The number to which a small step, a share of the axis, leads from a position. Differs from the
  /// number there unless that is the end.
  QString stepped(double place, double step) const;

private:
  double value(double place) const;
  QString integer(double place, double rounding) const;

  QString Minimum;
  QString Maximum;
  pqHistogram Axis;
  bool Exact = false; ///< integers with exact distances from the smallest
  quint64 First = 0;  ///< bits of the smallest
  quint64 Extent = 0;
};

namespace bat_range
{
/// True if these are the ends of existing values.
bool hasValues(const QString& minimum, const QString& maximum);
/// A number in short form: integers in full, others with 4 digits.
QString shown(const QString& text);
/// A number for display: integers with commas, others with at most 9 digits.
QString readable(const QString& text);
/// `value` with only as many digits as distinguish it from a value that is `step` away.
QString rounded(double value, double step);
}

#endif
