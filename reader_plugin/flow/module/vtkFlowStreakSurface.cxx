// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowStreakSurface.h"

#include "Agreement.h"
#include "Failure.h"
#include "FlowFields.h"
#include "FlowReport.h"
#include "FlowRun.h"
#include "FlowSeeds.h"
#include "vtkFlowSource.h"

#include "bat/error.hpp"
#include "bat/flow/streak_surface.hpp"
#include "bat/free_memory.hpp"

#include "vtkCellArray.h"
#include "vtkDataObject.h"
#include "vtkDoubleArray.h"
#include "vtkFieldData.h"
#include "vtkIdTypeArray.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkTypeInt64Array.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using bat_vtk::Failure;
using Pipeline = vtkStreamingDemandDrivenPipeline;

namespace
{
using Positions = std::vector<std::array<double, 3>>;

constexpr int MaxEdgesAcross = 250; // edges of the suggested length along the domain's diagonal

// Collective. Returns the particles of all processes, in their order; if one process fails, all
// fail.
std::vector<bat::flow::Line> Gather(vtkMultiProcessController* controller,
  const std::vector<bat::flow::Line>& local, const std::optional<bat::Error>& error)
{
  const bool isAborted =
    bat_vtk::ReduceAny(controller, error && error->code() == bat::ErrorCode::Cancelled);
  const Failure failure = error && error->code() != bat::ErrorCode::Cancelled
    ? Failure{ bat_vtk::ToVTKErrorCode(error->code()), error->what() }
    : Failure{};
  const Failure first = bat_vtk::FirstFailure(controller, failure, "", "");
  if (first)
  {
    throw first;
  }
  if (isAborted)
  {
    throw bat::Error(bat::ErrorCode::Cancelled, "another process was cancelled");
  }
  // The fates of particles are exchanged as numbers: position, end time, reason.
  constexpr std::size_t width = 5;
  std::vector<double> own;
  own.reserve(width * local.size());
  for (const bat::flow::Line& line : local)
  {
    own.insert(own.end(),
      { line.end[0], line.end[1], line.end[2], line.end_time, static_cast<double>(line.reason) });
  }
  const vtkIdType ownLength = static_cast<vtkIdType>(own.size());
  std::vector<vtkIdType> lengths(static_cast<std::size_t>(controller->GetNumberOfProcesses()));
  controller->AllGather(&ownLength, lengths.data(), 1);
  std::vector<vtkIdType> offsets;
  vtkIdType count = 0;
  for (const vtkIdType length : lengths)
  {
    offsets.push_back(count);
    count += length;
  }
  std::vector<double> all(static_cast<std::size_t>(count));
  controller->AllGatherV(own.data(), all.data(), ownLength, lengths.data(), offsets.data());
  std::vector<bat::flow::Line> lines(all.size() / width);
  for (std::size_t i = 0; i < lines.size(); ++i)
  {
    const double* from = all.data() + width * i;
    std::copy_n(from, 3, lines[i].end.begin());
    lines[i].end_time = from[3];
    lines[i].reason = static_cast<bat::flow::Reason>(static_cast<int>(from[4]));
  }
  return lines;
}

vtkSmartPointer<vtkDoubleArray> ArrayOf(const char* name, int components)
{
  auto array = vtkSmartPointer<vtkDoubleArray>::New();
  array->SetName(name);
  array->SetNumberOfComponents(components);
  return array;
}

// Triangles of one process for each surface, and the vertices that they use.
class Mesh
{
public:
  void Add(
    const bat::flow::StreakSurface& surface, vtkIdType line, double time, int rank, int ranks)
  {
    // A VTK array that grows exists twice for a moment.
    constexpr double vertexBytes = (3 + 3 + 1 + 1 + 1 + 1) * sizeof(double);
    bat::check_memory(2.0 *
        (vertexBytes * static_cast<double>(surface.positions.size()) +
          4.0 * sizeof(vtkIdType) * static_cast<double>(surface.triangles.size())),
      std::to_string(surface.triangles.size()) + " triangles of a surface");
    std::vector<vtkIdType> number(surface.positions.size(), -1);
    const auto endOf = [&](int parts)
    {
      return surface.triangles.size() * static_cast<std::size_t>(parts) /
        static_cast<std::size_t>(ranks);
    };
    for (std::size_t i = endOf(rank); i < endOf(rank + 1); ++i)
    {
      this->Triangles->InsertNextCell(3);
      for (const std::uint32_t vertex : surface.triangles[i])
      {
        if (number[vertex] < 0)
        {
          number[vertex] = this->Points->InsertNextPoint(surface.positions[vertex].data());
          this->Normals->InsertNextTuple(surface.normals[vertex].data());
          this->Ages->InsertNextValue(std::abs(time - surface.release_times[vertex]));
          this->Releases->InsertNextValue(surface.release_times[vertex]);
          this->Places->InsertNextValue(surface.line_places[vertex]);
          this->Lines->InsertNextValue(line);
        }
        this->Triangles->InsertCellPoint(number[vertex]);
      }
    }
  }

  void GiveTo(vtkPolyData* output)
  {
    output->SetPoints(this->Points);
    output->SetPolys(this->Triangles);
    vtkPointData* data = output->GetPointData();
    data->SetNormals(this->Normals);
    data->SetScalars(this->Ages);
    data->AddArray(this->Releases);
    data->AddArray(this->Places);
    data->AddArray(this->Lines);
  }

  Mesh()
  {
    this->Points->SetDataTypeToDouble();
    this->Lines->SetName("LineIds");
  }

private:
  vtkNew<vtkPoints> Points;
  vtkNew<vtkCellArray> Triangles;
  vtkSmartPointer<vtkDoubleArray> Normals = ArrayOf("Normals", 3);
  vtkSmartPointer<vtkDoubleArray> Ages = ArrayOf("ParticleAge", 1);
  vtkSmartPointer<vtkDoubleArray> Releases = ArrayOf("ReleaseTime", 1);
  vtkSmartPointer<vtkDoubleArray> Places = ArrayOf("LinePlace", 1);
  vtkNew<vtkTypeInt64Array> Lines;
};
}

//------------------------------------------------------------------------------
class vtkFlowStreakSurface::vtkInternals
{
public:
  explicit vtkInternals(vtkFlowStreakSurface* filter)
    : Filter(filter)
  {
  }

  // Returns the first release and the time of the surface. Throws Failure.
  std::array<double, 2> Times(const std::vector<double>& times, vtkInformation* outInfo) const
  {
    const vtkFlowStreakSurface& f = *this->Filter;
    const auto [lower, upper] = f.Times(times);
    const double first = f.Backward ? upper : lower;
    double last = f.Backward ? lower : upper;
    if (f.Show == AT_PRESENT_TIME)
    {
      const double present = outInfo->Has(Pipeline::UPDATE_TIME_STEP())
        ? outInfo->Get(Pipeline::UPDATE_TIME_STEP())
        : last;
      last = std::min(std::max(present, lower), upper);
    }
    return { first, last };
  }

  // Everything that affects the surface, or its statistics. Lines are stored one after another.
  std::vector<double> Settings(
    const std::array<double, 2>& times, const std::vector<Positions>& lines) const
  {
    const vtkFlowStreakSurface& f = *this->Filter;
    std::vector<double> settings{ f.Backward ? 1.0 : 0.0, times[0], times[1], f.MaximumEdge, f.Tear,
      static_cast<double>(f.MaximumParticles), f.MaximumError, f.NoSlip ? 1.0 : 0.0,
      f.Hints == LEARN ? 1.0 : 0.0 };
    for (const Positions& line : lines)
    {
      settings.push_back(static_cast<double>(line.size()));
    }
    return settings;
  }

  // Throws bat::Error and Failure.
  void Trace(vtkFlowSource* flow, const std::array<double, 2>& times,
    const std::vector<Positions>& lines, vtkPolyData* output)
  {
    vtkFlowStreakSurface& f = *this->Filter;
    vtkMultiProcessController* controller = f.Run->Controller;
    bat::flow::StreakSurfaceOptions options;
    options.trace.backward = f.Backward;
    options.start = times[0];
    options.max_edge = f.MaximumEdge;
    options.tear = f.Tear;
    options.max_vertices = static_cast<std::uint32_t>(f.MaximumParticles);
    options.stops_at_max = true;
    options.collective.rank = f.Run->Rank();
    options.collective.ranks = f.Run->Ranks();
    options.collective.gather =
      [controller, &f](std::vector<bat::flow::Line> local, const std::optional<bat::Error>& error)
    {
      std::vector<bat::flow::Line> all;
      f.Collective([&]() { all = Gather(controller, local, error); });
      return all;
    };
    Mesh mesh;
    for (std::size_t i = 0; i < lines.size(); ++i)
    {
      f.Prepare(options.trace, i, lines.size());
      const bat::flow::StreakSurface surface =
        bat::flow::streak_surface(flow->GetCache(), lines[i], times[1], options);
      mesh.Add(surface, static_cast<vtkIdType>(i), times[1], options.collective.rank,
        options.collective.ranks);
      this->Particles += static_cast<vtkTypeInt64>(surface.followed);
      this->IsRefined = this->IsRefined && surface.is_refined;
      f.Report->Add(surface.statistics);
    }
    mesh.GiveTo(output);
  }

  void WarnOfTears() const
  {
    const vtkFlowStreakSurface& f = *this->Filter;
    vtkWarningWithObjectMacro(this->Filter,
      "More than " << bat_vtk::WithThousands(f.MaximumParticles)
                   << " particles (Maximum Particles) would make edges as short as "
                   << f.MaximumEdge
                   << " (Maximum Edge): the surface is torn where they are longer than "
                   << f.Tear * f.MaximumEdge
                   << ". A longer Maximum Edge, fewer times or a shorter line need fewer");
  }

  vtkTypeInt64 Particles = 0; ///< in the last run, on all processes
  bool IsRefined = true;
  vtkNew<vtkPolyData> Surface; ///< this process's surface

private:
  vtkFlowStreakSurface* Filter;
};

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkFlowStreakSurface);

//------------------------------------------------------------------------------
vtkFlowStreakSurface::vtkFlowStreakSurface()
  : Internals(std::make_unique<vtkInternals>(this))
{
}

//------------------------------------------------------------------------------
vtkFlowStreakSurface::~vtkFlowStreakSurface() = default;

//------------------------------------------------------------------------------
void vtkFlowStreakSurface::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Show: " << this->Show << "\n";
  os << indent << "MaximumEdge: " << this->MaximumEdge << "\n";
  os << indent << "Tear: " << this->Tear << "\n";
  os << indent << "MaximumParticles: " << this->MaximumParticles << "\n";
  os << indent << "SuggestedEdge: " << this->SuggestedEdge << "\n";
}

//------------------------------------------------------------------------------
std::string vtkFlowStreakSurface::CountsText() const
{
  return bat_vtk::WithThousands(this->Internals->Particles) + " particles" +
    (this->Internals->IsRefined ? "" : ", torn where edges are too long");
}

//------------------------------------------------------------------------------
void vtkFlowStreakSurface::Describe(vtkFlowSource* flow, vtkInformation* outInfo)
{
  this->Superclass::Describe(flow, outInfo);
  this->SuggestedEdge = 1;
  if (flow)
  {
    const bat::BrickGrid& grid = flow->GetSource()->grid();
    double square = 0;
    double cell = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      const double length = static_cast<double>(grid.cells(axis)) * grid.spacing[axis];
      square += length * length;
      cell = length > 0 ? std::max(cell, grid.spacing[axis]) : cell;
    }
    this->SuggestedEdge = std::max(cell, std::sqrt(square) / MaxEdgesAcross);
  }
}

//------------------------------------------------------------------------------
void vtkFlowStreakSurface::Produce(vtkFlowSource* flow, vtkInformationVector** inputVector,
  vtkInformation* outInfo, vtkDataObject* output)
{
  vtkInternals& self = *this->Internals;
  bat_vtk::FlowRun& run = *this->Run;
  std::vector<Positions> lines;
  std::array<double, 2> times{};
  bat_vtk::FlowRun::Requested requested;
  Failure failure = Failure::Of( // all processes find the same
    [&]()
    { lines = bat_vtk::GatherLines(vtkDataObject::GetData(inputVector[1]), run.Controller); });
  for (const Positions& line : lines)
  {
    requested.Positions.insert(requested.Positions.end(), line.begin(), line.end());
  }
  if (!failure)
  {
    failure = Failure::Of(
      [&]()
      {
        this->NeedsFlow(flow);
        requested.Source = flow->GetSource();
        times = self.Times(requested.Source->times(), outInfo);
        requested.Settings = self.Settings(times, lines);
      });
  }
  if (run.Begin(std::move(requested), this->ChangeTime(flow), failure))
  {
    this->SetAbortExecute(0); // it was for the update before
    self.Particles = 0;
    self.IsRefined = true;
    *this->Report = {};
    self.Surface->Initialize();
    // Processes that disagree would wait for each other.
    run.Try([]() {});
    if (run.IsDone())
    {
      this->TryTrace(flow, this->Backward, [&]() { self.Trace(flow, times, lines, self.Surface); });
      this->Report->SumUp(run.Controller);
      if (run.IsDone() && !self.IsRefined && run.Rank() == 0)
      {
        self.WarnOfTears();
      }
    }
  }
  if (run.IsDone())
  {
    output->ShallowCopy(self.Surface);
    bat_vtk::AddNumber<vtkTypeInt64Array>(output->GetFieldData(), "particles", self.Particles);
    bat_vtk::AddNumber<vtkTypeInt64Array>(
      output->GetFieldData(), "is_refined", self.IsRefined ? 1 : 0);
    if (this->ShowsPresentTime())
    {
      bat_vtk::AnnounceRanges(vtkPolyData::SafeDownCast(output)->GetPointData(),
        this->Times(run.LastRequested().Source->times()));
      output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), times[1]);
    }
  }
}
