// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATGuiTestAutoStart.h"

#include "pqBATEventPlayer.h"

#include "pqApplicationCore.h"
#include "pqEventPlayer.h"
#include "pqTestUtility.h"

//-----------------------------------------------------------------------------
pqBATGuiTestAutoStart::pqBATGuiTestAutoStart(QObject* parentObject)
  : QObject(parentObject)
{
}

//-----------------------------------------------------------------------------
void pqBATGuiTestAutoStart::startup()
{
  pqApplicationCore::instance()->testUtility()->eventPlayer()->addWidgetEventPlayer(
    new pqBATEventPlayer(nullptr));
}
