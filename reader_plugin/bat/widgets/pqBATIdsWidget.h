// SPDX-License-Identifier: BSD-3-Clause
// The ids field in the reader's panel.
#ifndef pqBATIdsWidget_h
#define pqBATIdsWidget_h

#include "pqPropertyWidget.h"

class QPushButton;
class pqLineEdit;

/// A field for numbers and ranges, which turns red and shows the reason while the reader would
/// refuse them, and buttons that load only the selected ids, hide them, or follow them through
/// time.
class pqBATIdsWidget : public pqPropertyWidget
{
  Q_OBJECT
  typedef pqPropertyWidget Superclass;

public:
  pqBATIdsWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqBATIdsWidget() override;

private Q_SLOTS:
  void check(const QString& text);
  void selectionChanged();

private:
  Q_DISABLE_COPY(pqBATIdsWidget)

  void takeSelection(bool hide);

  pqLineEdit* Ids;
  QPushButton* Only;
  QPushButton* Hide;
  QPushButton* Follow;
};

#endif
