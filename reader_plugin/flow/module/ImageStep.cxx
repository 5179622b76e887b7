// SPDX-License-Identifier: BSD-3-Clause
#include "ImageStep.h"

#include "Agreement.h"
#include "DataFacts.h"
#include "DataLeaves.h"
#include "Failure.h"
#include "FlowFields.h"
#include "GridInput.h"
#include "JoinedGrid.h"
#include "VelocityInput.h"

#include "bat/types.hpp"

#include "vtkCellData.h"
#include "vtkCommunicator.h"
#include "vtkDataArray.h"
#include "vtkDataObject.h"
#include "vtkImageData.h"
#include "vtkMultiProcessController.h"
#include "vtkMultiProcessStream.h"
#include "vtkPointData.h"
#include "vtkSmartPointer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

using bat::idx::LogicalBox;
using bat_vtk::GridInput;
using bat_vtk::GridPiece;
using bat_vtk::ImagePiece;

namespace
{
// Largest distance, as a fraction of a cell, between equal points of two time steps.
constexpr double Rounding = 1e-9;

constexpr vtkIdType BytesOfMessage = 1 << 30;

bool IsAlone(vtkMultiProcessController* controller)
{
  return !controller || controller->GetNumberOfProcesses() < 2;
}

// Collective. Calls f(); an exception in any process is thrown in all.
template <typename F>
void Collective(vtkMultiProcessController* controller, const F& f)
{
  const bat_vtk::Failure failure =
    bat_vtk::FirstFailure(controller, bat_vtk::Failure::Of(f), "", "");
  if (failure)
  {
    throw bat_vtk::Failure(failure);
  }
}

// Collective. Returns the texts of all processes.
std::vector<vtkMultiProcessStream> Tell(
  vtkMultiProcessController* controller, const vtkMultiProcessStream& local)
{
  std::vector<vtkMultiProcessStream> all{ local };
  if (!IsAlone(controller))
  {
    controller->AllGather(local, all);
  }
  return all;
}

bool IsVelocity(vtkDataArray* array)
{
  return array && array->GetName() &&
    (array->GetNumberOfComponents() == 2 || array->GetNumberOfComponents() == 3) &&
    (array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE);
}

std::string FormatList(vtkDataSetAttributes* data)
{
  std::ostringstream text;
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* array = data->GetArray(i);
    if (array && array->GetName())
    {
      text << (text.tellp() > 0 ? ", " : "") << array->GetName() << " ("
           << array->GetNumberOfComponents() << " x " << array->GetDataTypeAsString() << ")";
    }
  }
  return text.str();
}

// Chooses the velocity by default, and explains the choice if another one is possible.
std::pair<std::string, std::string> ChooseArray(const ImagePiece& piece)
{
  vtkPointData* points = piece.Image->GetPointData();
  if (IsVelocity(points->GetVectors()))
  {
    return { points->GetVectors()->GetName(), {} };
  }
  for (const int components : { 3, 2 })
  {
    std::vector<std::string> names;
    for (int i = 0; i < points->GetNumberOfArrays(); ++i)
    {
      vtkDataArray* array = points->GetArray(i);
      if (IsVelocity(array) && array->GetNumberOfComponents() == components)
      {
        names.emplace_back(array->GetName());
      }
    }
    if (!names.empty())
    {
      return { names[0],
        names.size() == 1
          ? std::string()
          : "'" + names[0] + "' and '" + names[1] + "' are both possible velocities, and '" +
            names[0] + "' was traced; use Vectors to choose another one" };
    }
  }
  const std::string label = piece.Label.empty() ? "Input" : piece.Label;
  vtkDataSetAttributes* cells = piece.Image->GetCellData();
  for (int i = 0; i < cells->GetNumberOfArrays(); ++i)
  {
    if (IsVelocity(cells->GetArray(i)))
    {
      bat_vtk::Refuse(label + " has '" + cells->GetArray(i)->GetName() +
        "' as cell data, but no velocity as point data: apply the filter Cell Data to Point Data");
    }
  }
  const std::string there = FormatList(points);
  bat_vtk::Refuse(label +
    " has no suitable velocity array; allowed: a point array with 2 or 3 components of type "
    "float or double. Available: " +
    (there.empty() ? "no named point arrays" : there));
}

LogicalBox ComputeBox(const std::vector<GridPiece>& pieces)
{
  LogicalBox box;
  box.lower.fill(std::numeric_limits<std::int64_t>::max());
  box.upper.fill(std::numeric_limits<std::int64_t>::min());
  for (const GridPiece& piece : pieces)
  {
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      box.lower[axis] = std::min(box.lower[axis], piece.Box.lower[axis]);
      box.upper[axis] = std::max(box.upper[axis], piece.Box.upper[axis]);
    }
  }
  return box;
}

std::size_t PointsIn(const LogicalBox& box)
{
  std::size_t points = 1;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    points *= static_cast<std::size_t>(box.upper[axis] - box.lower[axis] + 1);
  }
  return points;
}

// Copies the part of `values` that is inside `box`; `stored` is the box of all of them.
std::shared_ptr<std::vector<char>> Pack(
  const LogicalBox& box, const LogicalBox& stored, const void* values, std::size_t bytes)
{
  auto packed = std::make_shared<std::vector<char>>(PointsIn(box) * bytes);
  const auto row = static_cast<std::size_t>(box.upper[0] - box.lower[0] + 1) * bytes;
  const std::int64_t nx = stored.upper[0] - stored.lower[0] + 1;
  const std::int64_t ny = stored.upper[1] - stored.lower[1] + 1;
  char* to = packed->data();
  for (std::int64_t z = box.lower[2]; z <= box.upper[2]; ++z)
  {
    for (std::int64_t y = box.lower[1]; y <= box.upper[1]; ++y)
    {
      const std::int64_t first =
        box.lower[0] - stored.lower[0] + nx * (y - stored.lower[1] + ny * (z - stored.lower[2]));
      std::memcpy(
        to, static_cast<const char*>(values) + static_cast<std::size_t>(first) * bytes, row);
      to += row;
    }
  }
  return packed;
}

// Collective. Returns the pieces of all processes, in their order.
GridInput GatherPieces(
  const GridInput& local, std::size_t bytes, vtkMultiProcessController* controller)
{
  GridInput all;
  all.Origin = local.Origin;
  all.Spacing = local.Spacing;
  all.Fields = local.Fields;
  const int rank = controller->GetLocalProcessId();
  for (int from = 0; from < controller->GetNumberOfProcesses(); ++from)
  {
    vtkIdType count = from == rank ? static_cast<vtkIdType>(local.Pieces.size()) : 0;
    controller->Broadcast(&count, 1, from);
    for (vtkIdType i = 0; i < count; ++i)
    {
      std::array<vtkIdType, 6> ends{};
      std::shared_ptr<std::vector<char>> values;
      if (from == rank)
      {
        const GridPiece& piece = local.Pieces[static_cast<std::size_t>(i)];
        std::copy(piece.Box.lower.begin(), piece.Box.lower.end(), ends.begin());
        std::copy(piece.Box.upper.begin(), piece.Box.upper.end(), ends.begin() + 3);
        values = Pack(piece.Box, piece.Stored, piece.Values[0], bytes);
      }
      controller->Broadcast(ends.data(), 6, from);
      GridPiece piece;
      std::copy(ends.begin(), ends.begin() + 3, piece.Box.lower.begin());
      std::copy(ends.begin() + 3, ends.end(), piece.Box.upper.begin());
      piece.Stored = piece.Box;
      if (from != rank)
      {
        values = std::make_shared<std::vector<char>>(PointsIn(piece.Box) * bytes);
      }
      const auto length = static_cast<vtkIdType>(values->size());
      for (vtkIdType at = 0; at < length; at += BytesOfMessage)
      {
        controller->Broadcast(values->data() + at, std::min(BytesOfMessage, length - at), from);
      }
      piece.Values = { values->data() };
      all.Copies.push_back(values);
      all.Pieces.push_back(std::move(piece));
    }
  }
  return all;
}

std::shared_ptr<const std::byte> Hold(const std::shared_ptr<std::vector<char>>& values)
{
  return { values, reinterpret_cast<const std::byte*>(values->data()) };
}

// Collective. Returns the array of the first process that has one.
void AgreeOnArray(vtkMultiProcessController* controller, bat_vtk::ImageStep& step)
{
  vtkMultiProcessStream own;
  own << step.Array << step.Remark;
  for (vtkMultiProcessStream& one : Tell(controller, own))
  {
    std::string name;
    std::string remark;
    one >> name >> remark;
    if (!name.empty())
    {
      step.Array = name;
      step.Remark = remark;
      return;
    }
  }
}

// Collective. Returns those of all processes.
std::vector<bat_vtk::GridFacts> GatherFacts(
  vtkMultiProcessController* controller, const bat_vtk::GridFacts& own)
{
  std::vector<bat_vtk::GridFacts> facts{ own };
  if (!IsAlone(controller))
  {
    constexpr std::size_t count = bat_vtk::GridFacts::Count;
    facts.resize(static_cast<std::size_t>(controller->GetNumberOfProcesses()));
    std::vector<double> numbers(facts.size() * count);
    controller->AllGather(own.Numbers.data(), numbers.data(), static_cast<vtkIdType>(count));
    for (std::size_t i = 0; i < facts.size(); ++i)
    {
      std::copy_n(numbers.data() + i * count, count, facts[i].Numbers.begin());
    }
  }
  return facts;
}

// Collective. Returns the type and components of the first process that has values; all others have
// the same.
void AgreeOnType(
  vtkMultiProcessController* controller, const GridInput& grid, bat_vtk::ImageStep& step)
{
  vtkMultiProcessStream own;
  const bool has = !grid.Fields.empty();
  own << (has ? grid.Fields[0].components : 0) << (has ? static_cast<int>(grid.Fields[0].type) : 0);
  int components = 0;
  int type = 0;
  for (vtkMultiProcessStream& one : Tell(controller, own))
  {
    int its[2] = { 0, 0 };
    one >> its[0] >> its[1];
    if (components == 0)
    {
      components = its[0];
      type = its[1];
    }
    else if (its[0] != 0 && (its[0] != components || its[1] != type))
    {
      bat_vtk::Refuse("'" + step.Array + "' has a different type or number of components in " +
        "another process; all blocks of a grid must have the same");
    }
  }
  step.Grid.components = components;
  step.Grid.type = static_cast<bat::ScalarType>(type);
}

// Collective. Returns the box around the boxes of all processes.
LogicalBox ComputeUnion(vtkMultiProcessController* controller, const LogicalBox& own)
{
  std::array<vtkIdType, 6> ends{};
  std::array<vtkIdType, 6> maximum{};
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    ends[axis] = -(own.lower[axis] + 1); // the least number has no opposite
    ends[axis + 3] = own.upper[axis];
  }
  controller->AllReduce(ends.data(), maximum.data(), 6, vtkCommunicator::MAX_OP);
  LogicalBox box;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    box.lower[axis] = -(maximum[axis] + 1);
    box.upper[axis] = maximum[axis + 3];
  }
  return box;
}

// Collective. Returns the whole grid. `grid` gets the pieces of all processes if a process lacks
// some.
bat_vtk::JoinedGrid JoinAll(
  vtkMultiProcessController* controller, std::size_t bytes, GridInput& grid)
{
  bat_vtk::JoinedGrid joined;
  const auto join = [&]() { joined = bat_vtk::JoinPieces(grid, bat_vtk::Missing::Never); };
  bat_vtk::Failure lack = bat_vtk::Failure::Of(join);
  if (!IsAlone(controller))
  {
    const LogicalBox part = ComputeBox(grid.Pieces);
    const LogicalBox box = ComputeUnion(controller, part);
    const bool isWhole = !lack && part.lower == box.lower && part.upper == box.upper;
    if (bat_vtk::ReduceAny(controller, !isWhole))
    {
      grid = GatherPieces(grid, bytes, controller);
      lack = bat_vtk::Failure::Of(join);
    }
  }
  if (lack)
  {
    throw bat_vtk::Failure(lack);
  }
  return joined;
}

// Returns the values of all points, packed. They keep their memory alive.
std::shared_ptr<const std::byte> ValuesOf(
  const bat_vtk::JoinedGrid& joined, GridInput&& grid, std::size_t bytes)
{
  if (!joined.Copies.empty())
  {
    return Hold(joined.Copies[0]);
  }
  const GridPiece& only = grid.Pieces.front();
  if (only.Box.lower != only.Stored.lower || only.Box.upper != only.Stored.upper)
  {
    return Hold(Pack(only.Box, only.Stored, only.Values[0], bytes));
  }
  auto owner = std::make_shared<GridInput>(std::move(grid));
  return { owner, static_cast<const std::byte*>(owner->Pieces.front().Values[0]) };
}
}

//------------------------------------------------------------------------------
bat_vtk::ImageStep bat_vtk::ReadImageStep(
  vtkDataObject* data, const std::string& array, vtkMultiProcessController* controller)
{
  ImageStep step;
  std::vector<Leaf> leaves;
  std::vector<ImagePiece> images;
  Collective(controller,
    [&]()
    {
      if (!data)
      {
        Refuse("Input has no data");
      }
      leaves = FindLeaves(data);
      images = CollectImages(data, leaves);
      std::tie(step.Array, step.Remark) = !array.empty() || images.empty()
        ? std::pair<std::string, std::string>(array, {})
        : ChooseArray(images.front());
    });
  AgreeOnArray(controller, step);

  VelocityImages velocity;
  GridFacts facts;
  Collective(controller,
    [&]()
    {
      velocity = FindVelocity(images, step.Array);
      facts = CollectFacts(data, leaves, velocity.Images);
    });
  const CommonGrid common = FindCommonGrid(GatherFacts(controller, facts), Samples::Points);
  if (!common.HasSamples)
  {
    Refuse("Input has no points; allowed: images (vtkImageData), or blocks of one lattice");
  }
  GridInput grid;
  Collective(controller, [&]() { grid = ConvertGrid(velocity.Images, common, Missing::Never); });
  AgreeOnType(controller, grid, step);
  grid.Fields = { { "velocity", step.Grid.type, step.Grid.components, nullptr } };

  const JoinedGrid joined = JoinAll(controller, step.Grid.point_bytes(), grid);
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    step.Grid.points[axis] = joined.Grid.dimensions[axis];
    step.Grid.spacing[axis] = grid.Spacing[axis];
    step.Grid.origin[axis] =
      grid.Origin[axis] + static_cast<double>(joined.Grid.first[axis]) * grid.Spacing[axis];
  }
  step.Values = ValuesOf(joined, std::move(grid), step.Grid.point_bytes());
  return step;
}

//------------------------------------------------------------------------------
bat::BrickGrid bat_vtk::MakeImageGrid(vtkDataObject* data)
{
  bat::BrickGrid grid;
  std::array<double, 3> upper{};
  bool isFirst = true;
  for (const Leaf& leaf : FindLeaves(data))
  {
    vtkImageData* image = vtkImageData::SafeDownCast(leaf.Data);
    if (!image || image->GetNumberOfPoints() == 0)
    {
      continue;
    }
    double bounds[6];
    image->GetBounds(bounds);
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      grid.spacing[axis] = isFirst ? image->GetSpacing()[axis] : grid.spacing[axis];
      grid.origin[axis] =
        isFirst ? bounds[2 * axis] : std::min(grid.origin[axis], bounds[2 * axis]);
      upper[axis] = isFirst ? bounds[2 * axis + 1] : std::max(upper[axis], bounds[2 * axis + 1]);
      const double cells = (upper[axis] - grid.origin[axis]) / grid.spacing[axis];
      grid.points[axis] = cells > 0 && cells < 1e9 ? std::llround(cells) + 1 : 1;
    }
    isFirst = false;
  }
  return grid;
}

//------------------------------------------------------------------------------
std::string bat_vtk::FormatGrid(const bat::BrickGrid& grid)
{
  const auto three = [](const auto& of, const char* between)
  {
    std::ostringstream text;
    text.precision(12);
    text << of[0] << between << of[1] << between << of[2];
    return text.str();
  };
  return three(grid.points, " x ") + " points, origin " + three(grid.origin, " ") + ", spacing " +
    three(grid.spacing, " ");
}

//------------------------------------------------------------------------------
bool bat_vtk::AreAlike(const bat::BrickGrid& a, const bat::BrickGrid& b)
{
  bool are = a.points == b.points;
  for (std::size_t axis = 0; are && axis < 3; ++axis)
  {
    const double allowed = Rounding * a.spacing[axis];
    are = std::abs(a.origin[axis] - b.origin[axis]) <= allowed &&
      std::abs(a.spacing[axis] - b.spacing[axis]) * static_cast<double>(a.points[axis]) <= allowed;
  }
  return are;
}
