// SPDX-License-Identifier: BSD-3-Clause
// The particle budget of the reader: a number that may be written as 5M or 2.5e6.
#ifndef pqBATParticleBudgetWidget_h
#define pqBATParticleBudgetWidget_h

#include "pqBATBudgetWidget.h"

/// Panel widget "bat_particle_budget" for a property with one whole number that is not negative. 0
/// is shown as "no limit".
class pqBATParticleBudgetWidget : public pqBATBudgetWidget
{
  Q_OBJECT
  typedef pqBATBudgetWidget Superclass;

public:
  pqBATParticleBudgetWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqBATParticleBudgetWidget() override;

  /// "5000000", "5,000,000", "5M", "2.5e6", "0" or "no limit" as a number; negative if it is none.
  static double parse(const QString& text);
  static QString format(double budget);

private:
  Q_DISABLE_COPY(pqBATParticleBudgetWidget)
};

#endif
