// SPDX-License-Identifier: BSD-3-Clause
#include "FlowRun.h"

#include "Agreement.h"

#include "bat/error.hpp"

#include "vtkMultiProcessController.h"

#include <utility>

namespace bat_vtk
{
//------------------------------------------------------------------------------
FlowRun::FlowRun()
  : Controller(vtkMultiProcessController::GetGlobalController())
{
}

//------------------------------------------------------------------------------
bool FlowRun::Begin(Wanted wanted, vtkMTimeType filterTime, const Failure& failure)
{
  const bool isSame =
    this->Last == wanted && (this->LastEnd == End::Done || this->LastTime == filterTime);
  this->IsNews = AnyOf(this->Controller, !isSame);
  if (this->IsNews)
  {
    this->Last = std::move(wanted);
    this->LastTime = filterTime;
    this->LastEnd = End::Nothing;
    this->Trouble = failure;
  }
  return this->IsNews;
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
  isAborted = AnyOf(this->Controller, isAborted);
  this->Trouble = FirstFailure(this->Controller, this->Trouble, "", "");
  this->LastEnd = this->Trouble ? End::Failed : isAborted ? End::Aborted : End::Done;
  this->IsNews = true;
}

//------------------------------------------------------------------------------
bool FlowRun::IsToBeSaid() const
{
  return this->Trouble && this->IsNews && this->Rank() == 0;
}

//------------------------------------------------------------------------------
void FlowRun::Deliver(vtkPolyData* output, bool keepWhenAborted)
{
  if (this->LastEnd == End::Done)
  {
    this->Shown->ShallowCopy(output);
    return;
  }
  output->Initialize(); // a half-filled output looks like success downstream
  if (this->LastEnd != End::Aborted)
  {
    this->Shown->Initialize();
  }
  else if (keepWhenAborted)
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
