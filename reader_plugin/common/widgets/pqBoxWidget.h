// SPDX-License-Identifier: BSD-3-Clause
// The box of a reader: numbers, and a draggable box in the 3D view.
#ifndef pqBoxWidget_h
#define pqBoxWidget_h

#include "pqHandles.h"

#include <QList>
#include <QVariant>

#include <array>

class QCheckBox;
class QToolButton;
class pqNumberEdit;

/// Panel widget "bat_box" for a group with properties of the functions UseBox and Box (x min, x
/// max, y min, y max, z min, z max) of a proxy that also has the property Bounds, the box of the
/// data. If the first has another name, its label is that of the check box. Ends that were not
/// dragged keep their digits. Buttons set the box to that of the whole file, of the selection, or
/// of the view.
class pqBoxWidget : public pqHandles
{
  Q_OBJECT
  Q_PROPERTY(QList<QVariant> box READ box WRITE setBox NOTIFY boxChanged)
  typedef pqHandles Superclass;

public:
  pqBoxWidget(vtkSMProxy* proxy, vtkSMPropertyGroup* group, QWidget* parent = nullptr);
  ~pqBoxWidget() override;

  QList<QVariant> box() const;

  void showEvent(QShowEvent*) override;

public Q_SLOTS:
  void setBox(const QList<QVariant>& box);
  void setWidgetVisible(bool visible) override;

Q_SIGNALS:
  void boxChanged();

protected Q_SLOTS:
  void placeWidget() override;

private Q_SLOTS:
  void boxDragged();
  void useToggled(bool use);
  void numberEdited();
  void fitToAll();
  void fitToSelection();
  void fitToView();
  void selectionChanged();
  void showInPlace(bool inPlace);
  void updateVisibility();
  void viewSwitched();

private:
  Q_DISABLE_COPY(pqBoxWidget)
  using Ends = std::array<double, 6>;

  QToolButton* makeNumbers();
  void takeBox(const Ends& box);
  Ends drawnBox() const;
  void showNumbers();

  Ends Box{ { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 } };
  Ends Drawn{};
  Ends Start{}; // the box until it is edited
  vtkSMProperty* UseProperty;
  bool Dragging = false;
  QCheckBox* Use;
  QCheckBox* Show;
  QToolButton* Selection;
  QToolButton* View;
  QWidget* Numbers;
  std::array<pqNumberEdit*, 6> Edits;
};

#endif
