// SPDX-License-Identifier: BSD-3-Clause
// Context menu entry of a view for selected particles.
#ifndef pqBATFollowMenu_h
#define pqBATFollowMenu_h

#include "pqContextMenuInterface.h"

#include <QObject>
#include <QStringList>

/// The menu entry "Follow Selected Particles", enabled if particles of a BAT reader, or of filters
/// above one, are selected.
class pqBATFollowMenu
  : public QObject
  , public pqContextMenuInterface
{
  Q_OBJECT
  Q_INTERFACES(pqContextMenuInterface)

public:
  explicit pqBATFollowMenu(QObject* parent = nullptr);
  ~pqBATFollowMenu() override;

  using pqContextMenuInterface::contextMenu;
  bool contextMenu(QMenu* menu, pqView* view, const QPoint& place, pqRepresentation* shown,
    const QStringList& blocks) const override;

private:
  Q_DISABLE_COPY(pqBATFollowMenu)
};

#endif
