// SPDX-License-Identifier: BSD-3-Clause
// What a filter says of its last update, in words.
#ifndef pqBATSummaryWidget_h
#define pqBATSummaryWidget_h

#include "pqInformationLabel.h"

/// Panel widget "bat_summary" for a property of one text that is information only, asked for after
/// each update.
class pqBATSummaryWidget : public pqInformationLabel
{
  Q_OBJECT
  typedef pqInformationLabel Superclass;

public:
  pqBATSummaryWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqBATSummaryWidget() override;

protected:
  void showEvent(QShowEvent*) override;

private Q_SLOTS:
  void ask();

private:
  Q_DISABLE_COPY(pqBATSummaryWidget)
};

#endif
