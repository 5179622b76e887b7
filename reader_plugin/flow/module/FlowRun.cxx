// SPDX-License-Identifier: BSD-3-Clause
#include "FlowRun.h"

#include "Agreement.h"

#include "bat/error.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <utility>

namespace bat_vtk
{
//------------------------------------------------------------------------------
bool FlowRun::Requested::ContinuesIn(const Requested& later) const
{
  return this->Source && later.Source && this->Source->continues_in(*later.Source) &&
    this->Settings == later.Settings && this->Positions == later.Positions &&
    this->Releases.size() <= later.Releases.size() &&
    std::equal(this->Releases.begin(), this->Releases.end(), later.Releases.begin());
}

//------------------------------------------------------------------------------
FlowRun::FlowRun()
  : Controller(vtkMultiProcessController::GetGlobalController())
{
}

//------------------------------------------------------------------------------
bool FlowRun::Begin(Requested requested, vtkMTimeType filterTime, const Failure& failure)
{
  const bool isSame =
    this->Last == requested && (this->LastEnd == End::Done || this->LastTime == filterTime);
  this->IsCollectiveRun = true;
  this->IsNews = ReduceAny(this->Controller, !isSame);
  this->IsContinuing = false;
  if (this->IsNews)
  {
    const bool continues = !failure && this->IsDone() && this->Last.ContinuesIn(requested);
    this->IsContinuing = !ReduceAny(this->Controller, !continues);
    this->Last = std::move(requested);
    this->LastTime = filterTime;
    this->LastEnd = End::Nothing;
    std::ostringstream times; // a simulation may have added one since another process has looked
    if (this->Last.Source)
    {
      times << std::setprecision(17) << this->Last.Source->times().size() << " times to "
            << this->Last.Source->times().back();
    }
    this->Trouble = FirstFailure(this->Controller, failure,
      this->Last.Source ? this->Last.Source->level_name(0) : "", times.str());
  }
  return this->IsNews;
}

//------------------------------------------------------------------------------
bool FlowRun::BeginPart(vtkMTimeType filterTime, vtkMTimeType inputTime, double time)
{
  const std::vector<double> settings{ time };
  this->IsNews = this->LastTime != filterTime || this->LastInputTime != inputTime ||
    this->Last.Settings != settings;
  this->IsCollectiveRun = this->IsNews;
  if (this->IsNews)
  {
    this->Last.Settings = settings;
    this->LastTime = filterTime;
    this->LastInputTime = inputTime;
    this->LastEnd = End::Nothing;
    this->Trouble = {};
  }
  return this->IsNews || this->IsDone();
}

//------------------------------------------------------------------------------
void FlowRun::Try(const std::function<void()>& f)
{
  bool isAborted = false;
  if (!this->Trouble)
  {
    this->Trouble = Failure::Of(
      [&]()
      {
        try
        {
          f();
        }
        catch (const bat::Error& error)
        {
          isAborted = error.code() == bat::ErrorCode::Cancelled;
          if (!isAborted)
          {
            throw;
          }
        }
      });
  }
  if (this->IsCollectiveRun)
  {
    isAborted = ReduceAny(this->Controller, isAborted);
    this->Trouble = FirstFailure(this->Controller, this->Trouble, "", "");
    this->IsNews = true;
  }
  this->LastEnd = this->Trouble ? End::Failed : isAborted ? End::Aborted : End::Done;
}

//------------------------------------------------------------------------------
bool FlowRun::IsToBeReported() const
{
  return this->Trouble && this->IsNews && this->Rank() == 0;
}

//------------------------------------------------------------------------------
void FlowRun::Deliver(vtkDataObject* output, bool keepWhenAborted)
{
  if (this->LastEnd == End::Done)
  {
    this->Shown = vtk::TakeSmartPointer(output->NewInstance());
    this->Shown->ShallowCopy(output);
    return;
  }
  output->Initialize(); // a half-filled output looks like success downstream
  if (this->LastEnd != End::Aborted)
  {
    this->Shown = nullptr;
  }
  else if (keepWhenAborted && this->Shown)
  {
    output->ShallowCopy(this->Shown);
  }
}

//------------------------------------------------------------------------------
int FlowRun::Rank() const
{
  return this->Controller ? this->Controller->GetLocalProcessId() : 0;
}

//------------------------------------------------------------------------------
int FlowRun::Ranks() const
{
  return this->Controller ? this->Controller->GetNumberOfProcesses() : 1;
}
}
