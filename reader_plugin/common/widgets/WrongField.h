// SPDX-License-Identifier: BSD-3-Clause
// The appearance of a panel field whose text the reader would refuse.
#ifndef WrongField_h
#define WrongField_h

#include <QString>

class QLineEdit;

namespace bat_field
{
/// Paints the field red, with `problem` as its tooltip; without a problem as usual, with `toolTip`.
void markWrong(QLineEdit* field, const QString& problem, const QString& toolTip);
}

#endif
