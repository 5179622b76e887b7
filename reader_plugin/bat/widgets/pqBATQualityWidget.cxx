// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATQualityWidget.h"

#include "pqBATCount.h"
#include "pqBATMatchEstimate.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqLineEdit.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"

#include "vtkCommand.h"
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

// Cubic: the left half of the slider is for the first eighth of the particles, where a little more
// makes the largest difference, and even one in a million is a step away from the end.
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

QString Memory(double bytes)
{
  return QLocale(QLocale::English).formattedDataSize(static_cast<qint64>(bytes), 1);
}

// What an error says, without the path before it, and cut so that it leaves room for others.
QString Reason(const QString& error)
{
  constexpr int most = 80;
  const int path = error.indexOf(": ");
  const QString reason = path > 0 && error.left(path).contains('/') ? error.mid(path + 2) : error;
  return reason.size() <= most ? reason : reason.left(most - 1) + QChar(0x2026);
}

// Whether a box, a region or filters hold particles back, as the panel has them now.
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
  : Superclass(smproxy, parentWidget)
  , Matches(new pqBATMatchEstimate(smproxy, this))
{
  this->Slider = new QSlider(Qt::Horizontal, this);
  this->Slider->setObjectName("QualitySlider");
  this->Slider->setRange(0, SliderSteps);
  this->Slider->setPageStep(SliderSteps / 10);
  this->Slider->setAccessibleName(tr("Quality"));
  this->Slider->setToolTip(
    tr("Share of the particles to read, an even sample of space; the left end is finer"));

  auto* number = new pqLineEdit(this);
  number->setObjectName("QualityNumber");
  number->setToolTip(tr("Share of the particles, from 0 to 1"));
  auto* validator = new QDoubleValidator(0.0, 1.0, 20, number);
  validator->setLocale(QLocale::c());
  number->setValidator(validator);
  number->setMaximumWidth(number->fontMetrics().horizontalAdvance("0.0000000000"));
  this->Number = number;

  this->Count = new QLabel(this);
  this->Count->setObjectName("QualityCount");
  this->Count->setWordWrap(true);
  this->Count->setAlignment(Qt::AlignLeft | Qt::AlignTop);

  // A label of its own, so that the text below has the whole width of a narrow panel.
  this->setShowLabel(false);
  auto* label = new QLabel(tr("Quality"), this);
  label->setToolTip(this->Slider->toolTip());
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(label, 0, 0);
  layout->addWidget(this->Slider, 0, 1);
  layout->addWidget(this->Number, 0, 2);
  layout->addWidget(this->Count, 1, 0, 1, 3);
  layout->setColumnStretch(1, 1);

  this->connect(this->Slider, SIGNAL(valueChanged(int)), SLOT(sliderMoved(int)));
  this->connect(this->Number, SIGNAL(textChangedAndEditingFinished()), SLOT(numberEdited()));

  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  if (pqPipelineSource* source = model->findItem<pqPipelineSource*>(smproxy))
  {
    this->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(dataUpdated()),
      Qt::QueuedConnection); // after Apply
    this->connect(source, SIGNAL(modifiedStateChanged(pqServerManagerModelItem*)),
      SLOT(stateChanged(pqServerManagerModelItem*)), Qt::QueuedConnection);
  }

  QObject::connect(
    this->Matches, &pqBATMatchEstimate::changed, this, &pqBATQualityWidget::updateText);
  this->addPropertyLink(this, "quality", SIGNAL(qualityChanged()), smproperty);
  for (const char* name : { "ParticleBudget", "PointArrayStatus", "VertexCells", "UseBox", "Box",
         "Region", "RegionCenter", "RegionRadius", "RegionNormal", "RegionLimits",
         "RegionHalfExtents", "RegionRotation", "RegionOutside", "AttributeRanges", "Ids",
         "IdsMode", "IdAttribute", "SkipDamaged", "RefineWhileIdle" })
  {
    if (vtkSMProperty* setting = smproxy->GetProperty(name))
    {
      pqCoreUtilities::connect(
        setting, vtkCommand::UncheckedPropertyModifiedEvent, this, SLOT(settingEdited()));
    }
  }
  this->updateInformation();
  this->showQuality();
  this->Loaded = this->isApplied();
  this->updateText();
}

//-----------------------------------------------------------------------------
pqBATQualityWidget::~pqBATQualityWidget() = default;

//-----------------------------------------------------------------------------
void pqBATQualityWidget::setQuality(double value)
{
  // Kept as it is, also if it is out of range: the reader says what is wrong with it.
  if (this->Quality != value)
  {
    this->Quality = value;
    this->Loaded = false;
    this->showQuality();
    this->estimate();
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
  this->showQuality();
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::dataUpdated()
{
  this->Loaded = vtkSMPropertyHelper(this->proxy(), "Quality").GetAsDouble() == this->Quality;
  this->Matches->forget(); // it may be of another file
  this->updateInformation();
  this->estimate();
  this->updateText();
}

//-----------------------------------------------------------------------------
bool pqBATQualityWidget::isApplied() const
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  pqPipelineSource* source = model->findItem<pqPipelineSource*>(this->proxy());
  return source && source->modifiedState() == pqProxy::UNMODIFIED;
}

//-----------------------------------------------------------------------------
// The button Reset takes back what was edited, and nothing is loaded for that. A reader that is new
// has not been applied. One that was stopped is to be applied again, and says so.
void pqBATQualityWidget::stateChanged(pqServerManagerModelItem* item)
{
  const auto state = qobject_cast<pqProxy*>(item)->modifiedState();
  if (state != pqProxy::MODIFIED)
  {
    this->Loaded = state == pqProxy::UNMODIFIED;
    this->updateInformation();
    this->estimate();
    this->updateText();
  }
}

//-----------------------------------------------------------------------------
// Never during Apply: a Python trace would take what is fetched for what the user has set.
void pqBATQualityWidget::updateInformation()
{
  vtkSMProxy* smproxy = this->proxy();
  for (const char* name :
    { "ParticleCount", "LoadedQuality", "Aborted", "Error", "SampleQuality", "ParticleBytesInfo" })
  {
    if (vtkSMProperty* information = smproxy->GetProperty(name))
    {
      smproxy->UpdatePropertyInformation(information);
    }
  }
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::settingEdited()
{
  this->Loaded = false;
  this->estimate();
  this->updateText();
}

//-----------------------------------------------------------------------------
// Only for a text that is read, and says it.
void pqBATQualityWidget::estimate()
{
  if (this->Loaded || !this->isVisible() || !HasConditions(this->proxy()))
  {
    this->Matches->forget();
    return;
  }
  this->Matches->request();
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::showQuality()
{
  const QSignalBlocker blockSlider(this->Slider);
  const QSignalBlocker blockNumber(this->Number);
  // Left where it is if it stands for this quality: the user may be dragging it.
  if (ToQuality(this->Slider->value()) != this->Quality)
  {
    this->Slider->setValue(ToPosition(std::min(1.0, std::max(0.0, this->Quality))));
  }
  const QString text = QString::number(this->Quality, 'g', QLocale::FloatingPointShortest);
  if (this->Number->text() != text)
  {
    this->Number->setText(text);
  }
  this->updateText();
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::updateText()
{
  vtkSMProxy* smproxy = this->proxy();
  if (!smproxy || !smproxy->GetProperty("ParticleCount"))
  {
    this->Count->clear();
    return;
  }
  QString error = QString::fromUtf8(vtkSMPropertyHelper(smproxy, "Error").GetAsString());
  QString text = !error.isEmpty() ? this->textOfError(error) : QString();
  if (text.isEmpty() && !this->Loaded && !this->Matches->error().isEmpty())
  {
    error = this->Matches->error();
    text = tr("Apply would fail: %1").arg(Reason(error));
  }
  this->Count->setText(!text.isEmpty() ? text
      : this->Loaded                   ? this->textOfLoaded()
                                       : this->textOfPending());
  this->Count->setToolTip(
    text.isEmpty() ? QString() : "<p>" + error.toHtmlEscaped() + "</p>"); // as a paragraph
  this->updateHeight();
}

//-----------------------------------------------------------------------------
// Empty if Apply may change it.
QString pqBATQualityWidget::textOfError(const QString& error) const
{
  if (vtkSMPropertyHelper(this->proxy(), "ParticleCount").GetAsIdType() == 0)
  {
    return tr("The file cannot be read.");
  }
  return this->Loaded ? tr("Nothing is loaded: %1").arg(Reason(error)) : QString();
}

//-----------------------------------------------------------------------------
// As much room as any text needs, so that what is below stays where it is.
void pqBATQualityWidget::updateHeight()
{
  const QRect room(0, 0, std::max(1, this->width()), QWIDGETSIZE_MAX);
  this->Count->setFixedHeight(
    this->Count->fontMetrics().boundingRect(room, Qt::TextWordWrap, this->longestText()).height());
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::resizeEvent(QResizeEvent* event)
{
  Superclass::resizeEvent(event);
  this->updateHeight();
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::showEvent(QShowEvent* event)
{
  Superclass::showEvent(event);
  this->estimate();
}

//-----------------------------------------------------------------------------
QString pqBATQualityWidget::textOfLoaded() const
{
  vtkSMSourceProxy* source = vtkSMSourceProxy::SafeDownCast(this->proxy());
  const QString loaded = bat_count::grouped(source->GetDataInformation(0)->GetNumberOfPoints());
  const QString all =
    bat_count::grouped(vtkSMPropertyHelper(source, "ParticleCount").GetAsIdType());
  const double quality = vtkSMPropertyHelper(source, "LoadedQuality").GetAsDouble();
  QString text = tr("%1 of %2 particles (quality %3)");
  if (vtkSMPropertyHelper(source, "Aborted").GetAsInt() != 0)
  {
    text = tr("Stopped: still %1 of %2 particles (quality %3). Apply tries again.");
  }
  else if (HasConditions(source))
  {
    text = quality < 1.0 ? tr("%1 of those that match are loaded (quality %3), of %2 particles")
                         : tr("%1 of %2 particles match (quality %3)");
  }
  text = text.arg(loaded, all, Short(quality));
  const double sample = vtkSMPropertyHelper(source, "SampleQuality").GetAsDouble();
  return sample < 1.0
    ? text + "\n" + tr("The file itself is a sample, quality %1.").arg(Short(sample))
    : text;
}

//-----------------------------------------------------------------------------
QString pqBATQualityWidget::textOfPending() const
{
  const auto all =
    static_cast<double>(vtkSMPropertyHelper(this->proxy(), "ParticleCount").GetAsIdType());
  const double share = std::min(1.0, std::max(0.0, this->Quality));
  const double budget = vtkSMUncheckedPropertyHelper(this->proxy(), "ParticleBudget").GetAsDouble();
  const bool conditions = HasConditions(this->proxy());
  const bool estimated = conditions && this->Matches->isKnown();
  const double asked = std::min(all, std::ceil(share * all));
  const pqBATCount count = estimated ? this->Matches->count() : pqBATCount{ asked, asked, asked };
  const double bytes = this->bytesOfPendingParticle();
  const QString of = bat_count::grouped(all);
  const QString memory = Memory(count.Likely * bytes);
  const bool cut = budget > 0 && budget < count.Likely;
  if (cut || (conditions && !estimated))
  {
    const double most = cut ? budget : asked;
    const QString text = conditions ? tr("Apply loads up to %1 of %2 particles, %3.")
                                    : tr("Apply loads %1 of %2 particles, %3.");
    return text.arg(bat_count::grouped(most), of, Memory(most * bytes)) +
      (cut ? "\n" + tr("Without the budget: %1, %2.").arg(count.text(), memory) : QString());
  }
  if (count.isExact())
  {
    return tr("Apply loads %1 of %2 particles, %3.").arg(count.text(), of, memory);
  }
  const double most = budget > 0 ? std::min(budget, count.Most) : count.Most;
  return tr("Apply loads %1 of %2 particles, %3 (at most %4).")
    .arg(count.text(), of, memory, bat_count::grouped(most));
}

//-----------------------------------------------------------------------------
QString pqBATQualityWidget::longestText()
{
  // Of all steps so far: a series goes through files of different sizes, some may be damaged.
  const auto now =
    static_cast<double>(vtkSMPropertyHelper(this->proxy(), "ParticleCount").GetAsIdType());
  this->MostParticles = std::max(this->MostParticles, now);
  const QString all = bat_count::grouped(this->MostParticles);
  const QString memory = Memory(1000.0 * 1024.0 * 1024.0);
  const QString about = pqBATCount{ 0.0, this->MostParticles, this->MostParticles + 1.0 }.text();
  return tr("Apply loads %1 of %2 particles, %3 (at most %4).").arg(about, all, memory, all) +
    "\n" + tr("Without the budget: %1, %2.").arg(about, memory);
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
