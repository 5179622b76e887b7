// SPDX-License-Identifier: BSD-3-Clause
// The reader's region: its form, numbers, and handles in the 3D view.
#ifndef pqBATRegionWidget_h
#define pqBATRegionWidget_h

#include "pqBATRegionHandles.h"
#include "pqPropertyWidget.h"

#include <array>
#include <cstddef>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QSlider;
class QToolButton;
class pqBATNumberRow;
class vtkSMPropertyGroup;

/// Panel widget "bat_region" for a group with the properties Region, RegionCenter, RegionRadius,
/// RegionNormal, RegionLimits, RegionHalfExtents, RegionRotation and RegionOutside of a proxy that
/// also has the property Bounds, the box of the data. Shows the controls for the region's form. A
/// slab also has a slider over all of the data, and buttons for its direction.
class pqBATRegionWidget : public pqPropertyWidget
{
  Q_OBJECT
  typedef pqPropertyWidget Superclass;

public:
  pqBATRegionWidget(vtkSMProxy* proxy, vtkSMPropertyGroup* group, QWidget* parent = nullptr);
  ~pqBATRegionWidget() override;

  void select() override;
  void selectPort(int port) override;
  void deselect() override;
  void hideEvent(QHideEvent*) override;
  void showEvent(QShowEvent*) override;

public Q_SLOTS:
  void setView(pqView* view) override;

private Q_SLOTS:
  void changed();
  void dataUpdated();
  void dragged();
  void dragEnded();
  void fitToAll();
  void formChosen();
  void handlesToggled(bool visible);
  void positionTyped();
  void thicknessTyped();
  void sliderMoved(int place);
  void showInPlace(bool inPlace);
  void updateVisibility();

private:
  Q_DISABLE_COPY(pqBATRegionWidget)
  using Vector = std::array<double, 3>;

  void nameWidgets();
  void arrangeWidgets();
  void connectWidgets();
  void linkProperties();
  pqBATRegion region() const;
  void setRegion(const pqBATRegion& region);
  void addRow(QGridLayout* grid, const QString& label, QWidget* row, QList<int> forms);
  QWidget* newDirections();
  pqBATRegionHandles* handles();
  std::array<double, 2> extent(const Vector& normal) const;
  void lookAlong(const Vector& normal);
  void moveSlab(double position);
  void showSlab();

  vtkSMPropertyGroup* Group;
  bat_view::Ends Data{};
  pqBATRegion Start;     // the numbers until they are edited
  bool Setting = false;  // several numbers are set; the last one notifies
  bool Toggling = false; // the handles, by the panel
  bool Dragging = false; // the handles are where the numbers come from
  double Thickness = 0.0;
  double Step = 1.0;
  double FirstStep = 0.0; // the left end of the slider

  struct Row
  {
    QLabel* Label;
    QWidget* Field;
    QList<int> Forms;
  };
  QList<Row> Rows;
  QComboBox* Form;
  pqBATNumberRow* Center;
  pqBATNumberRow* Radius;
  pqBATNumberRow* Normal;
  pqBATNumberRow* Limits;
  pqBATNumberRow* HalfExtents;
  pqBATNumberRow* Rotation;
  QSlider* Slider;
  pqBATNumberRow* Position;
  pqBATNumberRow* Thick;
  QToolButton* Camera = nullptr;
  QCheckBox* Outside;
  QCheckBox* Show;
  QWidget* Buttons;
  std::array<pqBATRegionHandles*, 4> Handles{};
};

#endif
