// SPDX-License-Identifier: BSD-3-Clause
#include "WrongField.h"

#include <QLineEdit>

//-----------------------------------------------------------------------------
void bat_field::markWrong(QLineEdit* field, const QString& problem, const QString& toolTip)
{
  field->setStyleSheet(
    problem.isEmpty() ? QString() : QString("QLineEdit { background: #ffb3b3; color: black; }"));
  field->setToolTip(problem.isEmpty() ? toolTip : problem);
}
