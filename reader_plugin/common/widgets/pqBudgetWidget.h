// SPDX-License-Identifier: BSD-3-Clause
// A budget of a reader: a number in one field, in the forms that people write.
#ifndef pqBudgetWidget_h
#define pqBudgetWidget_h

#include "pqPropertyWidget.h"

#include <functional>

class QLineEdit;

/// Edits a property with one non-negative number. Text that is not a number is replaced by the
/// previous number. A hint of the property defines the word for 0, the unit of the number, and the
/// maximum:
///
///   <Amount zero="no limit" per="per file" max="65536"/>
class pqBudgetWidget : public pqPropertyWidget
{
  Q_OBJECT
  Q_PROPERTY(QString budget READ budget WRITE setBudget NOTIFY budgetChanged)
  typedef pqPropertyWidget Superclass;

public:
  ~pqBudgetWidget() override;

  /// The number of the property.
  QString budget() const;

public Q_SLOTS:
  void setBudget(const QString& budget);

Q_SIGNALS:
  void budgetChanged();

public:
  struct Format
  {
    std::function<double(const QString& text)> Parse; ///< negative if it is not a budget
    std::function<QString(double budget)> Write;
  };

  struct Amount
  {
    double Number = -1.0; ///< negative if the text is not an amount
    QString Unit;         ///< in lower case, as `units` captures it
  };
  /// Parses "5,000,000", "1.5 G", "2.5e6", and a unit matched by `units`, a regular expression that
  /// captures it.
  static Amount parseAmount(const QString& text, const QString& units);

protected:
  /// `format` formats numbers without the words of the hint. The field has the name of the property
  /// with "Number" appended.
  pqBudgetWidget(vtkSMProxy* proxy, vtkSMProperty* property, const QString& examples,
    const Format& format, QWidget* parent);

private Q_SLOTS:
  void textEdited();

private:
  Q_DISABLE_COPY(pqBudgetWidget)

  Format Text;
  double Budget = 0.0;
  QLineEdit* Number;
};

#endif
