// SPDX-License-Identifier: BSD-3-Clause
// The resolution control of a grid reader: slider, number, and the resulting number of samples.
#ifndef pqIDXResolutionWidget_h
#define pqIDXResolutionWidget_h

#include "pqLoadWidget.h"

class QLabel;
class QLineEdit;
class QSlider;
class pqPendingReader;

/// Panel widget "idx_resolution" for a property with one integer, the maximum level, of a proxy
/// that also has the properties Levels, LoadedLevel, TargetLevel, LoadCost, LoadError, Aborted and
/// Error. Shows what is loaded and, before Apply, what would be loaded: level, samples and memory,
/// and the cost of the next level.
class pqIDXResolutionWidget : public pqLoadWidget
{
  Q_OBJECT
  Q_PROPERTY(int resolution READ resolution WRITE setResolution NOTIFY resolutionChanged)
  typedef pqLoadWidget Superclass;

public:
  pqIDXResolutionWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqIDXResolutionWidget() override;

  int resolution() const { return this->Resolution; }

public Q_SLOTS:
  void setResolution(int resolution);

Q_SIGNALS:
  void resolutionChanged();

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
  Q_DISABLE_COPY(pqIDXResolutionWidget)

  pqIDXResolutionWidget(
    vtkSMProxy* proxy, vtkSMProperty* property, pqPendingReader* pending, QWidget* parent);

  int levels() const;

  int Resolution = 0;
  pqPendingReader* Pending;
  QSlider* Slider;
  QLineEdit* Number;
  QLabel* Finest;
};

#endif
