// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowPathLines.h"

#include "Agreement.h"
#include "Failure.h"
#include "FlowFields.h"
#include "FlowRun.h"
#include "FlowSeeds.h"
#include "LinesToVTK.h"
#include "vtkFlowSource.h"

#include "bat/error.hpp"
#include "bat/flow/trace.hpp"

#include "vtkCommunicator.h"
#include "vtkDataObject.h"
#include "vtkDoubleArray.h"
#include "vtkErrorCode.h"
#include "vtkFieldData.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkTypeInt64Array.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using bat_vtk::AddNumber;
using bat_vtk::Failure;
using bat_vtk::Refuse;
using Pipeline = vtkStreamingDemandDrivenPipeline;

namespace
{
/// Of all processes.
struct Totals
{
  std::vector<vtkTypeInt64> Counts;
  double WaitSeconds = 0;
  double FirstArrival = std::numeric_limits<double>::quiet_NaN();
  double MedianArrival = std::numeric_limits<double>::quiet_NaN();
};

// The counts in Totals, by their names in the field data. Those from SAME on are not summed up.
enum Count
{
  PARTICLES,
  WITHOUT_LINE,
  ARRIVED,
  TOUCHED,
  BYTES_READ,
  HITS,
  READS,
  WAITS,
  PREFETCHED,
  PREFETCHES_USED,
  PREFETCHES_WASTED,
  CACHE_BYTES,
  SAME,
  BRICKS = SAME,
  COUNTS
};
constexpr std::array<const char*, COUNTS> CountNames = { { "particles", "particles_without_line",
  "particles_that_arrive", "bricks_touched", "bytes_read", "hits", "reads", "waits", "prefetched",
  "prefetches_used", "prefetches_wasted", "cache_bytes", "bricks" } };

std::vector<vtkTypeInt64> CountsOf(const bat::flow::PathLines& lines)
{
  const bat::flow::Statistics& s = lines.statistics;
  std::vector<vtkTypeInt64> counts(COUNTS);
  const auto set = [&](Count count, std::uint64_t number)
  { counts[count] = static_cast<vtkTypeInt64>(number); };
  set(PARTICLES, lines.lines.size());
  for (const bat::flow::Line& line : lines.lines)
  {
    counts[WITHOUT_LINE] += line.reason == bat::flow::Reason::NoSeed ? 1 : 0;
    counts[ARRIVED] += line.arrival_time == line.arrival_time ? 1 : 0;
  }
  set(TOUCHED, s.touched);
  set(BYTES_READ, s.bytes_read);
  set(HITS, s.hits);
  set(READS, s.read);
  set(WAITS, s.waits);
  set(PREFETCHED, s.prefetched);
  set(PREFETCHES_USED, s.prefetches_used);
  set(PREFETCHES_WASTED, s.prefetches_wasted);
  set(CACHE_BYTES, s.cache_bytes);
  set(BRICKS, s.bricks);
  return counts;
}

// Collective. In the order of time.
std::vector<double> ArrivalsOfAll(
  const bat::flow::PathLines& lines, vtkMultiProcessController* controller)
{
  std::vector<double> arrivals;
  for (const bat::flow::Line& line : lines.lines)
  {
    if (line.arrival_time == line.arrival_time)
    {
      arrivals.push_back(line.arrival_time);
    }
  }
  if (controller && controller->GetNumberOfProcesses() > 1)
  {
    vtkNew<vtkDoubleArray> own;
    own->SetNumberOfValues(static_cast<vtkIdType>(arrivals.size()));
    std::copy(arrivals.begin(), arrivals.end(), own->GetPointer(0));
    vtkNew<vtkPolyData> carrier; // of arrays, which know their lengths
    carrier->GetFieldData()->AddArray(own);
    own->SetName("arrivals");
    std::vector<vtkSmartPointer<vtkDataObject>> parts;
    controller->AllGather(carrier, parts);
    arrivals.clear();
    for (const vtkSmartPointer<vtkDataObject>& part : parts)
    {
      auto* values = vtkDoubleArray::SafeDownCast(part->GetFieldData()->GetArray("arrivals"));
      for (vtkIdType i = 0; values && i < values->GetNumberOfValues(); ++i)
      {
        arrivals.push_back(values->GetValue(i));
      }
    }
  }
  std::sort(arrivals.begin(), arrivals.end());
  return arrivals;
}

// Collective.
Totals TotalsOf(
  const bat::flow::PathLines& lines, bool backward, vtkMultiProcessController* controller)
{
  Totals totals;
  totals.Counts = CountsOf(lines);
  bat_vtk::SumOf(controller, totals.Counts.data(), SAME);
  totals.WaitSeconds = lines.statistics.wait_seconds;
  if (controller && controller->GetNumberOfProcesses() > 1)
  {
    const double seconds = totals.WaitSeconds;
    controller->AllReduce(&seconds, &totals.WaitSeconds, 1, vtkCommunicator::SUM_OP);
  }
  std::vector<double> arrivals = ArrivalsOfAll(lines, controller);
  if (backward)
  {
    std::reverse(arrivals.begin(), arrivals.end());
  }
  if (!arrivals.empty())
  {
    totals.FirstArrival = arrivals.front();
    totals.MedianArrival =
      0.5 * (arrivals[(arrivals.size() - 1) / 2] + arrivals[arrivals.size() / 2]);
  }
  return totals;
}

void AddTotals(vtkFieldData* field, const Totals& totals)
{
  for (std::size_t i = 0; i < COUNTS; ++i)
  {
    AddNumber<vtkTypeInt64Array>(field, CountNames[i], totals.Counts[i]);
  }
  const auto share = static_cast<double>(totals.Counts[TOUCHED]) /
    static_cast<double>(std::max<vtkTypeInt64>(totals.Counts[BRICKS], 1));
  AddNumber<vtkDoubleArray>(field, "touched_percent", 100 * share);
  AddNumber<vtkDoubleArray>(field, "wait_seconds", totals.WaitSeconds);
  if (totals.Counts[ARRIVED] > 0) // NaN does not pass through the texts that VTK sends
  {
    AddNumber<vtkDoubleArray>(field, "first_arrival", totals.FirstArrival);
    AddNumber<vtkDoubleArray>(field, "median_arrival", totals.MedianArrival);
  }
}
}

//------------------------------------------------------------------------------
class vtkFlowPathLines::vtkInternals
{
public:
  explicit vtkInternals(vtkFlowPathLines* filter)
    : Filter(filter)
  {
  }

  // Throws Failure.
  bat::flow::TraceOptions Options() const
  {
    const vtkFlowPathLines& f = *this->Filter;
    bat::flow::TraceOptions options;
    options.backward = f.Backward;
    if (f.LimitTimes)
    {
      options.end_time = f.Backward ? f.StartTime : f.EndTime;
    }
    options.integrator = f.Integrator == RUNGE_KUTTA_4 ? bat::flow::Integrator::RungeKutta4
                                                       : bat::flow::Integrator::CellByCell;
    options.most_error = f.MaximumError;
    options.step_share = f.StepShare;
    options.terminal_speed = f.TerminalSpeed;
    options.no_slip = f.NoSlip;
    if (f.UseDestination)
    {
      bat::flow::Destination destination;
      for (std::size_t axis = 0; axis < 3; ++axis)
      {
        destination.box.lower[axis] = f.Destination[2 * axis];
        destination.box.upper[axis] = f.Destination[2 * axis + 1];
      }
      destination.stop_on_arrival = f.StopOnArrival;
      options.destination = destination;
    }
    options.keep_faces = f.PointsOnFaces;
    options.prefetch = f.Prefetch ? bat::flow::Prefetch::Velocity : bat::flow::Prefetch::None;
    options.progress = [this](double share)
    {
      this->Filter->UpdateProgress(share);
      return !this->Filter->CheckAbort();
    };
    return options;
  }

  // Times of release. Throws Failure.
  std::vector<double> Releases(const std::vector<double>& times) const
  {
    const vtkFlowPathLines& f = *this->Filter;
    const double start = f.LimitTimes ? f.StartTime : times.front();
    const double end = f.LimitTimes ? f.EndTime : times.back();
    if (!(start < end && start >= times.front() && end <= times.back()))
    {
      std::ostringstream text;
      text << "StartTime is " << start << " and EndTime " << end
           << "; the first has to be the smaller one, and the series has times from "
           << times.front() << " to " << times.back();
      Refuse(text.str());
    }
    std::vector<double> releases{ f.Backward ? end : start };
    if (f.Release == AT_INTERVALS)
    {
      if (!(f.ReleaseInterval > 0) || (end - start) / f.ReleaseInterval > MostReleases)
      {
        std::ostringstream text;
        text << "ReleaseInterval is " << f.ReleaseInterval
             << "; it has to be above 0, and at least " << (end - start) / MostReleases
             << " for these times";
        Refuse(text.str());
      }
      for (int i = 1; i * f.ReleaseInterval <= end - start; ++i)
      {
        releases.push_back(
          f.Backward ? end - i * f.ReleaseInterval : start + i * f.ReleaseInterval);
      }
    }
    else if (f.Release == EVERY_TIME_STEP || f.Show == STREAK_LINES)
    {
      for (const double time : times)
      {
        if (time > start && time < end)
        {
          releases.push_back(time);
        }
      }
      releases.push_back(f.Backward ? start : end);
      std::sort(releases.begin(), releases.end());
      if (f.Backward)
      {
        std::reverse(releases.begin(), releases.end());
      }
    }
    return releases;
  }

  // Everything that changes a line.
  static std::vector<double> SettingsOf(
    const bat::flow::TraceOptions& options, const std::vector<double>& releases)
  {
    std::vector<double> settings{ options.backward ? 1.0 : 0.0, options.end_time ? 1.0 : 0.0,
      options.end_time.value_or(0.0), static_cast<double>(options.integrator), options.most_error,
      options.step_share, options.terminal_speed, options.no_slip ? 1.0 : 0.0,
      options.keep_faces ? 1.0 : 0.0, options.destination ? 1.0 : 0.0 };
    if (options.destination)
    {
      const bat::flow::Destination& to = *options.destination;
      settings.insert(settings.end(), to.box.lower.begin(), to.box.lower.end());
      settings.insert(settings.end(), to.box.upper.begin(), to.box.upper.end());
      settings.push_back(to.stop_on_arrival ? 1.0 : 0.0);
    }
    settings.insert(settings.end(), releases.begin(), releases.end());
    return settings;
  }

  // Traces the lines of this process. Throws bat::Error and Failure.
  void Trace(vtkFlowSource* flow, const bat::flow::TraceOptions& options)
  {
    const double count = static_cast<double>(this->Particles.Seeds.size()) *
      static_cast<double>(this->Particles.Releases.size());
    if (count > MostParticles)
    {
      std::ostringstream text;
      text << this->Particles.Seeds.size() << " seeds release " << count << " particles; at most "
           << MostParticles << " are allowed";
      Refuse(text.str());
    }
    std::vector<bat::flow::Seed> seeds;
    seeds.reserve(static_cast<std::size_t>(count));
    for (const std::size_t seed : this->Particles.Seeds)
    {
      for (const double release : this->Particles.Releases)
      {
        seeds.push_back({ this->Run.LastWanted().Positions[seed], release });
      }
    }
    this->Whole = bat::flow::trace(flow->GetCache(), seeds, options);
  }

  // What is to be seen of the lines, at a time. Throws bat::Error.
  void Fill(vtkFlowSource* flow, double time, const bat::flow::TraceOptions& options,
    vtkPolyData* seeds, vtkPolyData* output)
  {
    const vtkFlowPathLines& f = *this->Filter;
    this->Particles.SeedData = seeds;
    this->Particles.Kept.assign(this->Whole.lines.size(), true);
    for (std::size_t i = 0; f.UseDestination && f.Keep != ALL && i < this->Whole.lines.size(); ++i)
    {
      const double arrival = this->Whole.lines[i].arrival_time;
      this->Particles.Kept[i] = (arrival == arrival) == (f.Keep == THOSE_THAT_ARRIVE);
    }
    if (f.Show == PATH_LINES)
    {
      std::swap(this->Particles.Lines, this->Whole);
      bat_vtk::ShowPathLines(this->Particles, output);
      std::swap(this->Particles.Lines, this->Whole);
    }
    else
    {
      this->Particles.Lines = bat::flow::until(flow->GetCache(), this->Whole, time, options);
      if (f.Show == PATH_LINES_UP_TO_TIME)
      {
        bat_vtk::ShowPathLines(this->Particles, output);
      }
      else if (f.Show == PARTICLES)
      {
        bat_vtk::ShowParticles(this->Particles, time, output);
      }
      else
      {
        bat_vtk::ShowStreakLines(this->Particles, time, output);
      }
      this->Particles.Lines = {};
    }
    AddTotals(output->GetFieldData(), this->Sums);
  }

  bat_vtk::FlowRun Run;
  bat::flow::PathLines Whole; ///< of this process
  bat_vtk::TracedParticles Particles;
  Totals Sums;

  static constexpr double MostReleases = 1e6;
  static constexpr double MostParticles = 4294967294.0;

private:
  vtkFlowPathLines* Filter;
};

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkFlowPathLines);

//------------------------------------------------------------------------------
vtkFlowPathLines::vtkFlowPathLines()
  : Internals(std::make_unique<vtkInternals>(this))
{
  this->SetNumberOfInputPorts(2);
  this->SetNumberOfOutputPorts(1);
  this->Internals->Sums.Counts.resize(COUNTS);
}

//------------------------------------------------------------------------------
vtkFlowPathLines::~vtkFlowPathLines() = default;

//------------------------------------------------------------------------------
void vtkFlowPathLines::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const auto on = [](bool is) { return is ? "on" : "off"; };
  os << indent << "Show: " << this->Show << "\n";
  os << indent << "Backward: " << on(this->Backward) << "\n";
  os << indent << "LimitTimes: " << on(this->LimitTimes) << "\n";
  os << indent << "StartTime: " << this->StartTime << "\n";
  os << indent << "EndTime: " << this->EndTime << "\n";
  os << indent << "Release: " << this->Release << "\n";
  os << indent << "ReleaseInterval: " << this->ReleaseInterval << "\n";
  os << indent << "UseDestination: " << on(this->UseDestination) << "\n";
  os << indent << "Destination:";
  std::for_each(this->Destination, this->Destination + 6, [&os](double end) { os << " " << end; });
  os << "\n";
  os << indent << "Keep: " << this->Keep << "\n";
  os << indent << "StopOnArrival: " << on(this->StopOnArrival) << "\n";
  os << indent << "Integrator: " << this->Integrator << "\n";
  os << indent << "MaximumError: " << this->MaximumError << "\n";
  os << indent << "StepShare: " << this->StepShare << "\n";
  os << indent << "TerminalSpeed: " << this->TerminalSpeed << "\n";
  os << indent << "NoSlip: " << on(this->NoSlip) << "\n";
  os << indent << "PointsOnFaces: " << on(this->PointsOnFaces) << "\n";
  os << indent << "Prefetch: " << on(this->Prefetch) << "\n";
  os << indent << "Bounds:";
  std::for_each(this->Bounds, this->Bounds + 6, [&os](double end) { os << " " << end; });
  os << "\n";
  os << indent << "FirstTime: " << this->FirstTime << "\n";
  os << indent << "LastTime: " << this->LastTime << "\n";
  os << indent << "KeepWhenAborted: " << on(this->KeepWhenAborted) << "\n";
  os << indent << "Aborted: " << (this->GetAborted() ? "yes" : "no") << "\n";
  os << indent << "Controller: " << this->Internals->Run.Controller.Get() << "\n";
  for (std::size_t i = 0; i < COUNTS; ++i)
  {
    os << indent << CountNames[i] << ": " << this->Internals->Sums.Counts[i] << "\n";
  }
}

//------------------------------------------------------------------------------
void vtkFlowPathLines::SetSourceConnection(vtkAlgorithmOutput* seeds)
{
  this->SetInputConnection(1, seeds);
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowPathLines::GetBricksTouched() const
{
  return this->Internals->Sums.Counts[TOUCHED];
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowPathLines::GetBytesRead() const
{
  return this->Internals->Sums.Counts[BYTES_READ];
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowPathLines::GetWaits() const
{
  return this->Internals->Sums.Counts[WAITS];
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowPathLines::GetPrefetched() const
{
  return this->Internals->Sums.Counts[PREFETCHED];
}

//------------------------------------------------------------------------------
vtkIdType vtkFlowPathLines::GetWasted() const
{
  return this->Internals->Sums.Counts[PREFETCHES_WASTED];
}

//------------------------------------------------------------------------------
void vtkFlowPathLines::SetKeepWhenAborted(bool keep)
{
  this->KeepWhenAborted = keep; // not Modified: the output stays as it is
}

//------------------------------------------------------------------------------
bool vtkFlowPathLines::GetAborted() const
{
  return this->Internals->Run.IsAborted();
}

//------------------------------------------------------------------------------
void vtkFlowPathLines::PutOffStep() {}

//------------------------------------------------------------------------------
void vtkFlowPathLines::SetController(vtkMultiProcessController* controller)
{
  this->Internals->Run.Controller = controller; // not Modified: the output stays as it is
}

//------------------------------------------------------------------------------
vtkMultiProcessController* vtkFlowPathLines::GetController() const
{
  return this->Internals->Run.Controller;
}

//------------------------------------------------------------------------------
int vtkFlowPathLines::FillInputPortInformation(int port, vtkInformation* info)
{
  info->Set(INPUT_REQUIRED_DATA_TYPE(), port == 0 ? "vtkImageData" : "vtkDataSet");
  if (port == 1)
  {
    info->Append(INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkFlowPathLines::RequestInformation(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  outInfo->Set(CAN_HANDLE_PIECE_REQUEST(), 1);
  outInfo->Remove(Pipeline::TIME_STEPS());
  outInfo->Remove(Pipeline::TIME_RANGE());
  std::fill_n(this->Bounds, 6, 0.0);
  this->FirstTime = 0;
  this->LastTime = 1;
  if (vtkFlowSource* flow = vtkFlowSource::OfInput(this, 0))
  {
    const std::vector<double>& times = flow->GetSource()->times();
    const std::array<double, 6> bounds = bat_vtk::DomainOf(flow->GetSource()->grid());
    std::copy(bounds.begin(), bounds.end(), this->Bounds);
    this->FirstTime = times.front();
    this->LastTime = times.back();
    if (this->Show != PATH_LINES)
    {
      bat_vtk::AnnounceTimes(outInfo, times);
    }
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkFlowPathLines::RequestUpdateExtent(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector*)
{
  bat_vtk::AskForNothing(this, inputVector[0]->GetInformationObject(0));
  return 1;
}

//------------------------------------------------------------------------------
int vtkFlowPathLines::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkInternals& self = *this->Internals;
  vtkMultiProcessController* controller = self.Run.Controller;
  vtkPolyData* output = vtkPolyData::GetData(outputVector);
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  output->Initialize();
  output->GetInformation()->Remove(vtkDataObject::DATA_TIME_STEP());
  vtkFlowSource* flow = vtkFlowSource::OfInput(this, 0);
  vtkSmartPointer<vtkPolyData> seeds =
    bat_vtk::GatherSeeds(vtkDataObject::GetData(inputVector[1]), controller);

  bat_vtk::FlowRun::Wanted wanted;
  wanted.Positions = bat_vtk::PositionsOf(seeds);
  bat::flow::TraceOptions options;
  std::vector<double> releases;
  const Failure failure = Failure::Of(
    [&]()
    {
      bat_vtk::NeedsFlow(flow);
      wanted.Source = flow->GetSource();
      options = self.Options();
      releases = self.Releases(wanted.Source->times());
      wanted.Settings = vtkInternals::SettingsOf(options, releases);
    });
  if (self.Run.Begin(std::move(wanted), this->GetMTime(), failure))
  {
    this->SetAbortExecute(0); // it was for the update before
    self.Whole = {};
    self.Particles = {};
    self.Particles.Releases = std::move(releases);
    self.Particles.Seeds =
      bat_vtk::DealSeeds(self.Run.LastWanted().Positions, self.Run.Rank(), self.Run.Ranks());
    self.Run.Try([&]() { self.Trace(flow, options); });
    if (self.Run.IsDone())
    {
      self.Sums = TotalsOf(self.Whole, this->Backward, controller);
    }
  }
  if (self.Run.IsDone())
  {
    const std::vector<double>& times = self.Run.LastWanted().Source->times();
    double time = this->Backward ? times.back() : times.front();
    if (outInfo->Has(Pipeline::UPDATE_TIME_STEP()))
    {
      time = outInfo->Get(Pipeline::UPDATE_TIME_STEP());
    }
    self.Run.Try([&]() { self.Fill(flow, time, options, seeds, output); });
    if (this->Show != PATH_LINES)
    {
      output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), time);
    }
  }
  self.Run.Deliver(output, this->KeepWhenAborted);
  if (self.Run.IsAborted())
  {
    this->SetAbortOutput(false); // the executive would take the output away
  }
  this->ErrorCode = self.Run.GetFailure().Code; // not by its setter: an update is no change
  if (self.Run.IsToBeSaid())
  {
    vtkErrorMacro(<< self.Run.GetFailure().Text);
  }
  return 1;
}
