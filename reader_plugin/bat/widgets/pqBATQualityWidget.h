// SPDX-License-Identifier: BSD-3-Clause
// The quality control of the reader: slider, number, and the resulting number of particles.
#ifndef pqBATQualityWidget_h
#define pqBATQualityWidget_h

#include "pqLoadWidget.h"

class QLineEdit;
class QSlider;
class pqBATMatchEstimate;

/// Panel widget "bat_quality" for a property with one double in [0, 1] of a proxy that also has the
/// properties ParticleCount, ParticleBudget, LoadedQuality, SampleQuality, StableSamples, Aborted,
/// Error, ParticleBytesInfo, PointArrayStatus, VertexCells, UseBox, AttributeRanges and
/// MatchEstimate. Shows what is loaded and, before Apply, what would be: the number of particles,
/// estimated from the index and a sample, and the memory.
class pqBATQualityWidget : public pqLoadWidget
{
  Q_OBJECT
  Q_PROPERTY(double quality READ quality WRITE setQuality NOTIFY qualityChanged)
  typedef pqLoadWidget Superclass;

public:
  pqBATQualityWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqBATQualityWidget() override;

  double quality() const { return this->Quality; }

public Q_SLOTS:
  void setQuality(double quality);

Q_SIGNALS:
  void qualityChanged();

private Q_SLOTS:
  void sliderMoved(int position);
  void numberEdited();

protected:
  void showNumber() override;
  bool showsProperty() const override;
  bool isReadable() const override;
  bool needsAnswer() const override;
  QString formatLoaded() const override;
  QString formatPending() const override;

private:
  Q_DISABLE_COPY(pqBATQualityWidget)

  pqBATQualityWidget(
    vtkSMProxy* proxy, vtkSMProperty* property, pqBATMatchEstimate* matches, QWidget* parent);

  QString formatRefining(double count, double quality) const;
  double bytesOfPendingParticle() const;

  double Quality = 1.0;
  pqBATMatchEstimate* Matches; ///< estimate for the panel's settings
  QSlider* Slider;
  QLineEdit* Number;
};

#endif
