// SPDX-License-Identifier: BSD-3-Clause
// A budget of a reader: a number in one field, written as people write it.
#ifndef pqBATBudgetWidget_h
#define pqBATBudgetWidget_h

#include "pqPropertyWidget.h"

class QLineEdit;

/// For a property with one number that is not negative. What is typed and is no number becomes
/// again what was there.
class pqBATBudgetWidget : public pqPropertyWidget
{
  Q_OBJECT
  Q_PROPERTY(QString budget READ budget WRITE setBudget NOTIFY budgetChanged)
  typedef pqPropertyWidget Superclass;

public:
  ~pqBATBudgetWidget() override;

  /// The number of the property.
  QString budget() const;

public Q_SLOTS:
  void setBudget(const QString& budget);

Q_SIGNALS:
  void budgetChanged();

protected:
  struct Format
  {
    double (*Parse)(const QString& text); ///< negative if it is no budget
    QString (*Write)(double budget);
  };

  /// The field is called `name`.
  pqBATBudgetWidget(vtkSMProxy* proxy, vtkSMProperty* property, const QString& name,
    const QString& label, const QString& help, const Format& format, QWidget* parent);

private Q_SLOTS:
  void textEdited();

private:
  Q_DISABLE_COPY(pqBATBudgetWidget)

  Format Text;
  double Budget = 0.0;
  QLineEdit* Number;
};

#endif
