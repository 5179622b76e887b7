// The ids of the reader's panel.
#ifndef pqBATIdsWidget_h
#define pqBATIdsWidget_h

#include "pqPropertyWidget.h"

class pqLineEdit;

/// A field for numbers and ranges, which is red and says why while the reader would refuse them.
class pqBATIdsWidget : public pqPropertyWidget
{
  Q_OBJECT
  typedef pqPropertyWidget Superclass;

public:
  pqBATIdsWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqBATIdsWidget() override;

private Q_SLOTS:
  void check(const QString& text);

private:
  Q_DISABLE_COPY(pqBATIdsWidget)

  pqLineEdit* Ids;
};

#endif
