// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATValuesRow.h"

#include "pqActiveObjects.h"
#include "pqDataRepresentation.h"
#include "pqPipelineSource.h"
#include "pqView.h"

#include "vtkDataObject.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkScalarsToColors.h"

#include <QAction>
#include <QCheckBox>
#include <QContextMenuEvent>
#include <QEvent>
#include <QGridLayout>
#include <QIcon>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPixmap>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QStyle>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>

namespace
{
constexpr int Swatch = 10;
constexpr int Indent = 14;

// An exact 64-bit integer, or another end of a range. Empty texts mean no limit.
long double Exact(const QString& text, long double ifEmpty)
{
  static_assert(std::numeric_limits<long double>::digits >= 64);
  bool ok = false;
  if (const qlonglong number = text.toLongLong(&ok); ok)
  {
    return number;
  }
  if (const qulonglong number = text.toULongLong(&ok); ok)
  {
    return number;
  }
  const double number = text.toDouble(&ok);
  return ok ? number : ifEmpty;
}

bool IsBelow(const QString& a, const QString& b)
{
  return Exact(a, 0.0L) < Exact(b, 0.0L);
}

bool IsNegated(const QVariant& target, const QString& name)
{
  return target.toString() != name;
}

// The colours are pale, so that they are not mistaken for the picture's.
QColor NeutralColor(const QString& value)
{
  static const char* const colors[] = { "#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3",
    "#fdb462", "#b3de69", "#fccde5", "#d9d9d9", "#bc80bd", "#ccebc5", "#ffed6f" };
  const auto number = static_cast<qint64>(std::fmod(Exact(value, 0.0L), 12.0L));
  return QColor(colors[(number + 12) % 12]);
}

QIcon IconOf(const QColor& color)
{
  QPixmap pixmap(Swatch, Swatch);
  pixmap.fill(color);
  QPainter(&pixmap).drawRect(0, 0, Swatch - 1, Swatch - 1);
  return QIcon(pixmap);
}

// Returns the colours of `source` in the active view, if it is coloured by this attribute.
vtkScalarsToColors* ColorsOf(pqPipelineSource* source, const QString& attribute)
{
  pqView* view = pqActiveObjects::instance().activeView();
  pqDataRepresentation* representation =
    source && view ? source->getRepresentation(0, view) : nullptr;
  vtkSMProxy* proxy = representation ? representation->getProxy() : nullptr;
  if (!proxy || !proxy->GetProperty("ColorArrayName") || !proxy->GetProperty("LookupTable"))
  {
    return nullptr;
  }
  vtkSMPropertyHelper array(proxy, "ColorArrayName");
  const char* name = array.GetInputArrayNameToProcess();
  vtkSMProxy* table = vtkSMPropertyHelper(proxy, "LookupTable").GetAsProxy();
  if (!name || QString::fromUtf8(name) != attribute || !table ||
    array.GetInputArrayAssociation() != vtkDataObject::FIELD_ASSOCIATION_POINTS)
  {
    return nullptr;
  }
  return vtkScalarsToColors::SafeDownCast(table->GetClientSideObject());
}
}

//-----------------------------------------------------------------------------
pqBATValuesRow::pqBATValuesRow(
  const QString& target, pqPipelineSource* source, QWidget* parentWidget)
  : Superclass(parentWidget)
  , Target(target)
  , Source(source)
  , Name(new QLabel(this))
  , Grid(new QGridLayout)
{
  this->Name->setTextFormat(Qt::PlainText);
  this->Name->setText(target);
  this->Name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  this->Name->setToolTip(tr("%1: unchecked values are filtered out").arg(target));
  this->Grid->setContentsMargins(Indent, 0, 0, 0);
  this->Grid->setHorizontalSpacing(8);
  this->Grid->setVerticalSpacing(1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2, 3, 2, 3);
  layout->setSpacing(1);
  layout->addWidget(this->Name);
  layout->addLayout(this->Grid);

  // Any change of a picture's colours renders it again.
  const auto watch = [this](pqView* view)
  {
    if (view)
    {
      QObject::connect(
        view, &pqView::endRender, this, &pqBATValuesRow::showColors, Qt::UniqueConnection);
    }
    this->showColors();
  };
  QObject::connect(&pqActiveObjects::instance(), &pqActiveObjects::viewChanged, this, watch);
  watch(pqActiveObjects::instance().activeView());
}

//-----------------------------------------------------------------------------
pqBATValuesRow::~pqBATValuesRow() = default;

//-----------------------------------------------------------------------------
void pqBATValuesRow::addBox(const QString& value)
{
  auto* box = new QCheckBox(this);
  QString name = value;
  box->setObjectName("Value_" + name.replace('-', "minus"));
  box->setAccessibleName(tr("%1 %2").arg(this->Target, value));
  box->setIconSize(QSize(Swatch, Swatch));
  this->Boxes[value] = box;
  this->Order.insert(
    std::lower_bound(this->Order.begin(), this->Order.end(), value, IsBelow), value);
  QObject::connect(box, &QCheckBox::toggled, this, &pqBATValuesRow::takeBoxes);
}

//-----------------------------------------------------------------------------
void pqBATValuesRow::setValues(const QList<pqBATValueCount>& values)
{
  QMap<QString, QString> texts;
  for (const pqBATValueCount& count : values)
  {
    if (!this->Boxes.contains(count.Value))
    {
      this->addBox(count.Value);
    }
    texts[count.Value] = count.Count.text();
  }
  for (const QString& value : this->Order)
  {
    const QString count = texts.value(value, "0");
    this->Boxes[value]->setText(value + ": " + count);
    this->Boxes[value]->setToolTip(tr("%1 = %2: %3 particles").arg(this->Target, value, count));
  }
  this->checkBoxes();
  this->showColors();
  this->Columns = 0;
  this->arrangeBoxes();
}

//-----------------------------------------------------------------------------
QStringList pqBATValuesRow::values() const
{
  return this->Order;
}

//-----------------------------------------------------------------------------
void pqBATValuesRow::setRanges(const QList<QVariant>& ranges)
{
  this->Ranges = ranges;
  this->checkBoxes();
}

//-----------------------------------------------------------------------------
// Returns the values that the ranges include.
void pqBATValuesRow::checkBoxes()
{
  constexpr long double infinity = std::numeric_limits<long double>::infinity();
  for (const QString& value : this->Order)
  {
    const long double number = Exact(value, 0.0L);
    bool requested = false;
    bool unwanted = false;
    bool any = true; // no range says what is wanted
    for (int i = 0; i + 2 < this->Ranges.size(); i += 3)
    {
      const bool negated = IsNegated(this->Ranges[i], this->Target);
      const bool inside = Exact(this->Ranges[i + 1].toString(), -infinity) <= number &&
        number <= Exact(this->Ranges[i + 2].toString(), infinity);
      any = any && negated;
      requested = requested || (!negated && inside);
      unwanted = unwanted || (negated && inside);
    }
    const QSignalBlocker blocker(this->Boxes[value]);
    this->Boxes[value]->setChecked((any || requested) && !unwanted);
  }
}

//-----------------------------------------------------------------------------
// Neighbouring excluded values form one range; values in between that no file has had so far are in
// none.
void pqBATValuesRow::takeBoxes()
{
  this->Ranges.clear();
  QString before;
  for (const QString& value : this->Order)
  {
    if (!this->Boxes[value]->isChecked())
    {
      if (!before.isEmpty() && Exact(value, 0.0L) - Exact(before, 0.0L) == 1.0L)
      {
        this->Ranges.back() = value;
      }
      else
      {
        this->Ranges << "!" + this->Target << value << value;
      }
    }
    before = this->Boxes[value]->isChecked() ? QString() : value;
  }
  Q_EMIT this->rangesChanged();
}

//-----------------------------------------------------------------------------
void pqBATValuesRow::checkAll(bool checked)
{
  for (QCheckBox* box : this->Boxes)
  {
    const QSignalBlocker blocker(box);
    box->setChecked(checked);
  }
  this->takeBoxes();
}

//-----------------------------------------------------------------------------
void pqBATValuesRow::showColors()
{
  vtkScalarsToColors* colors = ColorsOf(this->Source, this->Target);
  if (colors)
  {
    colors->Build();
  }
  for (const QString& value : this->Order)
  {
    QColor color = NeutralColor(value);
    if (colors)
    {
      const unsigned char* mapped = colors->MapValue(value.toDouble());
      color = QColor(mapped[0], mapped[1], mapped[2]);
    }
    if (this->Colors.value(value) != color)
    {
      this->Colors[value] = color;
      this->Boxes[value]->setIcon(IconOf(color));
    }
    this->Boxes[value]->setAccessibleDescription(
      colors ? tr("drawn in %1").arg(color.name()) : QString());
  }
}

//-----------------------------------------------------------------------------
// Places as many boxes next to each other as fit, in columns of equal width.
void pqBATValuesRow::arrangeBoxes()
{
  int widest = 1;
  for (const QCheckBox* box : this->Boxes)
  {
    widest = std::max(widest, box->sizeHint().width());
  }
  const int spacing = this->Grid->horizontalSpacing();
  const int room = this->width() - Indent - 4;
  const int columns = std::max(1, (room + spacing) / (widest + spacing));
  if (columns == this->Columns)
  {
    return;
  }
  for (int i = 0; i < std::max(this->Columns, columns); ++i)
  {
    this->Grid->setColumnStretch(i, 0);
  }
  this->Columns = columns;
  for (int i = 0; i < this->Order.size(); ++i)
  {
    this->Grid->addWidget(this->Boxes[this->Order[i]], i / columns, i % columns);
    this->Boxes[this->Order[i]]->show();
  }
  for (int i = 0; i < columns; ++i)
  {
    this->Grid->setColumnStretch(i, 1);
  }
  this->updateGeometry();
  Q_EMIT this->heightChanged();
}

//-----------------------------------------------------------------------------
void pqBATValuesRow::resizeEvent(QResizeEvent* event)
{
  Superclass::resizeEvent(event);
  this->arrangeBoxes();
}

//-----------------------------------------------------------------------------
// Fonts and styles change the width of boxes.
bool pqBATValuesRow::event(QEvent* event)
{
  const bool handled = Superclass::event(event);
  if (event->type() == QEvent::StyleChange || event->type() == QEvent::FontChange)
  {
    this->Columns = 0;
    this->arrangeBoxes();
  }
  return handled;
}

//-----------------------------------------------------------------------------
void pqBATValuesRow::contextMenuEvent(QContextMenuEvent* event)
{
  QMenu menu(this);
  QObject::connect(
    menu.addAction(tr("Check all")), &QAction::triggered, this, [this]() { this->checkAll(true); });
  QObject::connect(menu.addAction(tr("Check none")), &QAction::triggered, this,
    [this]() { this->checkAll(false); });
  menu.exec(event->globalPos());
}
