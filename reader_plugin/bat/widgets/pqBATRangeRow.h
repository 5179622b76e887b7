// SPDX-License-Identifier: BSD-3-Clause
// One filter of the reader's panel: an attribute, its minimum and maximum, and a slider over its
// histogram.
#ifndef pqBATRangeRow_h
#define pqBATRangeRow_h

#include "pqRangeScale.h"

#include <QWidget>

class QCheckBox;
class QToolButton;
class pqNumberEdit;
class pqBATRangeSlider;

/// A checked row is a range in the property. Its numbers remain texts everywhere, so that 64-bit
/// integers stay exact; an empty text means no limit.
class pqBATRangeRow : public QWidget
{
  Q_OBJECT
  typedef QWidget Superclass;

public:
  /// `target` is the attribute's name in the property, `label` the displayed one. `isFirst` rows
  /// have a button that adds another row for the same attribute; the others have one that removes
  /// the row.
  pqBATRangeRow(
    const QString& target, const QString& label, bool isFirst, QWidget* parent = nullptr);
  ~pqBATRangeRow() override;

  const QString& target() const { return this->Target; }
  bool isFirst() const { return this->First; }
  bool isActive() const;
  /// Excludes the values in the range, instead of all others.
  bool isNegated() const;
  void setNegated(bool negated);
  /// If `alternative`, the row shows that matching another row of the same attribute is enough.
  void setAlternative(bool alternative);
  QString minimum() const;
  QString maximum() const;

  /// Sets the range of the file: empty texts if the file lacks the attribute, a minimum above the
  /// maximum if no value is a number. Shown if there is no limit.
  void setData(const QString& minimum, const QString& maximum);
  /// Sets the histograms on a linear and on a logarithmic axis.
  void setHistograms(const pqHistogram& linear, const pqHistogram& logarithmic);
  /// A range of the property.
  void setRange(const QString& minimum, const QString& maximum);
  /// Unchecks the row; its ends stay.
  void deactivate();
  /// Unchecks the row and removes its limits.
  void resetRange();

  /// These set whether rows of components follow, and whether they are shown.
  void setExpandable(bool expandable);
  bool isExpanded() const;
  void setExpanded(bool expanded);
  /// Components are placed below their vector.
  void setIndented(bool indented);

Q_SIGNALS:
  void rangeChanged();
  void expandedChanged();
  void anotherRequested();
  void removalRequested();

protected:
  void resizeEvent(QResizeEvent*) override;
  void contextMenuEvent(QContextMenuEvent*) override;

private:
  Q_DISABLE_COPY(pqBATRangeRow)

  void nameWidgets();
  void arrangeWidgets();
  void connectWidgets();
  void showRange();
  void showFileRange();
  void updateScale();
  void elideName();
  void chooseMinimum(const QString& text);
  void chooseMaximum(const QString& text);

  QString Target;
  QString Label;
  bool First;
  bool Alternative = false;
  QString FileMinimum; ///< empty if the file does not have the attribute
  QString FileMaximum;
  bool Logarithmic = false;
  bool AxisChosen = false; ///< by the user, not by the data
  pqHistogram Linear;
  pqHistogram Curved;
  QToolButton* Expander;
  QCheckBox* Name;
  QCheckBox* Not;
  pqNumberEdit* Minimum;
  pqNumberEdit* Maximum;
  QToolButton* Button;
  pqBATRangeSlider* Slider;
};

#endif
