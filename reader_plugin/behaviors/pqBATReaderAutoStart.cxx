#include "pqBATReaderAutoStart.h"

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
  new pqBATRadiusBehavior(this);
  new pqBATRefineBehavior(this);
}

//-----------------------------------------------------------------------------
void pqBATReaderAutoStart::shutdown()
{
  qDeleteAll(this->children());
}
