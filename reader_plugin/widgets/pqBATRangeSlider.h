// A slider with two handles over a histogram.
#ifndef pqBATRangeSlider_h
#define pqBATRangeSlider_h

#include "pqBATRangeScale.h"

#include <QWidget>

class pqBATSliderHandle;

/// Chooses a minimum and a maximum on a pqBATRangeScale. Shows numbers that it is told and asks for
/// others; what it asks for are texts of the scale. Each handle is a widget that takes the focus:
/// arrows move it by 1 %, Page Up and Page Down by 10 %, Home and End to the ends.
class pqBATRangeSlider : public QWidget
{
  Q_OBJECT
  typedef QWidget Superclass;

public:
  explicit pqBATRangeSlider(QWidget* parent = nullptr);
  ~pqBATRangeSlider() override;

  /// The axis, what is painted over it, and what is chosen from, for tooltips and accessibility.
  void setScale(const pqBATRangeScale& scale, const pqBATHistogram& histogram, const QString& name);
  /// Shows a range; an empty text is no limit.
  void setRange(const QString& minimum, const QString& maximum);
  /// Whether the range holds, or is only shown.
  void setActive(bool active);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

Q_SIGNALS:
  void minimumChosen(const QString& text);
  void maximumChosen(const QString& text);

protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void mousePressEvent(QMouseEvent*) override;
  void changeEvent(QEvent*) override;

private:
  Q_DISABLE_COPY(pqBATRangeSlider)
  friend class pqBATSliderHandle;

  void choose(const pqBATSliderHandle* handle, const QString& text);
  void drag(const pqBATSliderHandle* handle, int x);
  double placeOf(const pqBATSliderHandle* handle) const;
  int toX(double place) const;
  void placeHandles();

  pqBATRangeScale Scale;
  pqBATHistogram Histogram;
  QString Minimum;
  QString Maximum;
  bool Active = false;
  pqBATSliderHandle* LowerHandle;
  pqBATSliderHandle* UpperHandle;
};

#endif
