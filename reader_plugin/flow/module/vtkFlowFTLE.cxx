// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowFTLE.h"

#include "Agreement.h"
#include "Extents.h"
#include "Failure.h"
#include "FlowFields.h"
#include "vtkFlowSource.h"

#include "bat/error.hpp"
#include "bat/flow/ftle.hpp"

#include "vtkDataObject.h"
#include "vtkDataSetAttributes.h"
#include "vtkDemandDrivenPipeline.h"
#include "vtkDoubleArray.h"
#include "vtkExecutive.h"
#include "vtkFieldData.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationExecutivePortKey.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkSmartPointer.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkTypeInt64Array.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using bat_vtk::Extent;
using bat_vtk::Failure;
using Pipeline = vtkStreamingDemandDrivenPipeline;

namespace
{
void AddValues(vtkPointData* to, const std::string& name, int components, const double* values,
  std::size_t tuples)
{
  vtkNew<vtkDoubleArray> array;
  array->SetName(name.c_str());
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(static_cast<vtkIdType>(tuples));
  std::copy_n(values, tuples * static_cast<std::size_t>(components), array->GetPointer(0));
  to->AddArray(array);
}

// Nodes without an exponent in any direction are hidden.
void HideWithout(const std::vector<double>& exponents, bool isFirst, vtkUnsignedCharArray* ghosts)
{
  ghosts->SetNumberOfValues(static_cast<vtkIdType>(exponents.size()));
  unsigned char* ghost = ghosts->GetPointer(0);
  for (const double exponent : exponents)
  {
    const bool isHidden = std::isnan(exponent) && (isFirst || *ghost != 0);
    *ghost++ = isHidden ? vtkDataSetAttributes::HIDDENPOINT : 0;
  }
}

// When anything that an input comes from has changed.
vtkMTimeType PipelineTimeOf(vtkInformationVector* inputs)
{
  vtkExecutive* executive = nullptr;
  int port = 0;
  vtkExecutive::PRODUCER()->Get(inputs->GetInformationObject(0), executive, port);
  auto* pipeline = vtkDemandDrivenPipeline::SafeDownCast(executive);
  return pipeline ? pipeline->GetPipelineMTime() : 0;
}
}

//------------------------------------------------------------------------------
class vtkFlowFTLE::vtkInternals
{
public:
  enum class End
  {
    Nothing,
    Traced,
    Aborted,
    Failed
  };

  // Why an update is needed: the same on all processes. Other extents of the same are asked for by
  // some processes, and not by others.
  struct Cause
  {
    vtkMTimeType Filter = 0;
    vtkMTimeType Input = 0;
    double Time = 0;
    bool operator==(const Cause& other) const
    {
      return this->Filter == other.Filter && this->Input == other.Input && this->Time == other.Time;
    }
  };

  bat::flow::FtleGrid Grid; ///< all nodes, that RequestInformation has announced
  Failure NoGrid;           ///< why it has not
  Cause LastCause;
  End LastEnd = End::Nothing;
  Failure LastFailure;
  vtkSmartPointer<vtkMultiProcessController> Controller =
    vtkMultiProcessController::GetGlobalController();
  vtkNew<vtkImageData> Shown; ///< what an update that is aborted returns to

  // Throws bat::Error.
  void Describe(const vtkFlowFTLE& filter)
  {
    const double* ends = filter.UseBox ? filter.Box : filter.Bounds;
    bat::Box box;
    std::array<std::int64_t, 3> points{};
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      box.lower[axis] = ends[2 * axis];
      box.upper[axis] = ends[2 * axis + 1];
      points[axis] = filter.Dimensions[axis];
    }
    this->Grid = bat::flow::ftle_grid(box, points);
  }

  [[nodiscard]] bat::flow::FtleGrid Part(const Extent& extent) const
  {
    bat::flow::FtleGrid part = this->Grid;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      part.first[axis] = extent[2 * axis];
      part.count[axis] = extent[2 * axis + 1] - extent[2 * axis] + 1;
    }
    return part;
  }
};

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkFlowFTLE);

//------------------------------------------------------------------------------
vtkFlowFTLE::vtkFlowFTLE()
  : Internals(std::make_unique<vtkInternals>())
{
  this->SetNumberOfInputPorts(1);
  this->SetNumberOfOutputPorts(1);
}

//------------------------------------------------------------------------------
vtkFlowFTLE::~vtkFlowFTLE() = default;

//------------------------------------------------------------------------------
void vtkFlowFTLE::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const auto on = [](bool is) { return is ? "on" : "off"; };
  const auto print = [&](const char* name, const auto* numbers, int count)
  {
    os << indent << name << ":";
    std::for_each(numbers, numbers + count, [&os](auto number) { os << " " << number; });
    os << "\n";
  };
  os << indent << "UseBox: " << on(this->UseBox) << "\n";
  print("Box", this->Box, 6);
  print("Dimensions", this->Dimensions, 3);
  os << indent << "UseStartTime: " << on(this->UseStartTime) << "\n";
  os << indent << "StartTime: " << this->StartTime << "\n";
  os << indent << "Duration: " << this->Duration << "\n";
  os << indent << "Direction: " << this->Direction << "\n";
  os << indent << "MaximumError: " << this->MaximumError << "\n";
  os << indent << "NoSlip: " << on(this->NoSlip) << "\n";
  print("Bounds", this->Bounds, 6);
  os << indent << "BricksTouched: " << this->BricksTouched << "\n";
  os << indent << "BytesRead: " << this->BytesRead << "\n";
  os << indent << "KeepWhenAborted: " << on(this->KeepWhenAborted) << "\n";
  os << indent << "Aborted: " << (this->GetAborted() ? "yes" : "no") << "\n";
  os << indent << "FirstTime: " << this->FirstTime << "\n";
  os << indent << "SuggestedDuration: " << this->SuggestedDuration << "\n";
  os << indent << "Controller: " << this->Internals->Controller.Get() << "\n";
}

//------------------------------------------------------------------------------
void vtkFlowFTLE::SetKeepWhenAborted(bool keep)
{
  this->KeepWhenAborted = keep; // not Modified: the output stays as it is
}

//------------------------------------------------------------------------------
bool vtkFlowFTLE::GetAborted() const
{
  return this->Internals->LastEnd == vtkInternals::End::Aborted;
}

//------------------------------------------------------------------------------
void vtkFlowFTLE::SetController(vtkMultiProcessController* controller)
{
  this->Internals->Controller = controller; // not Modified: the output stays as it is
}

//------------------------------------------------------------------------------
vtkMultiProcessController* vtkFlowFTLE::GetController() const
{
  return this->Internals->Controller;
}

//------------------------------------------------------------------------------
int vtkFlowFTLE::RequestInformation(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  vtkInternals& self = *this->Internals;
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  outInfo->Set(CAN_PRODUCE_SUB_EXTENT(), 1);
  outInfo->Remove(Pipeline::TIME_STEPS());
  outInfo->Remove(Pipeline::TIME_RANGE());
  std::fill_n(this->Bounds, 6, 0.0);
  this->FirstTime = 0;
  this->SuggestedDuration = 1;
  vtkFlowSource* flow = vtkFlowSource::OfInput(this, 0);
  self.NoGrid = Failure::Of(
    [&]()
    {
      bat_vtk::NeedsFlow(flow);
      const std::array<double, 6> bounds = bat_vtk::DomainOf(flow->GetSource()->grid());
      std::copy(bounds.begin(), bounds.end(), this->Bounds);
      const std::vector<double>& times = flow->GetSource()->times();
      this->FirstTime = times.front();
      this->SuggestedDuration = (times.back() - times.front()) / 2;
      self.Describe(*this);
    });
  Extent whole = bat_vtk::EmptyExtent;
  if (!self.NoGrid)
  {
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      whole[2 * axis] = 0;
      whole[2 * axis + 1] = static_cast<int>(self.Grid.points[axis]) - 1;
    }
    outInfo->Set(vtkDataObject::ORIGIN(), self.Grid.origin.data(), 3);
    outInfo->Set(vtkDataObject::SPACING(), self.Grid.spacing.data(), 3);
    if (!this->UseStartTime)
    {
      bat_vtk::AnnounceTimes(outInfo, flow->GetSource()->times());
    }
  }
  outInfo->Set(Pipeline::WHOLE_EXTENT(), whole.data(), 6);
  return 1;
}

//------------------------------------------------------------------------------
int vtkFlowFTLE::RequestUpdateExtent(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector*)
{
  bat_vtk::AskForNothing(this, inputVector[0]->GetInformationObject(0));
  return 1;
}

//------------------------------------------------------------------------------
int vtkFlowFTLE::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  using End = vtkInternals::End;
  vtkInternals& self = *this->Internals;
  vtkImageData* output = vtkImageData::GetData(outputVector);
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  output->Initialize();
  output->GetInformation()->Remove(vtkDataObject::DATA_TIME_STEP());
  const vtkInternals::Cause cause{ this->GetMTime(), PipelineTimeOf(inputVector[0]),
    this->TimeAt(outInfo) };
  const bool isSame = self.LastCause == cause;
  if (isSame && self.LastEnd == End::Aborted)
  {
    this->DeliverShown(output); // until it is asked for again
    return 1;
  }
  self.LastCause = cause;
  this->SetAbortExecute(0); // it was for the update before
  vtkTypeInt64 counts[2] = { 0, 0 };
  bool isAborted = false;
  Failure failure = isSame && self.LastEnd == End::Failed ? self.LastFailure : Failure{};
  if (!failure)
  {
    failure = Failure::Of(
      [&]()
      {
        try
        {
          this->TraceExtent(outInfo, cause.Time, output, counts);
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
  if (!isSame)
  {
    isAborted = bat_vtk::AnyOf(self.Controller, isAborted);
    failure = bat_vtk::FirstFailure(self.Controller, failure, "", "");
    bat_vtk::SumOf(self.Controller, counts, 2);
  }
  this->BricksTouched = static_cast<vtkIdType>(counts[0]);
  this->BytesRead = static_cast<vtkIdType>(counts[1]);
  this->ErrorCode = failure.Code; // not by its setter: an update is no change of the filter
  if (failure)
  {
    output->Initialize(); // a half-filled output looks like success downstream
    self.Shown->Initialize();
    self.LastEnd = End::Failed;
    self.LastFailure = failure;
    if (!isSame && (!self.Controller || self.Controller->GetLocalProcessId() == 0))
    {
      vtkErrorMacro(<< failure.Text);
    }
  }
  else if (isAborted)
  {
    this->DeliverShown(output);
    self.LastEnd = End::Aborted;
    self.LastCause.Filter = this->GetMTime(); // which the abort has changed
    this->SetAbortOutput(false);              // the executive would take the output away
  }
  else
  {
    const auto add = [&](const char* name, vtkTypeInt64 value)
    { bat_vtk::AddNumber<vtkTypeInt64Array>(output->GetFieldData(), name, value); };
    add("bricks_touched", counts[0]);
    add("bytes_read", counts[1]);
    output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), cause.Time);
    self.Shown->ShallowCopy(output);
    self.LastEnd = End::Traced;
  }
  return 1;
}

//------------------------------------------------------------------------------
double vtkFlowFTLE::TimeAt(vtkInformation* outInfo)
{
  if (this->UseStartTime)
  {
    return this->StartTime;
  }
  if (outInfo->Has(Pipeline::UPDATE_TIME_STEP()))
  {
    return outInfo->Get(Pipeline::UPDATE_TIME_STEP());
  }
  vtkFlowSource* flow = vtkFlowSource::OfInput(this, 0);
  if (!flow)
  {
    return 0;
  }
  const std::vector<double>& times = flow->GetSource()->times();
  return this->Direction == BACKWARD ? times.back() : times.front();
}

//------------------------------------------------------------------------------
void vtkFlowFTLE::DeliverShown(vtkImageData* output)
{
  output->Initialize();
  if (this->KeepWhenAborted)
  {
    output->ShallowCopy(this->Internals->Shown);
  }
}

//------------------------------------------------------------------------------
void vtkFlowFTLE::TraceExtent(
  vtkInformation* outInfo, double time, vtkImageData* output, vtkTypeInt64* counts)
{
  const vtkInternals& self = *this->Internals;
  if (self.NoGrid)
  {
    throw self.NoGrid;
  }
  vtkFlowSource* flow = vtkFlowSource::OfInput(this, 0);
  bat_vtk::NeedsFlow(flow);
  const Extent whole = bat_vtk::ExtentIn(outInfo, Pipeline::WHOLE_EXTENT());
  Extent extent =
    bat_vtk::Intersection(bat_vtk::ExtentIn(outInfo, Pipeline::UPDATE_EXTENT()), whole);
  output->SetExtent(extent.data());
  output->SetOrigin(self.Grid.origin.data());
  output->SetSpacing(self.Grid.spacing.data());
  const int runs = this->Direction == BOTH ? 2 : 1;
  bat::flow::TraceOptions options;
  options.most_error = this->MaximumError;
  options.no_slip = this->NoSlip;
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  for (int run = 0; run < runs; ++run)
  {
    options.backward = this->Direction == BACKWARD || run == 1;
    options.progress = [&](double share)
    {
      this->UpdateProgress((run + share) / runs);
      return !this->CheckAbort();
    };
    const bat::flow::Ftle field =
      bat::flow::ftle(flow->GetCache(), self.Part(extent), time, this->Duration, options);
    const std::string way = options.backward ? "_backward" : "_forward";
    const std::size_t nodes = field.exponents.size();
    vtkPointData* points = output->GetPointData();
    AddValues(points, "FTLE" + way, 1, field.exponents.data(), nodes);
    AddValues(points, "FlowMap" + way, 3, nodes == 0 ? nullptr : field.flow_map[0].data(), nodes);
    AddValues(points, "EndTime" + way, 1, field.end_times.data(), nodes);
    HideWithout(field.exponents, run == 0, ghosts);
    counts[0] += static_cast<vtkTypeInt64>(field.statistics.touched);
    counts[1] += static_cast<vtkTypeInt64>(field.statistics.bytes_read);
  }
  output->GetPointData()->SetActiveScalars(
    this->Direction == BACKWARD ? "FTLE_backward" : "FTLE_forward");
  if (std::any_of(ghosts->GetPointer(0), ghosts->GetPointer(0) + ghosts->GetNumberOfValues(),
        [](unsigned char ghost) { return ghost != 0; }))
  {
    output->GetPointData()->AddArray(ghosts);
  }
}
