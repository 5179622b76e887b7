// SPDX-License-Identifier: BSD-3-Clause
// Trails of the particles that are selected in ParaView.
#ifndef FollowSelected_h
#define FollowSelected_h

#include <QString>

class pqOutputPort;

namespace bat_selection
{
/// The port whose selected particles come from a BAT reader; else null.
pqOutputPort* followablePort();

/// Makes trails of the particles that are selected of a port, which is the output of a BAT reader
/// or of filters above one, and shows them in the active view. Returns why it cannot; empty if
/// nothing is wrong.
QString follow(pqOutputPort* port);

/// The same for a user; reports why it is not possible.
void followOrSay(pqOutputPort* port);
}

#endif
