// SPDX-License-Identifier: BSD-3-Clause
// A compact number field.
#ifndef pqNumberEdit_h
#define pqNumberEdit_h

#include "pqLineEdit.h"

/// Edits a number as a text, so that it keeps all its digits; shows it in short form except while
/// it is edited.
class pqNumberEdit : public pqLineEdit
{
  Q_OBJECT
  typedef pqLineEdit Superclass;

public:
  /// With `isOptional`, the text may be empty.
  explicit pqNumberEdit(bool isOptional, QWidget* parent = nullptr);
  ~pqNumberEdit() override;

  /// Shows a number without emitting a signal.
  void showNumber(const QString& text);
  /// Paints the field red, with the problem as its tooltip; the normal colour if the problem is
  /// empty.
  void markWrong(const QString& what);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

protected:
  void paintEvent(QPaintEvent*) override;

private:
  Q_DISABLE_COPY(pqNumberEdit)
};

#endif
