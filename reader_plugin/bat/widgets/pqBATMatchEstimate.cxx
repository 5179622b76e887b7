// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATMatchEstimate.h"

#include "pqApplicationCore.h"
#include "pqSMAdaptor.h"
#include "pqServer.h"
#include "pqServerManagerModel.h"

#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMPropertyIterator.h"
#include "vtkSMProxy.h"
#include "vtkSMSessionProxyManager.h"

#include <QElapsedTimer>
#include <QStringList>

#include <algorithm>

namespace
{
constexpr int Milliseconds = 200;
constexpr int RestOfAnswers = 3;

// What the reader that is asked has its own way.
const QStringList& OwnSettings()
{
  static const QStringList names = { "FileName", "ComputeHistograms", "EstimateMatches" };
  return names;
}
}

//-----------------------------------------------------------------------------
pqBATMatchEstimate::pqBATMatchEstimate(vtkSMProxy* reader, QObject* parentObject)
  : Superclass(parentObject)
  , Reader(reader)
{
  this->Soon.setSingleShot(true);
  this->Soon.setInterval(Milliseconds);
  QObject::connect(&this->Soon, &QTimer::timeout, this, &pqBATMatchEstimate::ask);
}

//-----------------------------------------------------------------------------
pqBATMatchEstimate::~pqBATMatchEstimate() = default;

//-----------------------------------------------------------------------------
void pqBATMatchEstimate::request()
{
  if (!this->Soon.isActive())
  {
    this->Soon.start();
  }
}

//-----------------------------------------------------------------------------
void pqBATMatchEstimate::forget()
{
  this->Soon.stop();
  this->Known = false;
  this->Error.clear();
}

//-----------------------------------------------------------------------------
// Not registered, so that neither the pipeline, nor traces, nor state files have it.
vtkSMProxy* pqBATMatchEstimate::other()
{
  vtkSMProperty* estimate = this->Reader->GetProperty("MatchEstimate");
  vtkSMProxy* inner = estimate ? estimate->GetParent() : nullptr;
  if (!this->Other && inner)
  {
    this->Other.TakeReference(
      inner->GetSessionProxyManager()->NewProxy(inner->GetXMLGroup(), inner->GetXMLName()));
    if (this->Other)
    {
      this->Other->SetLocation(inner->GetLocation());
      vtkSMPropertyHelper(this->Other, "EstimateMatches").Set(1);
    }
  }
  return this->Other;
}

//-----------------------------------------------------------------------------
void pqBATMatchEstimate::ask()
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  pqServer* server = this->Reader ? model->findServer(this->Reader->GetSession()) : nullptr;
  if (!server)
  {
    return;
  }
  if (server->isProgressPending())
  {
    this->Soon.start();
    return;
  }
  vtkSMProxy* asked = this->other();
  vtkSMProperty* file = this->Reader->GetProperty("FileNameInfo");
  if (!asked || !file)
  {
    return;
  }
  QElapsedTimer time;
  time.start();
  this->Reader->UpdatePropertyInformation(file);
  vtkSMPropertyHelper(asked, "FileName").Set(vtkSMPropertyHelper(file).GetAsString());
  auto properties = vtkSmartPointer<vtkSMPropertyIterator>::Take(asked->NewPropertyIterator());
  for (properties->Begin(); !properties->IsAtEnd(); properties->Next())
  {
    vtkSMProperty* source = this->Reader->GetProperty(properties->GetKey());
    if (source && !properties->GetProperty()->GetInformationOnly() &&
      !OwnSettings().contains(properties->GetKey()))
    {
      pqSMAdaptor::setMultipleElementProperty(properties->GetProperty(),
        pqSMAdaptor::getMultipleElementProperty(source, pqSMAdaptor::UNCHECKED));
    }
  }
  asked->UpdateVTKObjects();
  asked->UpdatePropertyInformation(asked->GetProperty("MatchEstimate"));
  vtkSMPropertyHelper found(asked, "MatchEstimate");
  this->Known = found.GetNumberOfElements() == 3;
  this->Count = {};
  if (this->Known)
  {
    this->Count = { found.GetAsDouble(0), found.GetAsDouble(1), found.GetAsDouble(2) };
  }
  asked->UpdatePropertyInformation(asked->GetProperty("MatchError"));
  this->Error = QString::fromUtf8(vtkSMPropertyHelper(asked, "MatchError").GetAsString());
  this->Soon.setInterval(std::max(Milliseconds, RestOfAnswers * static_cast<int>(time.elapsed())));
  Q_EMIT this->changed();
}
