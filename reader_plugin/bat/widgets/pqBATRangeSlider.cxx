// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATRangeSlider.h"

#include <QEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace
{
constexpr int HandleWidth = 9;
constexpr int HandleBelow = 4; // pixels of the handle below the histogram
constexpr double SmallStep = 0.01;
constexpr double LargeStep = 0.1;

QColor Mixed(const QColor& a, const QColor& b, double share)
{
  const auto mix = [share](int x, int y)
  { return static_cast<int>(std::lround((1.0 - share) * x + share * y)); };
  return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

// The area for the bins of a histogram.
struct BinArea
{
  double Left;
  double Bottom;
  double Width; ///< width of a bin
};

// The heights are square roots of counts, so that small counts next to very large ones stay
// visible.
QPainterPath MakeBars(const QVector<double>& counts, const BinArea& area)
{
  double highest = 0.0;
  for (const double count : counts)
  {
    highest = std::max(highest, count);
  }
  QPainterPath bars;
  for (int i = 0; highest > 0.0 && i < counts.size(); ++i)
  {
    const double count = counts[i];
    if (count > 0.0)
    {
      // Any count above 0 is visible: at least one pixel.
      const double height = std::max(1.0, (area.Bottom - 2.0) * std::sqrt(count / highest));
      bars.addRect(QRectF(area.Left + i * area.Width, area.Bottom - height, area.Width, height));
    }
  }
  bars.setFillRule(Qt::WindingFill);
  return bars;
}
}

/// One end of the range, drawn as a line through the histogram with a knob below it.
class pqBATSliderHandle : public QWidget
{
public:
  explicit pqBATSliderHandle(pqBATRangeSlider* slider)
    : QWidget(slider)
    , Slider(slider)
  {
    this->setFocusPolicy(Qt::StrongFocus);
    this->setCursor(Qt::SizeHorCursor);
  }

protected:
  void paintEvent(QPaintEvent*) override
  {
    const QPalette& colors = this->palette();
    const QColor color =
      this->Slider->Active ? colors.color(QPalette::Highlight) : colors.color(QPalette::Mid);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double middle = 0.5 * this->width();
    painter.setPen(QPen(color, 1.5));
    painter.drawLine(QPointF(middle, 0.0), QPointF(middle, this->height() - 5.0));
    painter.setPen(QPen(this->hasFocus() ? colors.color(QPalette::WindowText) : color, 1.5));
    painter.setBrush(this->hasFocus() ? color : colors.color(QPalette::Button));
    painter.drawEllipse(QPointF(middle, this->height() - 5.0), 3.5, 3.5);
  }

  void mousePressEvent(QMouseEvent* event) override
  {
    if (event->button() == Qt::LeftButton)
    {
      this->Grip = event->pos().x() - this->width() / 2;
    }
  }

  void mouseMoveEvent(QMouseEvent* event) override
  {
    if (event->buttons() & Qt::LeftButton)
    {
      this->Slider->drag(this, this->mapToParent(event->pos()).x() - this->Grip);
    }
  }

  void keyPressEvent(QKeyEvent* event) override
  {
    double step = 0.0;
    switch (event->key())
    {
      case Qt::Key_Left:
      case Qt::Key_Down:
        step = -SmallStep;
        break;
      case Qt::Key_Right:
      case Qt::Key_Up:
        step = SmallStep;
        break;
      case Qt::Key_PageDown:
        step = -LargeStep;
        break;
      case Qt::Key_PageUp:
        step = LargeStep;
        break;
      case Qt::Key_Home:
        step = -2.0;
        break;
      case Qt::Key_End:
        step = 2.0;
        break;
      default:
        QWidget::keyPressEvent(event);
        return;
    }
    const double place = this->Slider->placeOf(this);
    this->Slider->choose(this, this->Slider->Scale.stepped(place, step));
  }

  void focusInEvent(QFocusEvent* event) override
  {
    this->raise(); // if both coincide, the one that the keys move is on top
    QWidget::focusInEvent(event);
  }

private:
  pqBATRangeSlider* Slider;
  int Grip = 0;
};

//-----------------------------------------------------------------------------
pqBATRangeSlider::pqBATRangeSlider(QWidget* parentWidget)
  : Superclass(parentWidget)
  , LowerHandle(new pqBATSliderHandle(this))
  , UpperHandle(new pqBATSliderHandle(this))
{
  this->LowerHandle->setObjectName("LowerHandle");
  this->UpperHandle->setObjectName("UpperHandle");
  this->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  this->setMouseTracking(true);
}

//-----------------------------------------------------------------------------
pqBATRangeSlider::~pqBATRangeSlider() = default;

//-----------------------------------------------------------------------------
void pqBATRangeSlider::setScale(
  const pqRangeScale& scale, const pqHistogram& histogram, const QString& name)
{
  this->Scale = scale;
  this->Histogram = histogram;
  this->showBin(-1);
  this->setAccessibleName(tr("Range of %1").arg(name));
  this->LowerHandle->setAccessibleName(tr("Minimum of %1").arg(name));
  this->UpperHandle->setAccessibleName(tr("Maximum of %1").arg(name));
  this->LowerHandle->setVisible(scale.isUsable());
  this->UpperHandle->setVisible(scale.isUsable());
  this->placeHandles();
  this->update();
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::setRange(const QString& minimum, const QString& maximum)
{
  this->Minimum = minimum;
  this->Maximum = maximum;
  const QString no = tr("no limit");
  const QString help = tr("%1: %2\nDrag, or use the arrow keys");
  this->LowerHandle->setToolTip(
    help.arg(tr("Minimum"), minimum.isEmpty() ? no : bat_range::readable(minimum)));
  this->UpperHandle->setToolTip(
    help.arg(tr("Maximum"), maximum.isEmpty() ? no : bat_range::readable(maximum)));
  this->LowerHandle->setAccessibleDescription(minimum.isEmpty() ? no : minimum);
  this->UpperHandle->setAccessibleDescription(maximum.isEmpty() ? no : maximum);
  this->placeHandles();
  this->update();
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::setActive(bool active)
{
  if (this->Active != active)
  {
    this->Active = active;
    this->update();
    this->LowerHandle->update();
    this->UpperHandle->update();
  }
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::setNegated(bool negated)
{
  if (this->Negated != negated)
  {
    this->Negated = negated;
    this->update();
  }
}

//-----------------------------------------------------------------------------
QSize pqBATRangeSlider::sizeHint() const
{
  return QSize(180, this->fontMetrics().height() + 14);
}

//-----------------------------------------------------------------------------
QSize pqBATRangeSlider::minimumSizeHint() const
{
  return QSize(60, this->sizeHint().height());
}

//-----------------------------------------------------------------------------
int pqBATRangeSlider::toX(double place) const
{
  return HandleWidth / 2 + static_cast<int>(std::lround(place * (this->width() - HandleWidth)));
}

//-----------------------------------------------------------------------------
double pqBATRangeSlider::placeOf(const pqBATSliderHandle* handle) const
{
  return handle == this->LowerHandle ? this->Scale.place(this->Minimum, 0.0)
                                     : this->Scale.place(this->Maximum, 1.0);
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::placeHandles()
{
  for (pqBATSliderHandle* handle : { this->LowerHandle, this->UpperHandle })
  {
    handle->setGeometry(
      this->toX(this->placeOf(handle)) - HandleWidth / 2, 0, HandleWidth, this->height());
  }
}

//-----------------------------------------------------------------------------
// A handle that is moved past the other one stops there.
void pqBATRangeSlider::choose(const pqBATSliderHandle* handle, const QString& text)
{
  if (handle == this->LowerHandle)
  {
    const bool past = this->Scale.place(text, 0.0) > this->placeOf(this->UpperHandle);
    const QString number = past ? this->Maximum : this->Scale.lowerLimit(text);
    if (number != this->Minimum)
    {
      Q_EMIT this->minimumChosen(number);
    }
  }
  else
  {
    const bool past = this->Scale.place(text, 1.0) < this->placeOf(this->LowerHandle);
    const QString number = past ? this->Minimum : this->Scale.upperLimit(text);
    if (number != this->Maximum)
    {
      Q_EMIT this->maximumChosen(number);
    }
  }
}

//-----------------------------------------------------------------------------
double pqBATRangeSlider::toPlace(int x) const
{
  const int extent = std::max(1, this->width() - HandleWidth);
  const double place = static_cast<double>(x - HandleWidth / 2) / extent;
  return std::min(1.0, std::max(0.0, place));
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::drag(const pqBATSliderHandle* handle, int x)
{
  this->choose(handle, this->Scale.text(this->toPlace(x)));
}

//-----------------------------------------------------------------------------
// Returns where a press grabs the whole range: the range exists, and the point is between its ends.
bool pqBATRangeSlider::isBetween(int x) const
{
  const bool limited = !this->Minimum.isEmpty() || !this->Maximum.isEmpty();
  return limited && x > this->toX(this->placeOf(this->LowerHandle)) &&
    x < this->toX(this->placeOf(this->UpperHandle));
}

//-----------------------------------------------------------------------------
// Moves both ends by the same distance on the axis, as far as both can go.
void pqBATRangeSlider::dragBoth(int x)
{
  const int extent = std::max(1, this->width() - HandleWidth);
  const double requested = static_cast<double>(x - this->Both.X) / extent;
  const double shift = std::min(1.0 - this->Both.Upper, std::max(-this->Both.Lower, requested));
  const QString minimum = this->Scale.lowerLimit(this->Scale.text(this->Both.Lower + shift));
  const QString maximum = this->Scale.upperLimit(this->Scale.text(this->Both.Upper + shift));
  if (minimum != this->Minimum || maximum != this->Maximum)
  {
    Q_EMIT this->rangeChosen(minimum, maximum);
  }
}

//-----------------------------------------------------------------------------
int pqBATRangeSlider::binAt(int x) const
{
  const int bins = this->Histogram.Counts.size();
  const bool on = x >= HandleWidth / 2 && x <= this->width() - HandleWidth / 2;
  return on && bins > 0 && this->Scale.isUsable()
    ? std::min(bins - 1, static_cast<int>(this->toPlace(x) * bins))
    : -1;
}

//-----------------------------------------------------------------------------
QString pqBATRangeSlider::formatBin(int bin) const
{
  const double bins = this->Histogram.Counts.size();
  const QString lower = bat_range::shown(this->Scale.text(bin / bins));
  const QString upper = bat_range::shown(this->Scale.text((bin + 1) / bins));
  const QString count =
    QLocale(QLocale::English)
      .toString(static_cast<qlonglong>(std::llround(this->Histogram.Counts[bin])));
  return lower == upper ? tr("%1: about %2 particles").arg(lower, count)
                        : tr("%1 to %2: about %3 particles").arg(lower, upper, count);
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::showBin(int bin)
{
  if (this->Bin != bin)
  {
    this->Bin = bin;
    this->setAccessibleDescription(bin < 0 ? QString() : this->formatBin(bin));
    this->update();
  }
}

//-----------------------------------------------------------------------------
// Outside the handles, the nearer one moves there. Between them, both are dragged.
void pqBATRangeSlider::mousePressEvent(QMouseEvent* event)
{
  const int x = event->pos().x();
  if (event->button() != Qt::LeftButton || !this->Scale.isUsable())
  {
    Superclass::mousePressEvent(event);
  }
  else if (this->isBetween(x))
  {
    this->Both = { true, false, x, this->placeOf(this->LowerHandle),
      this->placeOf(this->UpperHandle) };
  }
  else
  {
    this->takeNearer(x);
  }
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::mouseMoveEvent(QMouseEvent* event)
{
  const int x = event->pos().x();
  if (event->buttons() & Qt::LeftButton)
  {
    // Small movements of an unsteady hand still count as a click.
    constexpr int still = 2;
    this->Both.Moved = this->Both.Moved || std::abs(x - this->Both.X) > still;
    if (this->Both.Pressed && this->Both.Moved)
    {
      this->dragBoth(x);
    }
    return;
  }
  this->setCursor(this->isBetween(x) ? Qt::OpenHandCursor : Qt::ArrowCursor);
  this->showBin(this->binAt(x));
  if (this->Bin >= 0)
  {
    QToolTip::showText(this->mapToGlobal(event->pos()), this->formatBin(this->Bin), this);
  }
}

//-----------------------------------------------------------------------------
// A resting mouse shows the same text.
bool pqBATRangeSlider::event(QEvent* event)
{
  if (event->type() == QEvent::ToolTip && this->Bin >= 0)
  {
    const QPoint at = static_cast<QHelpEvent*>(event)->globalPos();
    QToolTip::showText(at, this->formatBin(this->Bin) + "\n" + this->toolTip(), this);
    return true;
  }
  return Superclass::event(event);
}

//-----------------------------------------------------------------------------
// A click between the handles moves the nearer one.
void pqBATRangeSlider::mouseReleaseEvent(QMouseEvent* event)
{
  if (this->Both.Pressed && !this->Both.Moved)
  {
    this->takeNearer(event->pos().x());
  }
  this->Both.Pressed = false;
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::leaveEvent(QEvent* event)
{
  Superclass::leaveEvent(event);
  this->showBin(-1);
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::takeNearer(int x)
{
  const auto distance = [this, x](const pqBATSliderHandle* handle)
  { return std::abs(x - this->toX(this->placeOf(handle))); };
  pqBATSliderHandle* nearer = distance(this->LowerHandle) < distance(this->UpperHandle)
    ? this->LowerHandle
    : this->UpperHandle;
  if (distance(this->LowerHandle) == distance(this->UpperHandle))
  {
    nearer =
      x < this->toX(this->placeOf(this->LowerHandle)) ? this->LowerHandle : this->UpperHandle;
  }
  nearer->setFocus(Qt::MouseFocusReason);
  this->drag(nearer, x);
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::resizeEvent(QResizeEvent* event)
{
  Superclass::resizeEvent(event);
  this->placeHandles();
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::changeEvent(QEvent* event)
{
  Superclass::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::EnabledChange)
  {
    this->update();
  }
}

//-----------------------------------------------------------------------------
// Writes the ends of the data in small letters, and marks a logarithmic axis.
void pqBATRangeSlider::paintTexts(
  QPainter& painter, const QRectF& frame, bool showMinimum, bool showMaximum)
{
  const QColor base = this->palette().color(QPalette::Base);
  const QColor text = this->palette().color(QPalette::Text);
  QFont small = this->font();
  small.setPointSizeF(0.8 * small.pointSizeF());
  painter.setFont(small);
  painter.setPen(Mixed(base, text, 0.7));
  const double extent = this->width() - HandleWidth;
  const auto shown = [&](double place)
  {
    return painter.fontMetrics().elidedText(
      bat_range::shown(this->Scale.text(place)), Qt::ElideMiddle, static_cast<int>(0.4 * extent));
  };
  if (showMinimum)
  {
    painter.drawText(frame.adjusted(2.0, 0.0, 0.0, 0.0), Qt::AlignLeft | Qt::AlignTop, shown(0.0));
  }
  if (showMaximum)
  {
    painter.drawText(
      frame.adjusted(0.0, 0.0, -2.0, 0.0), Qt::AlignRight | Qt::AlignTop, shown(1.0));
  }
  if (this->Histogram.StraightBelow > 0.0)
  {
    const QString mark = tr("log");
    const int flags = Qt::AlignHCenter | Qt::AlignTop;
    const QRectF place = painter.boundingRect(frame, flags, mark).adjusted(-3.0, 0.0, 3.0, 0.0);
    painter.fillRect(place, base); // bars are behind it
    painter.drawText(place, flags, mark);
  }
}

//-----------------------------------------------------------------------------
void pqBATRangeSlider::paintEvent(QPaintEvent*)
{
  const QColor base = this->palette().color(QPalette::Base);
  const QColor text = this->palette().color(QPalette::Text);
  const QColor held = this->Active ? Mixed(base, this->palette().color(QPalette::Highlight), 0.75)
                                   : Mixed(base, text, 0.45);
  const QColor dropped = Mixed(base, text, 0.18);
  const QColor& inside = this->Negated ? dropped : held;
  const QColor& outside = this->Negated ? held : dropped;

  QPainter painter(this);
  const double left = HandleWidth / 2;
  const double extent = this->width() - HandleWidth;
  const double bottom = this->height() - HandleBelow - 1.0;
  const QRectF frame(left - 1.0, 0.0, extent + 3.0, bottom);
  painter.fillRect(frame, base);
  if (!this->Scale.isUsable())
  {
    painter.setPen(Mixed(base, text, 0.5));
    painter.drawText(
      frame, Qt::AlignCenter, this->Scale.hasValues() ? tr("one value") : tr("no values"));
    return;
  }
  const double first = this->toX(this->placeOf(this->LowerHandle));
  const double last = this->toX(this->placeOf(this->UpperHandle));

  const double width =
    (extent + 1.0) / std::max(1, static_cast<int>(this->Histogram.Counts.size()));
  const QPainterPath bars = MakeBars(this->Histogram.Counts, { left, bottom, width });
  painter.fillPath(bars, outside);
  painter.save();
  painter.setClipRect(QRectF(first, 0.0, last - first + 1.0, bottom));
  painter.fillPath(bars, inside);
  painter.restore();
  if (this->Bin >= 0)
  {
    painter.fillRect(
      QRectF(left + this->Bin * width, 0.0, std::max(1.0, width), bottom), Mixed(base, text, 0.12));
    painter.save();
    painter.setClipRect(QRectF(left + this->Bin * width, 0.0, std::max(1.0, width), bottom));
    painter.fillPath(bars, text);
    painter.restore();
  }
  // The ends of the data are shown if the range does not reach them.
  this->paintTexts(painter, frame, first > left, last < this->toX(1.0));
  painter.setPen(Mixed(base, text, 0.3));
  painter.drawLine(QPointF(left, bottom), QPointF(left + extent, bottom));
  painter.setPen(QPen(inside, 2.0));
  painter.drawLine(QPointF(first, bottom), QPointF(last, bottom));
}
