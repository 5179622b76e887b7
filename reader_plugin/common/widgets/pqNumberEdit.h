// SPDX-License-Identifier: BSD-3-Clause
// A number in a narrow place.
#ifndef pqNumberEdit_h
#define pqNumberEdit_h

#include "pqLineEdit.h"

/// Edits a number as a text, so that it keeps all its digits; shows it short unless it is edited.
class pqNumberEdit : public pqLineEdit
{
  Q_OBJECT
  typedef pqLineEdit Superclass;

public:
  /// `isOptional`: the text may be empty.
  explicit pqNumberEdit(bool isOptional, QWidget* parent = nullptr);
  ~pqNumberEdit() override;

  /// Shows a number without telling that it has changed.
  void showNumber(const QString& text);
  /// Paints the field red, with the problem as its tooltip; as usual if that is empty.
  void markWrong(const QString& what);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

protected:
  void paintEvent(QPaintEvent*) override;

private:
  Q_DISABLE_COPY(pqNumberEdit)
};

#endif
