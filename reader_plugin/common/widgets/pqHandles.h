// SPDX-License-Identifier: BSD-3-Clause
// Draggable handles in the 3D view.
#ifndef pqHandles_h
#define pqHandles_h

#include "pqInteractivePropertyWidget.h"

class pqView;

/// A ParaView 3D widget for numbers in the coordinates of the data. It is hidden while the view
/// draws the data translated, rotated or scaled, because it would be in the wrong place.
class pqHandles : public pqInteractivePropertyWidget
{
  Q_OBJECT
  typedef pqInteractivePropertyWidget Superclass;

public:
  /// `name` is the name of a proxy in the group representations.
  pqHandles(const char* name, vtkSMProxy* proxy, vtkSMPropertyGroup* group, QWidget* parent);
  ~pqHandles() override;

  void setView(pqView* view) override;

Q_SIGNALS:
  /// Reports whether the view can show the handles.
  void inPlaceChanged(bool inPlace);

protected Q_SLOTS:
  void updateWidgetVisibility() override;

private Q_SLOTS:
  void viewChanges();

private:
  Q_DISABLE_COPY(pqHandles)

  bool InPlace = true;
};

#endif
