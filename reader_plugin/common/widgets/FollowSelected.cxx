// SPDX-License-Identifier: BSD-3-Clause
#include "FollowSelected.h"

#include "SelectedIds.h"

#include "pqActiveObjects.h"
#include "pqCoreUtilities.h"
#include "pqOutputPort.h"
#include "pqPVApplicationCore.h"
#include "pqPipelineFilter.h"
#include "pqSelectionManager.h"
#include "pqServer.h"
#include "pqTimeKeeper.h"
#include "pqUndoStack.h"
#include "pqView.h"

#include "vtkDataObject.h"
#include "vtkNew.h"
#include "vtkSMPVRepresentationProxy.h"
#include "vtkSMParaViewPipelineControllerWithRendering.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSessionProxyManager.h"
#include "vtkSMSourceProxy.h"
#include "vtkSMStringVectorProperty.h"
#include "vtkSMTransferFunctionProxy.h"
#include "vtkSMViewProxy.h"
#include "vtkSmartPointer.h"

#include <QCoreApplication>
#include <QMessageBox>

namespace
{
QString Translated(const char* text)
{
  return QCoreApplication::translate("FollowSelected", text);
}

bool IsReader(vtkSMProxy* proxy)
{
  return proxy && proxy->GetProperty("IdAttributeInfo") && proxy->GetProperty("FileName");
}

// Returns the reader that a source is, or from which it is made.
vtkSMSourceProxy* ReaderOf(pqPipelineSource* source)
{
  while (source && !IsReader(source->getProxy()))
  {
    auto* filter = qobject_cast<pqPipelineFilter*>(source);
    source = filter && filter->getInputCount() > 0 ? filter->getInput(0) : nullptr;
  }
  return source ? vtkSMSourceProxy::SafeDownCast(source->getProxy()) : nullptr;
}

void CopyTexts(vtkSMProxy* from, const char* fromName, vtkSMProxy* to, const char* toName)
{
  auto* given = vtkSMStringVectorProperty::SafeDownCast(from->GetProperty(fromName));
  auto* property = vtkSMStringVectorProperty::SafeDownCast(to->GetProperty(toName));
  if (!given || !property)
  {
    return;
  }
  property->SetNumberOfElements(given->GetNumberOfElements());
  for (unsigned int i = 0; i < given->GetNumberOfElements(); ++i)
  {
    property->SetElement(i, given->GetElement(i));
  }
}

void Show(vtkSMProxy* trails, vtkSMParaViewPipelineControllerWithRendering* controller)
{
  pqView* view = pqActiveObjects::instance().activeView();
  vtkSMSourceProxy* source = vtkSMSourceProxy::SafeDownCast(trails);
  if (!view)
  {
    return;
  }
  pqTimeKeeper* time = view->getServer()->getTimeKeeper();
  source->UpdatePipeline(time ? time->getTime() : 0.0);
  vtkSMProxy* shown = controller->Show(source, 0, view->getViewProxy());
  if (auto* lines = vtkSMPVRepresentationProxy::SafeDownCast(shown))
  {
    lines->SetScalarColoring("time", vtkDataObject::POINT);
    // Other visible trails share these colours: the range covers all of them.
    vtkSMTransferFunctionProxy::RescaleTransferFunctionToDataRange(
      vtkSMPropertyHelper(shown, "LookupTable").GetAsProxy());
    lines->SetScalarBarVisibility(view->getViewProxy(), true);
  }
  view->render();
}
}

//-----------------------------------------------------------------------------
pqOutputPort* bat_selection::followablePort()
{
  pqPVApplicationCore* core = pqPVApplicationCore::instance();
  pqOutputPort* port =
    core && core->selectionManager() ? core->selectionManager()->getSelectedPort() : nullptr;
  return port && port->getSelectionInput() && ReaderOf(port->getSource()) ? port : nullptr;
}

//-----------------------------------------------------------------------------
QString bat_selection::follow(pqOutputPort* port)
{
  vtkSMSourceProxy* reader = ReaderOf(port->getSource());
  if (!reader)
  {
    return Translated("The selected data does not come from a BAT reader.");
  }
  vtkSMProperty* attribute = reader->GetProperty("IdAttributeInfo");
  vtkSMProperty* second = reader->GetProperty("SecondIdAttributeInfo");
  reader->UpdatePropertyInformation();
  const auto textOf = [](vtkSMProperty* property)
  { return QString::fromUtf8(vtkSMPropertyHelper(property).GetAsString()); };
  const Ids ids = collectIds(port->getSourceProxy(), port->getSelectionInput(),
    port->getSelectionInputPort(), textOf(attribute), second ? textOf(second) : QString());
  if (!ids.Error.isEmpty())
  {
    return ids.Error;
  }
  vtkSmartPointer<vtkSMProxy> trails;
  trails.TakeReference(reader->GetSessionProxyManager()->NewProxy("sources", "BATTrails"));
  if (!trails)
  {
    return Translated("The server does not have BATTrails: load the plugin there, too.");
  }
  BEGIN_UNDO_SET(Translated("Follow Selected Particles"));
  vtkNew<vtkSMParaViewPipelineControllerWithRendering> controller;
  controller->PreInitializeProxy(trails);
  CopyTexts(reader, "FileName", trails, "FileNames");
  CopyTexts(reader, "IdAttribute", trails, "IdAttribute");
  vtkSMPropertyHelper(trails, "Ids").Set(ids.Text.toUtf8().constData());
  vtkSMPropertyHelper(trails, "SkipDamaged").Copy(vtkSMPropertyHelper(reader, "SkipDamaged"));
  trails->UpdateVTKObjects();
  controller->PostInitializeProxy(trails);
  // Only now do the trails have the attributes of the file.
  CopyTexts(reader, "PointArrayStatus", trails, "PointArrayStatus");
  trails->UpdateVTKObjects();
  controller->RegisterPipelineProxy(trails);
  Show(trails, controller);
  END_UNDO_SET();
  return QString();
}

//-----------------------------------------------------------------------------
void bat_selection::followOrSay(pqOutputPort* port)
{
  const QString error = port ? follow(port) : Translated("No particle is selected.");
  if (!error.isEmpty())
  {
    QMessageBox::warning(
      pqCoreUtilities::mainWidget(), Translated("Follow Selected Particles"), error);
  }
}
