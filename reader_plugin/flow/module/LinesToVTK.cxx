// SPDX-License-Identifier: BSD-3-Clause
#include "LinesToVTK.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDoubleArray.h"
#include "vtkIdTypeArray.h"
#include "vtkIntArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkTypeInt64Array.h"

#include <cmath>
#include <cstdint>
#include <utility>

using bat_vtk::TracedParticles;

namespace
{
template <typename ArrayT, typename Value>
void AddArray(vtkDataSetAttributes* to, const char* name, std::size_t count, const Value& value)
{
  vtkNew<ArrayT> array;
  array->SetName(name);
  array->SetNumberOfValues(static_cast<vtkIdType>(count));
  for (std::size_t i = 0; i < count; ++i)
  {
    array->SetValue(static_cast<vtkIdType>(i), value(i));
  }
  to->AddArray(array);
}

/// Points of the output, one by one.
class Points
{
public:
  explicit Points(const TracedParticles& particles)
    : Particles(particles)
  {
    this->Positions->SetDataTypeToDouble();
    this->Velocity->SetName("Velocity");
    this->Velocity->SetNumberOfComponents(3);
    this->Time->SetName("SimulationTime");
    this->Age->SetName("ParticleAge");
  }
  void Add(std::size_t particle, std::uint64_t point)
  {
    const bat::flow::PathLines& lines = this->Particles.Lines;
    const double release = this->Particles.Releases[particle % this->Particles.Releases.size()];
    this->Positions->InsertNextPoint(lines.positions[point].data());
    this->Velocity->InsertNextTuple(lines.velocities[point].data());
    this->Time->InsertNextValue(lines.times[point]);
    this->Age->InsertNextValue(std::abs(lines.times[point] - release));
  }
  void AddLast(std::size_t particle)
  {
    const bat::flow::Line& line = this->Particles.Lines.lines[particle];
    this->Add(particle, line.first_point + line.points - 1);
  }
  [[nodiscard]] vtkIdType Count() const { return this->Positions->GetNumberOfPoints(); }
  void Deliver(vtkPolyData* output)
  {
    output->SetPoints(this->Positions);
    output->GetPointData()->AddArray(this->Time);
    output->GetPointData()->SetScalars(this->Age); // with which lines are coloured at first
    output->GetPointData()->SetVectors(this->Velocity);
  }

private:
  const TracedParticles& Particles;
  vtkNew<vtkPoints> Positions;
  vtkNew<vtkDoubleArray> Velocity;
  vtkNew<vtkDoubleArray> Time;
  vtkNew<vtkDoubleArray> Age;
};

/// Cells of points that come one after the other.
class Cells
{
public:
  void Add(vtkIdType first, vtkIdType count, std::size_t whose)
  {
    this->Array->InsertNextCell(static_cast<int>(count));
    for (vtkIdType i = 0; i < count; ++i)
    {
      this->Array->InsertCellPoint(first + i);
    }
    this->Whose.push_back(whose);
  }
  vtkNew<vtkCellArray> Array;
  std::vector<std::size_t> Whose;
};

/// Vertices and lines; VTK has the vertices first.
class Stretches
{
public:
  void Add(vtkIdType first, vtkIdType count, std::size_t whose)
  {
    (count == 1 ? this->Vertices : this->Lines).Add(first, count, whose);
  }
  std::vector<std::size_t> Deliver(vtkPolyData* output)
  {
    output->SetVerts(this->Vertices.Array);
    output->SetLines(this->Lines.Array);
    std::vector<std::size_t> whose = std::move(this->Vertices.Whose);
    whose.insert(whose.end(), this->Lines.Whose.begin(), this->Lines.Whose.end());
    return whose;
  }

private:
  Cells Vertices;
  Cells Lines;
};

// Ids and arrays of the seeds.
void AddSeeds(
  vtkDataSetAttributes* to, const TracedParticles& particles, const std::vector<std::size_t>& seeds)
{
  AddArray<vtkTypeInt64Array>(to, "SeedIds", seeds.size(),
    [&](std::size_t i) { return static_cast<std::int64_t>(particles.Seeds[seeds[i]]); });
  vtkPointData* values = particles.SeedData->GetPointData();
  for (int a = 0; a < values->GetNumberOfArrays(); ++a)
  {
    vtkAbstractArray* from = values->GetAbstractArray(a);
    const auto array = vtkSmartPointer<vtkAbstractArray>::Take(from->NewInstance());
    array->SetName(from->GetName());
    array->SetNumberOfComponents(from->GetNumberOfComponents());
    array->SetNumberOfTuples(static_cast<vtkIdType>(seeds.size()));
    for (std::size_t i = 0; i < seeds.size(); ++i)
    {
      const auto seed = static_cast<vtkIdType>(particles.Seeds[seeds[i]]);
      array->SetTuple(static_cast<vtkIdType>(i), seed, from);
    }
    if (!to->HasArray(array->GetName())) // those of traces have their names
    {
      to->AddArray(array);
    }
  }
}

// What becomes of particles.
void AddFates(
  vtkDataSetAttributes* to, const TracedParticles& particles, const std::vector<std::size_t>& whose)
{
  const std::vector<bat::flow::Line>& lines = particles.Lines.lines;
  const std::size_t count = whose.size();
  AddArray<vtkIntArray>(to, "ReasonForTermination", count,
    [&](std::size_t i) { return static_cast<int>(lines[whose[i]].reason); });
  AddArray<vtkDoubleArray>(to, "ReleaseTime", count,
    [&](std::size_t i) { return particles.Releases[whose[i] % particles.Releases.size()]; });
  AddArray<vtkDoubleArray>(
    to, "EndTime", count, [&](std::size_t i) { return lines[whose[i]].end_time; });
  AddArray<vtkDoubleArray>(
    to, "ArrivalTime", count, [&](std::size_t i) { return lines[whose[i]].arrival_time; });
}

std::vector<std::size_t> SeedsOf(
  const TracedParticles& particles, std::vector<std::size_t> particleNumbers)
{
  for (std::size_t& number : particleNumbers)
  {
    number /= particles.Releases.size();
  }
  return particleNumbers;
}
}

//------------------------------------------------------------------------------
void bat_vtk::ShowPathLines(const TracedParticles& particles, vtkPolyData* output)
{
  Points points(particles);
  Stretches cells;
  for (std::size_t i = 0; i < particles.Lines.lines.size(); ++i)
  {
    const bat::flow::Line& line = particles.Lines.lines[i];
    if (!particles.Kept[i] || line.points == 0)
    {
      continue;
    }
    cells.Add(points.Count(), static_cast<vtkIdType>(line.points), i);
    for (std::uint64_t k = 0; k < line.points; ++k)
    {
      points.Add(i, line.first_point + k);
    }
  }
  points.Deliver(output);
  const std::vector<std::size_t> whose = cells.Deliver(output);
  AddFates(output->GetCellData(), particles, whose);
  AddSeeds(output->GetCellData(), particles, SeedsOf(particles, whose));
}

//------------------------------------------------------------------------------
void bat_vtk::ShowParticles(const TracedParticles& particles, double time, vtkPolyData* output)
{
  Points points(particles);
  Stretches cells;
  for (std::size_t i = 0; i < particles.Lines.lines.size(); ++i)
  {
    const bat::flow::Line& line = particles.Lines.lines[i];
    if (particles.Kept[i] && line.points != 0 && line.end_time == time)
    {
      cells.Add(points.Count(), 1, i);
      points.AddLast(i);
    }
  }
  points.Deliver(output);
  const std::vector<std::size_t> whose = cells.Deliver(output);
  AddFates(output->GetPointData(), particles, whose);
  AddSeeds(output->GetPointData(), particles, SeedsOf(particles, whose));
}

//------------------------------------------------------------------------------
void bat_vtk::ShowStreakLines(const TracedParticles& particles, double time, vtkPolyData* output)
{
  bat::flow::PathLines kept;
  kept.lines = particles.Lines.lines;
  for (std::size_t i = 0; i < kept.lines.size(); ++i)
  {
    kept.lines[i].points = particles.Kept[i] ? kept.lines[i].points : 0;
  }
  const bat::flow::StreakLines streaks =
    bat::flow::streak_lines(kept, time, particles.Releases.size());
  Points points(particles);
  Stretches cells;
  for (std::size_t i = 0; i < streaks.seeds.size(); ++i)
  {
    cells.Add(points.Count(), static_cast<vtkIdType>(streaks.offsets[i + 1] - streaks.offsets[i]),
      streaks.seeds[i]);
    for (std::uint64_t k = streaks.offsets[i]; k < streaks.offsets[i + 1]; ++k)
    {
      points.AddLast(streaks.particles[k]);
    }
  }
  points.Deliver(output);
  AddFates(output->GetPointData(), particles, streaks.particles);
  AddSeeds(output->GetCellData(), particles, cells.Deliver(output));
}
