// SPDX-License-Identifier: BSD-3-Clause
#include "ParticleBlocks.h"

#include "LocalSpacing.h"
#include "VertexCells.h"
#include "vtkBATArrays.h"
#include "vtkBATReader.h"

#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkFieldData.h"
#include "vtkFloatArray.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

namespace
{
// Drawing this many takes a fraction of a tenth of a second, even without a graphics card.
constexpr vtkIdType MaxPerBlock = 250000;

// Returns rows first, first + stride, ... of an array.
vtkSmartPointer<vtkDataArray> Rows(
  vtkDataArray* array, vtkIdType first, vtkIdType count, vtkIdType stride)
{
  auto rows = vtkSmartPointer<vtkDataArray>::Take(array->NewInstance());
  rows->SetName(array->GetName());
  rows->SetNumberOfComponents(array->GetNumberOfComponents());
  rows->CopyComponentNames(array);
  if (!bat_vtk::IsPlain(array))
  {
    rows->SetNumberOfTuples(count);
    for (vtkIdType row = 0; row < count; ++row)
    {
      rows->SetTuple(row, first + row * stride, array);
    }
    return rows;
  }
  const std::size_t bytes =
    static_cast<std::size_t>(array->GetDataTypeSize()) * array->GetNumberOfComponents();
  auto* from = static_cast<char*>(array->GetVoidPointer(0)) + first * bytes;
  if (stride == 1)
  {
    array->Register(nullptr);
    bat_vtk::UseMemory(rows, from, count,
      std::shared_ptr<void>(
        array, [](void* owner) { static_cast<vtkDataArray*>(owner)->Delete(); }));
    return rows;
  }
  bat_vtk::TakeMemory(rows, count, "the drawn particles");
  auto* to = static_cast<char*>(rows->GetVoidPointer(0));
  for (vtkIdType row = 0; row < count; ++row)
  {
    std::memcpy(to + row * bytes, from + row * stride * bytes, bytes);
  }
  return rows;
}

void AddVertices(vtkPolyData* block)
{
  const auto count = static_cast<std::uint64_t>(block->GetNumberOfPoints());
  block->SetVerts(bat_vtk::VertexCells().Make(count, count, true));
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
  vtkPoints* points = particles->GetPoints();
  block->SetPoints(
    bat_vtk::MakePoints(Rows(points->GetData(), first, count, stride), points->GetBounds()));
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

// ParaView drops field data when it moves blocks between processes, so each particle has the number
// instead.
void AddNumber(vtkPolyData* block, const char* name, double number)
{
  const bool moves = block->GetNumberOfVerts() > 0;
  vtkNew<vtkFloatArray> array;
  array->SetName(name);
  array->SetNumberOfValues(moves ? block->GetNumberOfPoints() : 1);
  array->FillValue(static_cast<float>(number));
  vtkFieldData* to = moves ? block->GetPointData() : block->GetFieldData();
  to->AddArray(array);
}

// Returns the block with the particles' current attributes: the block itself if it already has
// them.
vtkSmartPointer<vtkPolyData> WithAttributes(
  vtkPolyData* block, vtkPolyData* particles, vtkIdType first)
{
  vtkPointData* requested = particles->GetPointData();
  vtkPointData* there = block->GetPointData();
  auto changed = vtkSmartPointer<vtkPolyData>::New();
  changed->SetPoints(block->GetPoints());
  changed->SetVerts(block->GetVerts());
  int kept = 0;
  for (int i = 0; i < requested->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* array = requested->GetArray(i);
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
  const bool same =
    kept == there->GetNumberOfArrays() && kept == changed->GetPointData()->GetNumberOfArrays();
  return same ? vtkSmartPointer<vtkPolyData>(block) : changed;
}
}

struct bat_vtk::ParticleBlocks::Steps
{
  double Load = 0.0;
  std::vector<double> Ends; ///< rows after each
};

//------------------------------------------------------------------------------
bat_vtk::ParticleBlocks::Steps bat_vtk::ParticleBlocks::StepsOf(vtkPolyData* particles)
{
  Steps steps;
  const vtkIdType count = particles->GetNumberOfPoints();
  vtkDataArray* positions = count > 0 ? particles->GetPoints()->GetData() : nullptr;
  if (positions && positions->HasInformation() &&
    positions->GetInformation()->Has(vtkBATReader::LOAD_STEPS()))
  {
    vtkInformation* info = positions->GetInformation();
    const double* all = info->Get(vtkBATReader::LOAD_STEPS());
    steps.Load = all[0];
    steps.Ends.assign(all + 1, all + info->Length(vtkBATReader::LOAD_STEPS()));
  }
  if (count > 0 && (steps.Ends.empty() || steps.Ends.back() != static_cast<double>(count)))
  {
    steps.Load = 0.0;
    steps.Ends.assign(1, static_cast<double>(count));
  }
  return steps;
}

//------------------------------------------------------------------------------
// Filters may have made particles from anything: data that is not marked as a sample counts as
// whole.
void bat_vtk::ParticleBlocks::SetQuality(vtkPolyData* particles)
{
  vtkDataArray* array = particles->GetFieldData()->GetArray(QualityName);
  const double quality = array && array->GetNumberOfTuples() > 0 ? array->GetComponent(0, 0) : 1.0;
  this->Quality = quality > 0.0 && quality < 1.0 ? quality : 1.0;
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkMultiBlockDataSet> bat_vtk::ParticleBlocks::Update(vtkPolyData* particles)
{
  this->SetQuality(particles);
  const Steps steps = StepsOf(particles);
  std::vector<vtkIdType> ends;
  for (const double step : steps.Ends)
  {
    const auto end = static_cast<vtkIdType>(step);
    for (vtkIdType at = ends.empty() ? 0 : ends.back(); at < end; at = ends.back())
    {
      ends.push_back(std::min(at + MaxPerBlock, end));
    }
  }

  std::vector<vtkSmartPointer<vtkPolyData>> blocks;
  bool same = steps.Load != 0.0 && steps.Load == this->LoadNumber;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ends.size(); ++i)
  {
    const vtkIdType first = i == 0 ? 0 : ends[i - 1];
    same = same && i < this->Ends.size() && this->Ends[i] == ends[i];
    kept += same ? 1 : 0;
    blocks.push_back(same ? WithAttributes(this->Blocks[i], particles, first)
                          : MakeBlock(particles, first, ends[i] - first));
  }
  this->LoadNumber = steps.Load;
  this->Ends = std::move(ends);
  this->Blocks = std::move(blocks);
  this->KeepFactors(kept);
  return this->EveryNth(1);
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkMultiBlockDataSet> bat_vtk::ParticleBlocks::UpdateWithCells(
  vtkPolyData* particles)
{
  this->SetQuality(particles);
  auto block = vtkSmartPointer<vtkPolyData>::New();
  block->SetPoints(particles->GetPoints());
  block->GetPointData()->ShallowCopy(particles->GetPointData());
  AddVertices(block);
  this->LoadNumber = StepsOf(particles).Load;
  this->Ends.assign(1, block->GetNumberOfPoints());
  this->Blocks.assign(1, block);
  this->KeepFactors(0);
  return this->EveryNth(1);
}

//------------------------------------------------------------------------------
void bat_vtk::ParticleBlocks::SetSpacing(
  const std::shared_ptr<const LocalSpacing>& spacing, float largest)
{
  if (this->Spacing != spacing || this->LargestFactor != largest)
  {
    this->Spacing = spacing;
    this->LargestFactor = largest;
    this->KeepFactors(0);
  }
}

//------------------------------------------------------------------------------
// Keeps the first blocks and creates the others.
void bat_vtk::ParticleBlocks::KeepFactors(std::size_t blocks)
{
  this->Factors.resize(std::min(blocks, this->Factors.size()));
  for (std::size_t i = this->Factors.size(); this->Spacing && i < this->Blocks.size(); ++i)
  {
    auto factors = vtkSmartPointer<vtkFloatArray>::New();
    factors->SetName(FactorName);
    factors->SetNumberOfValues(this->Blocks[i]->GetNumberOfPoints());
    if (factors->GetNumberOfValues() > 0)
    {
      this->Spacing->Factors(
        this->Blocks[i]->GetPoints()->GetData(), this->LargestFactor, factors->GetPointer(0));
    }
    this->Factors.push_back(factors);
  }
}

//------------------------------------------------------------------------------
vtkIdType bat_vtk::ParticleBlocks::Count() const
{
  return this->Ends.empty() ? 0 : this->Ends.back();
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkMultiBlockDataSet> bat_vtk::ParticleBlocks::Sample(vtkIdType maximum) const
{
  return this->EveryNth((this->Count() + maximum - 1) / std::max<vtkIdType>(maximum, 1));
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkMultiBlockDataSet> bat_vtk::ParticleBlocks::EveryNth(vtkIdType stride) const
{
  auto result = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  for (std::size_t i = 0; i < this->Blocks.size(); ++i)
  {
    // Adding field data would turn the block into a different one.
    auto block = vtkSmartPointer<vtkPolyData>::New();
    block->ShallowCopy(this->Blocks[i]);
    if (i < this->Factors.size())
    {
      block->GetPointData()->AddArray(this->Factors[i]);
    }
    if (stride > 1)
    {
      const vtkIdType rows = block->GetNumberOfPoints();
      const bool vertices = block->GetNumberOfVerts() > 0;
      block = MakeBlock(block, 0, rows / stride, stride);
      if (vertices)
      {
        AddVertices(block);
      }
      AddNumber(block, RadiusScaleName, std::cbrt(static_cast<double>(stride)));
    }
    if (this->ShowsQuality && this->Quality < 1.0)
    {
      AddNumber(block, QualityName, this->Quality);
    }
    result->SetBlock(static_cast<unsigned int>(i), block);
  }
  return result;
}

//------------------------------------------------------------------------------
double bat_vtk::ParticleBlocks::NumberOf(vtkPolyData* block, const char* name)
{
  for (vtkFieldData* from :
    { block->GetFieldData(), static_cast<vtkFieldData*>(block->GetPointData()) })
  {
    vtkDataArray* number = from->GetArray(name);
    if (number && number->GetNumberOfTuples() > 0)
    {
      return number->GetTuple1(0);
    }
  }
  return 1.0;
}
