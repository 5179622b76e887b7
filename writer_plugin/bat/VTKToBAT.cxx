#include "VTKToBAT.h"

#include "vtkBATScalarTypes.h"

#include "bat/error.hpp"
#include "bat/query.hpp"

#include "vtkBitArray.h"
#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkCellType.h"
#include "vtkCompositeDataIterator.h"
#include "vtkCompositeDataSet.h"
#include "vtkDataArray.h"
#include "vtkDataObject.h"
#include "vtkDataSetAttributes.h"
#include "vtkFieldData.h"
#include "vtkInformation.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkPartitionedDataSet.h"
#include "vtkPartitionedDataSetCollection.h"
#include "vtkPointData.h"
#include "vtkPointSet.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkSmartPointer.h"
#include "vtkTable.h"
#include "vtkUnsignedCharArray.h"
#include "vtkUnstructuredGrid.h"
#include "vtkVariant.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iomanip>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace
{
using bat::ArrayView;
using bat::AttributeView;
using bat::ScalarType;
using Storage = std::vector<std::shared_ptr<void>>;

[[noreturn]] void Refuse(const std::string& text)
{
  throw bat::Error(bat::ErrorCode::InvalidArgument, text);
}

std::string Quote(const std::string& name)
{
  return "'" + name + "'";
}

std::string Join(const std::vector<std::string>& names)
{
  std::string text;
  for (const std::string& name : names)
  {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

std::byte* Allocate(std::size_t bytes, Storage& storage)
{
  auto buffer = std::make_shared<std::vector<std::byte>>(bytes);
  storage.push_back(buffer);
  return buffer->data();
}

//------------------------------------------------------------------------------
// Arrays

// Separate arrays per component, if the array is one of those.
std::optional<ArrayView> ViewOfComponents(vtkDataArray* array, ScalarType type)
{
  ArrayView view;
  view.type = type;
  view.components = array->GetNumberOfComponents();
  view.stride_bytes = bat::size_of(type);
  switch (array->GetDataType())
  {
    vtkTemplateMacro({
      auto* typed = vtkSOADataArrayTemplate<VTK_TT>::FastDownCast(array);
      for (int c = 0; typed && c < view.components; ++c)
      {
        view.component[c] = reinterpret_cast<const std::byte*>(typed->GetComponentArrayPointer(c));
      }
    });
  }
  const bool complete = std::all_of(view.component.begin(),
    view.component.begin() + view.components, [](const std::byte* p) { return p != nullptr; });
  return complete ? std::optional<ArrayView>(view) : std::nullopt;
}

ArrayView ViewOf(vtkDataArray* array, Storage& storage)
{
  const ScalarType type = *bat_vtk::ToScalarType(array->GetDataType());
  const int components = array->GetNumberOfComponents();
  if (vtkBitArray* bits = vtkBitArray::SafeDownCast(array))
  {
    const vtkIdType values = bits->GetNumberOfValues();
    std::byte* bytes = Allocate(static_cast<std::size_t>(values), storage);
    for (vtkIdType i = 0; i < values; ++i)
    {
      bytes[i] = static_cast<std::byte>(bits->GetValue(i));
    }
    return ArrayView::packed(type, components, bytes);
  }
  if (array->HasStandardMemoryLayout())
  {
    return ArrayView::packed(type, components, array->GetVoidPointer(0));
  }
  if (array->GetNumberOfTuples() > 0)
  {
    if (const std::optional<ArrayView> view = ViewOfComponents(array, type))
    {
      return *view;
    }
  }
  // Arrays that compute their values or lay them out in their own way.
  vtkSmartPointer<vtkDataArray> copy;
  copy.TakeReference(vtkDataArray::CreateDataArray(array->GetDataType()));
  copy->DeepCopy(array);
  storage.push_back(std::make_shared<vtkSmartPointer<vtkDataArray>>(copy));
  return ArrayView::packed(type, components, copy->GetVoidPointer(0));
}

template <typename In, typename Out>
void ConvertValues(
  const std::byte* in, std::size_t inStride, std::size_t count, Out* out, std::size_t outStride)
{
  for (std::size_t i = 0; i < count; ++i)
  {
    In value;
    std::memcpy(&value, in + i * inStride, sizeof(In));
    out[i * outStride] = static_cast<Out>(value);
  }
}

// Component `c` of `count` values from number `first` on, as Out.
template <typename Out>
void ConvertComponent(const ArrayView& view, int c, std::size_t first, std::size_t count, Out* out,
  std::size_t outStride)
{
  const std::byte* in = view.component[c] + first * view.stride_bytes;
  const std::size_t stride = view.stride_bytes;
  switch (view.type)
  {
    case ScalarType::Int8:
      return ConvertValues<std::int8_t>(in, stride, count, out, outStride);
    case ScalarType::UInt8:
      return ConvertValues<std::uint8_t>(in, stride, count, out, outStride);
    case ScalarType::Int16:
      return ConvertValues<std::int16_t>(in, stride, count, out, outStride);
    case ScalarType::UInt16:
      return ConvertValues<std::uint16_t>(in, stride, count, out, outStride);
    case ScalarType::Int32:
      return ConvertValues<std::int32_t>(in, stride, count, out, outStride);
    case ScalarType::UInt32:
      return ConvertValues<std::uint32_t>(in, stride, count, out, outStride);
    case ScalarType::Int64:
      return ConvertValues<std::int64_t>(in, stride, count, out, outStride);
    case ScalarType::UInt64:
      return ConvertValues<std::uint64_t>(in, stride, count, out, outStride);
    case ScalarType::Float32:
      return ConvertValues<float>(in, stride, count, out, outStride);
    case ScalarType::Float64:
      return ConvertValues<double>(in, stride, count, out, outStride);
  }
}

// `count` tuples from number `first` on, packed behind one another, bit for bit.
void PackTuples(const ArrayView& view, std::size_t first, std::size_t count, std::byte* out)
{
  if (count == 0)
  {
    return; // an array without values may have no memory
  }
  const std::size_t size = bat::size_of(view.type);
  const std::size_t tuple = size * static_cast<std::size_t>(view.components);
  bool packed = view.stride_bytes == tuple;
  for (int c = 0; c < view.components; ++c)
  {
    packed = packed && view.component[c] == view.component[0] + c * size;
  }
  if (packed)
  {
    std::memcpy(out, view.component[0] + first * tuple, count * tuple);
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
  {
    for (int c = 0; c < view.components; ++c)
    {
      std::memcpy(
        out + i * tuple + c * size, view.component[c] + (first + i) * view.stride_bytes, size);
    }
  }
}

template <std::size_t Size>
void GatherComponent(const std::byte* in, std::size_t stride, const std::vector<vtkIdType>& places,
  std::byte* out, std::size_t outStride)
{
  for (std::size_t i = 0; i < places.size(); ++i)
  {
    std::memcpy(out + i * outStride, in + static_cast<std::size_t>(places[i]) * stride, Size);
  }
}

// The tuples at `places`, packed behind one another, bit for bit.
ArrayView GatherTuples(
  const ArrayView& view, const std::vector<vtkIdType>& places, Storage& storage)
{
  const std::size_t size = bat::size_of(view.type);
  const std::size_t tuple = size * static_cast<std::size_t>(view.components);
  std::byte* bytes = Allocate(places.size() * tuple, storage);
  for (int c = 0; c < view.components; ++c)
  {
    const std::byte* in = view.component[c];
    std::byte* out = bytes + c * size;
    switch (size)
    {
      case 1:
        GatherComponent<1>(in, view.stride_bytes, places, out, tuple);
        break;
      case 2:
        GatherComponent<2>(in, view.stride_bytes, places, out, tuple);
        break;
      case 4:
        GatherComponent<4>(in, view.stride_bytes, places, out, tuple);
        break;
      default:
        GatherComponent<8>(in, view.stride_bytes, places, out, tuple);
        break;
    }
  }
  return ArrayView::packed(view.type, view.components, bytes);
}

//------------------------------------------------------------------------------
// Cells

std::string NameOfCells(int type)
{
  switch (type)
  {
    case VTK_LINE:
    case VTK_POLY_LINE:
      return "lines";
    case VTK_TRIANGLE:
    case VTK_TRIANGLE_STRIP:
      return "triangles";
    case VTK_POLYGON:
      return "polygons";
    case VTK_PIXEL:
    case VTK_QUAD:
      return "quadrilaterals";
    case VTK_TETRA:
      return "tetrahedra";
    case VTK_VOXEL:
    case VTK_HEXAHEDRON:
      return "hexahedra";
    case VTK_WEDGE:
      return "wedges";
    case VTK_PYRAMID:
      return "pyramids";
    case VTK_POLYHEDRON:
      return "polyhedra";
    default:
      return "cells of VTK's type " + std::to_string(type);
  }
}

// Not GetDistinctCellTypesArray(): in a VTK without optimization that takes longer than to write
// the particles.
std::set<int> TypesOfCells(vtkUnstructuredGrid* grid)
{
  std::array<bool, 256> found{};
  const vtkIdType count = grid->GetNumberOfCells();
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  const unsigned char* types = count > 0 ? grid->GetCellTypesArray()->GetPointer(0) : nullptr;
  for (vtkIdType i = 0; i < count; ++i)
  {
    found[types[i]] = true;
  }
#else
  for (vtkIdType i = 0; i < count; ++i)
  {
    found[static_cast<unsigned char>(grid->GetCellType(i))] = true;
  }
#endif
  std::set<int> distinct;
  for (int type = 0; type < 256; ++type)
  {
    if (found[static_cast<std::size_t>(type)])
    {
      distinct.insert(type);
    }
  }
  return distinct;
}

// What cells there are besides vertices; none if the points are nothing but particles.
std::vector<std::string> CellsBesideVertices(vtkPointSet* points)
{
  std::set<std::string> names;
  if (vtkPolyData* surface = vtkPolyData::SafeDownCast(points))
  {
    const std::pair<vtkIdType, const char*> kinds[] = { { surface->GetNumberOfLines(), "lines" },
      { surface->GetNumberOfPolys(), "polygons" }, { surface->GetNumberOfStrips(), "triangles" } };
    for (const auto& [count, name] : kinds)
    {
      if (count > 0)
      {
        names.insert(name);
      }
    }
  }
  else if (vtkUnstructuredGrid* grid = vtkUnstructuredGrid::SafeDownCast(points))
  {
    for (const int type : TypesOfCells(grid))
    {
      if (type != VTK_EMPTY_CELL && type != VTK_VERTEX && type != VTK_POLY_VERTEX)
      {
        names.insert(NameOfCells(type));
      }
    }
  }
  else if (points->GetNumberOfCells() > 0)
  {
    names.insert(std::string("cells of a ") + points->GetClassName());
  }
  return { names.begin(), names.end() };
}

// For cells that are all vertices: which one each point is in. Nothing unless each point is in
// exactly one, and no cell is without points.
std::optional<std::vector<vtkIdType>> VertexOfEachPoint(vtkPointSet* points)
{
  vtkCellArray* cells = nullptr;
  if (vtkPolyData* surface = vtkPolyData::SafeDownCast(points))
  {
    cells = surface->GetVerts();
  }
  else if (vtkUnstructuredGrid* grid = vtkUnstructuredGrid::SafeDownCast(points))
  {
    cells = grid->GetCells();
  }
  std::vector<vtkIdType> vertex(static_cast<std::size_t>(points->GetNumberOfPoints()), -1);
  std::size_t found = 0;
  for (vtkIdType cell = 0; cell < (cells ? cells->GetNumberOfCells() : 0); ++cell)
  {
    vtkIdType count = 0;
    const vtkIdType* members = nullptr;
    cells->GetCellAtId(cell, count, members);
    if (count == 0)
    {
      return std::nullopt;
    }
    for (vtkIdType i = 0; i < count; ++i, ++found)
    {
      const std::size_t point = static_cast<std::size_t>(members[i]);
      if (point >= vertex.size() || vertex[point] >= 0)
      {
        return std::nullopt;
      }
      vertex[point] = cell;
    }
  }
  return found == vertex.size() ? std::optional(std::move(vertex)) : std::nullopt;
}

// Values of cells as values of the points that are in them.
struct CellsAsPoints
{
  std::size_t Cells = 0;
  std::vector<vtkIdType> CellOf; ///< of each point; empty if that is its own number

  std::size_t Of(std::size_t point) const
  {
    return this->CellOf.empty() ? point : static_cast<std::size_t>(this->CellOf[point]);
  }
};

std::optional<CellsAsPoints> MapCells(vtkPointSet* points)
{
  std::optional<std::vector<vtkIdType>> vertex = VertexOfEachPoint(points);
  if (!vertex)
  {
    return std::nullopt;
  }
  CellsAsPoints map;
  map.Cells = static_cast<std::size_t>(points->GetNumberOfCells());
  bool same = map.Cells == vertex->size();
  for (std::size_t i = 0; same && i < vertex->size(); ++i)
  {
    same = (*vertex)[i] == static_cast<vtkIdType>(i);
  }
  if (!same)
  {
    map.CellOf = std::move(*vertex);
  }
  return map;
}

//------------------------------------------------------------------------------
// Blocks

struct Run
{
  std::size_t First;
  std::size_t Count;
};

// One data set with points, or one table, as particles.
struct Block
{
  std::string Label;           ///< "block 3 (name)", or empty if the input is not composite
  std::set<std::string> Names; ///< of attributes
  std::size_t Count = 0;
  ArrayView Positions;
  std::vector<AttributeView> Attributes;
  std::vector<Run> Kept; ///< particles that are not ghosts
  std::size_t KeptCount = 0;

  bool KeepsAll() const { return this->KeptCount == this->Count; }
  std::string Where() const { return this->Label.empty() ? "" : this->Label + ": "; }
};

class BlockReader
{
public:
  BlockReader(const bat_vtk::InputOptions& options, bat_vtk::ConvertedInput& result)
    : Options(options)
    , Result(result)
  {
  }

  Block Read(vtkDataObject* data, const std::string& label);

  /// Of the block with this label. What is also said of other blocks is said once.
  void Warn(const std::string& label, const std::string& text);

private:
  struct Coordinate
  {
    vtkDataArray* Array = nullptr; ///< null for "none"
    int Component = 0;
  };

  void ReadPointSet(vtkPointSet* points, Block& block);
  void ReadTable(vtkTable* table, Block& block);
  std::array<Coordinate, 3> FindCoordinates(vtkDataSetAttributes* rows, const Block& block) const;
  std::optional<Coordinate> FindColumn(
    vtkDataSetAttributes* rows, const std::string& text, int axis, std::string& problem) const;
  ArrayView PositionsFrom(const std::array<Coordinate, 3>& coordinates, std::size_t count);
  void FindGhosts(
    vtkDataSetAttributes* data, vtkCellData* cells, const CellsAsPoints& map, Block& block);
  void ReadAttributes(vtkDataSetAttributes* data, const std::set<vtkAbstractArray*>& used,
    const CellsAsPoints* cells, Block& block);

  const bat_vtk::InputOptions& Options;
  bat_vtk::ConvertedInput& Result;
};

vtkUnsignedCharArray* GhostArray(vtkDataSetAttributes* data)
{
  return vtkUnsignedCharArray::SafeDownCast(
    data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName()));
}

//------------------------------------------------------------------------------
Block BlockReader::Read(vtkDataObject* data, const std::string& label)
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
    Refuse(block.Where() + "a " + data->GetClassName() +
      " cannot be written; particles are points (vtkPointSet) or rows of a table (vtkTable)");
  }
  return block;
}

//------------------------------------------------------------------------------
void BlockReader::Warn(const std::string& label, const std::string& text)
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
void BlockReader::ReadPointSet(vtkPointSet* points, Block& block)
{
  block.Count = static_cast<std::size_t>(points->GetNumberOfPoints());
  block.Positions = ArrayView::packed(ScalarType::Float32, 3, nullptr);
  if (points->GetPoints())
  {
    vtkDataArray* array = points->GetPoints()->GetData();
    block.Positions =
      this->PositionsFrom({ { { array, 0 }, { array, 1 }, { array, 2 } } }, block.Count);
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
        (others.empty() ? "; not every point is in exactly one vertex cell" : ""));
  }
}

//------------------------------------------------------------------------------
void BlockReader::ReadTable(vtkTable* table, Block& block)
{
  vtkDataSetAttributes* rows = table->GetRowData();
  block.Count = static_cast<std::size_t>(table->GetNumberOfRows());
  block.Positions = ArrayView::packed(ScalarType::Float32, 3, nullptr);
  std::set<vtkAbstractArray*> used;
  if (rows->GetNumberOfArrays() > 0)
  {
    const std::array<Coordinate, 3> coordinates = this->FindCoordinates(rows, block);
    block.Positions = this->PositionsFrom(coordinates, block.Count);

    // A column of which only some components are coordinates is also an attribute.
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
// The column that `text` names, or nothing and a `problem` in words.
std::optional<BlockReader::Coordinate> BlockReader::FindColumn(
  vtkDataSetAttributes* rows, const std::string& text, int axis, std::string& problem) const
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
    problem = "there is no such column";
    return std::nullopt;
  }
  vtkDataArray* array = rows->GetArray(target.attribute.c_str());
  if (!array || !bat_vtk::ToScalarType(array->GetDataType()))
  {
    problem = "that column holds no numbers";
    return std::nullopt;
  }
  const int components = array->GetNumberOfComponents();
  const int component = target.component.value_or(0);
  if ((!target.component && components != 1) || component < 0 || component >= components)
  {
    problem = "the column " + Quote(target.attribute) + " has " + std::to_string(components) +
      " components; choose one as " + Quote(target.attribute + "[0]") + " and so on";
    return std::nullopt;
  }
  return Coordinate{ array, component };
}

//------------------------------------------------------------------------------
std::array<BlockReader::Coordinate, 3> BlockReader::FindCoordinates(
  vtkDataSetAttributes* rows, const Block& block) const
{
  static const char* const usual[][3] = { { "x", "y", "z" }, { "X", "Y", "Z" },
    { "Points:0", "Points:1", "Points:2" }, { "Points_0", "Points_1", "Points_2" },
    { "Points[0]", "Points[1]", "Points[2]" } };
  static const char* const properties[3] = { "XColumn", "YColumn", "ZColumn" };

  std::vector<std::string> names;
  for (int i = 0; i < rows->GetNumberOfArrays(); ++i)
  {
    const char* name = rows->GetAbstractArray(i)->GetName();
    names.push_back(name ? Quote(name) : "an unnamed column");
  }
  const std::string available = "the table has the columns " + Join(names);

  std::array<Coordinate, 3> found;
  std::string problem;
  bool complete = true;
  for (int axis = 0; axis < 3; ++axis)
  {
    const std::string& chosen = this->Options.Columns[axis];
    if (chosen.empty())
    {
      complete = false;
      continue;
    }
    const std::optional<Coordinate> coordinate = this->FindColumn(rows, chosen, axis, problem);
    if (!coordinate)
    {
      Refuse(block.Where() + properties[axis] + " is " + Quote(chosen) + ", but " + problem + "; " +
        available);
    }
    found[axis] = *coordinate;
  }
  for (const auto& candidates : usual)
  {
    if (complete)
    {
      break;
    }
    std::array<Coordinate, 3> attempt = found;
    complete = true;
    for (int axis = 0; axis < 3; ++axis)
    {
      if (this->Options.Columns[axis].empty())
      {
        const std::optional<Coordinate> coordinate =
          this->FindColumn(rows, candidates[axis], axis, problem);
        complete = complete && coordinate;
        attempt[axis] = coordinate.value_or(Coordinate{});
      }
    }
    if (complete)
    {
      found = attempt;
    }
  }
  if (!complete)
  {
    Refuse(block.Where() +
      "choose the columns of the coordinates (XColumn, YColumn, ZColumn; ZColumn " +
      "may be 'none'): " + available);
  }
  return found;
}

//------------------------------------------------------------------------------
// Borrows where the three coordinates are of one floating-point type and lie in memory as the core
// wants them; else copies. Integers and mixed types become float64.
ArrayView BlockReader::PositionsFrom(
  const std::array<Coordinate, 3>& coordinates, std::size_t count)
{
  const auto sameArray = [&](int axis) {
    return coordinates[axis].Array == coordinates[0].Array && coordinates[axis].Component == axis;
  };
  std::array<ArrayView, 3> views;
  bool allFloat32 = true;
  bool allFloat64 = true;
  bool separate = true;
  for (int axis = 0; axis < 3; ++axis)
  {
    vtkDataArray* array = coordinates[axis].Array;
    if (!array)
    {
      separate = false;
      continue;
    }
    if (static_cast<std::size_t>(array->GetNumberOfTuples()) != count)
    {
      Refuse("the coordinates hold " + std::to_string(array->GetNumberOfTuples()) + " values for " +
        std::to_string(count) + " particles");
    }
    views[axis] =
      axis > 0 && array == coordinates[0].Array ? views[0] : ViewOf(array, this->Result.Storage);
    allFloat32 = allFloat32 && views[axis].type == ScalarType::Float32;
    allFloat64 = allFloat64 && views[axis].type == ScalarType::Float64;
    separate = separate && array->GetNumberOfComponents() == 1 &&
      views[axis].stride_bytes == bat::size_of(views[axis].type);
  }
  if (allFloat32 || allFloat64)
  {
    if (sameArray(0) && sameArray(1) && sameArray(2) &&
      coordinates[0].Array->GetNumberOfComponents() == 3)
    {
      return views[0];
    }
    if (separate)
    {
      return ArrayView::separate(
        views[0].type, { views[0].component[0], views[1].component[0], views[2].component[0] });
    }
  }

  const ScalarType type = allFloat32 ? ScalarType::Float32 : ScalarType::Float64;
  std::byte* bytes = Allocate(3 * count * bat::size_of(type), this->Result.Storage);
  for (int axis = 0; axis < 3; ++axis)
  {
    const Coordinate& coordinate = coordinates[axis];
    if (!coordinate.Array)
    {
      continue; // allocated as zeros
    }
    if (type == ScalarType::Float32)
    {
      ConvertComponent(
        views[axis], coordinate.Component, 0, count, reinterpret_cast<float*>(bytes) + axis, 3);
    }
    else
    {
      ConvertComponent(
        views[axis], coordinate.Component, 0, count, reinterpret_cast<double*>(bytes) + axis, 3);
    }
  }
  return ArrayView::packed(type, 3, bytes);
}

//------------------------------------------------------------------------------
// Finds the particles that are no ghosts, or writes the marks of all. `cells` may be null.
void BlockReader::FindGhosts(
  vtkDataSetAttributes* data, vtkCellData* cells, const CellsAsPoints& map, Block& block)
{
  constexpr unsigned char ghostPoint =
    vtkDataSetAttributes::DUPLICATEPOINT | vtkDataSetAttributes::HIDDENPOINT;
  const auto flagsOf = [](vtkDataSetAttributes* attributes, std::size_t count)
  {
    vtkUnsignedCharArray* flags = attributes ? GhostArray(attributes) : nullptr;
    return flags && static_cast<std::size_t>(flags->GetNumberOfValues()) == count
      ? flags->GetPointer(0)
      : nullptr;
  };
  const unsigned char* ofPoints = flagsOf(data, block.Count);
  const unsigned char* ofCells = flagsOf(cells, map.Cells);
  // Marks of cells have other numbers than those of points.
  const auto flagOf = [&](std::size_t i)
  {
    unsigned char flag = ofPoints ? ofPoints[i] : 0;
    const unsigned char ofCell = ofCells ? ofCells[map.Of(i)] : 0;
    if (ofCell & vtkDataSetAttributes::DUPLICATECELL)
    {
      flag |= vtkDataSetAttributes::DUPLICATEPOINT;
    }
    if (ofCell & vtkDataSetAttributes::HIDDENCELL)
    {
      flag |= vtkDataSetAttributes::HIDDENPOINT;
    }
    return flag;
  };

  if (this->Options.KeepGhosts || (!ofPoints && !ofCells))
  {
    block.Kept = { Run{ 0, block.Count } };
    block.KeptCount = block.Count;
    if (this->Options.KeepGhosts && ofCells)
    {
      AttributeView marks;
      marks.name = vtkDataSetAttributes::GhostArrayName();
      marks.host_type = VTK_UNSIGNED_CHAR;
      std::byte* bytes = Allocate(block.Count, this->Result.Storage);
      for (std::size_t i = 0; i < block.Count; ++i)
      {
        bytes[i] = static_cast<std::byte>(flagOf(i));
      }
      marks.values = ArrayView::packed(ScalarType::UInt8, 1, bytes);
      block.Names.insert(marks.name);
      block.Attributes.push_back(marks);
    }
    return;
  }
  for (std::size_t i = 0; i < block.Count; ++i)
  {
    if ((flagOf(i) & ghostPoint) != 0)
    {
      continue;
    }
    if (!block.Kept.empty() && block.Kept.back().First + block.Kept.back().Count == i)
    {
      ++block.Kept.back().Count;
    }
    else
    {
      block.Kept.push_back(Run{ i, 1 });
    }
    ++block.KeptCount;
  }
}

//------------------------------------------------------------------------------
// Of points or rows, or of `cells`.
void BlockReader::ReadAttributes(vtkDataSetAttributes* data,
  const std::set<vtkAbstractArray*>& used, const CellsAsPoints* cells, Block& block)
{
  const std::size_t tuples = cells ? cells->Cells : block.Count;
  std::set<std::string> taken = block.Names;
  std::set<std::uint8_t> roles;
  for (const AttributeView& attribute : block.Attributes)
  {
    roles.insert(attribute.role);
  }
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    if (const char* name = data->GetAbstractArray(i)->GetName())
    {
      taken.insert(name);
    }
  }

  std::vector<std::string> lost;
  std::set<std::string> own;
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    vtkAbstractArray* abstract = data->GetAbstractArray(i);
    // FindGhosts() has seen to those of cells.
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
      name = (cells ? "cell_array_" : "array_") + std::to_string(i);
      while (!taken.insert(name).second)
      {
        name += "_";
      }
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
    const int components = array->GetNumberOfComponents();
    if (components < 1 || components > bat::kMaxComponents)
    {
      Refuse(block.Where() + "array " + Quote(name) + " has " + std::to_string(components) +
        " components; 1 to " + std::to_string(bat::kMaxComponents) + " can be written");
    }
    if (static_cast<std::size_t>(array->GetNumberOfTuples()) != tuples)
    {
      Refuse(block.Where() + "array " + Quote(name) + " holds " +
        std::to_string(array->GetNumberOfTuples()) + " values for " + std::to_string(tuples) +
        (cells ? " cells" : " particles"));
    }
    if (!own.insert(name).second)
    {
      Refuse(block.Where() + "two arrays are named " + Quote(name));
    }
    if (cells && block.Names.count(name) > 0)
    {
      const std::string ofPoints = name;
      name += "_cell";
      while (!taken.insert(name).second)
      {
        name += "_";
      }
      this->Warn(block.Label,
        "points and cells both have an array " + Quote(ofPoints) +
          "; that of the cells is written as " + Quote(name));
    }
    AttributeView attribute;
    attribute.name = name;
    attribute.values = ViewOf(array, this->Result.Storage);
    if (cells && !cells->CellOf.empty())
    {
      attribute.values = GatherTuples(attribute.values, cells->CellOf, this->Result.Storage);
    }
    attribute.role = static_cast<std::uint8_t>(1 + data->IsArrayAnAttribute(i)); // -1 for no role
    if (cells && roles.count(attribute.role) > 0)
    {
      attribute.role = 0; // e.g. the active scalars are those of the points
    }
    attribute.host_type = static_cast<std::uint32_t>(array->GetDataType());
    block.Names.insert(name);
    block.Attributes.push_back(attribute);
  }
  if (!lost.empty())
  {
    this->Warn(block.Label, "arrays that hold no numbers are not written: " + Join(lost));
  }
}

//------------------------------------------------------------------------------
// Composite data sets

std::string NameIn(vtkInformation* metaData)
{
  return metaData && metaData->Has(vtkCompositeDataSet::NAME())
    ? metaData->Get(vtkCompositeDataSet::NAME())
    : "";
}

struct Leaf
{
  vtkDataObject* Data;
  std::string Name; ///< of the nearest block at or above it that has one
  std::string Path; ///< to its place; that of all partitions of a data set is the same
};

void CollectLeaves(
  vtkDataObject* data, const std::string& name, const std::string& path, std::vector<Leaf>& leaves)
{
  const auto named = [&name](vtkInformation* metaData)
  {
    const std::string own = NameIn(metaData);
    return own.empty() ? name : own;
  };
  if (!data)
  {
    return;
  }
  if (auto* blocks = vtkMultiBlockDataSet::SafeDownCast(data))
  {
    for (unsigned int i = 0; i < blocks->GetNumberOfBlocks(); ++i)
    {
      CollectLeaves(blocks->GetBlock(i),
        named(blocks->HasMetaData(i) ? blocks->GetMetaData(i) : nullptr),
        path + "/" + std::to_string(i), leaves);
    }
  }
  else if (auto* collection = vtkPartitionedDataSetCollection::SafeDownCast(data))
  {
    for (unsigned int i = 0; i < collection->GetNumberOfPartitionedDataSets(); ++i)
    {
      CollectLeaves(collection->GetPartitionedDataSet(i),
        named(collection->HasMetaData(i) ? collection->GetMetaData(i) : nullptr),
        path + "/" + std::to_string(i), leaves);
    }
  }
  else if (auto* partitions = vtkPartitionedDataSet::SafeDownCast(data))
  {
    for (unsigned int i = 0; i < partitions->GetNumberOfPartitions(); ++i)
    {
      CollectLeaves(partitions->GetPartitionAsDataObject(i),
        named(partitions->HasMetaData(i) ? partitions->GetMetaData(i) : nullptr), path, leaves);
    }
  }
  else if (auto* other = vtkCompositeDataSet::SafeDownCast(data))
  {
    vtkSmartPointer<vtkCompositeDataIterator> iterator;
    iterator.TakeReference(other->NewIterator());
    for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem())
    {
      leaves.push_back({ iterator->GetCurrentDataObject(), name, path });
    }
  }
  else
  {
    leaves.push_back({ data, name, path });
  }
}

enum class Kind
{
  Particles,
  Nothing, ///< no points, but room for some
  Grid,    ///< points of cells other than vertices
  Other    ///< neither points nor a table
};

Kind KindOf(vtkDataObject* leaf)
{
  if (vtkTable* table = vtkTable::SafeDownCast(leaf))
  {
    return table->GetNumberOfRows() > 0 ? Kind::Particles : Kind::Nothing;
  }
  vtkPointSet* points = vtkPointSet::SafeDownCast(leaf);
  if (!points)
  {
    return Kind::Other;
  }
  if (!CellsBesideVertices(points).empty())
  {
    return Kind::Grid;
  }
  return points->GetNumberOfPoints() > 0 ? Kind::Particles : Kind::Nothing;
}

std::string LabelOf(std::size_t number, const std::string& name)
{
  return "block " + std::to_string(number) + (name.empty() ? "" : " (" + name + ")");
}

const AttributeView* FindAttribute(const Block& block, const std::string& name)
{
  for (const AttributeView& attribute : block.Attributes)
  {
    if (attribute.name == name)
    {
      return &attribute;
    }
  }
  return nullptr;
}

std::string Describe(const ArrayView& values)
{
  std::string text(bat::name_of(values.type));
  return values.components == 1 ? text : text + " x " + std::to_string(values.components);
}

void CheckSameAttributes(const Block& first, const Block& other)
{
  for (const AttributeView& attribute : first.Attributes)
  {
    const AttributeView* same = FindAttribute(other, attribute.name);
    if (!same)
    {
      Refuse(other.Label + " has no array " + Quote(attribute.name) + ", which is " +
        Describe(attribute.values) + " in " + first.Label);
    }
    if (same->values.type != attribute.values.type ||
      same->values.components != attribute.values.components)
    {
      Refuse("array " + Quote(attribute.name) + " is " + Describe(same->values) + " in " +
        other.Label + " but " + Describe(attribute.values) + " in " + first.Label);
    }
  }
  for (const AttributeView& attribute : other.Attributes)
  {
    if (!FindAttribute(first, attribute.name))
    {
      Refuse(first.Label + " has no array " + Quote(attribute.name) + ", which is " +
        Describe(attribute.values) + " in " + other.Label);
    }
  }
}

// Positions of all kept particles, packed; float64 as soon as one block is.
ArrayView ConcatenatePositions(
  const std::vector<const Block*>& blocks, std::size_t count, Storage& storage)
{
  const bool float32 = std::all_of(blocks.begin(), blocks.end(),
    [](const Block* block) { return block->Positions.type == ScalarType::Float32; });
  const ScalarType type = float32 ? ScalarType::Float32 : ScalarType::Float64;
  const std::size_t tuple = 3 * bat::size_of(type);
  std::byte* bytes = Allocate(count * tuple, storage);
  std::byte* out = bytes;
  for (const Block* block : blocks)
  {
    for (const Run& run : block->Kept)
    {
      if (block->Positions.type == type)
      {
        PackTuples(block->Positions, run.First, run.Count, out);
      }
      else
      {
        for (int axis = 0; axis < 3; ++axis)
        {
          ConvertComponent(
            block->Positions, axis, run.First, run.Count, reinterpret_cast<double*>(out) + axis, 3);
        }
      }
      out += run.Count * tuple;
    }
  }
  return ArrayView::packed(type, 3, bytes);
}

AttributeView ConcatenateAttribute(const std::vector<const Block*>& blocks,
  const AttributeView& first, std::size_t count, Storage& storage)
{
  const std::size_t tuple =
    bat::size_of(first.values.type) * static_cast<std::size_t>(first.values.components);
  std::byte* bytes = Allocate(count * tuple, storage);
  std::byte* out = bytes;
  for (const Block* block : blocks)
  {
    const ArrayView& values = FindAttribute(*block, first.name)->values;
    for (const Run& run : block->Kept)
    {
      PackTuples(values, run.First, run.Count, out);
      out += run.Count * tuple;
    }
  }
  AttributeView attribute = first;
  attribute.values = ArrayView::packed(first.values.type, first.values.components, bytes);
  return attribute;
}

// What the BAT reader says of its particles in its field data.
struct Sample
{
  double Quality;
  double Requested;
  double Count; ///< of all particles
};

std::optional<Sample> SampleIn(vtkDataObject* data)
{
  const auto number = [&](const char* name)
  {
    vtkDataArray* array = data->GetFieldData() ? data->GetFieldData()->GetArray(name) : nullptr;
    const vtkIdType values = array ? array->GetNumberOfValues() : 0;
    return values == 1 || values == 2 ? array->GetComponent(0, 0) : -1.0; // twice from the reader
  };
  const Sample sample{ number("quality"), number("quality_requested"), number("particle_count") };
  const bool isOne = sample.Quality >= 0.0 && sample.Quality < 1.0 && sample.Count >= 0.0;
  return isOne ? std::optional<Sample>(sample) : std::nullopt;
}

// So that a file of a sample does not pass for one of all particles.
std::string MetadataOf(const Sample& sample)
{
  return R"({"sample":{"quality":)" + bat::to_string(sample.Quality) + R"(,"particle_count":)" +
    bat::to_string(static_cast<std::int64_t>(sample.Count)) + "}}";
}

// When less was loaded than was asked for.
std::optional<std::string> RemarkOn(const Sample& sample)
{
  if (sample.Quality >= sample.Requested)
  {
    return std::nullopt;
  }
  std::ostringstream text;
  text << "only a sample is written, quality " << sample.Quality << " of " << std::fixed
       << std::setprecision(0) << sample.Count
       << " particles; for all, set ParticleBudget of the BAT reader to 0 and wait until it has "
          "refined";
  return text.str();
}

std::optional<double> TimeOf(vtkDataObject* data)
{
  vtkInformation* information = data->GetInformation();
  if (information && information->Has(vtkDataObject::DATA_TIME_STEP()))
  {
    return information->Get(vtkDataObject::DATA_TIME_STEP());
  }
  return std::nullopt;
}

std::optional<std::int64_t> StepOf(vtkDataObject* data)
{
  for (const char* name : { "timestep", "cycle" })
  {
    vtkDataArray* array = data->GetFieldData() ? data->GetFieldData()->GetArray(name) : nullptr;
    if (array && array->GetNumberOfValues() == 1)
    {
      // A variant keeps 64-bit integers, which a double would not.
      return array->GetVariantValue(0).ToTypeInt64();
    }
  }
  return std::nullopt;
}
}

//------------------------------------------------------------------------------
bat_vtk::Grids bat_vtk::DecideOnGrids(vtkDataObject* input, const Union& all)
{
  static const char* const particles = "particles";
  static const char* const nothing = "nothing";
  static const char* const grid = "grid";
  std::vector<Leaf> leaves;
  CollectLeaves(input, "", "", leaves);
  std::set<std::string> kinds;
  std::vector<std::string> emptyPlaces;
  std::vector<std::string> gridPlaces;
  for (const Leaf& leaf : leaves)
  {
    switch (KindOf(leaf.Data))
    {
      case Kind::Particles:
        kinds.insert(particles);
        break;
      case Kind::Nothing:
        kinds.insert(nothing);
        emptyPlaces.push_back(leaf.Path);
        break;
      case Kind::Grid:
        kinds.insert(grid);
        gridPlaces.push_back(leaf.Path);
        break;
      case Kind::Other:
        kinds.insert(leaf.Data->GetClassName());
        break;
    }
  }
  const std::vector<std::string> everywhere = all({ kinds.begin(), kinds.end() });
  const auto has = [&](const char* kind)
  { return std::find(everywhere.begin(), everywhere.end(), kind) != everywhere.end(); };
  if (has(particles))
  {
    return Grids::LeaveOut;
  }
  if (!has(nothing) && !has(grid) && !everywhere.empty())
  {
    Refuse("a " + everywhere.front() +
      " cannot be written; particles are points (vtkPointSet) or rows of a table (vtkTable)");
  }
  if (!has(nothing) || !has(grid))
  {
    return Grids::WritePoints;
  }
  // Where one rank has an empty piece of a grid, another has a piece that is not empty.
  const std::vector<std::string> grids = all(gridPlaces);
  const std::vector<std::string> empties = all(emptyPlaces);
  const bool allGrids = std::all_of(empties.begin(), empties.end(),
    [&](const std::string& place)
    { return std::find(grids.begin(), grids.end(), place) != grids.end(); });
  return allGrids ? Grids::WritePoints : Grids::LeaveOut;
}

//------------------------------------------------------------------------------
bat_vtk::ConvertedInput bat_vtk::ConvertInput(vtkDataObject* input, const InputOptions& options)
{
  ConvertedInput result;
  bat::ParticleView& particles = result.Particles;
  particles.positions = ArrayView::packed(ScalarType::Float32, 3, nullptr);

  std::vector<Leaf> leaves;
  CollectLeaves(input, "", "", leaves);
  particles.time = TimeOf(input);
  particles.step = StepOf(input);
  for (const Leaf& leaf : leaves)
  {
    particles.time = particles.time ? particles.time : TimeOf(leaf.Data);
    particles.step = particles.step ? particles.step : StepOf(leaf.Data);
    if (const std::optional<Sample> sample = SampleIn(leaf.Data))
    {
      particles.metadata = particles.metadata.empty() ? MetadataOf(*sample) : particles.metadata;
      const std::optional<std::string> remark = RemarkOn(*sample);
      if (remark && result.Warnings.empty())
      {
        result.Warnings.push_back({ "sample", *remark, "", 1 });
      }
    }
  }

  const bool composite = vtkCompositeDataSet::SafeDownCast(input) != nullptr;
  BlockReader reader(options, result);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < leaves.size(); ++i)
  {
    if (!composite)
    {
      blocks.push_back(reader.Read(leaves[i].Data, ""));
      continue;
    }
    const std::string label = LabelOf(i, leaves[i].Name);
    const Kind kind = KindOf(leaves[i].Data);
    if (kind == Kind::Other)
    {
      reader.Warn(label,
        std::string("is a ") + leaves[i].Data->GetClassName() +
          ", which is not written; particles are points (vtkPointSet) or rows of a table "
          "(vtkTable)");
    }
    else if (kind == Kind::Grid && options.OfGrids == Grids::LeaveOut)
    {
      reader.Warn(label,
        "is a grid, which is not written beside particles: " +
          Join(CellsBesideVertices(vtkPointSet::SafeDownCast(leaves[i].Data))));
    }
    else
    {
      blocks.push_back(reader.Read(leaves[i].Data, label));
    }
  }

  std::vector<const Block*> filled;
  std::size_t count = 0;
  for (const Block& block : blocks)
  {
    if (block.KeptCount > 0)
    {
      filled.push_back(&block);
      count += block.KeptCount;
    }
  }
  if (filled.empty() && !blocks.empty())
  {
    filled.push_back(&blocks.front()); // no particles, but their attributes have names and types
  }
  if (filled.empty())
  {
    return result;
  }

  particles.count = count;
  const Block& first = *filled.front();
  if (filled.size() == 1 && first.KeepsAll())
  {
    particles.positions = first.Positions;
    particles.attributes = first.Attributes;
    return result;
  }
  for (const Block* other : filled)
  {
    CheckSameAttributes(first, *other);
  }
  particles.positions = ConcatenatePositions(filled, count, result.Storage);
  for (const AttributeView& attribute : first.Attributes)
  {
    particles.attributes.push_back(ConcatenateAttribute(filled, attribute, count, result.Storage));
  }
  return result;
}
