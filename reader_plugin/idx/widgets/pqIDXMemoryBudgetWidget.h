// SPDX-License-Identifier: BSD-3-Clause
// The memory budget of a reader: MiB, that may be written as 2 GiB.
#ifndef pqIDXMemoryBudgetWidget_h
#define pqIDXMemoryBudgetWidget_h

#include "pqBATBudgetWidget.h"

/// Panel widget "idx_memory_budget" for a property with one number of MiB that is not negative. 0
/// is shown as "no limit".
class pqIDXMemoryBudgetWidget : public pqBATBudgetWidget
{
  Q_OBJECT
  typedef pqBATBudgetWidget Superclass;

public:
  pqIDXMemoryBudgetWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqIDXMemoryBudgetWidget() override;

  /// "1024", "512 MiB", "1.5G", "2 TB", "0" or "no limit" as MiB; negative if it is none.
  static double parse(const QString& text);
  /// "512 MiB", "1.5 GiB": whole numbers of MiB stay exact.
  static QString format(double mebibytes);

private:
  Q_DISABLE_COPY(pqIDXMemoryBudgetWidget)
};

#endif
