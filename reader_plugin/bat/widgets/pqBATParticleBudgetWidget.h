// SPDX-License-Identifier: BSD-3-Clause
// The particle budget of the reader: a number that may be written as 5M or 2.5e6.
#ifndef pqBATParticleBudgetWidget_h
#define pqBATParticleBudgetWidget_h

#include "pqPropertyWidget.h"

class QLineEdit;

/// Panel widget "bat_particle_budget" for a property with one number that is not negative. 0 is
/// shown as "no limit".
class pqBATParticleBudgetWidget : public pqPropertyWidget
{
  Q_OBJECT
  Q_PROPERTY(QString budget READ budget WRITE setBudget NOTIFY budgetChanged)
  typedef pqPropertyWidget Superclass;

public:
  pqBATParticleBudgetWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqBATParticleBudgetWidget() override;

  /// Digits only.
  QString budget() const { return QString::number(this->Budget); }

  /// "5000000", "5,000,000", "5M", "2.5e6", "0" or "no limit" as a number; negative if it is none.
  static long long parse(const QString& text);
  static QString format(long long budget);

public Q_SLOTS:
  void setBudget(const QString& budget);

Q_SIGNALS:
  void budgetChanged();

private Q_SLOTS:
  void textEdited();

private:
  Q_DISABLE_COPY(pqBATParticleBudgetWidget)

  long long Budget = 0;
  QLineEdit* Number;
};

#endif
