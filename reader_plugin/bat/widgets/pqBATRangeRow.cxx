// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATRangeRow.h"

#include "pqBATRangeSlider.h"
#include "pqNumberEdit.h"

#include <QAction>
#include <QCheckBox>
#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QSignalBlocker>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

namespace
{
constexpr int Indent = 14;
// If one bin has more than this share of the particles, it hides the others on a linear axis.
constexpr double SharePerBin = 0.6;
}

//-----------------------------------------------------------------------------
pqBATRangeRow::pqBATRangeRow(
  const QString& target, const QString& label, bool isFirst, QWidget* parentWidget)
  : Superclass(parentWidget)
  , Target(target)
  , Label(label)
  , First(isFirst)
  , Expander(new QToolButton(this))
  , Name(new QCheckBox(this))
  , Not(new QCheckBox(tr("not"), this))
  , Minimum(new pqNumberEdit(true, this))
  , Maximum(new pqNumberEdit(true, this))
  , Button(new QToolButton(this))
  , Slider(new pqBATRangeSlider(this))
{
  this->nameWidgets();
  this->arrangeWidgets();
  this->setExpandable(false);
  this->connectWidgets();
  this->updateScale();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::nameWidgets()
{
  const QString& label = this->Label;
  this->Expander->setObjectName("Expander");
  this->Expander->setAutoRaise(true);
  this->Expander->setCheckable(true);
  this->Expander->setArrowType(Qt::RightArrow);
  this->Expander->setToolTip(tr("Components"));
  this->Expander->setAccessibleName(tr("Components of %1").arg(this->Target));
  this->Expander->setFixedSize(Indent, Indent);

  this->Name->setObjectName("Active");
  this->Name->setAccessibleName(tr("Filter by %1").arg(label));
  this->Name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  this->Name->setMinimumWidth(this->fontMetrics().horizontalAdvance("an attribute"));
  this->Not->setObjectName("Not");
  this->Not->setAccessibleName(tr("Filter out this range of %1").arg(label));
  this->Not->setToolTip(tr("Filter out what is inside this range"));
  this->Minimum->setObjectName("Minimum");
  this->Minimum->setAccessibleName(tr("Minimum of %1").arg(label));
  this->Maximum->setObjectName("Maximum");
  this->Maximum->setAccessibleName(tr("Maximum of %1").arg(label));
  for (pqNumberEdit* edit : { this->Minimum, this->Maximum })
  {
    edit->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  }

  const QString what =
    this->First ? tr("Add another range of %1 as an alternative") : tr("Remove this filter on %1");
  this->Button->setObjectName(this->First ? "Another" : "Remove");
  this->Button->setAutoRaise(true);
  this->Button->setText(this->First ? "+" : QString(QChar(0x2212)));
  this->Button->setToolTip(what.arg(label));
  this->Button->setAccessibleName(what.arg(label));
  this->Slider->setObjectName("Slider");
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::arrangeWidgets()
{
  auto* line = new QHBoxLayout;
  line->setSpacing(2);
  line->addWidget(this->Expander);
  line->addWidget(this->Name, 1);
  line->addWidget(this->Minimum);
  line->addWidget(this->Maximum);
  line->addWidget(this->Button);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2, 3, 2, 3);
  layout->setSpacing(1);
  layout->addLayout(line);
  auto* below = new QHBoxLayout;
  below->setSpacing(2);
  below->addWidget(this->Not);
  below->addWidget(this->Slider, 1);
  layout->addLayout(below);
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::connectWidgets()
{
  QObject::connect(this->Expander, &QToolButton::toggled, this,
    [this](bool expanded)
    {
      this->Expander->setArrowType(expanded ? Qt::DownArrow : Qt::RightArrow);
      Q_EMIT this->expandedChanged();
    });
  QObject::connect(this->Name, &QCheckBox::toggled, this,
    [this]()
    {
      this->showRange();
      Q_EMIT this->rangeChanged();
    });
  QObject::connect(this->Not, &QCheckBox::toggled, this,
    [this]()
    {
      this->showRange();
      Q_EMIT this->rangeChanged();
    });
  // Entering a number activates the row.
  QObject::connect(this->Minimum, &pqLineEdit::textChangedAndEditingFinished, this,
    [this]() { this->chooseMinimum(this->Minimum->text()); });
  QObject::connect(this->Maximum, &pqLineEdit::textChangedAndEditingFinished, this,
    [this]() { this->chooseMaximum(this->Maximum->text()); });
  QObject::connect(
    this->Slider, &pqBATRangeSlider::minimumChosen, this, &pqBATRangeRow::chooseMinimum);
  QObject::connect(
    this->Slider, &pqBATRangeSlider::maximumChosen, this, &pqBATRangeRow::chooseMaximum);
  QObject::connect(this->Slider, &pqBATRangeSlider::rangeChosen, this,
    [this](const QString& minimum, const QString& maximum)
    {
      this->setRange(minimum, maximum);
      Q_EMIT this->rangeChanged();
    });
  QObject::connect(this->Button, &QToolButton::clicked, this,
    [this]()
    {
      if (this->First)
      {
        Q_EMIT this->anotherRequested();
      }
      else
      {
        Q_EMIT this->removalRequested();
      }
    });
}

//-----------------------------------------------------------------------------
pqBATRangeRow::~pqBATRangeRow() = default;

//-----------------------------------------------------------------------------
bool pqBATRangeRow::isActive() const
{
  return this->Name->isChecked();
}

//-----------------------------------------------------------------------------
bool pqBATRangeRow::isNegated() const
{
  return this->Not->isChecked();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::setNegated(bool negated)
{
  const QSignalBlocker blocker(this);
  this->Not->setChecked(negated);
  this->showRange();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::setAlternative(bool alternative)
{
  if (this->Alternative != alternative)
  {
    this->Alternative = alternative;
    this->updateScale();
    this->elideName();
  }
}

//-----------------------------------------------------------------------------
QString pqBATRangeRow::minimum() const
{
  return this->Minimum->text();
}

//-----------------------------------------------------------------------------
QString pqBATRangeRow::maximum() const
{
  return this->Maximum->text();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::setData(const QString& minimum, const QString& maximum)
{
  if (this->FileMinimum == minimum && this->FileMaximum == maximum)
  {
    return;
  }
  this->FileMinimum = minimum;
  this->FileMaximum = maximum;
  this->Linear = pqHistogram();
  this->Curved = pqHistogram();
  this->updateScale();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::setHistograms(const pqHistogram& linear, const pqHistogram& logarithmic)
{
  this->Linear = linear;
  this->Curved = logarithmic;
  if (!this->AxisChosen)
  {
    this->Logarithmic =
      linear.largestShare() > SharePerBin && logarithmic.largestShare() < linear.largestShare();
  }
  this->updateScale();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::setRange(const QString& minimum, const QString& maximum)
{
  const QSignalBlocker blocker(this);
  this->Name->setChecked(true);
  this->Minimum->showNumber(minimum);
  this->Maximum->showNumber(maximum);
  this->showRange();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::deactivate()
{
  const QSignalBlocker blocker(this);
  this->Name->setChecked(false);
  this->showRange();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::resetRange()
{
  this->deactivate();
  this->setNegated(false);
  this->Minimum->showNumber(QString());
  this->Maximum->showNumber(QString());
  this->showRange();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::chooseMinimum(const QString& text)
{
  this->setRange(text, this->Maximum->text());
  Q_EMIT this->rangeChanged();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::chooseMaximum(const QString& text)
{
  this->setRange(this->Minimum->text(), text);
  Q_EMIT this->rangeChanged();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::showRange()
{
  this->Slider->setActive(this->isActive());
  this->Slider->setNegated(this->isNegated());
  this->Not->setVisible(this->isActive()); // meaningless for an inactive row
  this->Slider->setRange(this->Minimum->text(), this->Maximum->text());
  bool hasMinimum = false;
  bool hasMaximum = false;
  const double minimum = this->Minimum->text().toDouble(&hasMinimum);
  const double maximum = this->Maximum->text().toDouble(&hasMaximum);
  const bool wrong = this->isActive() && hasMinimum && hasMaximum && minimum > maximum;
  for (pqNumberEdit* edit : { this->Minimum, this->Maximum })
  {
    edit->markWrong(wrong ? tr("The minimum is above the maximum") : QString());
  }
}

//-----------------------------------------------------------------------------
// Shows the file's range in grey if there is no limit.
void pqBATRangeRow::showFileRange()
{
  const bool values = bat_range::hasValues(this->FileMinimum, this->FileMaximum);
  this->Minimum->setPlaceholderText(values ? this->FileMinimum : tr("no limit"));
  this->Maximum->setPlaceholderText(values ? this->FileMaximum : tr("no limit"));
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::updateScale()
{
  this->showFileRange();
  const pqHistogram& histogram = this->Logarithmic ? this->Curved : this->Linear;
  this->Slider->setScale(
    pqRangeScale(this->FileMinimum, this->FileMaximum, histogram), histogram, this->Label);
  const bool known = !this->FileMinimum.isEmpty();
  this->Slider->setVisible(known);
  const QString data = !known ? tr("The file does not have this attribute")
    : bat_range::hasValues(this->FileMinimum, this->FileMaximum)
    ? tr("In the file: %1 to %2")
        .arg(bat_range::readable(this->FileMinimum), bat_range::readable(this->FileMaximum))
    : tr("In the file: no values");
  this->Name->setToolTip(
    (this->Alternative ? tr("%1: this range or that above").arg(this->Label) : this->Label) + "\n" +
    data);
  this->Slider->setToolTip(this->Logarithmic
      ? data + "\n" + tr("Logarithmic axis; bar heights show square roots")
      : data + "\n" + tr("Bar heights show square roots"));
  this->showRange();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::setExpandable(bool expandable)
{
  this->Expander->setVisible(expandable);
}

//-----------------------------------------------------------------------------
bool pqBATRangeRow::isExpanded() const
{
  return this->Expander->isChecked();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::setExpanded(bool expanded)
{
  this->Expander->setChecked(expanded);
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::setIndented(bool indented)
{
  this->layout()->setContentsMargins(indented ? 2 + Indent : 2, 3, 2, 3);
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::elideName()
{
  const int box = this->style()->pixelMetric(QStyle::PM_IndicatorWidth, nullptr, this->Name) +
    this->style()->pixelMetric(QStyle::PM_CheckBoxLabelSpacing, nullptr, this->Name) + 2;
  const QString name = this->Alternative ? tr("or %1").arg(this->Label) : this->Label;
  QString text =
    this->Name->fontMetrics().elidedText(name, Qt::ElideRight, this->Name->width() - box);
  this->Name->setText(text.replace('&', "&&"));
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::resizeEvent(QResizeEvent* event)
{
  Superclass::resizeEvent(event);
  this->layout()->activate();
  this->elideName();
}

//-----------------------------------------------------------------------------
void pqBATRangeRow::contextMenuEvent(QContextMenuEvent* event)
{
  QMenu menu(this);
  QAction* reset = menu.addAction(tr("Reset to the range in the file"));
  QObject::connect(reset, &QAction::triggered, this,
    [this]()
    {
      this->resetRange();
      Q_EMIT this->rangeChanged();
    });
  QAction* another =
    menu.addAction(tr("Add another range of %1 as an alternative").arg(this->Label));
  QObject::connect(
    another, &QAction::triggered, this, [this]() { Q_EMIT this->anotherRequested(); });
  if (!this->First)
  {
    QAction* remove = menu.addAction(tr("Remove this filter"));
    QObject::connect(
      remove, &QAction::triggered, this, [this]() { Q_EMIT this->removalRequested(); },
      Qt::QueuedConnection); // the row is gone then, and its menu with it
  }
  menu.addSeparator();
  QAction* logarithmic = menu.addAction(tr("Logarithmic axis"));
  logarithmic->setCheckable(true);
  logarithmic->setChecked(this->Logarithmic);
  QObject::connect(logarithmic, &QAction::toggled, this,
    [this](bool on)
    {
      this->Logarithmic = on;
      this->AxisChosen = true;
      this->updateScale();
    });
  menu.exec(event->globalPos());
}
