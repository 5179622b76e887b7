// SPDX-License-Identifier: BSD-3-Clause
// The quality of the reader: slider, number, and how many particles that is.
#ifndef pqBATQualityWidget_h
#define pqBATQualityWidget_h

#include "pqPropertyWidget.h"

class QLabel;
class QLineEdit;
class QSlider;
class pqBATMatchEstimate;
class pqServerManagerModelItem;

/// Panel widget "bat_quality" for a property with one double in [0, 1] of a proxy that also has the
/// properties ParticleCount, ParticleBudget, LoadedQuality, SampleQuality, Aborted, Error,
/// ParticleBytesInfo, PointArrayStatus, VertexCells, UseBox, AttributeRanges and MatchEstimate.
/// Says what is loaded and, before Apply, what would be: how many particles, as the index and a
/// sample tell, and how much memory. What it says always takes the same room.
class pqBATQualityWidget : public pqPropertyWidget
{
  Q_OBJECT
  Q_PROPERTY(double quality READ quality WRITE setQuality NOTIFY qualityChanged)
  typedef pqPropertyWidget Superclass;

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
  void dataUpdated();
  void settingEdited();
  void stateChanged(pqServerManagerModelItem* item);

protected:
  void resizeEvent(QResizeEvent*) override;
  void showEvent(QShowEvent*) override;

private:
  Q_DISABLE_COPY(pqBATQualityWidget)

  void showQuality();
  void updateInformation();
  void updateText();
  void estimate();
  void updateHeight();
  bool isApplied() const;
  QString textOfError(const QString& error) const;
  QString textOfLoaded() const;
  QString textOfPending() const;
  QString longestText();
  double bytesOfPendingParticle() const;

  double Quality = 1.0;
  bool Loaded = false;         ///< what is loaded is what the panel says
  double MostParticles = 0.0;  ///< of a file
  pqBATMatchEstimate* Matches; ///< what the panel says now
  QSlider* Slider;
  QLineEdit* Number;
  QLabel* Count;
};

#endif
