// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowFilter.h"

#include "Failure.h"
#include "FlowFields.h"
#include "FlowReport.h"
#include "FlowRun.h"
#include "vtkFlowSource.h"

#include "bat/flow/trace.hpp"

#include "vtkDataObject.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>
#include <array>
#include <vector>

using Pipeline = vtkStreamingDemandDrivenPipeline;

//------------------------------------------------------------------------------
vtkFlowFilter::vtkFlowFilter()
  : Run(std::make_unique<bat_vtk::FlowRun>())
  , Report(std::make_unique<bat_vtk::FlowReport>())
{
  this->SetNumberOfInputPorts(1);
  this->SetNumberOfOutputPorts(1);
}

//------------------------------------------------------------------------------
vtkFlowFilter::~vtkFlowFilter() = default;

//------------------------------------------------------------------------------
void vtkFlowFilter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const auto on = [](bool is) { return is ? "on" : "off"; };
  os << indent << "MaximumError: " << this->MaximumError << "\n";
  os << indent << "NoSlip: " << on(this->NoSlip) << "\n";
  os << indent << "Hints: " << this->Hints << "\n";
  os << indent << "Bounds:";
  std::for_each(this->Bounds, this->Bounds + 6, [&os](double end) { os << " " << end; });
  os << "\n";
  os << indent << "FirstTime: " << this->FirstTime << "\n";
  os << indent << "LastTime: " << this->LastTime << "\n";
  os << indent << "KeepWhenAborted: " << on(this->KeepWhenAborted) << "\n";
  os << indent << "Aborted: " << (this->GetAborted() ? "yes" : "no") << "\n";
  os << indent << "Controller: " << this->GetController() << "\n";
  this->Report->Print(os, indent);
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowFilter::GetBricksTouched() const
{
  return this->Report->Get(bat_vtk::FlowReport::Touched);
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowFilter::GetBytesRead() const
{
  return this->Report->Get(bat_vtk::FlowReport::BytesRead);
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowFilter::GetWaits() const
{
  return this->Report->Get(bat_vtk::FlowReport::Waits);
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowFilter::GetPrefetched() const
{
  return this->Report->Get(bat_vtk::FlowReport::Prefetched);
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowFilter::GetWasted() const
{
  return this->Report->Get(bat_vtk::FlowReport::PrefetchesWasted);
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowFilter::GetHinted() const
{
  return this->Report->Get(bat_vtk::FlowReport::Hinted);
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowFilter::GetHintsUsed() const
{
  return this->Report->Get(bat_vtk::FlowReport::HintsUsed);
}

//------------------------------------------------------------------------------
void vtkFlowFilter::SetKeepWhenAborted(bool keep)
{
  this->KeepWhenAborted = keep; // not Modified: the output stays as it is
}

//------------------------------------------------------------------------------
bool vtkFlowFilter::GetAborted() const
{
  return this->Run->IsAborted();
}

//------------------------------------------------------------------------------
void vtkFlowFilter::SetController(vtkMultiProcessController* controller)
{
  this->Run->Controller = controller; // not Modified: the output stays as it is
}

//------------------------------------------------------------------------------
vtkMultiProcessController* vtkFlowFilter::GetController() const
{
  return this->Run->Controller;
}

//------------------------------------------------------------------------------
int vtkFlowFilter::FillInputPortInformation(int port, vtkInformation* info)
{
  info->Set(INPUT_REQUIRED_DATA_TYPE(), port == 0 ? "vtkImageData" : "vtkDataSet");
  if (port == 1)
  {
    info->Append(INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkFlowFilter::RequestInformation(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  outInfo->Remove(Pipeline::TIME_STEPS());
  outInfo->Remove(Pipeline::TIME_RANGE());
  std::fill_n(this->Bounds, 6, 0.0);
  this->FirstTime = 0;
  this->LastTime = 1;
  vtkFlowSource* flow = vtkFlowSource::OfInput(this, 0);
  if (flow)
  {
    const std::array<double, 6> bounds = bat_vtk::DomainOf(flow->GetSource()->grid());
    std::copy(bounds.begin(), bounds.end(), this->Bounds);
    this->FirstTime = flow->GetSource()->times().front();
    this->LastTime = flow->GetSource()->times().back();
  }
  this->Describe(flow, outInfo);
  return 1;
}

//------------------------------------------------------------------------------
int vtkFlowFilter::RequestUpdateExtent(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector*)
{
  // Of a velocity field in bricks, no image and no other time. Other inputs, which are refused
  // later, may not know how to give nothing.
  if (vtkFlowSource::OfInput(this, 0))
  {
    vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
    constexpr int nothing[6] = { 0, -1, 0, -1, 0, -1 };
    inInfo->Set(Pipeline::UPDATE_EXTENT(), nothing, 6);
    if (inInfo->Has(Pipeline::TIME_STEPS()) && inInfo->Length(Pipeline::TIME_STEPS()) > 0)
    {
      inInfo->Set(Pipeline::UPDATE_TIME_STEP(), inInfo->Get(Pipeline::TIME_STEPS(), 0));
    }
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkFlowFilter::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkDataObject* output = vtkDataObject::GetData(outputVector);
  output->Initialize();
  output->GetInformation()->Remove(vtkDataObject::DATA_TIME_STEP());
  vtkFlowSource* flow = vtkFlowSource::OfInput(this, 0);
  this->Produce(flow, inputVector, outputVector->GetInformationObject(0), output);
  if (this->Run->IsDone())
  {
    this->Report->AddTo(output->GetFieldData());
  }
  this->Run->Deliver(output, this->KeepWhenAborted);
  if (this->Run->IsAborted())
  {
    this->Run->SetFilterTime(this->ChangeTime(flow)); // to which the abort is a change
    this->SetAbortOutput(false);                      // the executive would take the output away
  }
  this->ErrorCode = this->Run->GetFailure().Code; // not by its setter: an update is no change
  if (this->Run->IsToBeSaid())
  {
    vtkErrorMacro(<< this->Run->GetFailure().Text);
  }
  return 1;
}

//------------------------------------------------------------------------------
vtkMTimeType vtkFlowFilter::ChangeTime(vtkFlowSource* flow)
{
  return std::max<vtkMTimeType>(this->GetMTime(), flow ? flow->GetMTime() : 0);
}

//------------------------------------------------------------------------------
void vtkFlowFilter::Prepare(bat::flow::TraceOptions& options, std::size_t part, std::size_t parts)
{
  options.most_error = this->MaximumError;
  options.no_slip = this->NoSlip;
  options.hints = this->Hints == LEARN ? bat::flow::Hints::Learn
    : this->Hints == READ              ? bat::flow::Hints::Read
                                       : bat::flow::Hints::Off;
  options.progress = [this, part, parts](double share)
  {
    this->UpdateProgress((static_cast<double>(part) + share) / static_cast<double>(parts));
    return !this->CheckAbort();
  };
}
