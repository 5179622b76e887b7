// SPDX-License-Identifier: BSD-3-Clause
// An amount of memory in MiB, which may be typed as 2 GiB.
#ifndef pqMemoryWidget_h
#define pqMemoryWidget_h

#include "pqBudgetWidget.h"

/// Panel widget "bat_memory", and "bat_file_size" of writers, for a property with one non-negative
/// number of MiB.
class pqMemoryWidget : public pqBudgetWidget
{
  Q_OBJECT
  typedef pqBudgetWidget Superclass;

public:
  pqMemoryWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqMemoryWidget() override;

  /// Parses "1024", "512 MiB", "1.5G" or "2 TB" as MiB; negative if the text is not a size.
  static double parse(const QString& text);
  /// Formats "512 MiB", "1.5 GiB", "1,536 TiB": whole numbers of MiB stay exact.
  static QString format(double mebibytes);

private:
  Q_DISABLE_COPY(pqMemoryWidget)
};

#endif
