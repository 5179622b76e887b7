// SPDX-License-Identifier: BSD-3-Clause
#include "TrailsToVTK.h"

#include "vtkBATArrays.h"
#include "vtkBATScalarTypes.h"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDoubleArray.h"
#include "vtkIdTypeArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkTypeInt64Array.h"
#include "vtkTypeUInt64Array.h"
#include "vtkUnsignedCharArray.h"
#include "vtkUnsignedIntArray.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

namespace
{
/// A point: a particle in a step.
struct Place
{
  std::size_t Step = 0;
  std::size_t Id = 0;
};

/// Cells whose points are consecutive.
class Stretches
{
public:
  void Add(vtkIdType firstPoint, vtkIdType count, std::size_t id)
  {
    for (vtkIdType i = 0; i < count; ++i)
    {
      this->Points->InsertNextValue(firstPoint + i);
    }
    this->Offsets->InsertNextValue(this->Points->GetNumberOfValues());
    this->Ids.push_back(id);
  }
  vtkSmartPointer<vtkCellArray> Cells()
  {
    auto cells = vtkSmartPointer<vtkCellArray>::New();
    cells->SetData(this->Offsets, this->Points);
    return cells;
  }

  std::vector<std::size_t> Ids; ///< ids of the cells

private:
  vtkNew<vtkIdTypeArray> Points;
  vtkSmartPointer<vtkIdTypeArray> Offsets = []
  {
    auto offsets = vtkSmartPointer<vtkIdTypeArray>::New();
    offsets->InsertNextValue(0);
    return offsets;
  }();
};

template <typename ArrayT, typename Value>
vtkSmartPointer<vtkDataArray> MakeArray(
  const std::string& name, std::size_t count, const Value& value)
{
  auto array = vtkSmartPointer<ArrayT>::New();
  array->SetName(name.c_str());
  bat_vtk::TakeMemory(array, static_cast<vtkIdType>(count), "the values of '" + name + "'");
  for (std::size_t i = 0; i < count; ++i)
  {
    array->SetValue(static_cast<vtkIdType>(i), value(i));
  }
  return array;
}

template <typename V>
bool AllFit(const std::vector<bat::Number>& numbers)
{
  return std::all_of(numbers.begin(), numbers.end(),
    [](const bat::Number& number)
    {
      return std::visit(
        [](auto value)
        {
          using T = decltype(value);
          if constexpr (std::is_floating_point_v<T>)
          {
            return false;
          }
          else if constexpr (std::is_same_v<T, V>)
          {
            return true;
          }
          else if constexpr (std::is_signed_v<T>)
          {
            return value >= 0;
          }
          else
          {
            return value <= static_cast<T>(std::numeric_limits<V>::max());
          }
        },
        number);
    });
}

template <typename V>
V ValueOf(const bat::Number& number)
{
  return std::visit([](auto value) { return static_cast<V>(value); }, number);
}

// Returns numbers[of(i)] for each of `count` points or cells, exactly.
template <typename Of>
vtkSmartPointer<vtkDataArray> MakeIds(
  const std::string& name, const std::vector<bat::Number>& numbers, std::size_t count, const Of& of)
{
  if (AllFit<std::int64_t>(numbers))
  {
    return MakeArray<vtkTypeInt64Array>(
      name, count, [&](std::size_t i) { return ValueOf<vtkTypeInt64>(numbers[of(i)]); });
  }
  if (AllFit<std::uint64_t>(numbers))
  {
    return MakeArray<vtkTypeUInt64Array>(
      name, count, [&](std::size_t i) { return ValueOf<vtkTypeUInt64>(numbers[of(i)]); });
  }
  return MakeArray<vtkDoubleArray>(
    name, count, [&](std::size_t i) { return bat::to_double(numbers[of(i)]); });
}

vtkSmartPointer<vtkDataArray> Gather(
  const bat::TrailColumn& column, std::size_t ids, const std::vector<Place>& places)
{
  vtkSmartPointer<vtkDataArray> array;
  array.TakeReference(vtkDataArray::CreateDataArray(bat_vtk::ToVTKType(column.type, 0)));
  array->SetName(column.name.c_str());
  array->SetNumberOfComponents(column.components);
  bat_vtk::TakeMemory(
    array, static_cast<vtkIdType>(places.size()), "the values of '" + column.name + "'");
  const std::size_t bytes = bat::tuple_bytes(column.type, column.components);
  auto* to = static_cast<std::byte*>(array->GetVoidPointer(0));
  for (const Place& place : places)
  {
    std::memcpy(to, &column.values[(place.Step * ids + place.Id) * bytes], bytes);
    to += bytes;
  }
  return array;
}

// Returns a name that no attribute has.
std::string FreeName(const bat_vtk::FollowedParticles& particles, std::string name)
{
  const auto isTaken = [&](const std::string& other) { return other == name; };
  while (isTaken(particles.IdName) || isTaken(particles.SecondName) ||
    std::any_of(particles.Trails.attributes.begin(), particles.Trails.attributes.end(),
      [&](const bat::TrailColumn& column) { return isTaken(column.name); }))
  {
    name = "trail " + name;
  }
  return name;
}

bool IsFloat(bat::ScalarType type)
{
  return type == bat::ScalarType::Float32 || type == bat::ScalarType::Float64;
}

template <typename Of>
void AddIds(const bat_vtk::FollowedParticles& particles, std::size_t count, const Of& of,
  vtkDataSetAttributes* data)
{
  data->AddArray(MakeIds(particles.IdName, particles.Ids, count, of));
  if (!particles.SecondName.empty())
  {
    data->AddArray(MakeIds(particles.SecondName, particles.Second, count, of));
  }
}

void AddPoints(const bat_vtk::FollowedParticles& particles, const std::vector<Place>& places,
  vtkPolyData* output)
{
  const bat::Trails& trails = particles.Trails;
  vtkNew<vtkPoints> points;
  points->SetData(Gather(trails.positions, trails.ids, places));
  points->GetData()->SetName("Points");
  output->SetPoints(points);

  vtkPointData* data = output->GetPointData();
  AddIds(
    particles, places.size(), [&](std::size_t i) { return places[i].Id; }, data);
  data->SetPedigreeIds(data->GetArray(particles.IdName.c_str()));
  data->AddArray(MakeArray<vtkDoubleArray>(FreeName(particles, "time"), places.size(),
    [&](std::size_t i) { return particles.Times[places[i].Step]; }));
  data->AddArray(MakeArray<vtkIdTypeArray>(FreeName(particles, "step index"), places.size(),
    [&](std::size_t i) { return static_cast<vtkIdType>(places[i].Step); }));
  for (const bat::TrailColumn& column : trails.attributes)
  {
    data->AddArray(Gather(column, trails.ids, places));
    const bool isMissing = std::any_of(places.begin(), places.end(),
      [&](const Place& place) { return column.in_step[place.Step] == 0; });
    if (isMissing && !IsFloat(column.type))
    {
      data->AddArray(MakeArray<vtkUnsignedCharArray>(
        FreeName(particles, column.name + " is missing"), places.size(),
        [&](std::size_t i)
        { return static_cast<unsigned char>(column.in_step[places[i].Step] == 0); }));
    }
  }
  const auto countOf = [&](const Place& place)
  { return trails.counts[place.Step * trails.ids + place.Id]; };
  if (std::any_of(places.begin(), places.end(), [&](const Place& p) { return countOf(p) > 1; }))
  {
    data->AddArray(MakeArray<vtkUnsignedIntArray>(FreeName(particles, "particles with id"),
      places.size(), [&](std::size_t i) { return static_cast<unsigned int>(countOf(places[i])); }));
  }
}
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkPolyData> bat_vtk::MakeTrails(
  const FollowedParticles& particles, std::size_t first, std::size_t end)
{
  std::vector<Place> places;
  Stretches vertices;
  Stretches lines;
  for (std::size_t id = 0; id < particles.Trails.ids; ++id)
  {
    for (std::size_t step = first; step < end;)
    {
      const auto firstPoint = static_cast<vtkIdType>(places.size());
      for (; step < end && particles.Trails.is_there(step, id); ++step)
      {
        places.push_back({ step, id });
      }
      const auto count = static_cast<vtkIdType>(places.size()) - firstPoint;
      if (count > 0)
      {
        (count == 1 ? vertices : lines).Add(firstPoint, count, id);
      }
      else
      {
        ++step;
      }
    }
  }
  auto output = vtkSmartPointer<vtkPolyData>::New();
  AddPoints(particles, places, output);
  output->SetVerts(vertices.Cells());
  output->SetLines(lines.Cells());
  std::vector<std::size_t> cells = vertices.Ids; // vertices come first
  cells.insert(cells.end(), lines.Ids.begin(), lines.Ids.end());
  AddIds(
    particles, cells.size(), [&](std::size_t i) { return cells[i]; }, output->GetCellData());
  return output;
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkPolyData> bat_vtk::MakeHeads(
  const FollowedParticles& particles, std::size_t step)
{
  std::vector<Place> places;
  Stretches vertices;
  for (std::size_t id = 0; id < particles.Trails.ids; ++id)
  {
    if (particles.Trails.is_there(step, id))
    {
      vertices.Add(static_cast<vtkIdType>(places.size()), 1, id);
      places.push_back({ step, id });
    }
  }
  auto output = vtkSmartPointer<vtkPolyData>::New();
  AddPoints(particles, places, output);
  output->SetVerts(vertices.Cells());
  return output;
}
