#include "pqBATRangeSlider.h"

#include <QEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace
{
constexpr int HandleWidth = 9;
constexpr int HandleBelow = 4; // of the handle is under the histogram
constexpr double SmallStep = 0.01;
constexpr double LargeStep = 0.1;

QColor Mixed(const QColor& a, const QColor& b, double share)
{
  const auto mix = [share](int x, int y)
  { return static_cast<int>(std::lround((1.0 - share) * x + share * y)); };
  return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}
}

/// One end of the range. A line through the histogram and a knob below it.
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
    this->raise(); // where both are at one place, the one that the keys move is on top
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
}

//-----------------------------------------------------------------------------
pqBATRangeSlider::~pqBATRangeSlider() = default;

//-----------------------------------------------------------------------------
void pqBATRangeSlider::setScale(
  const pqBATRangeScale& scale, const pqBATHistogram& histogram, const QString& name)
{
  this->Scale = scale;
  this->Histogram = histogram;
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
  this->LowerHandle->setToolTip(
    tr("Minimum: %1\nDrag, or use the arrow keys").arg(minimum.isEmpty() ? no : minimum));
  this->UpperHandle->setToolTip(
    tr("Maximum: %1\nDrag, or use the arrow keys").arg(maximum.isEmpty() ? no : maximum));
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
void pqBATRangeSlider::drag(const pqBATSliderHandle* handle, int x)
{
  const int extent = std::max(1, this->width() - HandleWidth);
  const double place = static_cast<double>(x - HandleWidth / 2) / extent;
  this->choose(handle, this->Scale.text(std::min(1.0, std::max(0.0, place))));
}

//-----------------------------------------------------------------------------
// Beside the handles: the nearer one comes.
void pqBATRangeSlider::mousePressEvent(QMouseEvent* event)
{
  if (event->button() != Qt::LeftButton || !this->Scale.isUsable())
  {
    Superclass::mousePressEvent(event);
    return;
  }
  const int x = event->pos().x();
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
// Heights are square roots of counts: few particles beside very many are still to be seen.
void pqBATRangeSlider::paintEvent(QPaintEvent*)
{
  const QColor base = this->palette().color(QPalette::Base);
  const QColor text = this->palette().color(QPalette::Text);
  const QColor inside = this->Active ? Mixed(base, this->palette().color(QPalette::Highlight), 0.75)
                                     : Mixed(base, text, 0.45);
  const QColor outside = Mixed(base, text, 0.18);

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

  double highest = 0.0;
  for (const double count : this->Histogram.Counts)
  {
    highest = std::max(highest, count);
  }
  QPainterPath bars;
  const double width =
    (extent + 1.0) / std::max(1, static_cast<int>(this->Histogram.Counts.size()));
  for (int i = 0; highest > 0.0 && i < this->Histogram.Counts.size(); ++i)
  {
    const double count = this->Histogram.Counts[i];
    if (count > 0.0)
    {
      // Whatever is there is seen: at least one pixel.
      const double height = std::max(1.0, (bottom - 2.0) * std::sqrt(count / highest));
      bars.addRect(QRectF(left + i * width, bottom - height, width, height));
    }
  }
  bars.setFillRule(Qt::WindingFill);
  painter.fillPath(bars, outside);
  painter.save();
  painter.setClipRect(QRectF(first, 0.0, last - first + 1.0, bottom));
  painter.fillPath(bars, inside);
  painter.restore();
  // The ends of the data, where the range does not reach them.
  QFont small = this->font();
  small.setPointSizeF(0.8 * small.pointSizeF());
  painter.setFont(small);
  painter.setPen(Mixed(base, text, 0.7));
  const auto shown = [&](double place)
  {
    return painter.fontMetrics().elidedText(
      bat_range::shown(this->Scale.text(place)), Qt::ElideMiddle, static_cast<int>(0.4 * extent));
  };
  if (first > left)
  {
    painter.drawText(frame.adjusted(2.0, 0.0, 0.0, 0.0), Qt::AlignLeft | Qt::AlignTop, shown(0.0));
  }
  if (last < this->toX(1.0))
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
  painter.setPen(Mixed(base, text, 0.3));
  painter.drawLine(QPointF(left, bottom), QPointF(left + extent, bottom));
  painter.setPen(QPen(inside, 2.0));
  painter.drawLine(QPointF(first, bottom), QPointF(last, bottom));
}
