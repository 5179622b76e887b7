// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATNewReaderBehavior.h"

#include "pqApplicationCore.h"
#include "pqPipelineSource.h"
#include "pqServer.h"
#include "pqServerManagerModel.h"
#include "pqTimeKeeper.h"

#include "vtkClientServerStream.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkSMSession.h"

#include <vector>

//-----------------------------------------------------------------------------
pqBATNewReaderBehavior::pqBATNewReaderBehavior(QObject* parentObject)
  : QObject(parentObject)
{
  // The slot must run before a panel exists.
  QObject::connect(pqApplicationCore::instance()->getServerManagerModel(),
    &pqServerManagerModel::preSourceAdded, this, &pqBATNewReaderBehavior::describeTimeShown);
}

//-----------------------------------------------------------------------------
void pqBATNewReaderBehavior::describeTimeShown(pqPipelineSource* source)
{
  vtkSMProxy* reader = source->getProxy();
  vtkSMProperty* times = reader->GetProperty("TimestepValues");
  pqTimeKeeper* keeper = source->getServer()->getTimeKeeper();
  if (!reader->GetProperty("AttributeRangesInfo") || !times || !keeper ||
    vtkSMPropertyHelper(times).GetNumberOfElements() < 2 ||
    pqApplicationCore::instance()->isLoadingState())
  {
    return;
  }
  vtkClientServerStream stream;
  stream << vtkClientServerStream::Invoke << VTKOBJECT(reader) << "DescribeTime"
         << keeper->getTime() << vtkClientServerStream::End;
  reader->GetSession()->ExecuteStream(reader->GetLocation(), stream, false);
  reader->UpdatePropertyInformation();
  // Box and region initially enclose the particles of that time.
  for (const char* name :
    { "Box", "RegionCenter", "RegionRadius", "RegionLimits", "RegionHalfExtents" })
  {
    vtkSMProperty* setting = reader->GetProperty(name);
    vtkSMProperty* information = setting ? setting->GetInformationProperty() : nullptr;
    if (!information)
    {
      continue;
    }
    const std::vector<double> requested = vtkSMPropertyHelper(information).GetDoubleArray();
    vtkSMPropertyHelper numbers(setting);
    if (numbers.GetDoubleArray() != requested)
    {
      numbers.Set(requested.data(), static_cast<unsigned int>(requested.size()));
    }
  }
  reader->UpdateVTKObjects();
}
