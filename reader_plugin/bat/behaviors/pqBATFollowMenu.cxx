// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATFollowMenu.h"

#include "FollowSelected.h"

#include "pqApplicationCore.h"
#include "pqInterfaceTracker.h"

#include <QAction>
#include <QMenu>

//-----------------------------------------------------------------------------
pqBATFollowMenu::pqBATFollowMenu(QObject* parentObject)
  : QObject(parentObject)
{
  pqApplicationCore::instance()->interfaceTracker()->addInterface(this);
}

//-----------------------------------------------------------------------------
pqBATFollowMenu::~pqBATFollowMenu()
{
  if (pqApplicationCore* core = pqApplicationCore::instance())
  {
    core->interfaceTracker()->removeInterface(this);
  }
}

//-----------------------------------------------------------------------------
// Other plugins add to the menu too.
bool pqBATFollowMenu::contextMenu(
  QMenu* menu, pqView*, const QPoint&, pqRepresentation*, const QStringList&) const
{
  if (menu && bat_selection::followablePort())
  {
    menu->addSeparator();
    QAction* action = menu->addAction(tr("Follow Selected Particles"));
    action->setObjectName("FollowSelectedParticles");
    QObject::connect(action, &QAction::triggered, action,
      []() { bat_selection::followOrSay(bat_selection::followablePort()); });
  }
  return false;
}
