// SPDX-License-Identifier: BSD-3-Clause
#include "pqNumberEdit.h"

#include "WrongField.h"
#include "pqRangeScale.h"

#include <QPainter>
#include <QRegularExpression>
#include <QRegularExpressionValidator>
#include <QSignalBlocker>
#include <QStyle>
#include <QStyleOptionFrame>

//-----------------------------------------------------------------------------
pqNumberEdit::pqNumberEdit(bool isOptional, QWidget* parentWidget)
  : Superclass(parentWidget)
{
  static const QString number = "[-+]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?|inf)";
  const QRegularExpression allowed(isOptional ? "(" + number + ")?" : number);
  this->setValidator(new QRegularExpressionValidator(allowed, this));
  this->setAlignment(Qt::AlignRight);
}

//-----------------------------------------------------------------------------
pqNumberEdit::~pqNumberEdit() = default;

//-----------------------------------------------------------------------------
void pqNumberEdit::showNumber(const QString& number)
{
  const QSignalBlocker blocker(this);
  if (this->text() != number)
  {
    this->setTextAndResetCursor(number);
  }
  this->setToolTip(bat_range::readable(number));
}

//-----------------------------------------------------------------------------
void pqNumberEdit::markWrong(const QString& what)
{
  bat_field::markWrong(this, what, bat_range::readable(this->text()));
}

//-----------------------------------------------------------------------------
QSize pqNumberEdit::sizeHint() const
{
  return QSize(
    this->fontMetrics().horizontalAdvance("-1.234e-12 ") + 6, Superclass::sizeHint().height());
}

//-----------------------------------------------------------------------------
QSize pqNumberEdit::minimumSizeHint() const
{
  return QSize(
    this->fontMetrics().horizontalAdvance("-1.234 ") + 6, Superclass::minimumSizeHint().height());
}

//-----------------------------------------------------------------------------
void pqNumberEdit::paintEvent(QPaintEvent* event)
{
  if (this->hasFocus())
  {
    Superclass::paintEvent(event);
    return;
  }
  QStyleOptionFrame option;
  this->initStyleOption(&option);
  QPainter painter(this);
  this->style()->drawPrimitive(QStyle::PE_PanelLineEdit, &option, &painter, this);
  QRect place = this->style()->subElementRect(QStyle::SE_LineEditContents, &option, this);
  place.adjust(2, 0, -2, 0);
  const bool empty = this->text().isEmpty();
  const QString shown =
    this->fontMetrics().elidedText(bat_range::shown(empty ? this->placeholderText() : this->text()),
      Qt::ElideMiddle, place.width());
  painter.setPen(this->palette().color(this->isEnabled() ? QPalette::Active : QPalette::Disabled,
    empty ? QPalette::PlaceholderText : QPalette::Text));
  painter.drawText(place, Qt::AlignVCenter | Qt::AlignRight, shown);
}
