// SPDX-License-Identifier: BSD-3-Clause
// Shows a filter's estimate for the settings of its panel, as text.
#ifndef pqEstimateWidget_h
#define pqEstimateWidget_h

#include "pqInformationLabel.h"

#include "vtkSmartPointer.h"

#include <QTimer>

/// Panel widget "bat_estimate" for an information-only property with one text. Queries a separate
/// filter on the same input with the panel's settings that Apply has not sent yet; that filter is
/// never updated.
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
