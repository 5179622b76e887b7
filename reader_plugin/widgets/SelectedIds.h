// The ids of what is selected in ParaView.
#ifndef SelectedIds_h
#define SelectedIds_h

#include <QString>

class vtkDataArray;
class vtkSMSourceProxy;

namespace bat_selection
{
struct Ids
{
  QString Text;  ///< as the property Ids takes it
  QString Error; ///< why there is none; empty if nothing is wrong
};

/// Of the points of the source that match the selection, on all processes.
Ids idsOf(vtkSMSourceProxy* source, vtkSMSourceProxy* selection, unsigned int selectionPort,
  const QString& attribute);

/// Numbers in order, those without a gap as ranges; integers exact.
Ids textOf(vtkDataArray* ids);
}

#endif
