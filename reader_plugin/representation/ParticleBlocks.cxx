#include "ParticleBlocks.h"

#include "vtkBATReader.h"

#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkDoubleArray.h"
#include "vtkFieldData.h"
#include "vtkIdTypeArray.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace
{
// Rows first, first + stride, ... of an array.
vtkSmartPointer<vtkDataArray> Rows(
  vtkDataArray* array, vtkIdType first, vtkIdType count, vtkIdType stride)
{
  auto rows = vtkSmartPointer<vtkDataArray>::Take(array->NewInstance());
  rows->SetName(array->GetName());
  rows->SetNumberOfComponents(array->GetNumberOfComponents());
  rows->CopyComponentNames(array);
  rows->SetNumberOfTuples(count);
  // Bits are not bytes, and an implicit array has no memory.
  const bool plain = array->HasStandardMemoryLayout() && array->GetDataType() != VTK_BIT;
  if (!plain)
  {
    for (vtkIdType row = 0; row < count; ++row)
    {
      rows->SetTuple(row, first + row * stride, array);
    }
    return rows;
  }
  const std::size_t bytes =
    static_cast<std::size_t>(array->GetDataTypeSize()) * array->GetNumberOfComponents();
  const auto* from = static_cast<const char*>(array->GetVoidPointer(0)) + first * bytes;
  auto* to = static_cast<char*>(rows->GetVoidPointer(0));
  if (stride == 1)
  {
    std::memcpy(to, from, count * bytes);
    return rows;
  }
  for (vtkIdType row = 0; row < count; ++row)
  {
    std::memcpy(to + row * bytes, from + row * stride * bytes, bytes);
  }
  return rows;
}

vtkSmartPointer<vtkPoints> PointsOf(vtkDataArray* positions)
{
  auto points = vtkSmartPointer<vtkPoints>::New();
  points->SetDataType(positions->GetDataType());
  points->SetData(positions);
  return points;
}

void AddVertices(vtkPolyData* block)
{
  const vtkIdType count = block->GetNumberOfPoints();
  vtkNew<vtkIdTypeArray> offsets;
  offsets->SetNumberOfValues(count + 1);
  std::iota(offsets->GetPointer(0), offsets->GetPointer(0) + count + 1, 0);
  vtkNew<vtkIdTypeArray> points;
  points->SetNumberOfValues(count);
  std::iota(points->GetPointer(0), points->GetPointer(0) + count, 0);
  vtkNew<vtkCellArray> vertices;
  vertices->SetData(offsets, points);
  block->SetVerts(vertices);
}

vtkSmartPointer<vtkPolyData> MakeBlock(
  vtkPolyData* particles, vtkIdType first, vtkIdType count, vtkIdType stride = 1)
{
  auto block = vtkSmartPointer<vtkPolyData>::New();
  if (count == particles->GetNumberOfPoints())
  {
    block->SetPoints(particles->GetPoints());
    block->GetPointData()->ShallowCopy(particles->GetPointData());
    return block;
  }
  block->SetPoints(PointsOf(Rows(particles->GetPoints()->GetData(), first, count, stride)));
  vtkPointData* from = particles->GetPointData();
  for (int i = 0; i < from->GetNumberOfArrays(); ++i)
  {
    if (vtkDataArray* array = from->GetArray(i))
    {
      block->GetPointData()->AddArray(Rows(array, first, count, stride));
    }
  }
  return block;
}

// The block with the attributes that the particles have now: itself, if these are its own.
vtkSmartPointer<vtkPolyData> WithAttributes(
  vtkPolyData* block, vtkPolyData* particles, vtkIdType first)
{
  vtkPointData* wanted = particles->GetPointData();
  vtkPointData* there = block->GetPointData();
  auto changed = vtkSmartPointer<vtkPolyData>::New();
  changed->SetPoints(block->GetPoints());
  changed->SetVerts(block->GetVerts());
  int kept = 0;
  for (int i = 0; i < wanted->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* array = wanted->GetArray(i);
    if (!array)
    {
      continue;
    }
    if (vtkDataArray* old = there->GetArray(array->GetName()))
    {
      changed->GetPointData()->AddArray(old);
      ++kept;
      continue;
    }
    changed->GetPointData()->AddArray(Rows(array, first, block->GetNumberOfPoints(), 1));
  }
  const bool same = kept == there->GetNumberOfArrays() &&
    kept == changed->GetPointData()->GetNumberOfArrays();
  return same ? vtkSmartPointer<vtkPolyData>(block) : changed;
}
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkMultiBlockDataSet> bat_vtk::ParticleBlocks::Update(
  vtkPolyData* particles, bool vertices)
{
  const vtkIdType count = particles->GetNumberOfPoints();
  double load = 0.0;
  std::vector<vtkIdType> ends;
  vtkDataArray* positions = count > 0 ? particles->GetPoints()->GetData() : nullptr;
  if (positions && positions->HasInformation() &&
    positions->GetInformation()->Has(vtkBATReader::LOAD_STEPS()))
  {
    vtkInformation* info = positions->GetInformation();
    const double* steps = info->Get(vtkBATReader::LOAD_STEPS());
    load = steps[0];
    for (int i = 1; i < info->Length(vtkBATReader::LOAD_STEPS()); ++i)
    {
      ends.push_back(static_cast<vtkIdType>(steps[i]));
    }
  }
  if (count > 0 && (ends.empty() || ends.back() != count))
  {
    load = 0.0;
    ends.assign(1, count);
  }

  std::vector<vtkSmartPointer<vtkPolyData>> blocks;
  bool same = load != 0.0 && load == this->Load;
  for (std::size_t i = 0; i < ends.size(); ++i)
  {
    const vtkIdType first = i == 0 ? 0 : ends[i - 1];
    same = same && i < this->Ends.size() && this->Ends[i] == ends[i] &&
      (this->Blocks[i]->GetNumberOfVerts() > 0) == vertices;
    if (same)
    {
      blocks.push_back(WithAttributes(this->Blocks[i], particles, first));
      continue;
    }
    blocks.push_back(MakeBlock(particles, first, ends[i] - first));
    if (vertices)
    {
      AddVertices(blocks.back());
    }
  }
  this->Load = load;
  this->Ends = std::move(ends);
  this->Blocks = std::move(blocks);
  return this->Sample(count);
}

//------------------------------------------------------------------------------
vtkIdType bat_vtk::ParticleBlocks::Count() const
{
  return this->Ends.empty() ? 0 : this->Ends.back();
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkMultiBlockDataSet> bat_vtk::ParticleBlocks::Sample(vtkIdType most) const
{
  const vtkIdType stride = (this->Count() + most - 1) / std::max<vtkIdType>(most, 1);
  auto result = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  for (std::size_t i = 0; i < this->Blocks.size(); ++i)
  {
    vtkSmartPointer<vtkPolyData> block = this->Blocks[i];
    if (stride > 1)
    {
      const vtkIdType rows = block->GetNumberOfPoints();
      const bool vertices = block->GetNumberOfVerts() > 0;
      block = MakeBlock(block, 0, rows / stride, stride);
      if (vertices)
      {
        AddVertices(block);
      }
      vtkNew<vtkDoubleArray> scale;
      scale->SetName(RadiusScaleName);
      scale->InsertNextValue(std::cbrt(static_cast<double>(stride)));
      block->GetFieldData()->AddArray(scale);
    }
    result->SetBlock(static_cast<unsigned int>(i), block);
  }
  return result;
}
