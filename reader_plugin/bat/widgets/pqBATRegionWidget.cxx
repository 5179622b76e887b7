// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATRegionWidget.h"

#include "DataInView.h"
#include "pqBATNumberRow.h"
#include "pqRangeScale.h"

#include "pqApplicationCore.h"
#include "pqPipelineSource.h"
#include "pqSMAdaptor.h"
#include "pqServerManagerModel.h"
#include "pqSignalAdaptors.h"
#include "pqView.h"

#include "vtkMath.h"
#include "vtkSMPropertyGroup.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace
{
constexpr int SliderSteps = 200;
constexpr int PageSteps = 10;
// A slab's numbers are rounded to these shares of a slider step: to the first when it is moved, so
// that they get no noise, and to the second when it is rotated to a position that was not typed.
constexpr double FinestOfMoved = 1e-6;
constexpr double FinestOfTurned = 1e-3;
constexpr double FinestDirection = 1e-6;
// A slab as thick as the data cannot be moved.
constexpr double ThinnerShare = 0.1;
constexpr double AlmostAll = 0.999;

double Rounded(double value, double finest)
{
  return std::isfinite(value) ? bat_range::rounded(value, finest).toDouble() : value;
}

// Returns 1, 2 or 5 times a power of ten, rounded up.
double RoundStep(double step)
{
  const double unit = std::pow(10.0, std::floor(std::log10(step)));
  for (const double times : { 1.0, 2.0, 5.0 })
  {
    if (times * unit >= step * (1.0 - 1e-9))
    {
      return times * unit;
    }
  }
  return 10.0 * unit;
}
}

//-----------------------------------------------------------------------------
pqBATRegionWidget::pqBATRegionWidget(
  vtkSMProxy* smproxy, vtkSMPropertyGroup* smgroup, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
  , Group(smgroup)
  , Form(new QComboBox(this))
  , Center(new pqBATNumberRow("Center", { tr("Center x"), tr("Center y"), tr("Center z") }, this))
  , Radius(new pqBATNumberRow("Radius", { tr("Radius") }, this))
  , Normal(new pqBATNumberRow("Normal", { tr("Normal x"), tr("Normal y"), tr("Normal z") }, this))
  , Limits(new pqBATNumberRow("Limits", { tr("Lower limit"), tr("Upper limit") }, this))
  , HalfExtents(new pqBATNumberRow("HalfExtents",
      { tr("First half extent"), tr("Second half extent"), tr("Third half extent") }, this))
  , Rotation(new pqBATNumberRow(
      "Rotation", { tr("Degrees about x"), tr("Degrees about y"), tr("Degrees about z") }, this))
  , Slider(new QSlider(Qt::Horizontal, this))
  , Position(new pqBATNumberRow("Position", { tr("Position") }, this))
  , Thick(new pqBATNumberRow("Thickness", { tr("Thickness") }, this))
  , Outside(new QCheckBox(tr("Outside of Region"), this))
  , Show(new QCheckBox(tr("Show Region"), this))
  , Buttons(new QWidget(this))
{
  this->setShowLabel(false);
  for (const QVariant& name :
    pqSMAdaptor::getEnumerationPropertyDomain(smproxy->GetProperty("Region")))
  {
    this->Form->addItem(name.toString());
  }
  this->nameWidgets();
  this->arrangeWidgets();
  this->connectWidgets();
  this->linkProperties();
  this->Start = pqBATRegion::startOf(bat_view::dataBox(smproxy));
  this->showInPlace(true);
  this->changed();
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::nameWidgets()
{
  this->Form->setObjectName("Form");
  this->Form->setToolTip(getTooltip(this->proxy()->GetProperty("Region")));
  this->Slider->setObjectName("Slider");
  this->Slider->setAccessibleName(tr("Position"));
  this->Slider->setToolTip(tr("Middle of the slab, from one end of the data to the other"));
  this->Slider->setPageStep(PageSteps);
  this->Normal->setToolTip(tr("Normal of the slab, of any length"));
  this->Limits->setToolTip(tr("Limits of the dot product of normal and position: distances from "
                              "the origin if the normal has length 1"));
  this->Rotation->setToolTip(tr("Rotation about x, y and z in degrees: about y first, then x, "
                                "then z"));
  this->HalfExtents->setToolTip(tr("Half the side lengths of the box along its axes"));
  this->Outside->setObjectName("Outside");
  this->Outside->setToolTip(tr("Load the particles outside the region instead"));
  this->Show->setObjectName("ShowRegion");
  this->Show->setChecked(true);
  this->Buttons->setObjectName("Buttons");
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::arrangeWidgets()
{
  auto* slide = new QWidget(this);
  slide->setObjectName("Slide");
  auto* slideLayout = new QHBoxLayout(slide);
  slideLayout->setContentsMargins(0, 0, 0, 0);
  slideLayout->setSpacing(4);
  slideLayout->addWidget(this->Slider, 2);
  slideLayout->addWidget(this->Position, 1);

  auto* all = new QToolButton(this->Buttons);
  all->setObjectName("ResetRegion");
  all->setText(tr("All"));
  all->setToolTip(tr("Fit the region to the box of all particles"));
  this->connect(all, SIGNAL(clicked()), SLOT(fitToAll()));
  auto* buttons = new QHBoxLayout(this->Buttons);
  buttons->setContentsMargins(0, 0, 0, 0);
  buttons->setSpacing(2);
  buttons->addWidget(this->Show);
  buttons->addStretch(1);
  buttons->addWidget(new QLabel(tr("Fit To"), this->Buttons));
  buttons->addWidget(all);

  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(4);
  grid->setVerticalSpacing(2);
  grid->setColumnStretch(1, 1);
  const int sphere = pqBATRegion::Sphere;
  const int slab = pqBATRegion::Slab;
  const int box = pqBATRegion::OrientedBox;
  this->addRow(grid, tr("Region"), this->Form, { pqBATRegion::None, sphere, slab, box });
  this->addRow(grid, tr("Center"), this->Center, { sphere, box });
  this->addRow(grid, tr("Radius"), this->Radius, { sphere });
  this->addRow(grid, tr("Across"), this->newDirections(), { slab });
  this->addRow(grid, tr("Normal"), this->Normal, { slab });
  this->addRow(grid, tr("Position"), slide, { slab });
  this->addRow(grid, tr("Thickness"), this->Thick, { slab });
  this->addRow(grid, tr("Limits Along Normal"), this->Limits, { slab });
  this->addRow(grid, tr("Half Extents"), this->HalfExtents, { box });
  this->addRow(grid, tr("Rotation"), this->Rotation, { box });
  this->addRow(grid, QString(), this->Outside, { sphere, slab, box });
  this->addRow(grid, QString(), this->Buttons, { sphere, slab, box });
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::connectWidgets()
{
  for (pqBATNumberRow* row :
    { this->Center, this->Radius, this->Normal, this->Limits, this->HalfExtents, this->Rotation })
  {
    this->connect(row, SIGNAL(valuesChanged()), SLOT(changed()));
  }
  this->connect(this->Form, SIGNAL(currentIndexChanged(int)), SLOT(formChosen()));
  this->connect(this->Position, SIGNAL(valuesChanged()), SLOT(positionTyped()));
  this->connect(this->Thick, SIGNAL(valuesChanged()), SLOT(thicknessTyped()));
  this->connect(this->Slider, SIGNAL(valueChanged(int)), SLOT(sliderMoved(int)));
  this->connect(this->Show, SIGNAL(toggled(bool)), SLOT(updateVisibility()));

  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  if (pqPipelineSource* source = model->findItem<pqPipelineSource*>(this->proxy()))
  {
    this->connect(
      source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(dataUpdated()), Qt::QueuedConnection);
  }
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::linkProperties()
{
  vtkSMProxy* smproxy = this->proxy();
  auto* form = new pqSignalAdaptorComboBox(this->Form);
  this->addPropertyLink(form, "currentText", SIGNAL(currentTextChanged(const QString&)),
    smproxy->GetProperty("Region"));
  this->addPropertyLink(
    this->Radius, "value", SIGNAL(valuesChanged()), smproxy->GetProperty("RegionRadius"));
  this->addPropertyLink(
    this->Outside, "checked", SIGNAL(toggled(bool)), smproxy->GetProperty("RegionOutside"));
  const auto link = [this, smproxy](pqBATNumberRow* row, const char* name)
  { this->addPropertyLink(row, "values", SIGNAL(valuesChanged()), smproxy->GetProperty(name)); };
  link(this->Center, "RegionCenter");
  link(this->Normal, "RegionNormal");
  link(this->Limits, "RegionLimits");
  link(this->HalfExtents, "RegionHalfExtents");
  link(this->Rotation, "RegionRotation");
}

//-----------------------------------------------------------------------------
pqBATRegionWidget::~pqBATRegionWidget() = default;

//-----------------------------------------------------------------------------
// Without a label, the field has the whole width.
void pqBATRegionWidget::addRow(
  QGridLayout* grid, const QString& text, QWidget* field, QList<int> forms)
{
  const int row = grid->rowCount();
  QLabel* label = nullptr;
  if (text.isEmpty())
  {
    grid->addWidget(field, row, 0, 1, 2);
  }
  else
  {
    label = new QLabel(text, this);
    label->setToolTip(field->toolTip());
    grid->addWidget(label, row, 0);
    grid->addWidget(field, row, 1);
  }
  this->Rows.append({ label, field, std::move(forms) });
}

//-----------------------------------------------------------------------------
QWidget* pqBATRegionWidget::newDirections()
{
  auto* directions = new QWidget(this);
  directions->setObjectName("Directions");
  auto* layout = new QHBoxLayout(directions);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  const auto add = [directions, layout](const QString& text, const QString& help)
  {
    auto* button = new QToolButton(directions);
    button->setObjectName("Across" + text);
    button->setText(text);
    button->setToolTip(help);
    layout->addWidget(button);
    return button;
  };
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const QString name = QString("XYZ").mid(static_cast<int>(axis), 1);
    Vector normal{};
    normal[axis] = 1.0;
    QObject::connect(add(name, tr("Place the slab across the %1 axis").arg(name.toLower())),
      &QToolButton::clicked, this, [this, normal]() { this->lookAlong(normal); });
  }
  this->Camera = add("Camera", tr("Place the slab across the current view direction"));
  QObject::connect(this->Camera, &QToolButton::clicked, this,
    [this]() { this->lookAlong(bat_view::lineOfSight(this->view(), this->proxy())); });
  layout->addStretch(1);
  return directions;
}

//-----------------------------------------------------------------------------
pqBATRegion pqBATRegionWidget::region() const
{
  pqBATRegion region;
  region.Center = this->Center->get<Vector>();
  region.Radius = this->Radius->value();
  region.Normal = this->Normal->get<Vector>();
  region.Limits = this->Limits->get<std::array<double, 2>>();
  region.HalfExtents = this->HalfExtents->get<Vector>();
  region.Rotation = this->Rotation->get<Vector>();
  return region;
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::setRegion(const pqBATRegion& region)
{
  this->Setting = true;
  this->Center->set(region.Center);
  this->Radius->setValue(region.Radius);
  this->Normal->set(region.Normal);
  this->Limits->set(region.Limits);
  this->HalfExtents->set(region.HalfExtents);
  this->Rotation->set(region.Rotation);
  this->Setting = false;
  this->changed();
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::changed()
{
  if (this->Setting)
  {
    return;
  }
  if (!this->Dragging)
  {
    this->Data = bat_view::dataBox(this->proxy());
  }
  this->showSlab();
  this->updateVisibility();
  pqBATRegionHandles* handles = this->handles();
  if (handles && !this->Dragging)
  {
    handles->show(this->region(), this->Data);
  }
}

//-----------------------------------------------------------------------------
// A region that is switched on gets the limits of the current data, which may belong to another
// time step than the first.
void pqBATRegionWidget::formChosen()
{
  const int applied = vtkSMPropertyHelper(this->proxy(), "Region").GetAsInt();
  if (applied == pqBATRegion::None && this->region().hasSameNumbers(this->Start))
  {
    this->Start = pqBATRegion::startOf(bat_view::dataBox(this->proxy()));
    this->setRegion(this->Start);
  }
  this->changed();
}

//-----------------------------------------------------------------------------
// Returns the handles of the present form, which are created when first needed.
pqBATRegionHandles* pqBATRegionWidget::handles()
{
  const int form = this->Form->currentIndex();
  if (form <= pqBATRegion::None || form > pqBATRegion::OrientedBox)
  {
    return nullptr;
  }
  pqBATRegionHandles*& handles = this->Handles[static_cast<std::size_t>(form)];
  if (!handles)
  {
    handles = pqBATRegionHandles::New(form, this->proxy(), this->Group, this);
    handles->hide(); // it has nothing in the panel
    handles->show(this->region(), this->Data);
    this->connect(handles, SIGNAL(inPlaceChanged(bool)), SLOT(showInPlace(bool)));
    this->connect(handles, SIGNAL(widgetVisibilityToggled(bool)), SLOT(handlesToggled(bool)));
    this->connect(handles, SIGNAL(interaction()), SLOT(dragged()));
    this->connect(handles, SIGNAL(endInteraction()), SLOT(dragEnded()));
    handles->setView(this->view());
    if (this->isSelected())
    {
      handles->select();
    }
  }
  return handles;
}

//-----------------------------------------------------------------------------
// At another time the data may be elsewhere. The handles stay, because they may just be dragged.
void pqBATRegionWidget::dataUpdated()
{
  this->Data = bat_view::dataBox(this->proxy());
  this->showSlab();
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::dragged()
{
  this->Dragging = true;
  this->setRegion(this->handles()->dragged());
  this->Dragging = false;
}

//-----------------------------------------------------------------------------
// Moves the handles to the rounded numbers.
void pqBATRegionWidget::dragEnded()
{
  this->setRegion(this->handles()->dragged());
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::updateVisibility()
{
  const int form = this->Form->currentIndex();
  for (const Row& row : this->Rows)
  {
    const bool visible = row.Forms.contains(form);
    row.Field->setVisible(visible);
    if (row.Label)
    {
      row.Label->setVisible(visible);
    }
  }
  this->Camera->setEnabled(bat_view::is3D(this->view()));
  pqBATRegionHandles* present = this->handles();
  const bool visible = this->isVisible() && this->Show->isChecked() &&
    (form != pqBATRegion::Slab || this->region().hasNormal());
  this->Toggling = true;
  for (pqBATRegionHandles* handles : this->Handles)
  {
    if (handles)
    {
      handles->setWidgetVisible(visible && handles == present);
    }
  }
  this->Toggling = false;
}

//-----------------------------------------------------------------------------
// Called by scripts: ShowInteractiveWidgets and HideInteractiveWidgets apply to all widgets.
void pqBATRegionWidget::handlesToggled(bool visible)
{
  if (!this->Toggling)
  {
    if (this->sender() == this->handles())
    {
      this->Show->setChecked(visible);
    }
    this->updateVisibility();
  }
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::showInPlace(bool inPlace)
{
  this->Show->setEnabled(inPlace);
  this->Show->setToolTip(inPlace
      ? tr("Show the region in the 3D view. Drag a sphere with the left button to move it, with "
           "the right one to resize it; drag the plane or arrow of a slab, or the handles, edges "
           "and faces of a box")
      : tr(
          "The particles are moved, rotated or scaled in this view: the region appears elsewhere"));
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::select()
{
  Superclass::select();
  for (pqBATRegionHandles* handles : this->Handles)
  {
    if (handles)
    {
      handles->select();
    }
  }
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::selectPort(int)
{
  this->select();
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::deselect()
{
  Superclass::deselect();
  for (pqBATRegionHandles* handles : this->Handles)
  {
    if (handles)
    {
      handles->deselect();
    }
  }
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::setView(pqView* newView)
{
  Superclass::setView(newView);
  for (pqBATRegionHandles* handles : this->Handles)
  {
    if (handles)
    {
      handles->setView(newView);
    }
  }
  this->updateVisibility();
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::hideEvent(QHideEvent* event)
{
  Superclass::hideEvent(event);
  this->updateVisibility();
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::showEvent(QShowEvent* event)
{
  Superclass::showEvent(event);
  this->changed(); // the data may be others by now
}

//-----------------------------------------------------------------------------
// Returns the range of normal . position over the box of all particles.
std::array<double, 2> pqBATRegionWidget::extent(const Vector& normal) const
{
  std::array<double, 2> ends{};
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const double a = normal[axis] * this->Data[2 * axis];
    const double b = normal[axis] * this->Data[2 * axis + 1];
    ends[0] += std::min(a, b);
    ends[1] += std::max(a, b);
  }
  return ends;
}

//-----------------------------------------------------------------------------
// Moves the slab through its point nearest to the middle of the data, keeping its thickness unless
// it covered all of the data.
void pqBATRegionWidget::lookAlong(const Vector& direction)
{
  pqBATRegion region = this->region();
  Vector normal = direction;
  for (double& component : normal)
  {
    component = Rounded(component, FinestDirection);
  }
  Vector point;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    point[axis] = 0.5 * (this->Data[2 * axis] + this->Data[2 * axis + 1]);
  }
  const std::array<double, 2> ends = this->extent(normal);
  const double all = ends[1] - ends[0];
  double thickness = all;
  if (region.hasNormal() && std::isfinite(region.position()))
  {
    const double length = vtkMath::Norm(region.Normal.data());
    const std::array<double, 2> before = this->extent(region.Normal);
    const double missing = std::min(std::max(region.position(), before[0]), before[1]) -
      vtkMath::Dot(region.Normal.data(), point.data());
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      point[axis] += missing * region.Normal[axis] / (length * length);
    }
    const double thick = region.Limits[1] - region.Limits[0];
    thickness = thick < AlmostAll * (before[1] - before[0])
      ? thick / length * vtkMath::Norm(normal.data())
      : all;
  }
  const double step = all > 0.0 && std::isfinite(all) ? RoundStep(all / SliderSteps) : 1.0;
  double position = vtkMath::Dot(normal.data(), point.data());
  if (thickness >= AlmostAll * all)
  {
    thickness = all > 0.0 ? RoundStep(ThinnerShare * all) : 0.0;
    position = std::round(position / step) * step;
  }
  const double finest = FinestOfTurned * step;
  region.Normal = normal;
  region.Limits[0] = Rounded(position - thickness / 2, finest);
  region.Limits[1] = Rounded(position + thickness / 2, finest);
  this->setRegion(region);
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::moveSlab(double position)
{
  pqBATRegion region = this->region();
  const double finest = FinestOfMoved * this->Step;
  const double thickness = this->Thickness;
  if (std::isfinite(region.Limits[0]) && std::isfinite(region.Limits[1]))
  {
    region.Limits[0] = Rounded(position - thickness / 2, finest);
    region.Limits[1] = Rounded(position + thickness / 2, finest);
  }
  else
  {
    for (double& limit : region.Limits)
    {
      limit = std::isfinite(limit) ? Rounded(position, finest) : limit;
    }
  }
  this->setRegion(region);
  this->Thickness = thickness; // many small steps do not add up to a change
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::sliderMoved(int place)
{
  const std::array<double, 2> ends = this->extent(this->region().Normal);
  if (std::isfinite(this->Thickness) && this->Thickness >= AlmostAll * (ends[1] - ends[0]))
  {
    this->Thickness = RoundStep(ThinnerShare * (ends[1] - ends[0]));
  }
  this->moveSlab((this->FirstStep + place) * this->Step);
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::positionTyped()
{
  this->moveSlab(this->Position->value());
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::thicknessTyped()
{
  pqBATRegion region = this->region();
  const double thickness = std::max(0.0, this->Thick->value());
  const std::array<double, 2> ends = this->extent(region.Normal);
  const double position =
    std::isfinite(region.position()) ? region.position() : 0.5 * (ends[0] + ends[1]);
  const double finest = FinestOfMoved * this->Step;
  region.Limits = { { Rounded(position - thickness / 2, finest),
    Rounded(position + thickness / 2, finest) } };
  this->setRegion(region);
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::fitToAll()
{
  pqBATRegion region = this->region();
  Vector half;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    half[axis] = 0.5 * (this->Data[2 * axis + 1] - this->Data[2 * axis]);
    region.Center[axis] = this->Data[2 * axis] + half[axis];
  }
  region.Radius = vtkMath::Norm(half.data());
  region.HalfExtents = half;
  region.Rotation = {};
  region.Limits = this->extent(region.Normal);
  this->setRegion(region);
}

//-----------------------------------------------------------------------------
void pqBATRegionWidget::showSlab()
{
  const pqBATRegion region = this->region();
  const std::array<double, 2> ends = this->extent(region.Normal);
  const double all = ends[1] - ends[0];
  const double position = region.position();
  const bool usable = std::isfinite(all) && all > 0.0 && std::isfinite(position);
  this->Thickness = region.Limits[1] - region.Limits[0];
  const QSignalBlocker sliderBlocker(this->Slider);
  const QSignalBlocker positionBlocker(this->Position);
  const QSignalBlocker thicknessBlocker(this->Thick);
  this->Slider->setEnabled(usable);
  this->Position->setEnabled(std::isfinite(position));
  if (usable)
  {
    this->Step = RoundStep(all / SliderSteps);
    this->FirstStep = std::floor(ends[0] / this->Step);
    const double last = std::ceil(ends[1] / this->Step);
    this->Slider->setRange(0, static_cast<int>(last - this->FirstStep));
    const double place = std::round(position / this->Step) - this->FirstStep;
    this->Slider->setValue(
      static_cast<int>(std::min(std::max(place, 0.0), last - this->FirstStep)));
  }
  this->Position->setValue(Rounded(position, FinestOfMoved * this->Step));
  this->Thick->setValue(Rounded(this->Thickness, FinestOfMoved * this->Step));
}
