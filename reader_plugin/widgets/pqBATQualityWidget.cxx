#include "pqBATQualityWidget.h"

#include "pqApplicationCore.h"
#include "pqLineEdit.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"

#include "vtkPVDataInformation.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSourceProxy.h"

#include <QDoubleValidator>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>
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

QString Grouped(long long number)
{
  return QLocale(QLocale::English).toString(number);
}
}

//-----------------------------------------------------------------------------
pqBATQualityWidget::pqBATQualityWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
{
  this->Slider = new QSlider(Qt::Horizontal, this);
  this->Slider->setObjectName("QualitySlider");
  this->Slider->setRange(0, SliderSteps);
  this->Slider->setPageStep(SliderSteps / 10);

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

  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Slider, 0, 0);
  layout->addWidget(this->Number, 0, 1);
  layout->addWidget(this->Count, 1, 0, 1, 2);
  layout->setColumnStretch(0, 1);

  this->connect(this->Slider, SIGNAL(valueChanged(int)), SLOT(sliderMoved(int)));
  this->connect(this->Number, SIGNAL(textChangedAndEditingFinished()), SLOT(numberEdited()));

  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  if (pqPipelineSource* source = model->findItem<pqPipelineSource*>(smproxy))
  {
    this->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(dataUpdated()));
  }

  this->addPropertyLink(this, "quality", SIGNAL(qualityChanged()), smproperty);
  this->showQuality();
  // A reader that has not been updated yet has nothing either.
  vtkSMSourceProxy* reader = vtkSMSourceProxy::SafeDownCast(smproxy);
  this->Loaded = reader && reader->GetDataInformation(0)->GetNumberOfPoints() > 0;
  this->updateCounts();
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
    this->showQuality();
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
    this->setQuality(value);
  }
  this->showQuality();
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::dataUpdated()
{
  this->Loaded = true;
  this->updateCounts();
}

//-----------------------------------------------------------------------------
void pqBATQualityWidget::updateCounts()
{
  vtkSMSourceProxy* source = vtkSMSourceProxy::SafeDownCast(this->proxy());
  if (source && source->GetProperty("ParticleCount"))
  {
    source->UpdatePropertyInformation(source->GetProperty("ParticleCount"));
  }
  if (source && this->Loaded)
  {
    this->LoadedQuality = vtkSMPropertyHelper(source, "Quality").GetAsDouble();
    this->LoadedCount = source->GetDataInformation(0)->GetNumberOfPoints();
  }
  this->updateText();
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
  const double all =
    static_cast<double>(vtkSMPropertyHelper(smproxy, "ParticleCount").GetAsIdType());
  const double share = std::min(1.0, std::max(0.0, this->Quality));
  const auto count = static_cast<long long>(std::min(all, std::ceil(share * all)));
  QString text = tr("%1 of %2 particles").arg(Grouped(count), Grouped(static_cast<long long>(all)));
  if (this->LoadedQuality == this->Quality && this->LoadedCount != count)
  {
    text += tr(", %1 of them inside box and ranges").arg(Grouped(this->LoadedCount));
  }
  this->Count->setText(text);
}
