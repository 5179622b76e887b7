// SPDX-License-Identifier: BSD-3-Clause
#include "pqPendingReader.h"

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

#include <algorithm>

namespace
{
constexpr int Milliseconds = 200;
constexpr int RestOfAnswers = 3;

// True for properties that the queried reader does not share: the file, and properties that no
// panel shows.
bool IsOwn(const char* name, vtkSMProperty* property, const char* answerSwitch)
{
  return qstrcmp(name, "FileName") == 0 || qstrcmp(name, answerSwitch) == 0 ||
    qstrcmp(property->GetPanelVisibility(), "never") == 0;
}
}

//-----------------------------------------------------------------------------
pqPendingReader::pqPendingReader(
  vtkSMProxy* reader, const Question& question, QObject* parentObject)
  : Superclass(parentObject)
  , Requested(question)
  , Reader(reader)
{
  this->Soon.setSingleShot(true);
  this->Soon.setInterval(Milliseconds);
  QObject::connect(&this->Soon, &QTimer::timeout, this, &pqPendingReader::ask);
}

//-----------------------------------------------------------------------------
pqPendingReader::~pqPendingReader() = default;

//-----------------------------------------------------------------------------
void pqPendingReader::request()
{
  if (!this->Soon.isActive())
  {
    this->Soon.start();
  }
}

//-----------------------------------------------------------------------------
void pqPendingReader::forget()
{
  this->Soon.stop();
  this->Answer.clear();
  this->Error.clear();
}

//-----------------------------------------------------------------------------
// Not registered, so that it appears neither in the pipeline nor in traces and state files.
vtkSMProxy* pqPendingReader::other()
{
  vtkSMProperty* answer = this->Reader->GetProperty(this->Requested.Answer);
  vtkSMProxy* inner = answer ? answer->GetParent() : nullptr;
  if (!this->Other && inner)
  {
    this->Other.TakeReference(
      inner->GetSessionProxyManager()->NewProxy(inner->GetXMLGroup(), inner->GetXMLName()));
    if (this->Other)
    {
      this->Other->SetLocation(inner->GetLocation());
      if (this->Requested.Switch)
      {
        vtkSMPropertyHelper(this->Other, this->Requested.Switch).Set(1);
      }
    }
  }
  return this->Other;
}

//-----------------------------------------------------------------------------
void pqPendingReader::ask()
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
  vtkSMProxy* requested = this->other();
  vtkSMProperty* file = this->Reader->GetProperty("FileNameInfo");
  if (!requested || !file)
  {
    return;
  }
  QElapsedTimer time;
  time.start();
  this->Reader->UpdatePropertyInformation(file);
  vtkSMPropertyHelper(requested, "FileName").Set(vtkSMPropertyHelper(file).GetAsString());
  auto properties = vtkSmartPointer<vtkSMPropertyIterator>::Take(requested->NewPropertyIterator());
  for (properties->Begin(); !properties->IsAtEnd(); properties->Next())
  {
    vtkSMProperty* source = this->Reader->GetProperty(properties->GetKey());
    if (source && !properties->GetProperty()->GetInformationOnly() &&
      !IsOwn(properties->GetKey(), source, this->Requested.Switch))
    {
      pqSMAdaptor::setMultipleElementProperty(properties->GetProperty(),
        pqSMAdaptor::getMultipleElementProperty(source, pqSMAdaptor::UNCHECKED));
    }
  }
  requested->UpdateVTKObjects();
  requested->UpdatePropertyInformation(requested->GetProperty(this->Requested.Answer));
  this->Answer = vtkSMPropertyHelper(requested, this->Requested.Answer).GetDoubleArray();
  requested->UpdatePropertyInformation(requested->GetProperty(this->Requested.Error));
  this->Error =
    QString::fromUtf8(vtkSMPropertyHelper(requested, this->Requested.Error).GetAsString());
  this->Soon.setInterval(std::max(Milliseconds, RestOfAnswers * static_cast<int>(time.elapsed())));
  Q_EMIT this->changed();
}
