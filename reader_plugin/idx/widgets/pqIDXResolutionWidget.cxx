// SPDX-License-Identifier: BSD-3-Clause
#include "pqIDXResolutionWidget.h"

#include "pqCount.h"
#include "pqPendingReader.h"

#include "pqLineEdit.h"

#include "vtkPVDataInformation.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSourceProxy.h"

#include <QGridLayout>
#include <QIntValidator>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>

#include <algorithm>
#include <array>
#include <vector>

namespace
{
// The numbers returned by vtkIDXReader::GetLoadCost.
struct Cost
{
  int Level;
  std::array<double, 3> Samples;
  double Bytes;
  int RequestedLevel;
  double RequestedBytes;
  int Levels;
  double NextBytes;

  static bool isKnown(const std::vector<double>& numbers) { return numbers.size() == 10; }
  explicit Cost(const std::vector<double>& n)
    : Level(static_cast<int>(n[0]))
    , Samples{ { n[1], n[2], n[3] } }
    , Bytes(n[4])
    , RequestedLevel(static_cast<int>(n[6]))
    , RequestedBytes(n[7])
    , Levels(static_cast<int>(n[8]))
    , NextBytes(n[9])
  {
  }
};

QString Dimensions(const std::array<double, 3>& samples)
{
  return QString("%1 x %2 x %3")
    .arg(bat_count::grouped(samples[0]), bat_count::grouped(samples[1]),
      bat_count::grouped(samples[2]));
}
}

//-----------------------------------------------------------------------------
pqIDXResolutionWidget::pqIDXResolutionWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : pqIDXResolutionWidget(
      smproxy, smproperty, new pqPendingReader(smproxy, { "LoadCost", "LoadError" }), parentWidget)
{
}

//-----------------------------------------------------------------------------
pqIDXResolutionWidget::pqIDXResolutionWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, pqPendingReader* pending, QWidget* parentWidget)
  : Superclass(smproxy, pending, "ResolutionCost", parentWidget)
  , Pending(pending)
{
  this->Slider = new QSlider(Qt::Horizontal, this);
  this->Slider->setObjectName("ResolutionSlider");
  this->Slider->setPageStep(3);
  this->Slider->setTickInterval(3);
  this->Slider->setTickPosition(QSlider::TicksBelow);
  this->Slider->setAccessibleName(tr("Resolution"));
  this->Slider->setToolTip(tr("Finest level to read. Each level has twice the samples of the "
                              "previous one; the right end is everything"));

  auto* number = new pqLineEdit(this);
  number->setObjectName("ResolutionNumber");
  number->setToolTip(tr("Finest level to read; 0 is one sample"));
  number->setValidator(new QIntValidator(0, 62, number));
  number->setMaximumWidth(number->fontMetrics().horizontalAdvance("00000"));
  this->Number = number;
  this->Finest = new QLabel(this);
  this->Finest->setObjectName("ResolutionLevels");

  // The label is separate, so that the text below has the whole width of a narrow panel.
  this->setShowLabel(false);
  auto* label = new QLabel(tr("Resolution"), this);
  label->setToolTip(this->Slider->toolTip());
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(label, 0, 0);
  layout->addWidget(this->Slider, 0, 1);
  layout->addWidget(this->Number, 0, 2);
  layout->addWidget(this->Finest, 0, 3);
  layout->addWidget(this->text(), 1, 0, 1, 4);
  layout->setColumnStretch(1, 1);

  this->connect(this->Slider, SIGNAL(valueChanged(int)), SLOT(sliderMoved(int)));
  this->connect(this->Number, SIGNAL(textChangedAndEditingFinished()), SLOT(numberEdited()));
  this->addPropertyLink(this, "resolution", SIGNAL(resolutionChanged()), smproperty);
  this->watch({ "MemoryPerProcess", "PointArrayStatus", "UseBox", "Box", "RefineWhileIdle" },
    { "Levels", "FileVersion", "LoadedLevel", "TargetLevel", "LoadCost" });
}

//-----------------------------------------------------------------------------
pqIDXResolutionWidget::~pqIDXResolutionWidget() = default;

//-----------------------------------------------------------------------------
int pqIDXResolutionWidget::levels() const
{
  return vtkSMPropertyHelper(this->proxy(), "Levels").GetAsInt();
}

//-----------------------------------------------------------------------------
void pqIDXResolutionWidget::setResolution(int value)
{
  if (this->Resolution != value)
  {
    this->Resolution = value;
    this->showNumber();
    this->edited();
    Q_EMIT this->resolutionChanged();
  }
}

//-----------------------------------------------------------------------------
void pqIDXResolutionWidget::sliderMoved(int position)
{
  this->setResolution(position);
}

//-----------------------------------------------------------------------------
void pqIDXResolutionWidget::numberEdited()
{
  bool ok = false;
  const int value = this->Number->text().toInt(&ok);
  // A displayed number that exceeds the file's finest level is kept.
  if (ok && value != std::min(this->Resolution, this->levels()))
  {
    this->setResolution(std::min(value, this->levels()));
  }
  this->showNumber();
}

//-----------------------------------------------------------------------------
void pqIDXResolutionWidget::showNumber()
{
  const QSignalBlocker blockSlider(this->Slider);
  const QSignalBlocker blockNumber(this->Number);
  const int shown = std::min(this->Resolution, this->levels());
  this->Slider->setRange(0, this->levels());
  this->Slider->setValue(shown);
  this->Number->setText(QString::number(shown));
  this->Finest->setText(tr("of %1").arg(this->levels()));
}

//-----------------------------------------------------------------------------
bool pqIDXResolutionWidget::showsProperty() const
{
  return vtkSMPropertyHelper(this->proxy(), "Resolution").GetAsInt() == this->Resolution;
}

//-----------------------------------------------------------------------------
bool pqIDXResolutionWidget::isReadable() const
{
  return !QString(vtkSMPropertyHelper(this->proxy(), "FileVersion").GetAsString()).isEmpty();
}

//-----------------------------------------------------------------------------
bool pqIDXResolutionWidget::needsAnswer() const
{
  return true;
}

//-----------------------------------------------------------------------------
QString pqIDXResolutionWidget::formatLoaded() const
{
  vtkSMSourceProxy* source = vtkSMSourceProxy::SafeDownCast(this->proxy());
  vtkPVDataInformation* data = source->GetDataInformation(0);
  int extent[6];
  data->GetExtent(extent);
  std::array<double, 3> samples;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    samples[axis] = std::max(0, extent[2 * axis + 1] - extent[2 * axis] + 1);
  }
  const int level = vtkSMPropertyHelper(source, "LoadedLevel").GetAsInt();
  const int target = vtkSMPropertyHelper(source, "TargetLevel").GetAsInt();
  if (level < 0)
  {
    return tr("Nothing is loaded.");
  }
  const QString what =
    tr("level %1 of %2, %3 samples").arg(level).arg(this->levels()).arg(Dimensions(samples));
  if (this->isAborted())
  {
    return tr("Stopped at %1. Click Apply to retry.").arg(what);
  }
  QString text = tr("Loaded: %1").arg(what);
  const std::vector<double> numbers = vtkSMPropertyHelper(source, "LoadCost").GetDoubleArray();
  if (!Cost::isKnown(numbers))
  {
    return text + ".";
  }
  const Cost cost(numbers);
  if (level < target)
  {
    return text + "." + "\n" +
      tr("Refining to level %1, %2.").arg(target).arg(bat_load::memory(cost.Bytes));
  }
  text += (level < cost.RequestedLevel ? tr(", %1: limited by the budget.") : tr(", %1."))
            .arg(bat_load::memory(cost.Bytes));
  if (level == cost.Level && level < cost.Levels)
  {
    text +=
      "\n" + tr("Level %1 would need %2.").arg(level + 1).arg(bat_load::memory(cost.NextBytes));
  }
  return text;
}

//-----------------------------------------------------------------------------
QString pqIDXResolutionWidget::formatPending() const
{
  if (!Cost::isKnown(this->Pending->answer()))
  {
    return tr("Apply loads ...");
  }
  const Cost cost(this->Pending->answer());
  QString text = tr("Apply loads level %1 of %2: %3 samples, %4.")
                   .arg(cost.Level)
                   .arg(cost.Levels)
                   .arg(Dimensions(cost.Samples))
                   .arg(bat_load::memory(cost.Bytes));
  if (cost.Level < cost.RequestedLevel)
  {
    text += "\n" +
      tr("Without the limit: level %1, %2.")
        .arg(cost.RequestedLevel)
        .arg(bat_load::memory(cost.RequestedBytes));
  }
  else if (cost.Level < cost.Levels)
  {
    text += "\n" +
      tr("Level %1 would need %2.").arg(cost.Level + 1).arg(bat_load::memory(cost.NextBytes));
  }
  return text;
}
