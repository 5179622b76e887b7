// SPDX-License-Identifier: BSD-3-Clause
// A number of particles that may be written as 5M or 2.5e6.
#ifndef pqBATParticlesWidget_h
#define pqBATParticlesWidget_h

#include "pqBudgetWidget.h"

/// Panel widget "bat_particles", and "bat_block_size" of writers, for a property with one
/// non-negative integer.
class pqBATParticlesWidget : public pqBudgetWidget
{
  Q_OBJECT
  typedef pqBudgetWidget Superclass;

public:
  pqBATParticlesWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqBATParticlesWidget() override;

  /// Parses "5000000", "5,000,000", "5M" or "2.5e6"; negative if the text is not a number.
  static double parse(const QString& text);
  static QString format(double particles);

private:
  Q_DISABLE_COPY(pqBATParticlesWidget)
};

#endif
