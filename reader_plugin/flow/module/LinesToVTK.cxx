// SPDX-License-Identifier: BSD-3-Clause
#include "LinesToVTK.h"

#include "vtkBATArrays.h"

#include "bat/flow/borders.hpp"
#include "bat/free_memory.hpp"

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

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

using bat_vtk::TracedParticles;

namespace
{
template <typename ArrayT, typename Value>
void AddArray(vtkDataSetAttributes* to, const char* name, std::size_t count, const Value& value)
{
  vtkNew<ArrayT> array;
  array->SetName(name);
  bat_vtk::TakeMemory(array, static_cast<vtkIdType>(count), "values of " + std::string(name));
  for (std::size_t i = 0; i < count; ++i)
  {
    array->SetValue(static_cast<vtkIdType>(i), value(i));
  }
  to->AddArray(array);
}

/// A point of a line or a streak.
struct LinePoint
{
  std::array<double, 3> Position;
  std::array<double, 3> Velocity;
  double Time;
  double Age;
  std::size_t Particle;
};

LinePoint PointOf(const TracedParticles& particles, std::size_t particle, std::uint64_t point)
{
  const bat::flow::PathLines& lines = particles.Lines;
  const double release = particles.ReleaseOf(particle);
  return { lines.positions[point], lines.velocities[point], lines.times[point],
    std::abs(lines.times[point] - release), particle };
}

LinePoint EndOf(const TracedParticles& particles, std::size_t particle)
{
  const bat::flow::Line& line = particles.Lines.lines[particle];
  return PointOf(particles, particle, line.first_point + line.points - 1);
}

// Interpolates between two points. The result belongs to the particle of the first.
LinePoint Between(
  const LinePoint& a, const LinePoint& b, double share, const std::array<double, 3>& position)
{
  const auto between = [share](double from, double to) { return from + share * (to - from); };
  LinePoint point{ position, a.Velocity, between(a.Time, b.Time), between(a.Age, b.Age),
    a.Particle };
  std::transform(
    a.Velocity.begin(), a.Velocity.end(), b.Velocity.begin(), point.Velocity.begin(), between);
  return point;
}

// Checks the memory before points are added one by one: a VTK array that grows exists twice for a
// moment.
void CheckPoints(std::uint64_t count)
{
  constexpr double pointBytes = (3 + 3 + 1 + 1 + 1) * sizeof(double);
  bat::check_memory(2.0 * pointBytes * static_cast<double>(count),
    std::to_string(count) + " points of lines",
    "fewer seeds or releases, or a shorter time, reduce this");
}

/// Adds the points of the output one by one.
class Points
{
public:
  Points()
  {
    this->Positions->SetDataTypeToDouble();
    this->Velocity->SetName("Velocity");
    this->Velocity->SetNumberOfComponents(3);
    this->Time->SetName("SimulationTime");
    this->Age->SetName("ParticleAge");
  }
  void Add(const LinePoint& at)
  {
    this->Positions->InsertNextPoint(at.Position.data());
    this->Velocity->InsertNextTuple(at.Velocity.data());
    this->Time->InsertNextValue(at.Time);
    this->Age->InsertNextValue(at.Age);
    this->Particles.push_back(at.Particle);
  }
  [[nodiscard]] vtkIdType Count() const { return this->Positions->GetNumberOfPoints(); }
  void Deliver(vtkPolyData* output)
  {
    output->SetPoints(this->Positions);
    output->GetPointData()->AddArray(this->Time);
    output->GetPointData()->SetScalars(this->Age); // initial colours of lines
    output->GetPointData()->SetVectors(this->Velocity);
  }
  std::vector<std::size_t> Particles; ///< particle of each point

private:
  vtkNew<vtkPoints> Positions;
  vtkNew<vtkDoubleArray> Velocity;
  vtkNew<vtkDoubleArray> Time;
  vtkNew<vtkDoubleArray> Age;
};

/// Cells whose points are consecutive.
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

/// Vertices and lines; VTK requires vertices first. Lines are cut at the borders of cyclic axes, if
/// there are any.
class Stretches
{
public:
  explicit Stretches(const bat::BrickGrid* cyclic)
    : Cyclic(cyclic)
  {
  }

  void Add(const std::vector<LinePoint>& line, std::size_t whose)
  {
    if (!this->Cyclic)
    {
      this->AddCell(line.size(), whose);
      std::for_each(line.begin(), line.end(), [this](const LinePoint& p) { this->Ends.Add(p); });
      return;
    }
    std::vector<std::array<double, 3>> positions;
    std::transform(line.begin(), line.end(), std::back_inserter(positions),
      [](const LinePoint& p) { return p.Position; });
    const bat::flow::CutLine cut = bat::flow::cut_at_borders(*this->Cyclic, positions);
    for (std::size_t i = 0; i + 1 < cut.offsets.size(); ++i)
    {
      this->AddCell(cut.offsets[i + 1] - cut.offsets[i], whose);
      for (std::uint64_t k = cut.offsets[i]; k < cut.offsets[i + 1]; ++k)
      {
        const bat::flow::CutLine::Point& p = cut.points[k];
        const std::size_t next = std::min<std::size_t>(p.before + 1, line.size() - 1);
        this->Ends.Add(Between(line[p.before], line[next], p.share, p.position));
      }
    }
  }
  void Add(LinePoint particle, std::size_t whose)
  {
    if (this->Cyclic)
    {
      particle.Position = bat::flow::wrapped(*this->Cyclic, particle.Position);
    }
    this->AddCell(1, whose);
    this->Ends.Add(particle);
  }
  std::vector<std::size_t> Deliver(vtkPolyData* output)
  {
    this->Ends.Deliver(output);
    output->SetVerts(this->Vertices.Array);
    output->SetLines(this->Lines.Array);
    std::vector<std::size_t> whose = std::move(this->Vertices.Whose);
    whose.insert(whose.end(), this->Lines.Whose.begin(), this->Lines.Whose.end());
    return whose;
  }

  [[nodiscard]] const std::vector<std::size_t>& ParticlesOfPoints() const
  {
    return this->Ends.Particles;
  }

private:
  void AddCell(std::size_t count, std::size_t whose)
  {
    (count == 1 ? this->Vertices : this->Lines)
      .Add(this->Ends.Count(), static_cast<vtkIdType>(count), whose);
  }

  const bat::BrickGrid* Cyclic;
  Points Ends;
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
    bat::check_memory(
      static_cast<double>(seeds.size()) * from->GetNumberOfComponents() * from->GetDataTypeSize(),
      "values of the seeds' " + std::string(from->GetName() ? from->GetName() : "arrays"));
    array->SetNumberOfTuples(static_cast<vtkIdType>(seeds.size()));
    for (std::size_t i = 0; i < seeds.size(); ++i)
    {
      const auto seed = static_cast<vtkIdType>(particles.Seeds[seeds[i]]);
      array->SetTuple(static_cast<vtkIdType>(i), seed, from);
    }
    if (!to->HasArray(array->GetName())) // arrays of traces keep their names
    {
      to->AddArray(array);
    }
  }
}

// Adds the arrays that describe when and why particles end.
void AddFates(
  vtkDataSetAttributes* to, const TracedParticles& particles, const std::vector<std::size_t>& whose)
{
  const std::vector<bat::flow::Line>& lines = particles.Lines.lines;
  const std::size_t count = whose.size();
  AddArray<vtkIntArray>(to, "ReasonForTermination", count,
    [&](std::size_t i) { return static_cast<int>(lines[whose[i]].reason); });
  AddArray<vtkDoubleArray>(
    to, "ReleaseTime", count, [&](std::size_t i) { return particles.ReleaseOf(whose[i]); });
  AddArray<vtkDoubleArray>(
    to, "EndTime", count, [&](std::size_t i) { return lines[whose[i]].end_time; });
  if (particles.HasDestination)
  {
    AddArray<vtkIntArray>(
      to, "Destination", count, [&](std::size_t i) { return lines[whose[i]].destination; });
  }
  AddArray<vtkDoubleArray>(
    to, "ArrivalTime", count, [&](std::size_t i) { return lines[whose[i]].arrival_time; });
}

std::vector<std::size_t> FindSeeds(
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
  CheckPoints(particles.Lines.positions.size());
  Stretches cells(particles.Cyclic);
  std::vector<LinePoint> points;
  for (std::size_t i = 0; i < particles.Lines.lines.size(); ++i)
  {
    const bat::flow::Line& line = particles.Lines.lines[i];
    if (!particles.Kept[i] || line.points == 0)
    {
      continue;
    }
    points.clear();
    for (std::uint64_t k = 0; k < line.points; ++k)
    {
      points.push_back(PointOf(particles, i, line.first_point + k));
    }
    cells.Add(points, i);
  }
  const std::vector<std::size_t> whose = cells.Deliver(output);
  AddFates(output->GetCellData(), particles, whose);
  AddSeeds(output->GetCellData(), particles, FindSeeds(particles, whose));
}

//------------------------------------------------------------------------------
void bat_vtk::ShowParticles(const TracedParticles& particles, double time, vtkPolyData* output)
{
  Stretches cells(particles.Cyclic);
  for (std::size_t i = 0; i < particles.Lines.lines.size(); ++i)
  {
    const bat::flow::Line& line = particles.Lines.lines[i];
    if (particles.Kept[i] && line.points != 0 && line.end_time == time)
    {
      cells.Add(EndOf(particles, i), i);
    }
  }
  const std::vector<std::size_t> whose = cells.Deliver(output);
  AddFates(output->GetPointData(), particles, whose);
  AddSeeds(output->GetPointData(), particles, FindSeeds(particles, whose));
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
  CheckPoints(streaks.particles.size());
  Stretches cells(particles.Cyclic);
  for (std::size_t i = 0; i < streaks.seeds.size(); ++i)
  {
    std::vector<LinePoint> points;
    for (std::uint64_t k = streaks.offsets[i]; k < streaks.offsets[i + 1]; ++k)
    {
      points.push_back(EndOf(particles, streaks.particles[k]));
    }
    cells.Add(points, streaks.seeds[i]);
  }
  const std::vector<std::size_t> seeds = cells.Deliver(output);
  AddFates(output->GetPointData(), particles, cells.ParticlesOfPoints());
  AddSeeds(output->GetCellData(), particles, seeds);
}
