#include "pqBATReaderAutoStart.h"

#include "pqBATAbortBehavior.h"
#include "pqBATRadiusBehavior.h"
#include "pqBATRefineBehavior.h"

//-----------------------------------------------------------------------------
pqBATReaderAutoStart::pqBATReaderAutoStart(QObject* parentObject)
  : QObject(parentObject)
{
}

//-----------------------------------------------------------------------------
void pqBATReaderAutoStart::startup()
{
  new pqBATAbortBehavior(this);
  new pqBATRadiusBehavior(this);
  new pqBATRefineBehavior(this);
}

//-----------------------------------------------------------------------------
void pqBATReaderAutoStart::shutdown()
{
  qDeleteAll(this->children());
}
