// SPDX-License-Identifier: BSD-3-Clause
// An amount for which 0 has a name, such as "no limit".
#ifndef pqBATAmountWidget_h
#define pqBATAmountWidget_h

#include "pqBudgetWidget.h"

/// Panel widget "bat_amount" for a property with one non-negative number.
class pqBATAmountWidget : public pqBudgetWidget
{
  Q_OBJECT
  typedef pqBudgetWidget Superclass;

public:
  pqBATAmountWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqBATAmountWidget() override;

private:
  Q_DISABLE_COPY(pqBATAmountWidget)
};

#endif
