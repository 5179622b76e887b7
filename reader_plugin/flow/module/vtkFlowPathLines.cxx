// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowPathLines.h"

#include "Agreement.h"
#include "Failure.h"
#include "FlowFields.h"
#include "FlowReport.h"
#include "FlowRun.h"
#include "FlowSeeds.h"
#include "LinesToVTK.h"
#include "vtkFlowSource.h"

#include "bat/error.hpp"
#include "bat/flow/trace.hpp"

#include "vtkDataObject.h"
#include "vtkDoubleArray.h"
#include "vtkFieldData.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
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
/// Sums over all processes.
struct Totals
{
  vtkTypeInt64 Particles = 0;
  vtkTypeInt64 WithoutLine = 0;
  vtkTypeInt64 Arrived = 0;
  double FirstArrival = std::numeric_limits<double>::quiet_NaN();
  double MedianArrival = std::numeric_limits<double>::quiet_NaN();
};

// Collective. Sorted by time.
std::vector<double> GatherArrivals(
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
    vtkNew<vtkPolyData> carrier; // carries arrays, which know their lengths
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

// Collective. `never` is the number of particles that have lines but are released by no seed.
Totals ComputeTotals(const bat::flow::PathLines& lines, vtkTypeInt64 never, bool backward,
  vtkMultiProcessController* controller)
{
  std::array<vtkTypeInt64, 3> counts{ static_cast<vtkTypeInt64>(lines.lines.size()) - never,
    -never };
  for (const bat::flow::Line& line : lines.lines)
  {
    counts[1] += line.reason == bat::flow::Reason::NoSeed ? 1 : 0;
    counts[2] += line.arrival_time == line.arrival_time ? 1 : 0;
  }
  bat_vtk::ReduceSum(controller, counts.data(), static_cast<int>(counts.size()));
  Totals totals;
  totals.Particles = counts[0];
  totals.WithoutLine = counts[1];
  totals.Arrived = counts[2];
  std::vector<double> arrivals = GatherArrivals(lines, controller);
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
  AddNumber<vtkTypeInt64Array>(field, "particles", totals.Particles);
  AddNumber<vtkTypeInt64Array>(field, "particles_without_line", totals.WithoutLine);
  AddNumber<vtkTypeInt64Array>(field, "particles_that_arrive", totals.Arrived);
  if (totals.Arrived > 0) // NaN does not pass through the texts that VTK sends
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
    vtkFlowPathLines& f = *this->Filter;
    bat::flow::TraceOptions options;
    f.Prepare(options);
    options.backward = f.Backward;
    if (f.LimitTimes)
    {
      options.end_time = f.Backward ? f.StartTime : f.EndTime;
    }
    if (!(f.MaximumAge >= 0))
    {
      std::ostringstream text;
      text << "Maximum Age is " << f.MaximumAge << "; allowed: 0, which means no limit, or above";
      Refuse(text.str());
    }
    if (f.MaximumAge > 0)
    {
      options.max_age = f.MaximumAge;
    }
    options.integrator = f.Integrator == RUNGE_KUTTA_4 ? bat::flow::Integrator::RungeKutta4
                                                       : bat::flow::Integrator::CellByCell;
    options.step_share = f.StepShare;
    options.terminal_speed = f.TerminalSpeed;
    if (f.UseDestination)
    {
      bat::flow::Destination destination{ { {} }, false };
      for (std::size_t axis = 0; axis < 3; ++axis)
      {
        destination.boxes[0].lower[axis] = f.Destination[2 * axis];
        destination.boxes[0].upper[axis] = f.Destination[2 * axis + 1];
      }
      destination.boxes.insert(
        destination.boxes.end(), this->MoreDestinations.begin(), this->MoreDestinations.end());
      destination.stop_on_arrival = f.StopOnArrival;
      options.destination = destination;
    }
    options.keep_faces = f.PointsOnFaces;
    options.keep_resting = !f.Backward && !f.LimitTimes; // a growing series continues with these
    options.prefetch = f.Prefetch ? bat::flow::Prefetch::Velocity : bat::flow::Prefetch::None;
    return options;
  }

  // Returns the release times. Throws Failure.
  std::vector<double> Releases(const std::vector<double>& times) const
  {
    const vtkFlowPathLines& f = *this->Filter;
    const auto [start, end] = f.Times(times);
    std::vector<double> releases{ f.Backward ? end : start };
    if (f.Release == AT_INTERVALS)
    {
      if (!(f.ReleaseInterval > 0) || (end - start) / f.ReleaseInterval > MaxReleases)
      {
        std::ostringstream text;
        text << "Release Interval is " << f.ReleaseInterval << "; it must be above 0, and at least "
             << (end - start) / MaxReleases << " for these times";
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

  // Returns the times of seeds, if they have any: the same in all processes.
  void FindSeedTimes(vtkPolyData* seeds)
  {
    this->SeedTimes.clear();
    vtkDataArray* array = seeds->GetPointData()->GetArray("ReleaseTime");
    if (this->Filter->UseReleaseTimes && array && array->GetNumberOfComponents() == 1)
    {
      for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
      {
        this->SeedTimes.push_back(array->GetTuple1(i));
      }
    }
  }

  // Seeds that cannot release a particle because their time is not within `times`.
  [[nodiscard]] std::size_t CountSeedsBeside(const std::array<double, 2>& times) const
  {
    return static_cast<std::size_t>(std::count_if(this->SeedTimes.begin(), this->SeedTimes.end(),
      [&](double time) { return !(time >= times[0] && time <= times[1]); }));
  }

  void WarnOfSeedsBeside(const std::array<double, 2>& times) const
  {
    const std::size_t beside = this->CountSeedsBeside(times);
    if (beside > 0 && this->Filter->Run->Rank() == 0)
    {
      vtkWarningWithObjectMacro(
        this->Filter, << beside << " of " << this->SeedTimes.size()
                      << " seeds have no line: their ReleaseTime is outside the time range, "
                      << times[0] << " to " << times[1]
                      << ". Without Use Release Times, all seeds share their release times");
    }
  }

  // Index of release `i` of a seed whose releases begin at `first`; NaN if it does not exist.
  [[nodiscard]] double OwnRelease(double first, std::size_t i) const
  {
    constexpr double never = std::numeric_limits<double>::quiet_NaN();
    const vtkFlowPathLines& f = *this->Filter;
    const auto [start, end] = f.Times(f.Run->LastRequested().Source->times());
    if (!(first >= start && first <= end))
    {
      return never;
    }
    if (i == 0)
    {
      return first;
    }
    if (f.Release == AT_INTERVALS)
    {
      const double later = static_cast<double>(i) * f.ReleaseInterval;
      const double time = f.Backward ? first - later : first + later;
      return time >= start && time <= end ? time : never;
    }
    const double time = this->Particles.Releases[i];
    return (f.Backward ? time < first : time > first) ? time : never;
  }

  // Everything except the releases that changes a line or what is learned from it.
  static std::vector<double> CollectSettings(const bat::flow::TraceOptions& options)
  {
    std::vector<double> settings{ options.backward ? 1.0 : 0.0, options.end_time ? 1.0 : 0.0,
      options.end_time.value_or(0.0), options.max_age, static_cast<double>(options.integrator),
      options.max_error, options.step_share, options.terminal_speed, options.no_slip ? 1.0 : 0.0,
      options.keep_faces ? 1.0 : 0.0, options.hints == bat::flow::Hints::Learn ? 1.0 : 0.0,
      options.destination ? 1.0 : 0.0 };
    if (options.destination)
    {
      const bat::flow::Destination& to = *options.destination;
      for (const bat::Box& box : to.boxes)
      {
        settings.insert(settings.end(), box.lower.begin(), box.lower.end());
        settings.insert(settings.end(), box.upper.begin(), box.upper.end());
      }
      settings.push_back(to.stop_on_arrival ? 1.0 : 0.0);
    }
    return settings;
  }

  // Traces the lines of this process. Lines that continue are traced from their ends. Throws
  // bat::Error and Failure.
  void Trace(vtkFlowSource* flow, const bat::flow::TraceOptions& options)
  {
    bat::flow::PathLines before = std::exchange(this->Whole, {});
    const std::size_t releasesBefore = this->Particles.Releases.size();
    const bat_vtk::FlowRun& run = *this->Filter->Run;
    this->Particles = {};
    this->Never = 0;
    this->Particles.Releases = run.LastRequested().Releases;
    this->Particles.Seeds =
      bat_vtk::DealSeeds(run.LastRequested().Positions, run.Rank(), run.Ranks());
    const double count = static_cast<double>(this->Particles.Seeds.size()) *
      static_cast<double>(this->Particles.Releases.size());
    if (count > MaxParticles)
    {
      std::ostringstream text;
      text << this->Particles.Seeds.size() << " seeds release " << count << " particles; at most "
           << MaxParticles << " are allowed";
      Refuse(text.str());
    }
    std::vector<bat::flow::Seed> seeds;
    seeds.reserve(static_cast<std::size_t>(count));
    for (const std::size_t seed : this->Particles.Seeds)
    {
      for (std::size_t i = 0; i < this->Particles.Releases.size(); ++i)
      {
        double release = this->Particles.Releases[i];
        if (!this->SeedTimes.empty())
        {
          release = this->OwnRelease(this->SeedTimes[seed], i);
          this->Never += i > 0 && !(release == release) ? 1 : 0;
          this->Particles.OwnReleases.push_back(release);
        }
        seeds.push_back({ run.LastRequested().Positions[seed], release });
      }
    }
    this->Whole = run.Continues() ? bat::flow::resume(flow->GetCache(),
                                      bat::flow::with_more_releases(std::move(before),
                                        releasesBefore, this->Particles.Releases.size()),
                                      seeds, options)
                                  : bat::flow::trace(flow->GetCache(), seeds, options);
  }

  // Fills the output with the visible part of the lines at a time. Throws bat::Error.
  void Fill(vtkFlowSource* flow, double time, const bat::flow::TraceOptions& options,
    vtkPolyData* seeds, vtkPolyData* output)
  {
    const vtkFlowPathLines& f = *this->Filter;
    this->Particles.SeedData = seeds;
    this->Particles.HasDestination = f.UseDestination;
    this->Particles.Cyclic = f.Wrap ? &flow->GetCache().source().grid() : nullptr;
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
      this->Particles.Lines = bat::flow::stop_at(flow->GetCache(), this->Whole, time, options);
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

  bat::flow::PathLines Whole;    ///< this process's lines
  std::vector<double> SeedTimes; ///< times of all seeds, or empty
  std::vector<bat::Box> MoreDestinations;
  vtkTypeInt64 Never = 0; ///< lines of this process of particles that are never released
  bat_vtk::TracedParticles Particles;
  Totals Sums;

  static constexpr double MaxReleases = 1e6;
  static constexpr double MaxParticles = 4294967294.0;

private:
  vtkFlowPathLines* Filter;
};

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkFlowPathLines);

//------------------------------------------------------------------------------
vtkFlowPathLines::vtkFlowPathLines()
  : Internals(std::make_unique<vtkInternals>(this))
{
}

//------------------------------------------------------------------------------
vtkFlowPathLines::~vtkFlowPathLines() = default;

//------------------------------------------------------------------------------
void vtkFlowPathLines::AddDestination(
  double xMin, double xMax, double yMin, double yMax, double zMin, double zMax)
{
  bat::Box box;
  box.lower = { xMin, yMin, zMin };
  box.upper = { xMax, yMax, zMax };
  this->Internals->MoreDestinations.push_back(box);
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkFlowPathLines::RemoveAllDestinations()
{
  if (!this->Internals->MoreDestinations.empty())
  {
    this->Internals->MoreDestinations.clear();
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkFlowPathLines::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const auto on = [](bool is) { return is ? "on" : "off"; };
  os << indent << "Show: " << this->Show << "\n";
  os << indent << "Release: " << this->Release << "\n";
  os << indent << "ReleaseInterval: " << this->ReleaseInterval << "\n";
  os << indent << "UseReleaseTimes: " << on(this->UseReleaseTimes) << "\n";
  os << indent << "UseDestination: " << on(this->UseDestination) << "\n";
  os << indent << "Destination:";
  std::for_each(this->Destination, this->Destination + 6, [&os](double end) { os << " " << end; });
  os << "\n";
  for (const bat::Box& box : this->Internals->MoreDestinations)
  {
    os << indent << "Another destination:";
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      os << " " << box.lower[axis] << " " << box.upper[axis];
    }
    os << "\n";
  }
  os << indent << "MaximumAge: " << this->MaximumAge << "\n";
  os << indent << "Keep: " << this->Keep << "\n";
  os << indent << "StopOnArrival: " << on(this->StopOnArrival) << "\n";
  os << indent << "Integrator: " << this->Integrator << "\n";
  os << indent << "StepShare: " << this->StepShare << "\n";
  os << indent << "TerminalSpeed: " << this->TerminalSpeed << "\n";
  os << indent << "PointsOnFaces: " << on(this->PointsOnFaces) << "\n";
  os << indent << "Wrap: " << on(this->Wrap) << "\n";
  os << indent << "Prefetch: " << on(this->Prefetch) << "\n";
}

//------------------------------------------------------------------------------
std::string vtkFlowPathLines::CountsText() const
{
  const Totals& sums = this->Internals->Sums;
  std::string text = bat_vtk::WithThousands(sums.Particles - sums.WithoutLine) +
    (this->Show == PATH_LINES || this->Show == PATH_LINES_UP_TO_TIME ? " lines" : " particles");
  if (sums.WithoutLine > 0)
  {
    text += " of " + bat_vtk::WithThousands(sums.Particles) + " seeds";
  }
  return this->UseDestination ? text + ", " + bat_vtk::WithThousands(sums.Arrived) + " arrive"
                              : text;
}

//------------------------------------------------------------------------------
void vtkFlowPathLines::Describe(vtkFlowSource* flow, vtkInformation* outInfo)
{
  this->Superclass::Describe(flow, outInfo);
  for (int axis = 0; axis < 3; ++axis)
  {
    const double* ends = this->Bounds + 2 * axis;
    const double third = (ends[1] - ends[0]) / 3;
    // The middle is avoided, because clouds of seeds are initially there.
    this->SuggestedDestination[2 * axis] = axis == 0 ? ends[1] - third : ends[0] + third;
    this->SuggestedDestination[2 * axis + 1] = axis == 0 ? ends[1] : ends[1] - third;
  }
}

//------------------------------------------------------------------------------
void vtkFlowPathLines::Produce(vtkFlowSource* flow, vtkInformationVector** inputVector,
  vtkInformation* outInfo, vtkDataObject* output)
{
  vtkInternals& self = *this->Internals;
  bat_vtk::FlowRun& run = *this->Run;
  vtkSmartPointer<vtkPolyData> seeds =
    bat_vtk::GatherSeeds(vtkDataObject::GetData(inputVector[1]), run.Controller);

  bat_vtk::FlowRun::Requested requested;
  requested.Positions = bat_vtk::CollectPositions(seeds);
  self.FindSeedTimes(seeds);
  bat::flow::TraceOptions options;
  std::array<double, 2> times{};
  const Failure failure = Failure::Of(
    [&]()
    {
      this->NeedsFlow(flow);
      requested.Source = flow->GetSource();
      options = self.Options();
      requested.Releases = self.Releases(requested.Source->times());
      requested.Settings = vtkInternals::CollectSettings(options);
      for (const double time : self.SeedTimes)
      {
        requested.Settings.push_back(std::isfinite(time) ? time : HUGE_VAL); // equal to itself
      }
      times = this->Times(requested.Source->times());
    });
  if (run.Begin(std::move(requested), this->ChangeTime(flow), failure))
  {
    this->SetAbortExecute(0); // it was for the update before
    this->TryTrace(flow, this->Backward, [&]() { self.Trace(flow, options); });
    if (run.IsDone())
    {
      self.Sums = ComputeTotals(self.Whole, self.Never, this->Backward, run.Controller);
      *this->Report = {};
      this->Report->Add(self.Whole.statistics);
      this->Report->SumUp(run.Controller);
      self.WarnOfSeedsBeside(times);
    }
  }
  if (!run.IsDone())
  {
    return;
  }
  const std::vector<double>& levels = run.LastRequested().Source->times();
  double time = this->Backward ? levels.back() : levels.front();
  if (outInfo->Has(Pipeline::UPDATE_TIME_STEP()))
  {
    time = outInfo->Get(Pipeline::UPDATE_TIME_STEP());
  }
  this->TryTrace(flow, this->Backward,
    [&]() { self.Fill(flow, time, options, seeds, vtkPolyData::SafeDownCast(output)); });
  if (this->ShowsPresentTime() && run.IsDone())
  {
    bat_vtk::AnnounceRanges(vtkPolyData::SafeDownCast(output)->GetPointData(), this->Times(levels));
    output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), time);
  }
}
