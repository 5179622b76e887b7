// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATQualityWidget.h"

#include "pqBATMatchEstimate.h"
#include "pqCount.h"

#include "pqLineEdit.h"

#include "vtkPVDataInformation.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSourceProxy.h"
#include "vtkSMUncheckedPropertyHelper.h"

#include <QDoubleValidator>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QSet>
#include <QSignalBlocker>
#include <QSlider>

#include <algorithm>
#include <cmath>

namespace
{
constexpr int SliderSteps = 1000;

// Cubic: the left half of the slider covers the first eighth of the particles, where a small
// increase makes the largest difference, and even one in a million is a step away from the end.
double ToQuality(int position)
{
  const double x = static_cast<double>(position) / SliderSteps;
  // Round numbers: 0.1 rather than 0.099897344.
  return QString::number(x * x * x, 'g', 2).toDouble();
}

int ToPosition(double quality)
{
  return static_cast<int>(std::lround(SliderSteps * std::cbrt(quality)));
}

QString Short(double number)
{
  return QString::number(number, 'g', 3);
}

// True if a box, a region or filters, as set in the panel, exclude particles.
bool HasConditions(vtkSMProxy* reader)
{
  return vtkSMUncheckedPropertyHelper(reader, "UseBox").GetAsInt() != 0 ||
    vtkSMUncheckedPropertyHelper(reader, "Region").GetAsInt() != 0 ||
    vtkSMUncheckedPropertyHelper(reader, "AttributeRanges").GetNumberOfElements() > 0 ||
    QString(vtkSMUncheckedPropertyHelper(reader, "Ids").GetAsString()).size() > 0;
}
}

//-----------------------------------------------------------------------------
pqBATQualityWidget::pqBATQualityWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : pqBATQualityWidget(smproxy, smproperty, new pqBATMatchEstimate(smproxy), parentWidget)
{
}

//-----------------------------------------------------------------------------
pqBATQualityWidget::pqBATQualityWidget(vtkSMProxy* smproxy, vtkSMProperty* smproperty,
  pqBATMatchEstimate* matches, QWidget* parentWidget)
  : Superclass(smproxy, matches, "QualityCount", parentWidget)
  , Matches(matches)
{
  this->Slider = new QSlider(Qt::Horizontal, this);
  this->Slider->setObjectName("QualitySlider");
  this->Slider->setRange(0, SliderSteps);
  this->Slider->setPageStep(SliderSteps / 10);
  this->Slider->setAccessibleName(tr("Quality"));
  this->Slider->setToolTip(
    tr("Fraction of the particles to read, sampled evenly in space; the slider is finer at its "
       "left end"));

  auto* number = new pqLineEdit(this);
  number->setObjectName("QualityNumber");
  number->setToolTip(tr("Fraction of the particles, from 0 to 1"));
  auto* validator = new QDoubleValidator(0.0, 1.0, 20, number);
  validator->setLocale(QLocale::c());
  number->setValidator(validator);
  number->setMaximumWidth(number->fontMetrics().horizontalAdvance("0.0000000000"));
  this->Number = number;

  // The label is separate, so that the text below has the whole width of a narrow panel.
  this->setShowLabel(false);
  auto* label = new QLabel(tr("Quality"), this);
  label->setToolTip(this->Slider->toolTip());
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(label, 0, 0);
  layout->addWidget(this->Slider, 0, 1);
  layout->addWidget(this->Number, 0, 2);
  layout->addWidget(this->text(), 1, 0, 1, 3);
  layout->setColumnStretch(1, 1);

  this->connect(this->Slider, SIGNAL(valueChanged(int)), SLOT(sliderMoved(int)));
  this->connect(this->Number, SIGNAL(textChangedAndEditingFinished()), SLOT(numberEdited()));

  this->addPropertyLink(this, "quality", SIGNAL(qualityChanged()), smproperty);
  this->watch({ "ParticleBudget", "PointArrayStatus", "VertexCells", "UseBox", "Box", "Region",
                "RegionCenter", "RegionRadius", "RegionNormal", "RegionLimits", "RegionHalfExtents",
                "RegionRotation", "RegionOutside", "AttributeRanges", "Ids", "IdsMode",
                "IdAttribute", "SkipDamaged", "RefineWhileIdle" },
    { "ParticleCount", "LoadedQuality", "TargetQuality", "SampleQuality", "ParticleBytesInfo",
      "StableSamples" });
}

//-----------------------------------------------------------------------------
pqBATQualityWidget::~pqBATQualityWidget() = default;

//-----------------------------------------------------------------------------
void pqBATQualityWidget::setQuality(double value)
{
  // A number that is out of range is kept, because the reader reports the problem.
  if (this->Quality != value)
  {
    this->Quality = value;
    this->showNumber();
    this->edited();
    Q_EMIT this->qualityChanged();
  }
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::sliderMoved(int position)
{
  this->setQuality(ToQuality(position));
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::numberEdited()
{
  bool ok = false;
  const double value = QLocale::c().toDouble(this->Number->text(), &ok);
  if (ok)
  {
    this->setQuality(std::min(1.0, std::max(0.0, value)));
  }
  this->showNumber();
}

//-----------------------------------------------------------------------------
bool pqBATQualityWidget::showsProperty() const
{
  return vtkSMPropertyHelper(this->proxy(), "Quality").GetAsDouble() == this->Quality;
}

//-----------------------------------------------------------------------------
bool pqBATQualityWidget::isReadable() const
{
  return vtkSMPropertyHelper(this->proxy(), "ParticleCount").GetAsIdType() != 0;
}

//-----------------------------------------------------------------------------
bool pqBATQualityWidget::needsAnswer() const
{
  return HasConditions(this->proxy());
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::showNumber()
{
  const QSignalBlocker blockSlider(this->Slider);
  const QSignalBlocker blockNumber(this->Number);
  // Not moved if it already stands for this quality, because the user may be dragging it.
  if (ToQuality(this->Slider->value()) != this->Quality)
  {
    this->Slider->setValue(ToPosition(std::min(1.0, std::max(0.0, this->Quality))));
  }
  const QString text = QString::number(this->Quality, 'g', QLocale::FloatingPointShortest);
  if (this->Number->text() != text)
  {
    this->Number->setText(text);
  }
}

//-----------------------------------------------------------------------------
QString pqBATQualityWidget::formatLoaded() const
{
  vtkSMSourceProxy* source = vtkSMSourceProxy::SafeDownCast(this->proxy());
  const auto count = static_cast<double>(source->GetDataInformation(0)->GetNumberOfPoints());
  const auto all = static_cast<double>(vtkSMPropertyHelper(source, "ParticleCount").GetAsIdType());
  const double quality = vtkSMPropertyHelper(source, "LoadedQuality").GetAsDouble();
  const double requested = vtkSMPropertyHelper(source, "Quality").GetAsDouble();
  const bool conditions = HasConditions(source);
  QString text = tr("%1 of %2 particles (quality %3)");
  if (this->isAborted())
  {
    text = tr("Stopped at %1 of %2 particles (quality %3). Click Apply to retry.");
  }
  else if (quality > 0.0 && quality < vtkSMPropertyHelper(source, "TargetQuality").GetAsDouble())
  {
    text = this->formatRefining(count, quality);
  }
  else if (quality < requested)
  {
    text = conditions ? tr("%1 of the matching particles: limited by the budget (quality %3), of "
                           "%2 particles")
                      : tr("%1 of %2 particles: limited by the budget (quality %3)");
  }
  else if (conditions)
  {
    text = quality < 1.0 ? tr("%1 of the matching particles loaded (quality %3), of %2 particles")
                         : tr("%1 of %2 particles match (quality %3)");
  }
  // Texts without a placeholder for a number stay unchanged.
  const QStringList numbers = { bat_count::grouped(count), bat_count::grouped(all),
    Short(quality) };
  for (int i = 0; i < numbers.size(); ++i)
  {
    text.replace(QString("%%1").arg(i + 1), numbers[i]);
  }
  const double sample = vtkSMPropertyHelper(source, "SampleQuality").GetAsDouble();
  if (sample < 1.0)
  {
    text += "\n" + tr("The file itself is a sample, quality %1.").arg(Short(sample));
  }
  const QString ids = QString::fromUtf8(vtkSMPropertyHelper(source, "StableSamples").GetAsString());
  return ids.isEmpty()
    ? text
    : text + "\n" + tr("Steps show the same particles at qualities such as 0.1, by %1.").arg(ids);
}

//-----------------------------------------------------------------------------
// For matching particles, only the loaded share is known.
QString pqBATQualityWidget::formatRefining(double count, double quality) const
{
  const bool conditions = HasConditions(this->proxy());
  const auto all =
    static_cast<double>(vtkSMPropertyHelper(this->proxy(), "ParticleCount").GetAsIdType());
  const double target = vtkSMPropertyHelper(this->proxy(), "TargetQuality").GetAsDouble();
  const double requested = vtkSMPropertyHelper(this->proxy(), "Quality").GetAsDouble();
  const auto endOf = [&](double share)
  { return conditions ? std::round(count * share / quality) : std::ceil(share * all); };
  const QString text =
    (conditions ? tr("Refining: about %1 matching particles") : tr("Refining: %1 particles"))
      .arg(bat_count::part(count, endOf(target)));
  return target < requested
    ? text + "\n" + tr("Without the budget: %1.").arg(bat_count::grouped(endOf(requested)))
    : text;
}

//-----------------------------------------------------------------------------
QString pqBATQualityWidget::formatPending() const
{
  const auto all =
    static_cast<double>(vtkSMPropertyHelper(this->proxy(), "ParticleCount").GetAsIdType());
  const double share = std::min(1.0, std::max(0.0, this->Quality));
  const double budget = vtkSMUncheckedPropertyHelper(this->proxy(), "ParticleBudget").GetAsDouble();
  const bool conditions = HasConditions(this->proxy());
  const bool estimated = conditions && this->Matches->isKnown();
  const double requested = std::min(all, std::ceil(share * all));
  const pqCount count =
    estimated ? this->Matches->count() : pqCount{ requested, requested, requested };
  const double bytes = this->bytesOfPendingParticle();
  const QString of = bat_count::grouped(all);
  const QString memory = bat_load::memory(count.Likely * bytes);
  const bool cut = budget > 0 && budget < count.Likely;
  if (cut || (conditions && !estimated))
  {
    const double maximum = cut ? budget : requested;
    const QString text = conditions ? tr("Apply loads up to %1 of %2 particles, %3.")
                                    : tr("Apply loads %1 of %2 particles, %3.");
    return text.arg(bat_count::grouped(maximum), of, bat_load::memory(maximum * bytes)) +
      (cut ? "\n" + tr("Without the budget: %1, %2.").arg(count.text(), memory) : QString());
  }
  if (count.isExact())
  {
    return tr("Apply loads %1 of %2 particles, %3.").arg(count.text(), of, memory);
  }
  const double maximum = budget > 0 ? std::min(budget, count.Maximum) : count.Maximum;
  return tr("Apply loads %1 of %2 particles, %3 (at most %4).")
    .arg(count.text(), of, memory, bat_count::grouped(maximum));
}

//-----------------------------------------------------------------------------
double pqBATQualityWidget::bytesOfPendingParticle() const
{
  vtkSMUncheckedPropertyHelper status(this->proxy(), "PointArrayStatus");
  QSet<QString> without;
  for (unsigned int i = 0; i + 1 < status.GetNumberOfElements(); i += 2)
  {
    if (QString::fromUtf8(status.GetAsString(i + 1)).toInt() == 0)
    {
      without.insert(QString::fromUtf8(status.GetAsString(i)));
    }
  }
  vtkSMPropertyHelper info(this->proxy(), "ParticleBytesInfo");
  double bytes = 0.0;
  for (unsigned int i = 0; i + 1 < info.GetNumberOfElements(); i += 2)
  {
    if (!without.contains(QString::fromUtf8(info.GetAsString(i))))
    {
      bytes += QString::fromUtf8(info.GetAsString(i + 1)).toDouble();
    }
  }
  // Cells are 32-bit numbers: one per particle has a number and an offset each.
  const int cells = vtkSMUncheckedPropertyHelper(this->proxy(), "VertexCells").GetAsInt();
  return bytes + (cells == 1 ? 8.0 : cells == 2 ? 4.0 : 0.0);
}
