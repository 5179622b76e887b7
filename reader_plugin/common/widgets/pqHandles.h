// SPDX-License-Identifier: BSD-3-Clause
// What is dragged in the 3D view.
#ifndef pqHandles_h
#define pqHandles_h

#include "pqInteractivePropertyWidget.h"

class pqView;

/// A 3D widget of ParaView for numbers in the coordinates of the data. It is away while the view
/// draws the data moved, turned or scaled, since it would not be where they are.
class pqHandles : public pqInteractivePropertyWidget
{
  Q_OBJECT
  typedef pqInteractivePropertyWidget Superclass;

public:
  /// `name`: of a proxy in the group representations.
  pqHandles(const char* name, vtkSMProxy* proxy, vtkSMPropertyGroup* group, QWidget* parent);
  ~pqHandles() override;

  void setView(pqView* view) override;

Q_SIGNALS:
  /// Reports whether the handles can be in the view.
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
