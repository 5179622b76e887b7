// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATFirstPictureBehavior.h"

#include "vtkBATPointGaussianRepresentation.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqDataRepresentation.h"
#include "pqOutputPort.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"
#include "pqView.h"

#include "vtkCommand.h"
#include "vtkDataObject.h"
#include "vtkPVArrayInformation.h"
#include "vtkPVDataInformation.h"
#include "vtkPVDataSetAttributesInformation.h"
#include "vtkSMPVRepresentationProxy.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMRepresentationProxy.h"
#include "vtkSMTransferFunctionProxy.h"
#include "vtkSMViewProxy.h"
#include "vtkType.h"

#include <QPointer>
#include <QStringList>
#include <QTimer>

#include <algorithm>
#include <array>

namespace
{
// A value of the Output property of flow filters.
constexpr int ShowParticles = 2;
// Share of the domain's largest extent: with this radius, particles look like balls, not like a
// cloud.
constexpr double FlowRadius = 0.004;

bool IsGrid(pqPipelineSource* source)
{
  const QString name = source->getProxy()->GetXMLName();
  return name == "IDXReader" || name == "BricksReader";
}

bool IsFlowFilter(pqPipelineSource* source)
{
  return QString(source->getProxy()->GetXMLName()).startsWith("FlowPathLines");
}

bool IsParticles(pqPipelineSource* source)
{
  const QString name = source->getProxy()->GetXMLName();
  return name == "BATReader" || name == "BATSeriesReader";
}

vtkPVDataInformation* DataOf(pqDataRepresentation* representation)
{
  return representation->getOutputPortFromInput()->getDataInformation();
}

// Finds the array of a velocity by its name; empty if there is none.
QString FindVelocity(vtkPVDataSetAttributesInformation* arrays)
{
  QString found;
  for (int i = 0; i < arrays->GetNumberOfArrays(); ++i)
  {
    vtkPVArrayInformation* array = arrays->GetArrayInformation(i);
    const QString name = QString::fromUtf8(array->GetName());
    const QString plain = name.toLower();
    const bool isReal = array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE;
    if (!isReal || array->GetNumberOfComponents() < 2 || array->GetNumberOfComponents() > 3)
    {
      continue;
    }
    if (plain == "velocity")
    {
      return name;
    }
    if (found.isEmpty() &&
      (plain.contains("velocity") || QStringList{ "vel", "v", "u", "wind" }.contains(plain)))
    {
      found = name;
    }
  }
  return found;
}

QString FirstOf(vtkPVDataSetAttributesInformation* arrays)
{
  return arrays->GetNumberOfArrays() > 0
    ? QString::fromUtf8(arrays->GetArrayInformation(0)->GetName())
    : QString();
}

// Colours by an array, and shows a legend once the representation is in a view.
void ColorBy(pqDataRepresentation* representation, const QString& array)
{
  auto* proxy = vtkSMPVRepresentationProxy::SafeDownCast(representation->getProxy());
  if (!proxy || array.isEmpty() ||
    !proxy->SetScalarColoring(array.toUtf8().constData(), vtkDataObject::POINT))
  {
    return;
  }
  proxy->RescaleTransferFunctionToDataRange(false, false);
  proxy->UpdateVTKObjects();
  const QPointer<pqDataRepresentation> later = representation;
  QTimer::singleShot(0, representation,
    [later]()
    {
      auto* shown = later ? vtkSMPVRepresentationProxy::SafeDownCast(later->getProxy()) : nullptr;
      if (shown && later->getView() && shown->GetUsingScalarColoring())
      {
        shown->SetScalarBarVisibility(later->getView()->getProxy(), true);
        later->renderViewEventually();
      }
    });
}

void SetType(pqDataRepresentation* representation, const char* type)
{
  if (auto* proxy = vtkSMRepresentationProxy::SafeDownCast(representation->getProxy()))
  {
    proxy->SetRepresentationType(type);
    proxy->UpdateVTKObjects();
  }
}

void Set(vtkSMProxy* proxy, const char* name, int value)
{
  if (proxy->GetProperty(name))
  {
    vtkSMPropertyHelper(proxy, name).Set(value);
  }
}

// An axes grid with only its edges visible is the box of the data.
void ShowBox(vtkSMProxy* representation)
{
  vtkSMProperty* property = representation->GetProperty("DataAxesGrid");
  vtkSMProxy* grid = property ? vtkSMPropertyHelper(property).GetAsProxy() : nullptr;
  if (!grid)
  {
    return;
  }
  for (const char* title : { "XTitle", "YTitle", "ZTitle" })
  {
    vtkSMPropertyHelper(grid, title).Set("");
  }
  Set(grid, "AxesToLabel", 0);
  Set(grid, "ShowGrid", 0);
  Set(grid, "ShowTicks", 0);
  Set(grid, "ShowEdges", 1);
  Set(grid, "CullFrontface", 0);
  constexpr int allFaces = 63;
  Set(grid, "FacesToRender", allFaces);
  Set(grid, "GridAxesVisibility", 1);
  grid->UpdateVTKObjects();
}

bool IsGlow(pqDataRepresentation* representation)
{
  vtkSMProxy* proxy = representation->getProxy();
  return proxy->GetProperty("Look") &&
    vtkSMPropertyHelper(proxy, "Look").GetAsInt() ==
    vtkBATPointGaussianRepresentation::DENSITY_GLOW &&
    QString(vtkSMPropertyHelper(proxy, "Representation").GetAsString()) == "Point Gaussian";
}

bool ShowsGlow(pqView* view)
{
  const QList<pqRepresentation*> shown = view->getRepresentations();
  return std::any_of(shown.begin(), shown.end(),
    [](pqRepresentation* one)
    {
      auto* data = qobject_cast<pqDataRepresentation*>(one);
      return data && data->isVisible() && IsGlow(data);
    });
}

void ResetCameraIfAlone(pqDataRepresentation* representation)
{
  pqView* view = representation->getView();
  const QList<pqRepresentation*> all =
    view ? view->getRepresentations() : QList<pqRepresentation*>();
  const bool isAlone = std::none_of(all.begin(), all.end(),
    [&](pqRepresentation* one) {
      return one != representation && one->isVisible() && qobject_cast<pqDataRepresentation*>(one);
    });
  if (view && representation->isVisible() && isAlone)
  {
    view->resetDisplay();
  }
}

// 0 if the image is flat or empty.
int LayersOf(pqDataRepresentation* representation)
{
  int extent[6];
  DataOf(representation)->GetExtent(extent);
  for (int axis = 0; axis < 3; ++axis)
  {
    if (extent[2 * axis + 1] <= extent[2 * axis])
    {
      return 0;
    }
  }
  return extent[5] - extent[4] + 1;
}
}

//-----------------------------------------------------------------------------
pqBATFirstPictureBehavior::pqBATFirstPictureBehavior(QObject* parentObject)
  : QObject(parentObject)
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  QObject::connect(
    model, &pqServerManagerModel::sourceAdded, this, &pqBATFirstPictureBehavior::watchSource);
  for (pqPipelineSource* source : model->findItems<pqPipelineSource*>())
  {
    this->watchSource(source);
  }
  // A representation that is deleted sends no other signal.
  QObject::connect(model, &pqServerManagerModel::representationRemoved, this,
    &pqBATFirstPictureBehavior::adaptBackgrounds, Qt::QueuedConnection);
}

//-----------------------------------------------------------------------------
void pqBATFirstPictureBehavior::watchSource(pqPipelineSource* source)
{
  if (IsGrid(source) || IsFlowFilter(source) || IsParticles(source) ||
    QString(source->getProxy()->GetXMLName()) == "BATTrails")
  {
    this->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(follow(pqPipelineSource*)));
    this->connect(source,
      SIGNAL(representationAdded(pqPipelineSource*, pqDataRepresentation*, int)),
      SLOT(adopt(pqPipelineSource*, pqDataRepresentation*)));
  }
}

//-----------------------------------------------------------------------------
void pqBATFirstPictureBehavior::adopt(
  pqPipelineSource* source, pqDataRepresentation* representation)
{
  if (IsParticles(source))
  {
    this->watchGlow(representation);
  }
  // Sources that were never applied in the panel were shown by a script.
  if (pqApplicationCore::instance()->isLoadingState() ||
    source->modifiedState() != pqProxy::UNINITIALIZED ||
    !vtkSMPVRepresentationProxy::SafeDownCast(representation->getProxy()))
  {
    return;
  }
  vtkPVDataSetAttributesInformation* arrays = DataOf(representation)->GetPointDataInformation();
  if (IsGrid(source))
  {
    this->showSlice(representation);
  }
  else if (IsFlowFilter(source))
  {
    QObject::connect(representation, &QObject::destroyed, this,
      [this](QObject* gone) { this->Particles.remove(gone); });
    this->Particles.insert(representation, false);
    this->showParticles(source, representation);
  }
  else if (QString(source->getProxy()->GetXMLName()) == "BATTrails")
  {
    if (arrays->GetArrayInformation("time"))
    {
      ColorBy(representation, "time");
      // Other visible trails share these colours: the range covers all of them.
      vtkSMTransferFunctionProxy::RescaleTransferFunctionToDataRange(
        vtkSMPropertyHelper(representation->getProxy(), "LookupTable").GetAsProxy());
    }
  }
  else
  {
    if (IsGlow(representation))
    {
      // Drawing all particles takes long without a graphics card.
      Set(representation->getProxy(), "SampleFirst", 1);
      representation->getProxy()->UpdateVTKObjects();
    }
    else
    {
      ColorBy(representation, FindVelocity(arrays));
    }
    if (DataOf(representation)->GetNumberOfPoints() == 0)
    {
      QObject::connect(representation, &QObject::destroyed, this,
        [this](QObject* gone) { this->Empty.remove(gone); });
      this->Empty.insert(representation);
    }
  }
}

//-----------------------------------------------------------------------------
// A run may begin without particles: the first step that has some then gives the first picture.
// Before that, ParaView knows of no arrays.
void pqBATFirstPictureBehavior::showFirstParticles(pqDataRepresentation* representation)
{
  auto* proxy = vtkSMPVRepresentationProxy::SafeDownCast(representation->getProxy());
  if (proxy && proxy->GetUsingScalarColoring())
  {
    proxy->RescaleTransferFunctionToDataRange(false, false);
  }
  else if (!IsGlow(representation))
  {
    ColorBy(representation, FindVelocity(DataOf(representation)->GetPointDataInformation()));
  }
  ResetCameraIfAlone(representation);
  representation->renderViewEventually();
}

//-----------------------------------------------------------------------------
void pqBATFirstPictureBehavior::showSlice(pqDataRepresentation* representation)
{
  vtkPVDataSetAttributesInformation* arrays = DataOf(representation)->GetPointDataInformation();
  const QString velocity = FindVelocity(arrays);
  const QString shown = velocity.isEmpty() ? FirstOf(arrays) : velocity;
  const int layers = LayersOf(representation);
  if (shown.isEmpty())
  {
    return; // the box is empty, or there is no field
  }
  if (layers > 1)
  {
    SetType(representation, "Slice");
    vtkSMPropertyHelper(representation->getProxy(), "Slice").Set(layers / 2);
    ShowBox(representation->getProxy());
    QObject::connect(representation, &QObject::destroyed, this,
      [this](QObject* gone) { this->Slices.remove(gone); });
    this->Slices.insert(representation, layers / 2);
    // Before the data is drawn, its box reaches from -1 to 1, and ParaView would move the camera to
    // that.
    QTimer::singleShot(0, representation,
      [representation]()
      {
        if (pqView* view = representation->getView())
        {
          view->forceRender();
          ResetCameraIfAlone(representation);
        }
      });
  }
  else
  {
    SetType(representation, "Surface");
  }
  representation->getProxy()->UpdateVTKObjects();
  ColorBy(representation, shown);
}

//-----------------------------------------------------------------------------
// A glow is visible on a dark background. A background chosen by the user stays.
void pqBATFirstPictureBehavior::watchGlow(pqDataRepresentation* representation)
{
  QObject::connect(representation, &pqDataRepresentation::visibilityChanged, this,
    &pqBATFirstPictureBehavior::adaptBackgrounds);
  for (const char* name : { "Look", "Representation" })
  {
    pqCoreUtilities::connect(representation->getProxy()->GetProperty(name),
      vtkCommand::ModifiedEvent, this, SLOT(adaptBackgrounds()));
  }
  QTimer::singleShot(0, this, SLOT(adaptBackgrounds())); // once it is in a view
}

//-----------------------------------------------------------------------------
void pqBATFirstPictureBehavior::adaptBackgrounds()
{
  constexpr std::array<double, 3> dark = { 0.04, 0.04, 0.06 };
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  for (pqView* view : model->findItems<pqView*>())
  {
    vtkSMProxy* proxy = view->getProxy();
    if (!proxy->GetProperty("UseColorPaletteForBackground") || !proxy->GetProperty("Background"))
    {
      continue;
    }
    vtkSMPropertyHelper palette(proxy, "UseColorPaletteForBackground");
    vtkSMPropertyHelper background(proxy, "Background");
    std::array<double, 3> color{};
    background.Get(color.data(), 3);
    auto darkened = this->Darkened.find(view);
    if (darkened == this->Darkened.end())
    {
      // Sets an explicit colour instead of the palette's, so that a state file contains it.
      if (ShowsGlow(view) && (palette.GetAsInt() != 0 || color == dark))
      {
        QObject::connect(
          view, &QObject::destroyed, this, [this](QObject* gone) { this->Darkened.remove(gone); });
        if (color == dark)
        {
          proxy->GetProperty("Background")->ResetToDefault();
          background.Get(color.data(), 3);
        }
        this->Darkened.insert(view, { color, false });
        palette.Set(0);
        background.Set(dark.data(), 3);
        proxy->UpdateVTKObjects();
        view->render();
      }
      continue;
    }
    darkened->IsUsers = darkened->IsUsers || palette.GetAsInt() != 0 || color != dark;
    if (!darkened->IsUsers && !ShowsGlow(view))
    {
      palette.Set(1);
      background.Set(darkened->Before.data(), 3);
      this->Darkened.erase(darkened);
      proxy->UpdateVTKObjects();
      view->render();
    }
  }
}

//-----------------------------------------------------------------------------
void pqBATFirstPictureBehavior::showParticles(
  pqPipelineSource* source, pqDataRepresentation* representation)
{
  const bool particles =
    vtkSMPropertyHelper(source->getProxy(), "Output", true).GetAsInt() == ShowParticles;
  if (this->Particles.value(representation, false) == particles)
  {
    return; // keeps what the user has chosen since
  }
  this->Particles.insert(representation, particles);
  SetType(representation, particles ? "Point Gaussian" : "Surface");
  double domain[6];
  DataOf(representation)->GetBounds(domain);
  const double extent =
    std::max({ domain[1] - domain[0], domain[3] - domain[2], domain[5] - domain[4] });
  vtkSMProxy* proxy = representation->getProxy();
  if (particles && extent > 0.0 && proxy->GetProperty("GaussianRadius"))
  {
    vtkSMPropertyHelper(proxy, "GaussianRadius").Set(FlowRadius * extent);
    proxy->UpdateVTKObjects();
  }
  representation->renderViewEventually();
}

//-----------------------------------------------------------------------------
// Deferred: a representation that changes while its view is updated loses its data.
void pqBATFirstPictureBehavior::follow(pqPipelineSource* source)
{
  QTimer::singleShot(0, source, [this, source]() { this->followNow(source); });
}

//-----------------------------------------------------------------------------
void pqBATFirstPictureBehavior::followNow(pqPipelineSource* source)
{
  for (pqDataRepresentation* representation : source->getRepresentations(0, nullptr))
  {
    if (this->Particles.contains(representation))
    {
      this->showParticles(source, representation);
    }
    if (this->Empty.contains(representation) && DataOf(representation)->GetNumberOfPoints() != 0)
    {
      this->Empty.remove(representation);
      this->showFirstParticles(representation);
    }
    const auto ours = this->Slices.find(representation);
    const int layers = ours != this->Slices.end() ? LayersOf(representation) : 0;
    vtkSMPropertyHelper slice(representation->getProxy(), "Slice", true);
    if (layers > 1 && slice.GetAsInt() == *ours && *ours != layers / 2)
    {
      *ours = layers / 2;
      slice.Set(*ours);
      representation->getProxy()->UpdateVTKObjects();
      representation->renderViewEventually();
    }
  }
}
