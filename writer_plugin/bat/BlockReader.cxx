// SPDX-License-Identifier: BSD-3-Clause
#include "BlockReader.h"

#include "ArrayViews.h"
#include "Coordinates.h"
#include "InputCells.h"
#include "Texts.h"
#include "vtkBATScalarTypes.h"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkPointData.h"
#include "vtkPointSet.h"
#include "vtkPoints.h"
#include "vtkTable.h"
#include "vtkUnsignedCharArray.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace
{
using bat::ArrayView;
using bat::AttributeView;
using bat::ScalarType;

vtkUnsignedCharArray* GhostArray(vtkDataSetAttributes* data)
{
  return vtkUnsignedCharArray::SafeDownCast(
    data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName()));
}

// Combines the ghost marks of points and of the cells that the points are in. Either may be null.
struct GhostMarks
{
  const unsigned char* OfPoints;
  const unsigned char* OfCells;
  const bat_vtk::CellsAsPoints& Map;

  // Cell marks have different values from point marks.
  [[nodiscard]] unsigned char Of(std::size_t i) const
  {
    unsigned char flag = this->OfPoints ? this->OfPoints[i] : 0;
    const unsigned char ofCell = this->OfCells ? this->OfCells[this->Map.Of(i)] : 0;
    if (ofCell & vtkDataSetAttributes::DUPLICATECELL)
    {
      flag |= vtkDataSetAttributes::DUPLICATEPOINT;
    }
    if (ofCell & vtkDataSetAttributes::HIDDENCELL)
    {
      flag |= vtkDataSetAttributes::HIDDENPOINT;
    }
    return flag;
  }
};

// Returns null unless there is one mark for each of `count` points or cells.
const unsigned char* FindMarks(vtkDataSetAttributes* data, std::size_t count)
{
  vtkUnsignedCharArray* flags = data ? GhostArray(data) : nullptr;
  return flags && static_cast<std::size_t>(flags->GetNumberOfValues()) == count
    ? flags->GetPointer(0)
    : nullptr;
}

AttributeView MakeMarks(const GhostMarks& ghosts, std::size_t count, bat_vtk::Storage& storage)
{
  AttributeView marks;
  marks.name = vtkDataSetAttributes::GhostArrayName();
  marks.host_type = VTK_UNSIGNED_CHAR;
  std::byte* bytes = bat_vtk::Allocate(count, storage);
  for (std::size_t i = 0; i < count; ++i)
  {
    bytes[i] = static_cast<std::byte>(ghosts.Of(i));
  }
  marks.values = ArrayView::packed(ScalarType::UInt8, 1, bytes);
  return marks;
}

void KeepUnmarked(const GhostMarks& ghosts, bat_vtk::Block& block)
{
  constexpr unsigned char ghostPoint =
    vtkDataSetAttributes::DUPLICATEPOINT | vtkDataSetAttributes::HIDDENPOINT;
  for (std::size_t i = 0; i < block.Count; ++i)
  {
    if ((ghosts.Of(i) & ghostPoint) != 0)
    {
      continue;
    }
    if (!block.Kept.empty() && block.Kept.back().First + block.Kept.back().Count == i)
    {
      ++block.Kept.back().Count;
    }
    else
    {
      block.Kept.push_back(bat_vtk::Run{ i, 1 });
    }
    ++block.KeptCount;
  }
}

void AddNames(vtkDataSetAttributes* data, std::set<std::string>& names)
{
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    if (const char* name = data->GetAbstractArray(i)->GetName())
    {
      names.insert(name);
    }
  }
}

// Extends `name` until it is not among the names in use, and adds it to them.
std::string TakeName(std::string name, std::set<std::string>& taken)
{
  while (!taken.insert(name).second)
  {
    name += "_";
  }
  return name;
}

// Refuses an array that is too wide, or does not have a value for each of `tuples` cells or
// particles.
void RefuseWrongShape(
  vtkDataArray* array, const std::string& label, std::size_t tuples, const char* ofWhat)
{
  const int components = array->GetNumberOfComponents();
  if (components < 1 || components > bat::kMaxComponents)
  {
    bat_vtk::Refuse(label + " has " + std::to_string(components) +
      " components; allowed are 1 to " + std::to_string(bat::kMaxComponents));
  }
  if (static_cast<std::size_t>(array->GetNumberOfTuples()) != tuples)
  {
    bat_vtk::Refuse(label + " holds " + std::to_string(array->GetNumberOfTuples()) +
      " values for " + std::to_string(tuples) + " " + ofWhat);
  }
}

std::set<std::uint8_t> CollectRoles(const std::vector<AttributeView>& attributes)
{
  std::set<std::uint8_t> roles;
  for (const AttributeView& attribute : attributes)
  {
    roles.insert(attribute.role);
  }
  return roles;
}

// Returns the role of an array; 0 if it has none or another attribute has it: for example, the
// active scalars are those of the points.
std::uint8_t FindRole(vtkDataSetAttributes* data, int index, const std::set<std::uint8_t>& taken)
{
  const auto role = static_cast<std::uint8_t>(1 + data->IsArrayAnAttribute(index)); // -1 for none
  return taken.count(role) > 0 ? std::uint8_t{ 0 } : role;
}

// Views the values of particles. `cells` is null unless the array has a value for each cell.
AttributeView MakeAttribute(
  vtkDataArray* array, const bat_vtk::CellsAsPoints* cells, bat_vtk::Storage& storage)
{
  AttributeView attribute;
  attribute.values = bat_vtk::MakeView(array, storage);
  if (cells && !cells->CellOf.empty())
  {
    attribute.values = bat_vtk::GatherTuples(attribute.values, cells->CellOf, storage);
  }
  attribute.host_type = static_cast<std::uint32_t>(array->GetDataType());
  return attribute;
}
}

//------------------------------------------------------------------------------
bat_vtk::Block bat_vtk::BlockReader::Read(vtkDataObject* data, const std::string& label)
{
  Block block;
  block.Label = label;
  if (vtkPointSet* points = vtkPointSet::SafeDownCast(data))
  {
    this->ReadPointSet(points, block);
  }
  else if (vtkTable* table = vtkTable::SafeDownCast(data))
  {
    this->ReadTable(table, block);
  }
  else
  {
    Refuse(block.Where() + CannotBeWritten(data->GetClassName()));
  }
  return block;
}

//------------------------------------------------------------------------------
void bat_vtk::BlockReader::Warn(const std::string& label, const std::string& text)
{
  for (bat_vtk::Warning& warning : this->Result.Warnings)
  {
    if (warning.Key == text)
    {
      ++warning.Blocks;
      return;
    }
  }
  this->Result.Warnings.push_back({ text, text, label, 1 });
}

//------------------------------------------------------------------------------
void bat_vtk::BlockReader::ReadPointSet(vtkPointSet* points, Block& block)
{
  block.Count = static_cast<std::size_t>(points->GetNumberOfPoints());
  block.Positions = ArrayView::packed(ScalarType::Float32, 3, nullptr);
  if (points->GetPoints())
  {
    vtkDataArray* array = points->GetPoints()->GetData();
    block.Positions = PositionsFrom(
      { { { array, 0 }, { array, 1 }, { array, 2 } } }, block.Count, this->Result.Storage);
  }

  const std::vector<std::string> others = CellsBesideVertices(points);
  if (!others.empty())
  {
    this->Warn(block.Label, "cells are not written, only their points: " + Join(others));
  }
  vtkCellData* cells = points->GetCellData();
  std::optional<CellsAsPoints> map;
  if (others.empty() && cells->GetNumberOfArrays() > 0)
  {
    map = MapCells(points);
  }
  this->FindGhosts(
    points->GetPointData(), map ? cells : nullptr, map.value_or(CellsAsPoints()), block);
  this->ReadAttributes(points->GetPointData(), {}, nullptr, block);
  if (map)
  {
    this->ReadAttributes(cells, {}, &*map, block);
    return;
  }

  std::vector<std::string> lost;
  for (int i = 0; i < cells->GetNumberOfArrays(); ++i)
  {
    vtkAbstractArray* array = cells->GetAbstractArray(i);
    const char* name = array->GetName();
    if (array->GetNumberOfTuples() > 0 &&
      (!name || std::strcmp(name, vtkDataSetAttributes::GhostArrayName()) != 0))
    {
      lost.push_back(name ? Quote(name) : "an unnamed array");
    }
  }
  if (!lost.empty())
  {
    this->Warn(block.Label,
      "cell data is not written, only point data: " + Join(lost) +
        (others.empty() ? "; this requires that every point is in exactly one vertex cell" : ""));
  }
}

//------------------------------------------------------------------------------
void bat_vtk::BlockReader::ReadTable(vtkTable* table, Block& block)
{
  vtkDataSetAttributes* rows = table->GetRowData();
  block.Count = static_cast<std::size_t>(table->GetNumberOfRows());
  block.Positions = ArrayView::packed(ScalarType::Float32, 3, nullptr);
  std::set<vtkAbstractArray*> used;
  if (rows->GetNumberOfArrays() > 0)
  {
    const std::array<Coordinate, 3> coordinates =
      FindCoordinates(rows, this->Options.Columns, block.Where());
    block.Positions = PositionsFrom(coordinates, block.Count, this->Result.Storage);

    // A column is also an attribute if only some of its components are coordinates.
    std::set<std::pair<vtkAbstractArray*, int>> components;
    for (const Coordinate& coordinate : coordinates)
    {
      components.insert({ coordinate.Array, coordinate.Component });
    }
    for (const Coordinate& coordinate : coordinates)
    {
      bool complete = coordinate.Array != nullptr;
      for (int c = 0; complete && c < coordinate.Array->GetNumberOfComponents(); ++c)
      {
        complete = components.count({ coordinate.Array, c }) > 0;
      }
      if (complete)
      {
        used.insert(coordinate.Array);
      }
    }
  }
  this->FindGhosts(rows, nullptr, {}, block);
  this->ReadAttributes(rows, used, nullptr, block);
}

//------------------------------------------------------------------------------
// Finds the particles that are not ghosts, or writes the marks of all. `cells` may be null.
void bat_vtk::BlockReader::FindGhosts(
  vtkDataSetAttributes* data, vtkCellData* cells, const CellsAsPoints& map, Block& block)
{
  const GhostMarks ghosts{ FindMarks(data, block.Count), FindMarks(cells, map.Cells), map };
  if (!this->Options.KeepGhosts && (ghosts.OfPoints || ghosts.OfCells))
  {
    KeepUnmarked(ghosts, block);
    return;
  }
  block.Kept = { Run{ 0, block.Count } };
  block.KeptCount = block.Count;
  if (this->Options.KeepGhosts && ghosts.OfCells)
  {
    const AttributeView marks = MakeMarks(ghosts, block.Count, this->Result.Storage);
    block.Names.insert(marks.name);
    block.Attributes.push_back(marks);
  }
}

//------------------------------------------------------------------------------
// Adds the arrays of points or rows, or of `cells`.
void bat_vtk::BlockReader::ReadAttributes(vtkDataSetAttributes* data,
  const std::set<vtkAbstractArray*>& used, const CellsAsPoints* cells, Block& block)
{
  const std::size_t tuples = cells ? cells->Cells : block.Count;
  std::set<std::string> taken = block.Names;
  AddNames(data, taken);
  const std::set<std::uint8_t> roles =
    cells ? CollectRoles(block.Attributes) : std::set<std::uint8_t>();
  std::vector<std::string> lost;
  std::set<std::string> own;
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    vtkAbstractArray* abstract = data->GetAbstractArray(i);
    // FindGhosts() has already handled those of cells.
    const bool marksGhosts = abstract == GhostArray(data);
    const bool marksKept = this->Options.KeepGhosts && !cells &&
      block.Names.count(vtkDataSetAttributes::GhostArrayName()) == 0;
    if ((marksGhosts && !marksKept) || used.count(abstract) > 0)
    {
      continue;
    }
    std::string name = abstract->GetName() ? abstract->GetName() : "";
    if (name.empty())
    {
      name = TakeName((cells ? "cell_array_" : "array_") + std::to_string(i), taken);
      this->Warn(block.Label,
        (cells ? "cell array " : "array ") + std::to_string(i) + " has no name; it is written as " +
          Quote(name));
    }
    vtkDataArray* array = vtkDataArray::SafeDownCast(abstract);
    if (!array || !bat_vtk::ToScalarType(array->GetDataType()))
    {
      lost.push_back(Quote(name) + " (" + abstract->GetDataTypeAsString() + ")");
      continue;
    }
    RefuseWrongShape(
      array, block.Where() + "array " + Quote(name), tuples, cells ? "cells" : "particles");
    if (!own.insert(name).second)
    {
      Refuse(block.Where() + "two arrays are named " + Quote(name));
    }
    if (cells && block.Names.count(name) > 0)
    {
      const std::string ofPoints = name;
      name = TakeName(name + "_cell", taken);
      this->Warn(block.Label,
        "points and cells both have an array " + Quote(ofPoints) +
          "; the cell array is written as " + Quote(name));
    }
    AttributeView attribute = MakeAttribute(array, cells, this->Result.Storage);
    attribute.name = name;
    attribute.role = FindRole(data, i, roles);
    block.Names.insert(name);
    block.Attributes.push_back(attribute);
  }
  if (!lost.empty())
  {
    this->Warn(block.Label, "non-numeric arrays are not written: " + Join(lost));
  }
}
