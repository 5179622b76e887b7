// SPDX-License-Identifier: BSD-3-Clause
#include "Coordinates.h"

#include "Texts.h"
#include "vtkBATScalarTypes.h"

#include "bat/query.hpp"

#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"

#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace
{
using bat::ArrayView;
using bat::ScalarType;
using bat_vtk::Coordinate;
using bat_vtk::Quote;

template <typename T>
void RefuseRoundedValues(
  const std::byte* values, std::size_t stride, const std::string& name, int axis, std::size_t count)
{
  static_assert(std::numeric_limits<long double>::digits >= 64, "holds each integer");
  for (std::size_t i = 0; i != count; ++i)
  {
    T value;
    std::memcpy(&value, values + i * stride, sizeof(value));
    if (static_cast<long double>(static_cast<double>(value)) != static_cast<long double>(value))
    {
      throw bat::Error(bat::ErrorCode::InvalidArgument,
        Quote(name) + " is the " + std::string(1, "xyz"[axis]) + " of particle " +
          std::to_string(i) + ": " + std::to_string(value) +
          "; coordinates are doubles, which cannot represent this integer");
    }
  }
}

// Coordinates are doubles, which cannot represent every 64-bit integer.
void RefuseRounded(const ArrayView& view, const Coordinate& coordinate, int axis, std::size_t count)
{
  const char* name = coordinate.Array->GetName();
  const std::byte* values = view.component[coordinate.Component];
  if (view.type == ScalarType::Int64)
  {
    RefuseRoundedValues<std::int64_t>(values, view.stride_bytes, name ? name : "", axis, count);
  }
  else if (view.type == ScalarType::UInt64)
  {
    RefuseRoundedValues<std::uint64_t>(values, view.stride_bytes, name ? name : "", axis, count);
  }
}

// Returns the column named by `text`, or nothing and a `problem` as text.
std::optional<Coordinate> FindColumn(
  vtkDataSetAttributes* rows, const std::string& text, int axis, std::string& problem)
{
  std::vector<std::string> names;
  for (int i = 0; i < rows->GetNumberOfArrays(); ++i)
  {
    if (const char* name = rows->GetAbstractArray(i)->GetName())
    {
      names.emplace_back(name);
    }
  }
  bat::AttributeRange target;
  try
  {
    target = bat::parse_range_target(text, names);
  }
  catch (const bat::Error&)
  {
    if (axis == 2 && text == "none")
    {
      return Coordinate{};
    }
    problem = "the column does not exist";
    return std::nullopt;
  }
  vtkDataArray* array = rows->GetArray(target.attribute.c_str());
  if (!array || !bat_vtk::ToScalarType(array->GetDataType()))
  {
    problem = "the column is not numeric";
    return std::nullopt;
  }
  const int components = array->GetNumberOfComponents();
  const int component = target.component.value_or(0);
  if ((!target.component && components != 1) || component < 0 || component >= components)
  {
    problem = "the column " + Quote(target.attribute) + " has " + std::to_string(components) +
      " components; specify one, for example " + Quote(target.attribute + "[0]");
    return std::nullopt;
  }
  return Coordinate{ array, component };
}

std::string FormatColumns(vtkDataSetAttributes* rows)
{
  std::vector<std::string> names;
  for (int i = 0; i < rows->GetNumberOfArrays(); ++i)
  {
    const char* name = rows->GetAbstractArray(i)->GetName();
    names.push_back(name ? Quote(name) : "an unnamed column");
  }
  return "the table has the columns " + bat_vtk::Join(names);
}

// Finds columns with usual names for the axes whose columns are not chosen. Returns false, and
// leaves `found` as it is, if no kind of name has a column for each of these axes.
bool FindUsualColumns(vtkDataSetAttributes* rows, const bat_vtk::CoordinateColumns& columns,
  std::array<Coordinate, 3>& found)
{
  static const char* const usual[][3] = { { "x", "y", "z" }, { "X", "Y", "Z" },
    { "Points:0", "Points:1", "Points:2" }, { "Points_0", "Points_1", "Points_2" },
    { "Points[0]", "Points[1]", "Points[2]" } };
  std::string problem;
  for (const auto& candidates : usual)
  {
    std::array<Coordinate, 3> attempt = found;
    bool complete = true;
    for (int axis = 0; axis < 3; ++axis)
    {
      if (columns[axis].empty())
      {
        const std::optional<Coordinate> coordinate =
          FindColumn(rows, candidates[axis], axis, problem);
        complete = complete && coordinate;
        attempt[axis] = coordinate.value_or(Coordinate{});
      }
    }
    if (complete)
    {
      found = attempt;
      return true;
    }
  }
  return false;
}

// The arrays of the coordinates, and the properties that they share.
struct CoordinateViews
{
  std::array<ArrayView, 3> Views; ///< empty for an axis without an array
  bool AllFloat32 = true;
  bool AllFloat64 = true;
  bool Separate = true; ///< each axis has its own array of one component, without gaps
};

CoordinateViews FindViews(
  const std::array<Coordinate, 3>& coordinates, std::size_t count, bat_vtk::Storage& storage)
{
  CoordinateViews found;
  for (int axis = 0; axis < 3; ++axis)
  {
    vtkDataArray* array = coordinates[axis].Array;
    if (!array)
    {
      found.Separate = false;
      continue;
    }
    if (static_cast<std::size_t>(array->GetNumberOfTuples()) != count)
    {
      bat_vtk::Refuse("the coordinates contain " + std::to_string(array->GetNumberOfTuples()) +
        " values for " + std::to_string(count) + " particles");
    }
    ArrayView& view = found.Views[axis];
    view = axis > 0 && array == coordinates[0].Array ? found.Views[0]
                                                     : bat_vtk::MakeView(array, storage);
    found.AllFloat32 = found.AllFloat32 && view.type == ScalarType::Float32;
    found.AllFloat64 = found.AllFloat64 && view.type == ScalarType::Float64;
    found.Separate = found.Separate && array->GetNumberOfComponents() == 1 &&
      view.stride_bytes == bat::size_of(view.type);
  }
  return found;
}

// Copies the coordinates as float or double, one particle after another.
ArrayView ConvertCoordinates(const std::array<Coordinate, 3>& coordinates,
  const CoordinateViews& found, std::size_t count, bat_vtk::Storage& storage)
{
  const ScalarType type = found.AllFloat32 ? ScalarType::Float32 : ScalarType::Float64;
  std::byte* bytes = bat_vtk::Allocate(3 * count * bat::size_of(type), storage);
  for (int axis = 0; axis < 3; ++axis)
  {
    const Coordinate& coordinate = coordinates[axis];
    const ArrayView& view = found.Views[axis];
    if (!coordinate.Array)
    {
      continue; // allocated as zeros
    }
    if (type == ScalarType::Float32)
    {
      bat_vtk::ConvertComponent(
        view, coordinate.Component, 0, count, reinterpret_cast<float*>(bytes) + axis, 3);
    }
    else
    {
      RefuseRounded(view, coordinate, axis, count);
      bat_vtk::ConvertComponent(
        view, coordinate.Component, 0, count, reinterpret_cast<double*>(bytes) + axis, 3);
    }
  }
  return ArrayView::packed(type, 3, bytes);
}
}

//------------------------------------------------------------------------------
std::array<bat_vtk::Coordinate, 3> bat_vtk::FindCoordinates(
  vtkDataSetAttributes* rows, const CoordinateColumns& columns, const std::string& where)
{
  static const char* const properties[3] = { "XColumn", "YColumn", "ZColumn" };
  const std::string available = FormatColumns(rows);

  std::array<Coordinate, 3> found;
  std::string problem;
  bool complete = true;
  for (int axis = 0; axis < 3; ++axis)
  {
    const std::string& chosen = columns[axis];
    if (chosen.empty())
    {
      complete = false;
      continue;
    }
    const std::optional<Coordinate> coordinate = FindColumn(rows, chosen, axis, problem);
    if (!coordinate)
    {
      Refuse(
        where + properties[axis] + " is " + Quote(chosen) + ", but " + problem + "; " + available);
    }
    found[axis] = *coordinate;
  }
  if (!complete && !FindUsualColumns(rows, columns, found))
  {
    Refuse(where + "choose the coordinate columns (XColumn, YColumn, ZColumn; ZColumn " +
      "may be 'none'): " + available);
  }
  return found;
}

//------------------------------------------------------------------------------
bat::ArrayView bat_vtk::PositionsFrom(
  const std::array<Coordinate, 3>& coordinates, std::size_t count, Storage& storage)
{
  const auto sameArray = [&](int axis) {
    return coordinates[axis].Array == coordinates[0].Array && coordinates[axis].Component == axis;
  };
  const CoordinateViews found = FindViews(coordinates, count, storage);
  const std::array<ArrayView, 3>& views = found.Views;
  if (found.AllFloat32 || found.AllFloat64)
  {
    if (sameArray(0) && sameArray(1) && sameArray(2) &&
      coordinates[0].Array->GetNumberOfComponents() == 3)
    {
      return views[0];
    }
    if (found.Separate)
    {
      return ArrayView::separate(
        views[0].type, { views[0].component[0], views[1].component[0], views[2].component[0] });
    }
  }
  return ConvertCoordinates(coordinates, found, count, storage);
}
