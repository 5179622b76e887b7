// SPDX-License-Identifier: BSD-3-Clause
// A read-only line of information in a panel.
#ifndef pqInformationLabel_h
#define pqInformationLabel_h

#include "pqPropertyWidget.h"

#include <QByteArray>

class QLabel;
class vtkSMProxy;

/// Shows an information-only property with one text. Looks like a label, not like a disabled
/// field.
class pqInformationLabel : public pqPropertyWidget
{
  Q_OBJECT
  typedef pqPropertyWidget Superclass;

public:
  ~pqInformationLabel() override;

protected:
  /// The label is called `name`.
  pqInformationLabel(
    vtkSMProxy* proxy, vtkSMProperty* property, const QString& name, QWidget* parent);

  QLabel* text() const { return this->Text; }
  /// Fetches the property of `filter`, which is this filter or one like it, and shows it, or
  /// `otherwise` if it is empty.
  void showTextOf(vtkSMProxy* filter, const QString& otherwise);

  void changeEvent(QEvent*) override;

private:
  Q_DISABLE_COPY(pqInformationLabel)

  QLabel* Text;
  QByteArray Name;
};

#endif
