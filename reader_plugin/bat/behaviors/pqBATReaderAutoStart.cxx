// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATReaderAutoStart.h"

#include "pqAbortBehavior.h"
#include "pqBATFirstPictureBehavior.h"
#include "pqBATFollowMenu.h"
#include "pqBATNewReaderBehavior.h"
#include "pqBATRadiusBehavior.h"
#include "pqOpenAddressBehavior.h"
#include "pqRefineBehavior.h"

//-----------------------------------------------------------------------------
pqBATReaderAutoStart::pqBATReaderAutoStart(QObject* parentObject)
  : QObject(parentObject)
{
}

//-----------------------------------------------------------------------------
void pqBATReaderAutoStart::startup()
{
  auto* loads = new pqAbortBehavior(this);
  new pqBATFollowMenu(this);
  new pqBATNewReaderBehavior(this);
  new pqBATRadiusBehavior(this);
  new pqBATFirstPictureBehavior(this); // for particles, after their look is known
  new pqRefineBehavior(loads, this);
  new pqOpenAddressBehavior(this);
}

//-----------------------------------------------------------------------------
void pqBATReaderAutoStart::shutdown()
{
  qDeleteAll(this->children());
}
