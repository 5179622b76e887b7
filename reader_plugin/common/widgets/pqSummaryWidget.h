// SPDX-License-Identifier: BSD-3-Clause
// Shows a filter's summary of its last update, as text.
#ifndef pqSummaryWidget_h
#define pqSummaryWidget_h

#include "pqInformationLabel.h"

/// Panel widget "bat_summary" for an information-only property with one text. It is refreshed after
/// each update.
class pqSummaryWidget : public pqInformationLabel
{
  Q_OBJECT
  typedef pqInformationLabel Superclass;

public:
  pqSummaryWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqSummaryWidget() override;

protected:
  void showEvent(QShowEvent*) override;

private Q_SLOTS:
  void ask();

private:
  Q_DISABLE_COPY(pqSummaryWidget)
};

#endif
