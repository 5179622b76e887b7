// SPDX-License-Identifier: BSD-3-Clause
#include "pqBoxWidget.h"

#include "DataInView.h"
#include "SelectedIds.h"
#include "pqNumberEdit.h"
#include "pqRangeScale.h"

#include "pqCoreUtilities.h"
#include "pqView.h"

#include "vtkCommand.h"
#include "vtkSMNewWidgetRepresentationProxy.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyGroup.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMessageBox>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace
{
// Shares of the data's longest side: the minimum thickness of a drawn box, and the resolution of
// dragging.
constexpr double ThinnestShare = 1e-3;
constexpr double FinestShare = 1e-4;

QToolButton* NewButton(const char* name, const QString& text, const QString& help, QWidget* parent)
{
  auto* button = new QToolButton(parent);
  button->setObjectName(name);
  button->setText(text);
  button->setToolTip(help);
  return button;
}
}

//-----------------------------------------------------------------------------
pqBoxWidget::pqBoxWidget(vtkSMProxy* smproxy, vtkSMPropertyGroup* smgroup, QWidget* parentWidget)
  : Superclass("BoxWidgetRepresentation", smproxy, smgroup, parentWidget)
{
  this->setShowLabel(false);
  this->Use = new QCheckBox(tr("Use Box"), this);
  this->Use->setObjectName("UseBox");

  QToolButton* all = this->makeNumbers();

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(this->Use);
  layout->addWidget(this->Numbers);

  // The reader's box has no orientation: it is a unit cube, translated and scaled.
  vtkSMProxy* widget = this->widgetProxy();
  const double unit[6] = { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 };
  vtkSMPropertyHelper(widget, "RotationEnabled").Set(0);
  vtkSMPropertyHelper(widget, "UseReferenceBounds").Set(1);
  vtkSMPropertyHelper(widget, "ReferenceBounds").Set(unit, 6);
  vtkSMPropertyHelper(widget, "PlaceFactor", true).Set(1.0);
  widget->UpdateVTKObjects();

  this->connect(this->Use, SIGNAL(toggled(bool)), SLOT(useToggled(bool)));
  this->connect(this->Use, SIGNAL(toggled(bool)), SLOT(updateVisibility()));
  this->connect(this->Show, SIGNAL(toggled(bool)), SLOT(updateVisibility()));
  this->connect(all, SIGNAL(clicked()), SLOT(fitToAll()));
  this->connect(this->Selection, SIGNAL(clicked()), SLOT(fitToSelection()));
  this->connect(this->View, SIGNAL(clicked()), SLOT(fitToView()));
  this->connect(this, SIGNAL(viewChanged(pqView*)), SLOT(viewSwitched()));
  this->connect(this, SIGNAL(inPlaceChanged(bool)), SLOT(showInPlace(bool)));
  // This signal also reports selections made by scripts, unlike ParaView's selection manager.
  pqCoreUtilities::connect(
    smproxy, vtkCommand::SelectionChangedEvent, this, SLOT(selectionChanged()));
  this->connect(this, SIGNAL(interaction()), SLOT(boxDragged()));
  this->connect(this, SIGNAL(endInteraction()), SLOT(boxDragged()));

  vtkSMProperty* use = smgroup->GetProperty("UseBox");
  this->UseProperty = use;
  if (use != smproxy->GetProperty("UseBox"))
  {
    this->Use->setText(use->GetXMLLabel());
  }
  this->Use->setToolTip(getTooltip(use));
  this->addPropertyLink(this, "box", SIGNAL(boxChanged()), smgroup->GetProperty("Box"));
  this->addPropertyLink(this->Use, "checked", SIGNAL(toggled(bool)), use);
  this->Start = bat_view::dataBox(smproxy);
  this->showNumbers();
  this->showInPlace(true);
  this->selectionChanged();
  this->viewSwitched();
  this->updateVisibility();
}

//-----------------------------------------------------------------------------
// Creates the numbers, and the buttons below them. Returns the button "All".
QToolButton* pqBoxWidget::makeNumbers()
{
  this->Numbers = new QWidget(this);
  this->Numbers->setObjectName("Numbers");
  auto* grid = new QGridLayout(this->Numbers);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(4);
  grid->setVerticalSpacing(2);
  for (int axis = 0; axis < 3; ++axis)
  {
    const QString name = QString("xyz").mid(axis, 1);
    grid->addWidget(new QLabel(name, this->Numbers), axis, 0);
    for (int end = 0; end < 2; ++end)
    {
      auto* edit = new pqNumberEdit(false, this->Numbers);
      edit->setObjectName(QString("Box%1").arg(2 * axis + end));
      edit->setAccessibleName((end == 0 ? tr("Smallest %1") : tr("Largest %1")).arg(name));
      grid->addWidget(edit, axis, 1 + end);
      this->Edits[static_cast<std::size_t>(2 * axis + end)] = edit;
      this->connect(edit, SIGNAL(textChangedAndEditingFinished()), SLOT(numberEdited()));
    }
  }
  grid->setColumnStretch(1, 1);
  grid->setColumnStretch(2, 1);
  this->Show = new QCheckBox(tr("Show Box"), this->Numbers);
  this->Show->setObjectName("ShowBox");
  this->Show->setChecked(true);
  auto* all =
    NewButton("ResetBox", tr("All"), tr("Set the box to that of the whole file"), this->Numbers);
  this->Selection = NewButton(
    "BoxOfSelection", tr("Selection"), tr("Set the box to that of the selection"), this->Numbers);
  this->View = NewButton("BoxOfView", tr("View"),
    tr("Set the box to the part of the whole file that is in view"), this->Numbers);
  // Each gets its own line, because both do not fit into one line of a panel of usual width.
  grid->addWidget(this->Show, 3, 0, 1, 3);
  auto* line = new QHBoxLayout;
  line->setSpacing(2);
  line->addWidget(new QLabel(tr("Fit To"), this->Numbers));
  line->addWidget(all);
  line->addWidget(this->Selection);
  line->addWidget(this->View);
  line->addStretch(1);
  grid->addLayout(line, 4, 0, 1, 3);
  return all;
}

//-----------------------------------------------------------------------------
pqBoxWidget::~pqBoxWidget() = default;

//-----------------------------------------------------------------------------
QList<QVariant> pqBoxWidget::box() const
{
  QList<QVariant> values;
  for (const double end : this->Box)
  {
    values << end;
  }
  return values;
}

//-----------------------------------------------------------------------------
void pqBoxWidget::setBox(const QList<QVariant>& values)
{
  Ends box = this->Box;
  for (int i = 0; i < 6 && i < values.size(); ++i)
  {
    box[static_cast<std::size_t>(i)] = values[i].toDouble();
  }
  if (box != this->Box)
  {
    this->Box = box;
    this->showNumbers();
    this->placeWidget();
    Q_EMIT this->boxChanged();
  }
}

//-----------------------------------------------------------------------------
void pqBoxWidget::showNumbers()
{
  for (std::size_t i = 0; i < 6; ++i)
  {
    this->Edits[i]->showNumber(QString::number(this->Box[i], 'g', QLocale::FloatingPointShortest));
    const bool wrong = this->Box[i - i % 2] > this->Box[i - i % 2 + 1];
    this->Edits[i]->markWrong(wrong ? tr("The minimum is above the maximum") : QString());
  }
}

//-----------------------------------------------------------------------------
void pqBoxWidget::numberEdited()
{
  QList<QVariant> values = this->box();
  for (std::size_t i = 0; i < 6; ++i)
  {
    bool ok = false;
    const double number = this->Edits[i]->text().toDouble(&ok);
    if (ok)
    {
      values[static_cast<int>(i)] = number;
    }
  }
  this->setBox(values);
  this->showNumbers();
}

//-----------------------------------------------------------------------------
void pqBoxWidget::takeBox(const Ends& box)
{
  QList<QVariant> values;
  for (const double end : box)
  {
    values << end;
  }
  this->setBox(values);
}

//-----------------------------------------------------------------------------
// Switching a box on sets it to the box of the current data, which may belong to another time step
// than the first.
void pqBoxWidget::useToggled(bool use)
{
  if (use && this->Box == this->Start && vtkSMPropertyHelper(this->UseProperty).GetAsInt() == 0)
  {
    this->Start = bat_view::dataBox(this->proxy());
    this->takeBox(this->Start);
  }
}

//-----------------------------------------------------------------------------
void pqBoxWidget::fitToAll()
{
  this->takeBox(bat_view::dataBox(this->proxy()));
}

//-----------------------------------------------------------------------------
void pqBoxWidget::fitToSelection()
{
  pqOutputPort* port = bat_selection::selectedPort(this->proxy());
  if (!port)
  {
    return;
  }
  const bat_selection::Box box = bat_selection::boxOf(port);
  if (!box.Error.isEmpty())
  {
    QMessageBox::warning(this, tr("Selection box"), box.Error);
    return;
  }
  this->takeBox(box.Ends);
  bat_selection::clear(port);
}

//-----------------------------------------------------------------------------
void pqBoxWidget::fitToView()
{
  const auto box =
    bat_view::boxInView(this->view(), this->proxy(), bat_view::dataBox(this->proxy()));
  if (!box)
  {
    QMessageBox::warning(
      this, tr("Box of the visible part"), tr("No part of the file's box is in view."));
    return;
  }
  this->takeBox(*box);
}

//-----------------------------------------------------------------------------
void pqBoxWidget::selectionChanged()
{
  this->Selection->setEnabled(bat_selection::selectedPort(this->proxy()) != nullptr);
}

//-----------------------------------------------------------------------------
void pqBoxWidget::viewSwitched()
{
  this->View->setEnabled(bat_view::is3D(this->view()));
}

//-----------------------------------------------------------------------------
void pqBoxWidget::showInPlace(bool inPlace)
{
  this->Show->setEnabled(inPlace);
  this->Show->setToolTip(inPlace
      ? tr("Show the box in the 3D view: drag its faces, or its center handle")
      : tr("The data is moved, rotated or scaled in this view: the box appears elsewhere"));
}

//-----------------------------------------------------------------------------
// Returns the box in a form that can be drawn: without infinite or reversed ends, or sides of zero
// length.
pqBoxWidget::Ends pqBoxWidget::drawnBox() const
{
  const Ends data = bat_view::dataBox(this->proxy());
  double longest = 0.0;
  for (std::size_t i = 0; i < 6; i += 2)
  {
    longest = std::max(longest, data[i + 1] - data[i]);
  }
  const double thinnest = longest > 0.0 ? ThinnestShare * longest : 1.0;
  Ends drawn = this->Box;
  for (std::size_t i = 0; i < 6; i += 2)
  {
    double& lower = drawn[i];
    double& upper = drawn[i + 1];
    lower = std::isfinite(lower) ? lower : data[i];
    upper = std::isfinite(upper) ? upper : data[i + 1];
    if (lower > upper)
    {
      std::swap(lower, upper);
    }
    const double missing = thinnest - (upper - lower);
    if (missing > 0.0)
    {
      lower -= missing / 2;
      upper += missing / 2;
    }
  }
  return drawn;
}

//-----------------------------------------------------------------------------
void pqBoxWidget::placeWidget()
{
  if (this->Dragging)
  {
    return; // the box in the view is where the numbers come from
  }
  this->Drawn = this->drawnBox();
  double position[3];
  double scale[3];
  const double rotation[3] = { 0.0, 0.0, 0.0 };
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    position[axis] = this->Drawn[2 * axis];
    scale[axis] = this->Drawn[2 * axis + 1] - this->Drawn[2 * axis];
  }
  vtkSMProxy* widget = this->widgetProxy();
  vtkSMPropertyHelper(widget, "Position").Set(position, 3);
  vtkSMPropertyHelper(widget, "Rotation").Set(rotation, 3);
  vtkSMPropertyHelper(widget, "Scale").Set(scale, 3);
  widget->UpdateVTKObjects();
  this->render();
}

//-----------------------------------------------------------------------------
void pqBoxWidget::boxDragged()
{
  vtkSMProxy* widget = this->widgetProxy();
  widget->UpdatePropertyInformation();
  double position[3];
  double scale[3];
  vtkSMPropertyHelper(widget, "PositionInfo").Get(position, 3);
  vtkSMPropertyHelper(widget, "ScaleInfo").Get(scale, 3);
  double longest = 0.0;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    longest = std::max(longest, std::fabs(scale[axis]));
  }
  QList<QVariant> values = this->box();
  for (std::size_t i = 0; i < 6; ++i)
  {
    const std::size_t axis = i / 2;
    const double a = position[axis];
    const double b = position[axis] + scale[axis];
    const double end = i % 2 == 0 ? std::min(a, b) : std::max(a, b);
    const double finest = FinestShare * longest;
    if (std::fabs(end - this->Drawn[i]) > 1e-6 * longest && finest > 0.0)
    {
      this->Drawn[i] = end;
      values[static_cast<int>(i)] = bat_range::rounded(end, finest).toDouble();
    }
  }
  this->Dragging = true;
  this->setBox(values);
  this->Dragging = false;
}

//-----------------------------------------------------------------------------
void pqBoxWidget::updateVisibility()
{
  this->Numbers->setVisible(this->Use->isChecked());
  this->setWidgetVisible(this->Use->isChecked() && this->Show->isChecked());
  this->placeWidget();
}

//-----------------------------------------------------------------------------
// A script that shows all 3D widgets does not refer to an unused box.
void pqBoxWidget::setWidgetVisible(bool visible)
{
  Superclass::setWidgetVisible(visible && this->Use->isChecked());
}

//-----------------------------------------------------------------------------
// The superclass shows the box of every panel that appears.
void pqBoxWidget::showEvent(QShowEvent* event)
{
  Superclass::showEvent(event);
  this->updateVisibility();
}
