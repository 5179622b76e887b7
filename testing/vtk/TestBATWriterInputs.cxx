// SPDX-License-Identifier: BSD-3-Clause
// What the writer takes: tables, composite data sets, ghosts, odd arrays; and what it says about
// them.
#include "vtk_support.hpp"

#include "bat/error.hpp"
#include "bat/file.hpp"
#include "bat/write_options.hpp"

#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkCellType.h"
#include "vtkCompositeDataSet.h"
#include "vtkDataSetAttributes.h"
#include "vtkFieldData.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkIntArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkPartitionedDataSet.h"
#include "vtkPartitionedDataSetCollection.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkStringArray.h"
#include "vtkTable.h"
#include "vtkUnsignedCharArray.h"
#include "vtkUnstructuredGrid.h"

#include <set>
#include <sstream>
#include <type_traits>
#include <vector>

using namespace vtk_support;

namespace
{
template <typename ArrayT>
vtkSmartPointer<ArrayT> Numbers(vtkIdType n, double first, double step, int components = 1)
{
  auto array = vtkSmartPointer<ArrayT>::New();
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(n);
  for (vtkIdType i = 0; i < n; ++i)
  {
    for (int c = 0; c < components; ++c)
    {
      array->SetComponent(i, c, first + step * static_cast<double>(i) + 1000.0 * c);
    }
  }
  return array;
}

template <typename ArrayT>
void AddColumn(vtkTable* table, const char* name, double first, double step, int components = 1)
{
  auto column = Numbers<ArrayT>(100, first, step, components);
  column->SetName(name);
  table->AddColumn(column);
}

vtkSmartPointer<vtkTable> Table()
{
  auto table = vtkSmartPointer<vtkTable>::New();
  AddColumn<vtkTypeInt64Array>(table, "index", 0, 1);
  AddColumn<vtkFloatArray>(table, "x", 0, 1);
  AddColumn<vtkFloatArray>(table, "y", 10, 2);
  AddColumn<vtkFloatArray>(table, "z", 20, 3);
  return table;
}

struct Attempt
{
  int Result;
  unsigned long Code;
  std::string Errors;
  std::string Warnings;
};

Attempt Try(vtkDataObject* data, const std::string& path, const char* x = "", const char* y = "",
  const char* z = "")
{
  vtkNew<vtkBATWriter> writer;
  Messages messages(writer);
  writer->SetInputDataObject(data);
  writer->SetFileName(path.c_str());
  writer->SetXColumn(x);
  writer->SetYColumn(y);
  writer->SetZColumn(z);
  const int result = writer->Write();
  return { result, writer->GetErrorCode(), messages.Errors, messages.Warnings };
}

bool Has(const std::string& text, const std::string& part)
{
  return text.find(part) != std::string::npos;
}

// The points with their attribute "index", as a map to compare.
std::map<std::int64_t, std::vector<double>> PointsOf(const std::string& path)
{
  auto data = Read(path);
  std::map<std::int64_t, std::vector<double>> points;
  for (const auto& [index, place] : PlacesByIndex(data))
  {
    const double* p = data->GetPoint(place);
    points[index] = { p[0], p[1], p[2] };
  }
  return points;
}
}

TEST(BATWriterTable, usual_columns_are_found_and_not_repeated)
{
  const TempDir folder;
  ASSERT_EQ(Try(Table(), folder / "t.bat").Errors, "");
  const auto points = PointsOf(folder / "t.bat");
  ASSERT_EQ(points.size(), 100u);
  EXPECT_EQ(points.at(7), (std::vector<double>{ 7, 24, 41 }));
  auto data = Read(folder / "t.bat");
  EXPECT_EQ(data->GetPoints()->GetDataType(), VTK_FLOAT);
  EXPECT_EQ(data->GetPointData()->GetNumberOfArrays(), 1);
}

TEST(BATWriterTable, chosen_columns_of_mixed_types_become_float64)
{
  const TempDir folder;
  auto table = Table();
  AddColumn<vtkIntArray>(table, "row", 5, 1);
  AddColumn<vtkDoubleArray>(table, "velocity", 0.5, 1, 3);
  ASSERT_EQ(Try(table, folder / "t.bat", "row", "x", "velocity[1]").Errors, "");
  EXPECT_EQ(PointsOf(folder / "t.bat").at(3), (std::vector<double>{ 8, 3, 1003.5 }));
  auto data = Read(folder / "t.bat");
  EXPECT_EQ(data->GetPoints()->GetDataType(), VTK_DOUBLE);
  // y and z were not chosen, and of velocity only one component.
  EXPECT_NE(data->GetPointData()->GetArray("y"), nullptr);
  EXPECT_NE(data->GetPointData()->GetArray("velocity"), nullptr);
  EXPECT_EQ(data->GetPointData()->GetArray("row"), nullptr);
}

TEST(BATWriterTable, integers_that_no_double_holds_are_refused_as_coordinates)
{
  const TempDir folder;
  auto table = Table();
  AddColumn<vtkTypeInt64Array>(table, "row", 5, 1);
  auto* rows = vtkTypeInt64Array::SafeDownCast(table->GetColumnByName("row"));
  rows->SetValue(7, (std::int64_t{ 1 } << 53) + 2);
  EXPECT_EQ(Try(table, folder / "t.bat", "row").Errors, "");
  rows->SetValue(7, (std::int64_t{ 1 } << 53) + 1);
  const Attempt attempt = Try(table, folder / "u.bat", "row");
  EXPECT_TRUE(Has(attempt.Errors, "'row' is the x of particle 7: 9007199254740993"))
    << attempt.Errors;
  EXPECT_FALSE(std::filesystem::exists(folder / "u.bat"));
}

TEST(BATWriterTable, a_column_of_points_is_found)
{
  const TempDir folder;
  auto table = vtkSmartPointer<vtkTable>::New();
  AddColumn<vtkTypeInt64Array>(table, "index", 0, 1);
  AddColumn<vtkDoubleArray>(table, "Points", 0, 1, 3);
  ASSERT_EQ(Try(table, folder / "t.bat").Errors, "");
  EXPECT_EQ(PointsOf(folder / "t.bat").at(3), (std::vector<double>{ 3, 1003, 2003 }));
  EXPECT_EQ(Read(folder / "t.bat")->GetPointData()->GetNumberOfArrays(), 1);
}

TEST(BATWriterTable, z_is_0_only_if_asked_for)
{
  const TempDir folder;
  auto table = vtkSmartPointer<vtkTable>::New();
  AddColumn<vtkTypeInt64Array>(table, "index", 0, 1);
  AddColumn<vtkFloatArray>(table, "x", 0, 1);
  AddColumn<vtkFloatArray>(table, "y", 10, 2);
  const Attempt refused = Try(table, folder / "t.bat");
  EXPECT_EQ(refused.Result, 0);
  EXPECT_TRUE(Has(refused.Errors, "'index', 'x', 'y'")) << refused.Errors;
  EXPECT_FALSE(std::filesystem::exists(folder / "t.bat"));
  ASSERT_EQ(Try(table, folder / "t.bat", "", "", "none").Errors, "");
  EXPECT_EQ(PointsOf(folder / "t.bat").at(7), (std::vector<double>{ 7, 24, 0 }));
}

TEST(BATWriterTable, missing_and_unfit_columns_are_errors_that_name_the_columns)
{
  const TempDir folder;
  auto table = Table();
  vtkNew<vtkStringArray> words;
  words->SetName("word");
  words->SetNumberOfValues(100);
  table->AddColumn(words);
  AddColumn<vtkFloatArray>(table, "v", 0, 1, 3);
  Attempt attempt = Try(table, folder / "t.bat", "lon");
  EXPECT_EQ(attempt.Result, 0);
  EXPECT_EQ(
    attempt.Code, vtkErrorCode::UserError + static_cast<int>(bat::ErrorCode::InvalidArgument));
  EXPECT_TRUE(Has(attempt.Errors, "XColumn is 'lon'")) << attempt.Errors;
  EXPECT_TRUE(Has(attempt.Errors, "'index', 'x', 'y', 'z', 'word', 'v'")) << attempt.Errors;
  attempt = Try(table, folder / "t.bat", "", "word");
  EXPECT_TRUE(Has(attempt.Errors, "is not numeric")) << attempt.Errors;
  attempt = Try(table, folder / "t.bat", "", "", "v");
  EXPECT_TRUE(Has(attempt.Errors, "'v' has 3 components")) << attempt.Errors;
  attempt = Try(table, folder / "t.bat", "none");
  EXPECT_EQ(attempt.Result, 0);
  attempt = Try(table, folder / "t.bat");
  EXPECT_EQ(attempt.Result, 1);
  EXPECT_TRUE(Has(attempt.Warnings, "'word' (string)")) << attempt.Warnings;
}

TEST(BATWriterTable, an_empty_table_is_an_empty_file)
{
  const TempDir folder;
  vtkNew<vtkTable> table;
  ASSERT_EQ(Try(table, folder / "t.bat").Errors, "");
  EXPECT_EQ(Read(folder / "t.bat")->GetNumberOfPoints(), 0);
}

TEST(BATWriterComposite, blocks_of_all_kinds_are_written_one_behind_the_other)
{
  const TempDir folder;
  vtkNew<vtkMultiBlockDataSet> nested;
  nested->SetBlock(0, Cloud(100, VTK_FLOAT, 0, 1));
  nested->SetBlock(1, Cloud(0));
  vtkNew<vtkUnstructuredGrid> grid;
  auto second = Cloud(50, VTK_DOUBLE, 100, 2);
  grid->SetPoints(second->GetPoints());
  grid->GetPointData()->ShallowCopy(second->GetPointData());
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, nested);
  blocks->SetBlock(1, nullptr);
  blocks->SetBlock(2, grid);
  auto table = Table(); // indices 0 to 99 again: shift
  for (vtkIdType i = 0; i < 100; ++i)
  {
    vtkTypeInt64Array::SafeDownCast(table->GetColumnByName("index"))->SetValue(i, 150 + i);
  }
  vtkNew<vtkPartitionedDataSet> partitions;
  vtkNew<vtkPartitionedDataSetCollection> collection;
  partitions->SetPartition(0, Cloud(30, VTK_FLOAT, 250, 3));
  partitions->SetPartition(1, Cloud(20, VTK_FLOAT, 280, 4));
  collection->SetPartitionedDataSet(0, partitions);
  blocks->SetBlock(3, table);
  ASSERT_EQ(Try(blocks, folder / "c.bat").Errors, "");
  const auto points = PointsOf(folder / "c.bat");
  ASSERT_EQ(points.size(), 250u);
  double p[3];
  second->GetPoint(17, p);
  EXPECT_EQ(points.at(117), (std::vector<double>{ p[0], p[1], p[2] })); // float64 as one block is
  EXPECT_EQ(points.at(157), (std::vector<double>{ 7, 24, 41 }));

  ASSERT_EQ(Try(collection, folder / "p.bat").Errors, "");
  auto data = Read(folder / "p.bat");
  EXPECT_EQ(data->GetNumberOfPoints(), 50);
  EXPECT_EQ(data->GetPoints()->GetDataType(), VTK_FLOAT);
  EXPECT_EQ(PlacesByIndex(data).count(299), 1u);
}

TEST(BATWriterComposite, blocks_that_disagree_are_refused_by_name)
{
  const TempDir folder;
  auto a = Cloud(10);
  auto b = Cloud(10, VTK_FLOAT, 10);
  AddArray(a->GetPointData(), Numbers<vtkFloatArray>(10, 0, 1), "mass");
  AddArray(b->GetPointData(), Numbers<vtkDoubleArray>(10, 0, 1), "mass");
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, a);
  blocks->SetBlock(1, b);
  blocks->GetMetaData(0u)->Set(vtkCompositeDataSet::NAME(), "gas");
  blocks->GetMetaData(1u)->Set(vtkCompositeDataSet::NAME(), "stars");
  Attempt attempt = Try(blocks, folder / "c.bat");
  EXPECT_EQ(attempt.Result, 0);
  for (const char* word : { "gas", "stars", "'mass'", "float32", "float64" })
  {
    EXPECT_TRUE(Has(attempt.Errors, word)) << attempt.Errors;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "c.bat"));

  b->GetPointData()->RemoveArray("mass");
  attempt = Try(blocks, folder / "c.bat");
  EXPECT_TRUE(Has(attempt.Errors, "block 1 (stars) has no array 'mass'")) << attempt.Errors;

  b->SetPoints(nullptr); // empty blocks need not agree
  b->GetPointData()->Initialize();
  EXPECT_EQ(Try(blocks, folder / "c.bat").Errors, "");
  EXPECT_EQ(Read(folder / "c.bat")->GetNumberOfPoints(), 10);
}

TEST(BATWriterComposite, other_leaves_are_refused)
{
  const TempDir folder;
  vtkNew<vtkImageData> image;
  image->SetDimensions(2, 2, 2);
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, image);
  const Attempt attempt = Try(blocks, folder / "c.bat");
  EXPECT_EQ(attempt.Result, 0);
  EXPECT_TRUE(Has(attempt.Errors, "vtkImageData")) << attempt.Errors;
}

// A cloud whose first points are the corners of tetrahedra, in an array "index" of float64: no
// block of particles has that.
vtkSmartPointer<vtkUnstructuredGrid> Tetrahedra(vtkIdType n = 100)
{
  auto cloud = Cloud(n, VTK_DOUBLE, 1000);
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  grid->SetPoints(cloud->GetPoints());
  AddArray(grid->GetPointData(), Numbers<vtkDoubleArray>(n, 1000, 1), "index");
  grid->Allocate(2);
  for (vtkIdType first : { 0, 4 })
  {
    const vtkIdType corners[4] = { first, first + 1, first + 2, first + 3 };
    grid->InsertNextCell(VTK_TETRA, 4, corners);
  }
  return grid;
}

TEST(BATWriterComposite, grids_beside_particles_are_left_out_and_that_is_said_once)
{
  const TempDir folder;
  vtkNew<vtkImageData> image;
  image->SetDimensions(2, 2, 2);
  auto cloud = Cloud(10);
  vtkNew<vtkPolyData> lines; // with the arrays of particles
  lines->ShallowCopy(Cloud(5, VTK_FLOAT, 500));
  vtkNew<vtkCellArray> line;
  const vtkIdType ends[2] = { 0, 1 };
  line->InsertNextCell(2, ends);
  lines->SetLines(line);
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, Tetrahedra());
  blocks->SetBlock(1, cloud);
  blocks->SetBlock(2, image);
  blocks->SetBlock(3, Tetrahedra());
  blocks->SetBlock(4, lines);
  blocks->GetMetaData(0u)->Set(vtkCompositeDataSet::NAME(), "mesh");

  vtkNew<vtkBATWriter> writer;
  Messages messages(writer);
  writer->SetInputDataObject(blocks);
  std::size_t reported = 0;
  for (const char* name : { "s0.bat", "s1.bat" })
  {
    writer->SetFileName((folder / name).c_str());
    ASSERT_EQ(writer->Write(), 1) << messages.Errors;
    const auto points = PointsOf(folder / name);
    ASSERT_EQ(points.size(), 10u);
    EXPECT_EQ(points.begin()->first, 0);
    reported = reported ? reported : messages.Warnings.size();
  }
  EXPECT_TRUE(Has(messages.Warnings,
    "block 0 (mesh) and others: is a grid, which is not written alongside particles: tetrahedra"))
    << messages.Warnings;
  EXPECT_TRUE(Has(messages.Warnings, "not written alongside particles: lines"))
    << messages.Warnings;
  EXPECT_TRUE(Has(messages.Warnings, "block 2: is a vtkImageData, which is not written"))
    << messages.Warnings;
  EXPECT_EQ(messages.Warnings.size(), reported);

  // When there are no particles any more, the grids are no particles either.
  blocks->SetBlock(1, nullptr);
  blocks->Modified();
  ASSERT_EQ(writer->Write(), 1) << messages.Errors;
  EXPECT_EQ(Read(folder / "s1.bat")->GetNumberOfPoints(), 0);

  vtkNew<vtkPolyData> room;
  blocks->SetBlock(1, room);
  ASSERT_EQ(Try(blocks, folder / "e.bat").Errors, "");
  EXPECT_EQ(Read(folder / "e.bat")->GetNumberOfPoints(), 0);
}

TEST(BATWriterComposite, grids_alone_give_their_points)
{
  const TempDir folder;
  vtkNew<vtkUnstructuredGrid> empty; // as ranks have them whose piece is empty
  vtkNew<vtkPartitionedDataSet> pieces;
  pieces->SetPartition(0, empty);
  pieces->SetPartition(1, Tetrahedra());
  vtkNew<vtkPartitionedDataSetCollection> collection;
  collection->SetPartitionedDataSet(0, pieces);
  for (vtkDataObject* data :
    { static_cast<vtkDataObject*>(pieces), static_cast<vtkDataObject*>(collection) })
  {
    const Attempt attempt = Try(data, folder / "g.bat");
    EXPECT_EQ(attempt.Result, 1) << attempt.Errors;
    EXPECT_TRUE(Has(attempt.Warnings, "cells are not written, only their points: tetrahedra"))
      << attempt.Warnings;
    EXPECT_EQ(Read(folder / "g.bat")->GetNumberOfPoints(), 100);
  }
}

TEST(BATWriterComposite, null_and_empty_blocks_of_every_kind_are_skipped)
{
  const TempDir folder;
  vtkNew<vtkPolyData> empty;
  vtkNew<vtkPartitionedDataSet> partitions;
  partitions->SetNumberOfPartitions(4);
  partitions->SetPartition(1, empty);
  partitions->SetPartition(2, Cloud(10));
  vtkNew<vtkPartitionedDataSet> none;
  vtkNew<vtkPartitionedDataSetCollection> collection;
  collection->SetPartitionedDataSet(0, none);
  collection->SetPartitionedDataSet(1, partitions);
  vtkNew<vtkMultiBlockDataSet> inner;
  inner->SetNumberOfBlocks(2);
  inner->SetBlock(1, Cloud(10));
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetNumberOfBlocks(3);
  blocks->SetBlock(0, inner);
  blocks->SetBlock(2, empty);
  for (vtkDataObject* data : { static_cast<vtkDataObject*>(partitions),
         static_cast<vtkDataObject*>(collection), static_cast<vtkDataObject*>(blocks) })
  {
    Write(data, folder / "blocks.bat");
    EXPECT_EQ(PlacesByIndex(Read(folder / "blocks.bat")).size(), 10u) << data->GetClassName();
  }
  Write(none, folder / "none.bat");
  EXPECT_EQ(Read(folder / "none.bat")->GetNumberOfPoints(), 0);
}

// Every third particle is a ghost.
vtkSmartPointer<vtkPolyData> CloudWithGhosts()
{
  auto cloud = Cloud(100);
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetNumberOfValues(100);
  for (int i = 0; i < 100; ++i)
  {
    ghosts->SetValue(i,
      i % 3 == 0 ? static_cast<unsigned char>(i % 2 == 0 ? vtkDataSetAttributes::DUPLICATEPOINT
                                                         : vtkDataSetAttributes::HIDDENPOINT)
                 : static_cast<unsigned char>(0));
  }
  AddArray(cloud->GetPointData(), ghosts, vtkDataSetAttributes::GhostArrayName());
  return cloud;
}

TEST(BATWriterArrays, ghost_points_are_written_on_demand)
{
  const TempDir folder;
  auto cloud = CloudWithGhosts();
  vtkNew<vtkBATWriter> writer;
  writer->SetInputDataObject(cloud);
  writer->SetFileName((folder / "g.bat").c_str());
  writer->WriteGhostParticlesOn();
  ASSERT_EQ(writer->Write(), 1);
  auto data = Read(folder / "g.bat");
  const char* name = vtkDataSetAttributes::GhostArrayName();
  vtkDataArray* marks = data->GetPointData()->GetArray(name);
  ASSERT_NE(marks, nullptr);
  for (const auto& [index, place] : PlacesByIndex(data))
  {
    EXPECT_EQ(
      marks->GetComponent(place, 0), cloud->GetPointData()->GetArray(name)->GetComponent(index, 0));
  }
  EXPECT_EQ(data->GetNumberOfPoints(), 100);
}

TEST(BATWriterArrays, ghost_points_are_left_out)
{
  const TempDir folder;
  auto cloud = CloudWithGhosts();
  ASSERT_EQ(Try(cloud, folder / "g.bat").Errors, "");
  auto data = Read(folder / "g.bat");
  ASSERT_EQ(data->GetNumberOfPoints(), 66);
  EXPECT_EQ(data->GetPointData()->GetNumberOfArrays(), 1);
  for (const auto& [index, place] : PlacesByIndex(data))
  {
    EXPECT_NE(index % 3, 0);
    double p[3];
    cloud->GetPoint(index, p);
    EXPECT_EQ(p[1], data->GetPoint(place)[1]);
  }
}

TEST(BATWriterCells, cells_that_are_no_vertices_are_said)
{
  const TempDir folder;
  Attempt attempt = Try(Tetrahedra(), folder / "g.bat");
  EXPECT_EQ(attempt.Result, 1) << attempt.Errors;
  EXPECT_TRUE(Has(attempt.Warnings, "cells are not written, only their points: tetrahedra"))
    << attempt.Warnings;
  EXPECT_EQ(Read(folder / "g.bat")->GetNumberOfPoints(), 100);

  auto grid = Tetrahedra();
  AddArray(grid->GetCellData(), Numbers<vtkFloatArray>(2, 0, 1), "volume");
  attempt = Try(grid, folder / "g.bat");
  EXPECT_TRUE(Has(attempt.Warnings, "cell data is not written, only point data: 'volume'"))
    << attempt.Warnings;
}

// A cloud with a vertex cell for each point, those of the last points first, and cell data that
// follows from "index".
vtkSmartPointer<vtkDataSet> VertexCells(bool asGrid, vtkIdType n, bool backwards)
{
  auto cloud = Cloud(n);
  vtkNew<vtkCellArray> cells;
  vtkNew<vtkTypeInt64Array> weight;
  vtkNew<vtkFloatArray> momentum;
  momentum->SetNumberOfComponents(2);
  for (vtkIdType i = 0; i < n; ++i)
  {
    const vtkIdType point = backwards ? n - 1 - i : i;
    cells->InsertNextCell(1, &point);
    weight->InsertNextValue(9007199254740993 + point);
    momentum->InsertNextTuple2(static_cast<double>(point), 0.5 * static_cast<double>(point));
  }
  vtkSmartPointer<vtkPointSet> data = cloud;
  if (asGrid)
  {
    auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
    grid->SetPoints(cloud->GetPoints());
    grid->GetPointData()->ShallowCopy(cloud->GetPointData());
    grid->SetCells(VTK_VERTEX, cells);
    data = grid;
  }
  else
  {
    cloud->SetVerts(cells);
  }
  AddArray(data->GetCellData(), weight, "weight");
  AddArray(data->GetCellData(), momentum, "momentum");
  return data;
}

TEST(BATWriterCells, data_of_vertices_is_that_of_their_points)
{
  const TempDir folder;
  for (const bool asGrid : { false, true })
  {
    for (const bool backwards : { false, true })
    {
      Write(VertexCells(asGrid, 100, backwards), folder / "v.bat");
      auto data = Read(folder / "v.bat");
      auto* weight = vtkTypeInt64Array::SafeDownCast(data->GetPointData()->GetArray("weight"));
      auto* momentum = vtkFloatArray::SafeDownCast(data->GetPointData()->GetArray("momentum"));
      ASSERT_NE(weight, nullptr);
      ASSERT_NE(momentum, nullptr);
      ASSERT_EQ(data->GetNumberOfPoints(), 100);
      for (const auto& [index, place] : PlacesByIndex(data))
      {
        EXPECT_EQ(weight->GetValue(place), 9007199254740993 + index);
        EXPECT_EQ(momentum->GetComponent(place, 1), 0.5 * static_cast<double>(index));
      }
    }
  }
}

TEST(BATWriterCells, data_of_a_poly_vertex_is_that_of_all_its_points)
{
  const TempDir folder;
  auto cloud = Cloud(10);
  vtkNew<vtkCellArray> cells;
  const vtkIdType members[2][5] = { { 9, 1, 7, 3, 5 }, { 0, 2, 4, 6, 8 } };
  cells->InsertNextCell(5, members[0]);
  cells->InsertNextCell(5, members[1]);
  cloud->SetVerts(cells);
  AddArray(cloud->GetCellData(), Numbers<vtkFloatArray>(2, 20, 1), "parity");
  Write(cloud, folder / "p.bat");
  auto data = Read(folder / "p.bat");
  ASSERT_NE(data->GetPointData()->GetArray("parity"), nullptr);
  for (const auto& [index, place] : PlacesByIndex(data))
  {
    EXPECT_EQ(data->GetPointData()->GetArray("parity")->GetComponent(place, 0),
      index % 2 == 1 ? 20.0 : 21.0);
  }
}

TEST(BATWriterCells, data_of_vertices_that_are_not_one_per_point_is_said_to_be_lost)
{
  const TempDir folder;
  const std::vector<std::vector<vtkIdType>> vertices[] = {
    { { 0 }, { 1 } },        // not of all points
    { { 0 }, { 1 }, { 1 } }, // one point twice
    { { 0, 1, 2 }, {} },     // a cell without a point
  };
  for (const auto& cells : vertices)
  {
    auto cloud = Cloud(3);
    vtkNew<vtkCellArray> array;
    for (const std::vector<vtkIdType>& cell : cells)
    {
      array->InsertNextCell(static_cast<vtkIdType>(cell.size()), cell.data());
    }
    cloud->SetVerts(array);
    AddArray(cloud->GetCellData(),
      Numbers<vtkFloatArray>(static_cast<vtkIdType>(cells.size()), 0, 1), "w");
    const Attempt attempt = Try(cloud, folder / "v.bat");
    EXPECT_EQ(attempt.Result, 1) << attempt.Errors;
    EXPECT_TRUE(Has(attempt.Warnings,
      "cell data is not written, only point data: 'w'; this requires that every point is in "
      "exactly one vertex"))
      << attempt.Warnings;
    EXPECT_EQ(Read(folder / "v.bat")->GetPointData()->GetNumberOfArrays(), 1);
  }
}

TEST(BATWriterCells, an_array_that_points_and_cells_both_have_is_written_twice)
{
  const TempDir folder;
  auto cloud = VertexCells(false, 10, true);
  AddArray(cloud->GetPointData(), Numbers<vtkFloatArray>(10, 0, 1), "weight");
  AddArray(cloud->GetPointData(), Numbers<vtkFloatArray>(10, 0, 1), "momentum_cell");
  AddArray(cloud->GetPointData(), Numbers<vtkFloatArray>(10, 0, 1), "momentum");
  const Attempt attempt = Try(cloud, folder / "v.bat");
  EXPECT_EQ(attempt.Result, 1) << attempt.Errors;
  EXPECT_TRUE(Has(attempt.Warnings,
    "points and cells both have an array 'weight'; the cell array is written as 'weight_cell'"))
    << attempt.Warnings;
  EXPECT_TRUE(Has(attempt.Warnings, "written as 'momentum_cell_'")) << attempt.Warnings;
  auto data = Read(folder / "v.bat");
  EXPECT_EQ(data->GetPointData()->GetNumberOfArrays(), 6);
  auto* weight = vtkTypeInt64Array::SafeDownCast(data->GetPointData()->GetArray("weight_cell"));
  ASSERT_NE(weight, nullptr);
  for (const auto& [index, place] : PlacesByIndex(data))
  {
    EXPECT_EQ(weight->GetValue(place), 9007199254740993 + index);
    EXPECT_EQ(data->GetPointData()->GetArray("weight")->GetComponent(place, 0), index);
  }
}

TEST(BATWriterCells, vertices_that_are_ghosts_are_left_out)
{
  const TempDir folder;
  for (const bool keep : { false, true })
  {
    auto cloud = VertexCells(false, 8, true); // cell i is of point 7 - i
    vtkNew<vtkUnsignedCharArray> ghosts;
    for (const unsigned char flag : { 0, static_cast<int>(vtkDataSetAttributes::DUPLICATECELL), 0,
           static_cast<int>(vtkDataSetAttributes::HIDDENCELL), 0, 0, 0, 0 })
    {
      ghosts->InsertNextValue(flag);
    }
    AddArray(cloud->GetCellData(), ghosts, vtkDataSetAttributes::GhostArrayName());
    vtkNew<vtkUnsignedCharArray> ofPoints;
    ofPoints->SetNumberOfValues(8);
    ofPoints->Fill(0);
    ofPoints->SetValue(0, vtkDataSetAttributes::HIDDENPOINT);
    AddArray(cloud->GetPointData(), ofPoints, vtkDataSetAttributes::GhostArrayName());
    vtkNew<vtkBATWriter> writer;
    Messages messages(writer);
    writer->SetInputDataObject(cloud);
    writer->SetFileName((folder / "g.bat").c_str());
    writer->SetWriteGhostParticles(keep);
    ASSERT_EQ(writer->Write(), 1) << messages.Errors;
    EXPECT_EQ(messages.Warnings, "");
    auto data = Read(folder / "g.bat");
    std::map<std::int64_t, vtkIdType> places = PlacesByIndex(data);
    std::set<std::int64_t> found;
    for (const auto& [index, place] : places)
    {
      found.insert(index);
    }
    if (!keep)
    {
      EXPECT_EQ(found, (std::set<std::int64_t>{ 1, 2, 3, 5, 7 }));
      continue;
    }
    ASSERT_EQ(found.size(), 8u);
    vtkDataArray* marks = data->GetPointData()->GetArray(vtkDataSetAttributes::GhostArrayName());
    ASSERT_NE(marks, nullptr);
    EXPECT_EQ(marks->GetComponent(places[0], 0), vtkDataSetAttributes::HIDDENPOINT);
    EXPECT_EQ(marks->GetComponent(places[6], 0), vtkDataSetAttributes::DUPLICATEPOINT);
    EXPECT_EQ(marks->GetComponent(places[4], 0), vtkDataSetAttributes::HIDDENPOINT);
    EXPECT_EQ(marks->GetComponent(places[5], 0), 0);
  }
}

TEST(BATWriterArrays, what_is_not_written_is_said)
{
  const TempDir folder;
  auto cloud = Cloud(10);
  vtkNew<vtkStringArray> words;
  words->SetNumberOfValues(10);
  AddArray(cloud->GetPointData(), words, "word");
  vtkNew<vtkCellArray> cells;
  const vtkIdType ends[2] = { 0, 1 };
  cells->InsertNextCell(2, ends);
  cloud->SetLines(cells);
  AddArray(cloud->GetCellData(), Numbers<vtkFloatArray>(1, 0, 1), "length");
  cloud->GetPointData()->AddArray(Numbers<vtkFloatArray>(10, 0, 1));
  const Attempt attempt = Try(cloud, folder / "w.bat");
  EXPECT_EQ(attempt.Result, 1) << attempt.Errors;
  EXPECT_TRUE(Has(attempt.Warnings, "'word' (string)")) << attempt.Warnings;
  EXPECT_TRUE(Has(attempt.Warnings, "cell data is not written, only point data: 'length'"))
    << attempt.Warnings;
  EXPECT_TRUE(Has(attempt.Warnings, "'array_2'")) << attempt.Warnings;
  EXPECT_NE(Read(folder / "w.bat")->GetPointData()->GetArray("array_2"), nullptr);
}

TEST(BATWriterArrays, what_is_not_written_is_said_once)
{
  const TempDir folder;
  auto cloud = Cloud(10);
  vtkNew<vtkStringArray> words;
  words->SetNumberOfValues(10);
  AddArray(cloud->GetPointData(), words, "word");
  vtkNew<vtkBATWriter> writer;
  Messages messages(writer);
  writer->SetInputDataObject(cloud);
  for (const char* name : { "step_0.bat", "step_1.bat" })
  {
    writer->SetFileName((folder / name).c_str());
    EXPECT_EQ(writer->Write(), 1);
  }
  EXPECT_TRUE(Has(messages.Warnings, "step_0.bat")) << messages.Warnings;
  EXPECT_FALSE(Has(messages.Warnings, "step_1.bat")) << messages.Warnings;
}

TEST(BATWriterTime, requested_time_is_that_of_data_without_one)
{
  const TempDir folder;
  auto cloud = Cloud(10);
  vtkNew<vtkBATWriter> writer;
  writer->SetInputDataObject(cloud);
  writer->SetFileName((folder / "t.bat").c_str());
  writer->GetInputInformation(0, 0)->Set(vtkStreamingDemandDrivenPipeline::UPDATE_TIME_STEP(), 3.5);
  ASSERT_EQ(writer->Write(), 1);
  EXPECT_EQ(bat::File::open(folder / "t.bat").time(), 3.5);

  cloud->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), 2.5);
  ASSERT_EQ(writer->Write(), 1);
  EXPECT_EQ(bat::File::open(folder / "t.bat").time(), 2.5);
}

TEST(BATWriterTime, step_is_that_of_the_field_data)
{
  const TempDir folder;
  const std::int64_t step = 9007199254740993; // no double has this value
  auto cloud = Cloud(10);
  Write(cloud, folder / "t.bat");
  EXPECT_EQ(bat::File::open(folder / "t.bat").step(), std::nullopt);

  vtkNew<vtkPartitionedDataSet> partitions;
  partitions->SetPartition(1, cloud);
  for (vtkDataObject* holder :
    { static_cast<vtkDataObject*>(cloud), static_cast<vtkDataObject*>(partitions) })
  {
    vtkNew<vtkTypeInt64Array> cycle;
    cycle->SetName("cycle");
    cycle->InsertNextValue(step);
    holder->GetFieldData()->AddArray(cycle);
    Write(partitions, folder / "t.bat");
    EXPECT_EQ(bat::File::open(folder / "t.bat").step(), step);
    if (holder == partitions)
    {
      vtkNew<vtkBATWriter> writer;
      writer->SetInputDataObject(holder);
      writer->SetFileName((folder / "t.bat").c_str());
      writer->SetTimeStep(7);
      EXPECT_EQ(writer->Write(), 1);
      EXPECT_EQ(bat::File::open(folder / "t.bat").step(), step);
      holder->GetFieldData()->Initialize();
      EXPECT_EQ(writer->Write(), 1);
      EXPECT_EQ(bat::File::open(folder / "t.bat").step(), 7);
    }
    holder->GetFieldData()->Initialize();
  }
}

TEST(BATWriterArrays, arrays_without_room_are_refused)
{
  const TempDir folder;
  auto cloud = Cloud(10);
  AddArray(cloud->GetPointData(), Numbers<vtkFloatArray>(10, 0, 1, 10), "wide");
  Attempt attempt = Try(cloud, folder / "a.bat");
  EXPECT_EQ(attempt.Result, 0);
  EXPECT_TRUE(Has(attempt.Errors, "'wide' has 10 components; allowed are 1 to 9"))
    << attempt.Errors;
  EXPECT_TRUE(Has(attempt.Errors, "a.bat")) << attempt.Errors;

  auto twins = Cloud(10);
  twins->GetPointData()->AddArray(Numbers<vtkFloatArray>(10, 0, 1));
  auto twin = Numbers<vtkFloatArray>(10, 0, 1);
  twins->GetPointData()->AddArray(twin);
  twins->GetPointData()->GetArray(1)->SetName("m");
  twins->GetPointData()->GetArray(2)->SetName("m");
  attempt = Try(twins, folder / "a.bat");
  EXPECT_TRUE(Has(attempt.Errors, "two arrays are named 'm'")) << attempt.Errors;

  auto uneven = Cloud(10);
  AddArray(uneven->GetPointData(), Numbers<vtkFloatArray>(7, 0, 1), "short");
  attempt = Try(uneven, folder / "a.bat");
  EXPECT_TRUE(Has(attempt.Errors, "'short' holds 7 values for 10 particles")) << attempt.Errors;
  EXPECT_FALSE(std::filesystem::exists(folder / "a.bat"));
}

TEST(BATWriterArrays, options_of_the_core_are_set_by_their_names)
{
  const TempDir folder;
  vtkNew<vtkBATWriter> writer;
  writer->SetInputDataObject(Cloud(10000));
  writer->SetFileName((folder / "o.bat").c_str());
  for (const bat::OptionInfo& info : bat::option_table())
  {
    const char* name = info.name.c_str();
    std::visit(
      [&](const auto& value)
      {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>)
        {
          writer->SetTextOption(name, value.c_str());
        }
        else if constexpr (std::is_same_v<T, double>)
        {
          writer->SetRealOption(name, value);
        }
        else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t>)
        {
          writer->SetIntegerOption(name, static_cast<int>(value));
        }
      },
      info.standard);
  }
  writer->SetTextOption("sorted_indexes", "nothing");
  writer->ClearTextOption("sorted_indexes");
  writer->SetTextOption("sorted_indexes", "index");
  writer->SetIntegerOption("block_particles", 64);
  writer->SetIntegerOption("treelet_particles", 512);
  writer->SetTextOption("mode", "aug");
  EXPECT_EQ(writer->GetBlockParticles(), 64);
  EXPECT_EQ(writer->GetTreeletParticles(), 512);
  EXPECT_EQ(writer->GetAggregation(), vtkBATWriter::UNIFORM_GRID);
  const vtkMTimeType before = writer->GetMTime();
  writer->SetIntegerOption("block_particles", 64);
  EXPECT_EQ(writer->GetMTime(), before);
  writer->SetIntegerOption("block_particles", 128);
  EXPECT_GT(writer->GetMTime(), before);
  ASSERT_EQ(writer->Write(), 1);
  const bat::File file = bat::File::open(folder / "o.bat");
  EXPECT_EQ(file.block_particles(), 128u);
  for (const bat::Attribute& attribute : file.attributes())
  {
    EXPECT_EQ(attribute.keys[0].has_sorted_index, attribute.name == "index");
  }
}

TEST(BATWriterArrays, options_reach_the_file)
{
  const TempDir folder;
  vtkNew<vtkBATWriter> writer;
  writer->SetInputDataObject(Cloud(10000));
  writer->SetFileName((folder / "o.bat").c_str());
  writer->SetBlockParticles(64);
  writer->SetTreeletParticles(512);
  writer->AddSortedIndex("nothing");
  writer->ClearSortedIndexes();
  writer->AddSortedIndex("index");
  writer->AddSortedIndex("");
  ASSERT_EQ(writer->Write(), 1);
  const bat::File file = bat::File::open(folder / "o.bat");
  EXPECT_EQ(file.block_particles(), 64u);
  EXPECT_GE(file.treelet_count(), 20u);
  for (const bat::Attribute& attribute : file.attributes())
  {
    EXPECT_EQ(attribute.keys[0].has_sorted_index, attribute.name == "index");
  }

  std::ostringstream text;
  writer->Print(text);
  for (const char* word : { "FileName: /", "XColumn", "YColumn", "ZColumn", "BlockParticles: 64",
         "TreeletParticles: 512", "SortedIndexes: index" })
  {
    EXPECT_TRUE(Has(text.str(), word)) << word;
  }
}
