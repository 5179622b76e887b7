// SPDX-License-Identifier: BSD-3-Clause
// A slider with two handles over a histogram.
#ifndef pqBATRangeSlider_h
#define pqBATRangeSlider_h

#include "pqRangeScale.h"

#include <QWidget>

class QPainter;
class QRectF;
class pqBATSliderHandle;

/// Chooses a minimum and a maximum on a pqRangeScale. Shows the numbers that it receives, and emits
/// signals when the user chooses others; these numbers are texts of the scale. Each handle is a
/// widget that takes the focus: arrows move it by 1 %, Page Up and Page Down by 10 %, Home and End
/// to the ends. The part between the handles moves both. Reports the values under the mouse, and
/// how many have them.
class pqBATRangeSlider : public QWidget
{
  Q_OBJECT
  typedef QWidget Superclass;

public:
  explicit pqBATRangeSlider(QWidget* parent = nullptr);
  ~pqBATRangeSlider() override;

  /// Sets the axis, the histogram above it, and the name for tooltips and accessibility.
  void setScale(const pqRangeScale& scale, const pqHistogram& histogram, const QString& name);
  /// Shows a range; an empty text means no limit.
  void setRange(const QString& minimum, const QString& maximum);
  /// An active range is applied; otherwise it is only shown.
  void setActive(bool active);
  /// A negated range selects the values outside it.
  void setNegated(bool negated);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

Q_SIGNALS:
  void minimumChosen(const QString& text);
  void maximumChosen(const QString& text);
  void rangeChosen(const QString& minimum, const QString& maximum);

protected:
  bool event(QEvent*) override;
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void mousePressEvent(QMouseEvent*) override;
  void mouseMoveEvent(QMouseEvent*) override;
  void mouseReleaseEvent(QMouseEvent*) override;
  void leaveEvent(QEvent*) override;
  void changeEvent(QEvent*) override;

private:
  Q_DISABLE_COPY(pqBATRangeSlider)
  friend class pqBATSliderHandle;

  void choose(const pqBATSliderHandle* handle, const QString& text);
  void drag(const pqBATSliderHandle* handle, int x);
  void dragBoth(int x);
  void takeNearer(int x);
  bool isBetween(int x) const;
  double toPlace(int x) const;
  int binAt(int x) const;
  QString formatBin(int bin) const;
  void showBin(int bin);
  double placeOf(const pqBATSliderHandle* handle) const;
  int toX(double place) const;
  void placeHandles();
  void paintTexts(QPainter& painter, const QRectF& frame, bool showMinimum, bool showMaximum);

  pqRangeScale Scale;
  pqHistogram Histogram;
  QString Minimum;
  QString Maximum;
  bool Active = false;
  bool Negated = false;
  int Bin = -1; ///< under the mouse; -1 if none
  struct
  {
    bool Pressed = false;
    bool Moved = false;
    int X = 0;
    double Lower = 0.0;
    double Upper = 1.0;
  } Both; ///< start of a drag of both handles
  pqBATSliderHandle* LowerHandle;
  pqBATSliderHandle* UpperHandle;
};

#endif
