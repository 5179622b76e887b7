// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowFilter.h"

#include "Agreement.h"
#include "Extents.h"
#include "Failure.h"
#include "FlowFields.h"
#include "FlowReport.h"
#include "FlowRun.h"
#include "ImageFlow.h"
#include "vtkFlowSource.h"

#include "bat/flow/trace.hpp"

#include "vtkDataObject.h"
#include "vtkDataSetAttributes.h"
#include "vtkDemandDrivenPipeline.h"
#include "vtkExecutive.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationExecutivePortKey.h"
#include "vtkInformationVector.h"
#include "vtkMatrix3x3.h"
#include "vtkMultiProcessController.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

using bat_vtk::Extent;
using bat_vtk::Failure;
using Pipeline = vtkStreamingDemandDrivenPipeline;

//------------------------------------------------------------------------------
class vtkFlowFilter::ImageInput
{
public:
  // Of geometry, times and velocities; those of float vectors as long as no image is there.
  void Set(const bat::BrickGrid& grid, const std::vector<double>& times, const std::string& array,
    vtkMTimeType time)
  {
    const bool isSame = this->Source && this->Time == time && this->Array == array &&
      this->Source->grid() == grid && this->Source->times() == times;
    if (!isSame)
    {
      this->Source = std::make_shared<const bat_vtk::ImageFlow>(grid, times, array);
      this->Array = array;
      this->Time = time;
      this->Flow->SetSource(this->Source);
    }
  }

  vtkNew<vtkFlowSource> Flow;
  std::shared_ptr<const bat_vtk::ImageFlow> Source;
  std::string Array;
  vtkMTimeType Time = 0; ///< of the pipeline
  Extent Whole = bat_vtk::EmptyExtent;
  Failure Problem;
  const bat_vtk::ImageFlow* Serving = nullptr; ///< while a trace runs beside
  bool IsWarned = false;
};

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
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  outInfo->Remove(Pipeline::TIME_STEPS());
  outInfo->Remove(Pipeline::TIME_RANGE());
  std::fill_n(this->Bounds, 6, 0.0);
  this->FirstTime = 0;
  this->LastTime = 1;
  vtkFlowSource* flow = vtkFlowSource::OfInput(this, 0);
  if (!flow)
  {
    flow = this->DescribeImages(inputVector[0]);
  }
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
  // Of a velocity field in bricks, no image and no other time; of images, all of the first one.
  // Other inputs, which are refused later, may not know how to give nothing.
  const bool isOfBricks = vtkFlowSource::OfInput(this, 0) != nullptr;
  if (isOfBricks || this->Images)
  {
    vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
    const Extent extent = isOfBricks ? bat_vtk::EmptyExtent : this->Images->Whole;
    inInfo->Set(Pipeline::UPDATE_EXTENT(), extent.data(), 6);
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
  if (!flow)
  {
    flow = this->OpenImages(inputVector[0]);
  }
  this->Produce(flow, inputVector, outputVector->GetInformationObject(0), output);
  if (this->Run->IsDone())
  {
    this->Report->AddTo(output->GetFieldData());
  }
  this->Run->Deliver(output, this->KeepWhenAborted);
  if (this->Run->IsAborted())
  {
    this->SetAbortOutput(false);                      // the executive would take the output away
    this->Run->SetFilterTime(this->ChangeTime(flow)); // to which all this is a change
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
  options.in_step = this->Images && !vtkFlowSource::OfInput(this, 0);
  options.progress = [this, part, parts](double share)
  {
    const double whole = (static_cast<double>(part) + share) / static_cast<double>(parts);
    return this->Images && this->Images->Serving ? this->Images->Serving->Report(whole)
                                                 : this->GoesOn(whole);
  };
}

//------------------------------------------------------------------------------
bool vtkFlowFilter::GoesOn(double share)
{
  this->UpdateProgress(share);
  return !this->CheckAbort();
}

//------------------------------------------------------------------------------
void vtkFlowFilter::NeedsFlow(vtkFlowSource* flow)
{
  if (flow)
  {
    if (flow->GetSource()->times().size() < 2)
    {
      bat_vtk::Refuse(flow->GetSource()->level_name(0) +
        ": it is the only time step of Input, and particles need two; NAME.bricks.series is a list "
        "of several");
    }
    return;
  }
  if (this->Images && this->Images->Problem)
  {
    throw Failure(this->Images->Problem);
  }
  const std::string problem = vtkFlowSource::ProblemOfInput(this, 0);
  bat_vtk::Refuse(problem.empty()
      ? "Input has no velocity field in bricks, and no two time steps of images. It must be a "
        "Bricks Reader or an IDX Reader, or its file could not be opened; parabat.flow.convert and "
        "parabat convert make .bricks.series"
      : "Input has no velocity field: " + problem);
}

//------------------------------------------------------------------------------
vtkMTimeType vtkFlowFilter::InputTime(vtkInformationVector* inputs)
{
  vtkExecutive* executive = nullptr;
  int port = 0;
  vtkExecutive::PRODUCER()->Get(inputs->GetInformationObject(0), executive, port);
  auto* pipeline = vtkDemandDrivenPipeline::SafeDownCast(executive);
  return pipeline ? pipeline->GetPipelineMTime() : 0;
}

//------------------------------------------------------------------------------
vtkFlowSource* vtkFlowFilter::DescribeImages(vtkInformationVector* inputs)
{
  vtkInformation* info = inputs->GetInformationObject(0);
  const Extent whole =
    info ? bat_vtk::ExtentIn(info, Pipeline::WHOLE_EXTENT()) : bat_vtk::EmptyExtent;
  const int steps =
    info && info->Has(Pipeline::TIME_STEPS()) ? info->Length(Pipeline::TIME_STEPS()) : 0;
  if (steps < 2 || bat_vtk::IsEmpty(whole) || !vtkFlowSource::ProblemOfInput(this, 0).empty())
  {
    this->Images.reset();
    return nullptr;
  }
  if (!this->Images)
  {
    this->Images = std::make_unique<ImageInput>();
  }
  ImageInput& images = *this->Images;
  images.Whole = whole;
  images.Problem = {};
  bat::BrickGrid grid;
  if (images.Source)
  {
    grid.type = images.Source->grid().type;
    grid.components = images.Source->grid().components;
  }
  double origin[3] = { 0, 0, 0 };
  double spacing[3] = { 1, 1, 1 };
  if (info->Has(vtkDataObject::ORIGIN()))
  {
    info->Get(vtkDataObject::ORIGIN(), origin);
  }
  if (info->Has(vtkDataObject::SPACING()))
  {
    info->Get(vtkDataObject::SPACING(), spacing);
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    grid.points[axis] = std::int64_t{ whole[2 * axis + 1] } - whole[2 * axis] + 1;
    grid.spacing[axis] = spacing[axis];
    grid.origin[axis] = origin[axis] + whole[2 * axis] * spacing[axis];
  }
  const double* times = info->Get(Pipeline::TIME_STEPS());
  images.Set(grid, { times, times + steps }, images.Array, InputTime(inputs));
  return images.Flow;
}

//------------------------------------------------------------------------------
vtkFlowSource* vtkFlowFilter::OpenImages(vtkInformationVector* inputs)
{
  if (!this->Images)
  {
    return nullptr;
  }
  ImageInput& images = *this->Images;
  images.Problem = Failure::Of(
    [&]()
    {
      vtkImageData* image = vtkImageData::GetData(inputs);
      if (!image)
      {
        bat_vtk::Refuse("Input is no image");
      }
      if (!image->GetDirectionMatrix()->IsIdentity())
      {
        bat_vtk::Refuse("Input has axes that are turned; those of a flow are x, y and z");
      }
      vtkDataArray* velocity = bat_vtk::ImageFlow::VelocityOf(image);
      bat::BrickGrid grid = images.Source->grid();
      grid.components = velocity->GetNumberOfComponents();
      grid.type =
        velocity->GetDataType() == VTK_DOUBLE ? bat::ScalarType::Float64 : bat::ScalarType::Float32;
      if (const std::string fault = bat::fault_of(grid); !fault.empty())
      {
        bat_vtk::Refuse("Input cannot be a flow: " + fault);
      }
      images.Set(grid, images.Source->times(), velocity->GetName(), InputTime(inputs));
    });
  return images.Problem ? nullptr : images.Flow.Get();
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkDataArray> vtkFlowFilter::LoadImage(std::size_t level)
{
  const ImageInput& images = *this->Images;
  vtkSmartPointer<vtkDataArray> values;
  const Failure failure = Failure::Of(
    [&]()
    {
      int port = 0;
      vtkAlgorithm* input = this->GetInputAlgorithm(0, 0, port);
      vtkNew<vtkInformationVector> requests;
      requests->SetNumberOfInformationObjects(port + 1);
      vtkInformation* request = requests->GetInformationObject(port);
      request->Set(Pipeline::UPDATE_TIME_STEP(), images.Source->times()[level]);
      request->Set(Pipeline::UPDATE_EXTENT(), images.Whole.data(), 6);
      request->Set(Pipeline::UPDATE_PIECE_NUMBER(), 0);
      request->Set(Pipeline::UPDATE_NUMBER_OF_PIECES(), 1);
      request->Set(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
      vtkImageData* image = input->Update(port, requests)
        ? vtkImageData::SafeDownCast(input->GetOutputDataObject(port))
        : nullptr;
      const std::string name = images.Source->level_name(level);
      if (!image || !std::equal(images.Whole.begin(), images.Whole.end(), image->GetExtent()))
      {
        bat_vtk::Refuse(name + ": the input does not give all points of this time step");
      }
      vtkDataArray* found = image->GetPointData()->GetArray(images.Array.c_str());
      const bat::BrickGrid& grid = images.Source->grid();
      const int type = grid.type == bat::ScalarType::Float64 ? VTK_DOUBLE : VTK_FLOAT;
      if (!found || found->GetDataType() != type ||
        found->GetNumberOfComponents() != grid.components)
      {
        bat_vtk::Refuse(name + ": is not there, or is not what it is at other times");
      }
      values = found;
      vtkUnsignedCharArray* ghosts = image->GetPointGhostArray();
      if (ghosts || !found->HasStandardMemoryLayout())
      {
        values = vtk::TakeSmartPointer(vtkDataArray::CreateDataArray(type));
        values->DeepCopy(found);
      }
      for (vtkIdType i = 0; ghosts && i < ghosts->GetNumberOfValues(); ++i)
      {
        for (int c = 0;
             (ghosts->GetValue(i) & vtkDataSetAttributes::HIDDENPOINT) != 0 && c < grid.components;
             ++c)
        {
          values->SetComponent(i, c, std::numeric_limits<double>::quiet_NaN());
        }
      }
    });
  const Failure first = this->Run->IsCollective()
    ? bat_vtk::FirstFailure(this->Run->Controller, failure, "", "")
    : failure;
  if (first)
  {
    throw Failure(first);
  }
  return values;
}

//------------------------------------------------------------------------------
void vtkFlowFilter::TryTrace(vtkFlowSource* flow, bool backward, const std::function<void()>& trace)
{
  if (!flow || !this->Images || flow != this->Images->Flow.Get())
  {
    this->Run->Try(trace);
    return;
  }
  ImageInput& images = *this->Images;
  if (!images.IsWarned && this->Run->Rank() == 0)
  {
    images.IsWarned = true;
    vtkWarningMacro("Whole time steps of "
      << images.Array
      << " are read, as the input is not in "
         "bricks: Save Data as .bricks, or parabat convert, makes files of which only "
         "what particles visit is read");
  }
  this->Run->Try(
    [&]()
    {
      images.Serving = images.Source.get();
      const std::shared_ptr<void> guard(nullptr, [&](void*) { images.Serving = nullptr; });
      images.Source->Serve(
        this->Run->IsCollective() ? this->Run->Controller.Get() : nullptr, backward,
        [&](std::size_t level) { return this->LoadImage(level); },
        [&](double share) { return this->GoesOn(share); }, trace);
    });
}

//------------------------------------------------------------------------------
void vtkFlowFilter::Together(const std::function<void()>& f)
{
  if (this->Images && this->Images->Serving)
  {
    this->Images->Serving->Call(f);
  }
  else
  {
    f();
  }
}
