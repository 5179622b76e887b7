// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowFilter.h"

#include "Agreement.h"
#include "Extents.h"
#include "Failure.h"
#include "FlowFields.h"
#include "FlowReport.h"
#include "FlowRun.h"
#include "ImageFlow.h"
#include "ImageStep.h"
#include "SeriesGrid.h"
#include "vtkFlowSource.h"

#include "bat/flow/trace.hpp"

#include "vtkDataObject.h"
#include "vtkDemandDrivenPipeline.h"
#include "vtkExecutive.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationExecutivePortKey.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkNew.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using bat_vtk::Extent;
using bat_vtk::Failure;
using Pipeline = vtkStreamingDemandDrivenPipeline;

namespace
{
// Makes the grid that the pipeline announces for an image with the extent `whole`.
bat::BrickGrid MakeGrid(vtkInformation* info, const Extent& whole)
{
  bat::BrickGrid grid;
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
  return grid;
}
}

//------------------------------------------------------------------------------
class vtkFlowFilter::ImageInput
{
public:
  // Describes the geometry, times and velocities. These count as float vectors until an image is
  // read.
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
  vtkMTimeType Time = 0;               ///< time in the pipeline
  Extent Whole = bat_vtk::EmptyExtent; ///< empty: of a composite data set

  // The grid is that of the first time step, known once that was read, and until the input or the
  // choice of the array changes: all processes see these change alike.
  bool IsOpen = false;
  vtkMTimeType OpenTime = 0;
  std::string OpenChoice;
  Failure Problem;
  const bat_vtk::ImageFlow* Serving = nullptr; ///< while a trace runs in another thread
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
  os << indent << "Summary: " << this->Summary << "\n";
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
  this->KeepWhenAborted = keep; // no Modified(): the output stays as it is
}

//------------------------------------------------------------------------------
bool vtkFlowFilter::GetAborted() const
{
  return this->Run->IsAborted();
}

//------------------------------------------------------------------------------
void vtkFlowFilter::SetController(vtkMultiProcessController* controller)
{
  this->Run->Controller = controller; // no Modified(): the output stays as it is
}

//------------------------------------------------------------------------------
vtkMultiProcessController* vtkFlowFilter::GetController() const
{
  return this->Run->Controller;
}

//------------------------------------------------------------------------------
int vtkFlowFilter::FillInputPortInformation(int port, vtkInformation* info)
{
  // The first port accepts anything, so that a message can explain a wrong input. Composite data
  // must be named; otherwise the pipeline would run the filter on one block after another.
  info->Set(INPUT_REQUIRED_DATA_TYPE(), port == 0 ? "vtkDataObject" : "vtkDataSet");
  info->Append(INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
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
  vtkInformation* inInfo = inputVector[0]->GetInformationObject(0);
  if (!inInfo)
  {
    return 1;
  }
  const bool isOfBricks = vtkFlowSource::OfInput(this, 0) != nullptr;
  auto* image = vtkImageData::SafeDownCast(vtkDataObject::GetData(inInfo));
  const bool isThere = image && image->GetNumberOfPoints() > 0 &&
    image->GetInformation()->Has(vtkDataObject::DATA_TIME_STEP()) &&
    image->GetUpdateTime() >= InputTime(inputVector[0]);
  if (isOfBricks && isThere)
  {
    // A field in bricks needs no image. The image that exists stays, for filters and views that
    // show it.
    inInfo->Set(Pipeline::UPDATE_EXTENT(), image->GetExtent(), 6);
    inInfo->Set(
      Pipeline::UPDATE_TIME_STEP(), image->GetInformation()->Get(vtkDataObject::DATA_TIME_STEP()));
    return 1;
  }
  // Images are requested whole, at the first time step. Other inputs are refused later, and may be
  // unable to return an empty extent.
  if (isOfBricks || this->Images)
  {
    if (inInfo->Has(Pipeline::TIME_STEPS()) && inInfo->Length(Pipeline::TIME_STEPS()) > 0)
    {
      inInfo->Set(Pipeline::UPDATE_TIME_STEP(), inInfo->Get(Pipeline::TIME_STEPS(), 0));
    }
    if (isOfBricks)
    {
      inInfo->Set(Pipeline::UPDATE_EXTENT(), bat_vtk::EmptyExtent.data(), 6);
    }
    else
    {
      this->AskForAll(inInfo);
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
    this->DescribeGrid(flow, outputVector->GetInformationObject(0));
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
    this->Run->SetFilterTime(this->ChangeTime(flow)); // counts this as a change
  }
  this->Summary = this->SummaryText();
  this->ErrorCode = this->Run->GetFailure().Code; // SetErrorCode() would count as a change
  if (this->Run->IsToBeReported())
  {
    vtkErrorMacro(<< this->Run->GetFailure().Text);
  }
  return 1;
}

//------------------------------------------------------------------------------
std::string vtkFlowFilter::SummaryText() const
{
  if (this->Run->IsDone())
  {
    return this->CountsText() + "; " + this->Report->Text();
  }
  if (this->Run->IsAborted())
  {
    return std::string("Aborted: ") +
      (this->KeepWhenAborted && this->Run->GetShown() ? "showing the previous run"
                                                      : "nothing is shown");
  }
  return this->Run->GetFailure() ? "Failed: " + this->Run->GetFailure().Text : std::string();
}

//------------------------------------------------------------------------------
vtkMTimeType vtkFlowFilter::ChangeTime(vtkFlowSource* flow)
{
  return std::max<vtkMTimeType>(this->GetMTime(), flow ? flow->GetMTime() : 0);
}

//------------------------------------------------------------------------------
void vtkFlowFilter::Prepare(bat::flow::TraceOptions& options, std::size_t part, std::size_t parts)
{
  options.max_error = this->MaximumError;
  options.no_slip = this->NoSlip;
  options.hints = this->Hints == LEARN ? bat::flow::Hints::Learn
    : this->Hints == READ              ? bat::flow::Hints::Read
                                       : bat::flow::Hints::Off;
  options.in_step = this->Images && !vtkFlowSource::OfInput(this, 0);
  options.progress = [this, part, parts](double share)
  {
    const double whole = (static_cast<double>(part) + share) / static_cast<double>(parts);
    return this->Images && this->Images->Serving ? this->Images->Serving->Report(whole)
                                                 : this->ReportProgress(whole);
  };
}

//------------------------------------------------------------------------------
bool vtkFlowFilter::ReportProgress(double share)
{
  this->UpdateProgress(share);
  return !this->CheckAbort();
}

//------------------------------------------------------------------------------
void vtkFlowFilter::NeedsFlow(vtkFlowSource* flow)
{
  if (flow)
  {
    if (flow->GetSource()->times().size() < 2 && !this->KnowsEnd())
    {
      bat_vtk::Refuse(flow->GetSource()->level_name(0) +
        ": it is the only time step of Input, a steady flow. Use NAME.bricks.series, a list of "
        "several; or set Limit Times, Start Time and End Time to define how long lines and "
        "surfaces follow it");
    }
    return;
  }
  if (this->Images && this->Images->Problem)
  {
    throw Failure(this->Images->Problem);
  }
  const std::string problem = vtkFlowSource::ProblemOfInput(this, 0);
  if (!problem.empty())
  {
    bat_vtk::Refuse("Input has no velocity field: " + problem);
  }
  vtkDataObject* input = this->GetInputDataObject(0, 0);
  const bool canBeImages =
    !input || input->IsA("vtkImageData") || input->IsA("vtkCompositeDataSet");
  bat_vtk::Refuse(canBeImages
      ? std::string("Input has neither a velocity field in bricks nor two time steps of images. "
                    "It must be a Bricks Reader or an IDX Reader, and its file must be readable; "
                    "parabat.flow.convert and parabat convert write .bricks.series")
      : std::string("Input is a ") + input->GetClassName() +
        "; allowed: a Bricks Reader, an IDX Reader, or two or more time steps of images "
        "(vtkImageData), which the filter Resample To Image creates from other data");
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
void vtkFlowFilter::AskForAll(vtkInformation* request) const
{
  if (!bat_vtk::IsEmpty(this->Images->Whole))
  {
    request->Set(Pipeline::UPDATE_EXTENT(), this->Images->Whole.data(), 6);
  }
  request->Set(Pipeline::UPDATE_PIECE_NUMBER(), 0);
  request->Set(Pipeline::UPDATE_NUMBER_OF_PIECES(), 1);
  request->Set(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
}

//------------------------------------------------------------------------------
vtkDataObject* vtkFlowFilter::UpdateInput(double time)
{
  int port = 0;
  vtkAlgorithm* input = this->GetInputAlgorithm(0, 0, port);
  vtkNew<vtkInformationVector> requests;
  requests->SetNumberOfInformationObjects(port + 1);
  vtkInformation* request = requests->GetInformationObject(port);
  request->Set(Pipeline::UPDATE_TIME_STEP(), time);
  this->AskForAll(request);
  return input->Update(port, requests) ? input->GetOutputDataObject(port) : nullptr;
}

//------------------------------------------------------------------------------
vtkFlowSource* vtkFlowFilter::DescribeImages(vtkInformationVector* inputs)
{
  vtkInformation* info = inputs->GetInformationObject(0);
  vtkDataObject* data = info ? vtkDataObject::GetData(info) : nullptr;
  const bool isComposite = data && data->IsA("vtkCompositeDataSet");
  const Extent whole = data && data->IsA("vtkImageData")
    ? bat_vtk::ExtentIn(info, Pipeline::WHOLE_EXTENT())
    : bat_vtk::EmptyExtent;
  const int steps =
    info && info->Has(Pipeline::TIME_STEPS()) ? info->Length(Pipeline::TIME_STEPS()) : 0;
  if (steps < 2 || (bat_vtk::IsEmpty(whole) && !isComposite) ||
    !vtkFlowSource::ProblemOfInput(this, 0).empty())
  {
    this->Images.reset();
    return nullptr;
  }
  if (!this->Images)
  {
    this->Images = std::make_unique<ImageInput>();
  }
  ImageInput& images = *this->Images;
  const double* first = info->Get(Pipeline::TIME_STEPS());
  const std::vector<double> times(first, first + steps);
  const vtkMTimeType time = InputTime(inputs);
  if (images.IsOpen && images.OpenTime == time && images.Source && images.Whole == whole &&
    images.Source->times() == times)
  {
    return images.Flow;
  }
  images.Whole = whole;
  images.IsOpen = false;
  images.Problem = {};
  bat::BrickGrid grid;
  if (isComposite)
  {
    grid = bat_vtk::MakeImageGrid(data);
    if (data->GetNumberOfElements(vtkDataObject::POINT) == 0)
    {
      vtkDataObject* step = this->UpdateInput(times.front());
      grid = step ? bat_vtk::MakeImageGrid(step) : grid;
    }
  }
  else
  {
    grid = MakeGrid(info, whole);
  }
  if (images.Source)
  {
    grid.type = images.Source->grid().type;
    grid.components = images.Source->grid().components;
  }
  images.Set(grid, times, images.Array, InputTime(inputs));
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
  const vtkMTimeType time = InputTime(inputs);
  const auto [choice, isOfCells] = this->ChosenArray();
  if (!images.IsOpen || images.OpenTime != time || images.OpenChoice != choice)
  {
    images.IsOpen = true;
    images.OpenTime = time;
    images.OpenChoice = choice;
    images.Problem = Failure::Of(
      [&, name = choice, isCells = isOfCells]()
      {
        if (isCells)
        {
          bat_vtk::Refuse("'" + name +
            "' (Vectors) is cell data, but particles follow point data: apply the filter Cell "
            "Data to Point Data");
        }
        const std::vector<double>& times = images.Source->times();
        const auto fall = std::adjacent_find(
          times.begin(), times.end(), [](double a, double b) { return !(a < b); });
        if (fall != times.end())
        {
          std::ostringstream text;
          text << "Input has time steps " << *fall << " and " << *(fall + 1)
               << " in this order; times of a flow must increase";
          bat_vtk::Refuse(text.str());
        }
        const bat_vtk::ImageStep step = bat_vtk::ReadImageStep(
          vtkDataObject::GetData(inputs->GetInformationObject(0)), name, this->Run->Controller);
        if (const std::string fault = bat::find_fault(step.Grid); !fault.empty())
        {
          bat_vtk::Refuse("Input cannot be used as a flow: " + fault);
        }
        if (!step.Remark.empty() && this->Run->Rank() == 0)
        {
          vtkWarningMacro(<< step.Remark);
        }
        images.Set(step.Grid, times, step.Array, time);
      });
  }
  return images.Problem ? nullptr : images.Flow.Get();
}

//------------------------------------------------------------------------------
std::pair<std::string, bool> vtkFlowFilter::ChosenArray()
{
  vtkInformation* info = this->GetInputArrayInformation(0);
  const char* name =
    info->Has(vtkDataObject::FIELD_NAME()) ? info->Get(vtkDataObject::FIELD_NAME()) : nullptr;
  if (!name || std::string(name) == "Automatic")
  {
    return { std::string(), false };
  }
  const bool isOfCells = info->Has(vtkDataObject::FIELD_ASSOCIATION()) &&
    info->Get(vtkDataObject::FIELD_ASSOCIATION()) == vtkDataObject::FIELD_ASSOCIATION_CELLS;
  return { name, isOfCells };
}

//------------------------------------------------------------------------------
void vtkFlowFilter::DescribeGrid(vtkFlowSource* flow, vtkInformation* outInfo)
{
  if (!flow)
  {
    return;
  }
  const std::array<double, 6> bounds = bat_vtk::DomainOf(flow->GetSource()->grid());
  if (!std::equal(bounds.begin(), bounds.end(), this->Bounds))
  {
    std::copy(bounds.begin(), bounds.end(), this->Bounds);
    this->Describe(flow, outInfo);
  }
}

//------------------------------------------------------------------------------
std::shared_ptr<const std::byte> vtkFlowFilter::LoadImage(std::size_t level)
{
  const ImageInput& images = *this->Images;
  const std::string name = images.Source->level_name(level);
  vtkMultiProcessController* controller =
    this->Run->IsCollective() ? this->Run->Controller.Get() : nullptr;
  bat_vtk::ImageStep step;
  Failure failure = Failure::Of(
    [&]()
    {
      vtkDataObject* data = nullptr;
      const Failure missing = Failure::Of(
        [&]()
        {
          data = this->UpdateInput(images.Source->times()[level]);
          if (!data)
          {
            bat_vtk::Refuse("Input provides no data");
          }
          this->NeedsFilesInPlace();
        });
      const Failure first = bat_vtk::FirstFailure(controller, missing, "", "");
      if (first)
      {
        throw Failure(first);
      }
      step = bat_vtk::ReadImageStep(data, images.Array, controller);
    });
  if (!failure)
  {
    failure = Failure::Of([&]() { this->NeedsSameGrid(step, level); });
  }
  if (failure)
  {
    failure.Text = name + ": " + failure.Text;
  }
  const Failure first = controller ? bat_vtk::FirstFailure(controller, failure, "", "") : failure;
  if (first)
  {
    throw Failure(first);
  }
  return step.Values;
}

//------------------------------------------------------------------------------
void vtkFlowFilter::NeedsFilesInPlace()
{
  int port = 0;
  const std::string moved = bat_vtk::MovedGridAbove(this->GetInputAlgorithm(0, 0, port));
  if (!moved.empty())
  {
    bat_vtk::Refuse(moved);
  }
}

//------------------------------------------------------------------------------
void vtkFlowFilter::NeedsSameGrid(const bat_vtk::ImageStep& step, std::size_t level)
{
  const ImageInput& images = *this->Images;
  const bat::BrickGrid& grid = images.Source->grid();
  const double time = images.Source->times()[level];
  const double firstTime = images.Source->times().front();
  std::ostringstream text;
  bat::BrickGrid now = step.Grid;
  if (!bat_vtk::IsEmpty(images.Whole))
  {
    // The requested extent may be a part of the present one.
    int port = 0;
    vtkAlgorithm* input = this->GetInputAlgorithm(0, 0, port);
    const Extent whole =
      bat_vtk::ExtentIn(input->GetOutputInformation(port), Pipeline::WHOLE_EXTENT());
    for (std::size_t axis = 0; axis < 3 && whole != images.Whole; ++axis)
    {
      now.points[axis] = std::int64_t{ whole[2 * axis + 1] } - whole[2 * axis] + 1;
      now.origin[axis] += (whole[2 * axis] - images.Whole[2 * axis]) * now.spacing[axis];
    }
  }
  if (!bat_vtk::AreAlike(grid, now))
  {
    text << "the grid at time " << time << " has " << bat_vtk::FormatGrid(now)
         << ", but that at time " << firstTime << " has " << bat_vtk::FormatGrid(grid)
         << "; particles are followed on one grid that does not change. Resample To Image with "
            "custom bounds creates one for all time steps";
    bat_vtk::Refuse(text.str());
  }
  if (step.Grid.components != grid.components || step.Grid.type != grid.type)
  {
    const auto kind = [](const bat::BrickGrid& of)
    {
      return std::to_string(of.components) + " components of type " +
        (of.type == bat::ScalarType::Float64 ? "double" : "float");
    };
    text << "'" << images.Array << "' has " << kind(step.Grid) << " at time " << time << ", and "
         << kind(grid) << " at time " << firstTime
         << "; a velocity must have the same type at all times";
    bat_vtk::Refuse(text.str());
  }
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
      << " are read, because the input is not in bricks: use Save Data as .bricks, or parabat "
         "convert, to read only what particles visit");
  }
  this->Run->Try(
    [&]()
    {
      images.Serving = images.Source.get();
      const std::shared_ptr<void> guard(nullptr, [&](void*) { images.Serving = nullptr; });
      images.Source->Serve(
        this->Run->IsCollective() ? this->Run->Controller.Get() : nullptr, backward,
        [&](std::size_t level) { return this->LoadImage(level); },
        [&](double share) { return this->ReportProgress(share); }, trace);
    });
}

//------------------------------------------------------------------------------
void vtkFlowFilter::Collective(const std::function<void()>& f)
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
