// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowFTLE.h"

#include "Extents.h"
#include "Failure.h"
#include "FlowFields.h"
#include "FlowReport.h"
#include "FlowRun.h"
#include "vtkBATArrays.h"
#include "vtkFlowSource.h"

#include "bat/bricks/series.hpp"
#include "bat/error.hpp"
#include "bat/flow/ftle.hpp"
#include "bat/free_memory.hpp"

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
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <sstream>
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
  bat_vtk::TakeMemory(array, static_cast<vtkIdType>(tuples), "the nodes of " + name);
  std::copy_n(values, tuples * static_cast<std::size_t>(components), array->GetPointer(0));
  to->AddArray(array);
}

// Bounds the rounding error of sums and differences of times.
double ComputeRounding(const double times[2])
{
  return 4 * std::numeric_limits<double>::epsilon() *
    std::max(std::abs(times[0]), std::abs(times[1]));
}

Extent ExtentToFill(vtkInformation* outInfo)
{
  return bat_vtk::Intersection(bat_vtk::ExtentIn(outInfo, Pipeline::UPDATE_EXTENT()),
    bat_vtk::ExtentIn(outInfo, Pipeline::WHOLE_EXTENT()));
}

// Nodes without an exponent in any direction are hidden.
void HideWithout(const std::vector<double>& exponents, bool isFirst, vtkUnsignedCharArray* ghosts)
{
  bat_vtk::TakeMemory(ghosts, static_cast<vtkIdType>(exponents.size()), "node marks");
  unsigned char* ghost = ghosts->GetPointer(0);
  for (const double exponent : exponents)
  {
    const bool isHidden = std::isnan(exponent) && (isFirst || *ghost != 0);
    *ghost++ = isHidden ? vtkDataSetAttributes::HIDDENPOINT : 0;
  }
}
}

//------------------------------------------------------------------------------
class vtkFlowFTLE::vtkInternals
{
public:
  bat::flow::FtleGrid Grid; ///< all nodes, that RequestInformation has announced
  Failure NoGrid;           ///< why there is no grid

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

  // Throws bat::Error.
  [[nodiscard]] std::string FormatEstimate(
    const vtkFlowFTLE& filter, const bat::bricks::Series& series) const
  {
    const bat::BrickGrid& grid = series.grid();
    const double reach = series.level(0).header().largest_speed * filter.Duration;
    double bricks = 1;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      const double edge = grid.edge * grid.spacing[axis];
      const auto last = static_cast<double>(grid.bricks(axis) - 1);
      const auto brickAt = [&](double x)
      { return std::clamp(std::floor((x - grid.origin[axis]) / edge), 0.0, last); };
      const double lower = this->Grid.origin[axis];
      const double upper =
        lower + static_cast<double>(this->Grid.points[axis] - 1) * this->Grid.spacing[axis];
      bricks *= brickAt(upper + reach) - brickAt(lower - reach) + 1;
    }
    const std::vector<double>& times = series.times();
    const double start = filter.StartAt(nullptr);
    const double from = filter.Direction == FORWARD ? start : start - filter.Duration;
    const double to = filter.Direction == BACKWARD ? start : start + filter.Duration;
    // The levels include those on both sides of the ends.
    const auto first = std::upper_bound(times.begin(), times.end(), from);
    const auto end = std::lower_bound(times.begin(), times.end(), to);
    const auto levels = static_cast<double>(
      (end == times.end() ? end : end + 1) - (first == times.begin() ? first : first - 1));
    const double all = static_cast<double>(grid.brick_count()) * static_cast<double>(times.size());
    const double count = std::min(bricks * std::max(levels, 0.0), all);
    const double bytes = count * std::pow(grid.edge, 3) * static_cast<double>(grid.point_bytes());
    std::ostringstream text;
    const auto whole = [](double number)
    { return bat_vtk::WithThousands(static_cast<vtkTypeInt64>(std::ceil(number))); };
    text << "reads at most about " << whole(count) << " of " << whole(all) << " bricks ("
         << whole(100 * count / all) << " %), " << whole(bytes / (1024 * 1024)) << " MiB of values";
    return text.str();
  }

  std::string Estimate;

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
  print("SuggestedDimensions", this->SuggestedDimensions, 3);
  os << indent << "UseStartTime: " << on(this->UseStartTime) << "\n";
  os << indent << "StartTime: " << this->StartTime << "\n";
  os << indent << "Duration: " << this->Duration << "\n";
  os << indent << "Direction: " << this->Direction << "\n";
  os << indent << "Estimate: " << this->GetEstimate() << "\n";
  os << indent << "SuggestedDuration: " << this->SuggestedDuration << "\n";
}

//------------------------------------------------------------------------------
int vtkFlowFTLE::FillOutputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkImageData");
  return 1;
}

//------------------------------------------------------------------------------
const char* vtkFlowFTLE::GetEstimate() const
{
  return this->Internals->Estimate.c_str();
}

//------------------------------------------------------------------------------
std::string vtkFlowFTLE::CountsText() const
{
  const bat::flow::FtleGrid& grid = this->Internals->Grid;
  return bat_vtk::WithThousands(grid.points[0] * grid.points[1] * grid.points[2]) + " nodes";
}

//------------------------------------------------------------------------------
void vtkFlowFTLE::Describe(vtkFlowSource* flow, vtkInformation* outInfo)
{
  vtkInternals& self = *this->Internals;
  outInfo->Set(CAN_PRODUCE_SUB_EXTENT(), 1);
  std::fill_n(this->SuggestedDimensions, 3, 64);
  if (flow)
  {
    const double lengths[3] = { this->Bounds[1] - this->Bounds[0],
      this->Bounds[3] - this->Bounds[2], this->Bounds[5] - this->Bounds[4] };
    const double longest = *std::max_element(lengths, lengths + 3);
    const bool isFlat = *std::min_element(lengths, lengths + 3) == 0;
    for (int axis = 0; axis < 3 && longest > 0; ++axis)
    {
      this->SuggestedDimensions[axis] =
        axis == 2 && !isFlat ? 1 : 1 + static_cast<int>(std::lround(200 * lengths[axis] / longest));
    }
  }
  this->SuggestedDuration = this->SuggestDuration(flow);
  self.NoGrid = Failure::Of(
    [&]()
    {
      this->NeedsFlow(flow);
      self.Describe(*this);
    });
  self.Estimate.clear();
  if (const auto* series = flow && !self.NoGrid
      ? dynamic_cast<const bat::bricks::Series*>(flow->GetSource().get())
      : nullptr)
  {
    // A missing level is reported by the run that needs it.
    (void)Failure::Of([&]() { self.Estimate = self.FormatEstimate(*this, *series); });
  }
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
    this->AnnounceStarts(flow, outInfo);
  }
  outInfo->Set(Pipeline::WHOLE_EXTENT(), whole.data(), 6);
}

//------------------------------------------------------------------------------
void vtkFlowFTLE::Produce(vtkFlowSource* flow, vtkInformationVector** inputVector,
  vtkInformation* outInfo, vtkDataObject* output)
{
  bat_vtk::FlowRun& run = *this->Run;
  const double time = this->StartAt(outInfo);
  if (!run.BeginPart(this->ChangeTime(flow), this->InputTime(inputVector[0]), time))
  {
    return;
  }
  if (!run.IsCollective() && this->Repeat(outInfo, vtkImageData::SafeDownCast(output)))
  {
    return;
  }
  this->SetAbortExecute(0); // it was for the update before
  *this->Report = {};
  this->TryTrace(flow, this->Direction == BACKWARD,
    [&]() { this->TraceExtent(flow, outInfo, time, vtkImageData::SafeDownCast(output)); });
  if (run.IsCollective())
  {
    this->Report->SumUp(run.Controller);
  }
  if (run.IsDone())
  {
    output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), time);
  }
}

//------------------------------------------------------------------------------
double vtkFlowFTLE::SuggestDuration(vtkFlowSource* flow) const
{
  if (!flow)
  {
    return 1;
  }
  if (flow->GetSource()->times().size() > 1)
  {
    return (this->LastTime - this->FirstTime) / 2;
  }
  double duration = 1;
  if (const auto* series = dynamic_cast<const bat::bricks::Series*>(flow->GetSource().get()))
  {
    // A missing level is reported by the run that needs it.
    (void)Failure::Of(
      [&]()
      {
        const double longest = std::max({ this->Bounds[1] - this->Bounds[0],
          this->Bounds[3] - this->Bounds[2], this->Bounds[5] - this->Bounds[4] });
        const double half = longest / (2 * series->level(0).header().largest_speed);
        duration = half > 0 && std::isfinite(half) ? half : duration;
      });
  }
  return duration;
}

//------------------------------------------------------------------------------
bool vtkFlowFTLE::GetStarts(double starts[2]) const
{
  if (this->FirstTime == this->LastTime) // a steady flow
  {
    starts[0] = starts[1] = this->FirstTime;
    return this->Duration > 0;
  }
  starts[0] = this->FirstTime + (this->Direction == FORWARD ? 0.0 : this->Duration);
  starts[1] = this->LastTime - (this->Direction == BACKWARD ? 0.0 : this->Duration);
  // If both directions last half as long as the series, exactly one start is left, except for
  // rounding.
  const double rounding = ComputeRounding(starts);
  const bool areEnough = this->Duration > 0 && starts[0] <= starts[1] + rounding;
  starts[1] = std::max(starts[0], starts[1]);
  return areEnough;
}

//------------------------------------------------------------------------------
void vtkFlowFTLE::AnnounceStarts(vtkFlowSource* flow, vtkInformation* outInfo) const
{
  double starts[2];
  if (this->UseStartTime || !this->GetStarts(starts))
  {
    return;
  }
  std::vector<double> steps;
  const std::vector<double>& times = flow->GetSource()->times();
  const double rounding = ComputeRounding(starts);
  std::copy_if(times.begin(), times.end(), std::back_inserter(steps),
    [&](double time) { return time >= starts[0] - rounding && time <= starts[1] + rounding; });
  if (!steps.empty())
  {
    outInfo->Set(Pipeline::TIME_STEPS(), steps.data(), static_cast<int>(steps.size()));
  }
  outInfo->Set(Pipeline::TIME_RANGE(), starts, 2);
}

//------------------------------------------------------------------------------
double vtkFlowFTLE::StartAt(vtkInformation* outInfo) const
{
  if (this->UseStartTime)
  {
    return this->StartTime;
  }
  const double time = outInfo && outInfo->Has(Pipeline::UPDATE_TIME_STEP())
    ? outInfo->Get(Pipeline::UPDATE_TIME_STEP())
    : this->Direction == BACKWARD ? this->LastTime
                                  : this->FirstTime;
  double starts[2];
  return this->GetStarts(starts) ? std::clamp(time, starts[0], starts[1]) : time;
}

//------------------------------------------------------------------------------
bool vtkFlowFTLE::Repeat(vtkInformation* outInfo, vtkImageData* output) const
{
  auto* shown = vtkImageData::SafeDownCast(this->Run->GetShown());
  const Extent extent = ExtentToFill(outInfo);
  if (!shown || !std::equal(extent.begin(), extent.end(), shown->GetExtent()))
  {
    return false;
  }
  output->ShallowCopy(shown);
  return true;
}

//------------------------------------------------------------------------------
void vtkFlowFTLE::TraceExtent(
  vtkFlowSource* flow, vtkInformation* outInfo, double time, vtkImageData* output)
{
  const vtkInternals& self = *this->Internals;
  if (self.NoGrid)
  {
    throw self.NoGrid;
  }
  this->NeedsFlow(flow);
  Extent extent = ExtentToFill(outInfo);
  output->SetExtent(extent.data());
  output->SetOrigin(self.Grid.origin.data());
  output->SetSpacing(self.Grid.spacing.data());
  const std::size_t runs = this->Direction == BOTH ? 2 : 1;
  // Each node needs memory for its results, and for the VTK arrays made from them.
  constexpr double nodeBytes = (1 + 3 + 1) * sizeof(double);
  bat::check_memory(
    (1.0 + static_cast<double>(runs)) * nodeBytes * static_cast<double>(bat_vtk::PointsIn(extent)),
    "the requested nodes", "fewer nodes along each axis reduce this");
  bat::flow::TraceOptions options;
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  for (std::size_t run = 0; run < runs; ++run)
  {
    options.backward = this->Direction == BACKWARD || run == 1;
    this->Prepare(options, run, runs);
    const bat::flow::Ftle field =
      bat::flow::ftle(flow->GetCache(), self.Part(extent), time, this->Duration, options);
    const std::string way = options.backward ? "_backward" : "_forward";
    const std::size_t nodes = field.exponents.size();
    vtkPointData* points = output->GetPointData();
    AddValues(points, "FTLE" + way, 1, field.exponents.data(), nodes);
    AddValues(points, "FlowMap" + way, 3, nodes == 0 ? nullptr : field.flow_map[0].data(), nodes);
    AddValues(points, "EndTime" + way, 1, field.end_times.data(), nodes);
    HideWithout(field.exponents, run == 0, ghosts);
    this->Report->Add(field.statistics);
  }
  output->GetPointData()->SetActiveScalars(
    this->Direction == BACKWARD ? "FTLE_backward" : "FTLE_forward");
  if (std::any_of(ghosts->GetPointer(0), ghosts->GetPointer(0) + ghosts->GetNumberOfValues(),
        [](unsigned char ghost) { return ghost != 0; }))
  {
    output->GetPointData()->AddArray(ghosts);
  }
}
