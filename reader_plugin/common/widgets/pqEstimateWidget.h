// SPDX-License-Identifier: BSD-3-Clause
// What a filter would say to the settings of its panel, in words.
#ifndef pqEstimateWidget_h
#define pqEstimateWidget_h

#include "pqInformationLabel.h"

#include "vtkSmartPointer.h"

#include <QTimer>

/// Panel widget "bat_estimate" for a property of one text that is information only. Queries a
/// separate filter on the same input with the settings that the panel shows and Apply has not sent
/// yet; that filter is never updated.
class pqEstimateWidget : public pqInformationLabel
{
  Q_OBJECT
  typedef pqInformationLabel Superclass;

public:
  pqEstimateWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqEstimateWidget() override;

protected:
  void showEvent(QShowEvent*) override;

private Q_SLOTS:
  void request();
  void ask();

private:
  Q_DISABLE_COPY(pqEstimateWidget)

  vtkSMProxy* other();

  QTimer Soon;
  vtkSmartPointer<vtkSMProxy> Other;
};

#endif
