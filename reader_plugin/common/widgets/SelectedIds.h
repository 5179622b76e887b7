// SPDX-License-Identifier: BSD-3-Clause
// The ids and the bounding box of ParaView's selection.
#ifndef SelectedIds_h
#define SelectedIds_h

#include <QString>

#include <array>

class pqOutputPort;
class vtkSMProxy;
class vtkSMSourceProxy;

namespace bat_selection
{
struct Ids
{
  QString Text;  ///< in the form of the property Ids
  QString Error; ///< reason for a failure; empty on success
};

struct Box
{
  std::array<double, 6> Ends{}; ///< x min, x max, y min, y max, z min, z max
  QString Error;                ///< reason for a failure; empty on success
};

/// Returns the output of the source if it has a selection, else null.
pqOutputPort* selectedPort(vtkSMProxy* source);

/// Returns the smallest closed box around all points that match a port's selection, on all
/// processes.
Box boxOf(pqOutputPort* port);

/// Clears the selection, which refers to points of the present output, not of the next one.
void clear(pqOutputPort* port);

/// Returns the ids of the source's points that match the selection, on all processes. Pairs such as
/// 5:0 if a second attribute makes ids unique.
Ids collectIds(vtkSMSourceProxy* source, vtkSMSourceProxy* selection, unsigned int selectionPort,
  const QString& attribute, const QString& second = QString());
}

#endif
