// SPDX-License-Identifier: BSD-3-Clause
// A number of particles that may be written as 5M or 2.5e6.
#ifndef pqBATParticlesWidget_h
#define pqBATParticlesWidget_h

#include "pqBudgetWidget.h"

/// Panel widget "bat_particles", and "bat_block_size" of writers, for a property with one whole
/// number that is not negative.
class pqBATParticlesWidget : public pqBudgetWidget
{
  Q_OBJECT
  typedef pqBudgetWidget Superclass;

public:
  pqBATParticlesWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqBATParticlesWidget() override;

  /// "5000000", "5,000,000", "5M" or "2.5e6" as a number; negative if it is none.
  static double parse(const QString& text);
  static QString format(double particles);

private:
  Q_DISABLE_COPY(pqBATParticlesWidget)
};

#endif
