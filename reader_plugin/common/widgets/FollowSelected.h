// SPDX-License-Identifier: BSD-3-Clause
// Creates trails of the particles selected in ParaView.
#ifndef FollowSelected_h
#define FollowSelected_h

#include <QString>

class pqOutputPort;

namespace bat_selection
{
/// Returns the port whose selected particles come from a BAT reader; else null.
pqOutputPort* followablePort();

/// Creates trails of the selected particles of a port, which is the output of a BAT reader or of
/// filters above one, and shows them in the active view. Returns the reason for a failure; empty on
/// success.
QString follow(pqOutputPort* port);

/// Does the same on behalf of a user; shows the reason for a failure.
void followOrSay(pqOutputPort* port);
}

#endif
