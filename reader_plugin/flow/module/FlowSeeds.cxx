// SPDX-License-Identifier: BSD-3-Clause
#include "FlowSeeds.h"

#include "FlowFields.h"

#include "vtkCellArray.h"
#include "vtkCellType.h"
#include "vtkCompositeDataIterator.h"
#include "vtkCompositeDataSet.h"
#include "vtkDataSet.h"
#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkIdList.h"
#include "vtkMultiProcessController.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkStripper.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace
{
constexpr int MortonBits = 21; // bits per axis, in 64

std::vector<vtkDataSet*> CollectDataSets(vtkDataObject* data)
{
  std::vector<vtkDataSet*> sets;
  const auto add = [&](vtkDataObject* object)
  {
    auto* set = vtkDataSet::SafeDownCast(object);
    if (set && set->GetNumberOfPoints() > 0)
    {
      sets.push_back(set);
    }
  };
  if (auto* composite = vtkCompositeDataSet::SafeDownCast(data))
  {
    const auto leaf = vtkSmartPointer<vtkCompositeDataIterator>::Take(composite->NewIterator());
    for (leaf->InitTraversal(); !leaf->IsDoneWithTraversal(); leaf->GoToNextItem())
    {
      add(leaf->GetCurrentDataObject());
    }
  }
  else
  {
    add(data);
  }
  return sets;
}

bool HasAlike(vtkDataSet* set, vtkAbstractArray* array)
{
  vtkAbstractArray* own = set->GetPointData()->GetAbstractArray(array->GetName());
  return own && own->GetDataType() == array->GetDataType() &&
    own->GetNumberOfComponents() == array->GetNumberOfComponents();
}

vtkSmartPointer<vtkPolyData> Append(const std::vector<vtkDataSet*>& sets)
{
  auto all = vtkSmartPointer<vtkPolyData>::New();
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  std::vector<vtkSmartPointer<vtkIdList>> kept;
  for (vtkDataSet* set : sets)
  {
    vtkUnsignedCharArray* ghosts = set->GetPointGhostArray();
    auto ids = vtkSmartPointer<vtkIdList>::New();
    for (vtkIdType i = 0; i < set->GetNumberOfPoints(); ++i)
    {
      const int mark = ghosts ? ghosts->GetValue(i) : 0;
      if ((mark & (vtkDataSetAttributes::DUPLICATEPOINT | vtkDataSetAttributes::HIDDENPOINT)) == 0)
      {
        double at[3];
        set->GetPoint(i, at);
        points->InsertNextPoint(at);
        ids->InsertNextId(i);
      }
    }
    kept.push_back(ids);
  }
  all->SetPoints(points);
  vtkPointData* first = sets.empty() ? nullptr : sets.front()->GetPointData();
  for (int a = 0; first && a < first->GetNumberOfArrays(); ++a)
  {
    vtkAbstractArray* array = first->GetAbstractArray(a);
    const bool isOfAll = array->GetName() &&
      std::all_of(sets.begin(), sets.end(), [&](vtkDataSet* set) { return HasAlike(set, array); });
    if (!isOfAll || array->GetName() == std::string(vtkDataSetAttributes::GhostArrayName()))
    {
      continue;
    }
    const auto values = vtkSmartPointer<vtkAbstractArray>::Take(array->NewInstance());
    values->SetName(array->GetName());
    values->SetNumberOfComponents(array->GetNumberOfComponents());
    values->SetNumberOfTuples(points->GetNumberOfPoints());
    vtkIdType to = 0;
    for (std::size_t i = 0; i < sets.size(); ++i)
    {
      vtkAbstractArray* from = sets[i]->GetPointData()->GetAbstractArray(array->GetName());
      for (vtkIdType k = 0; k < kept[i]->GetNumberOfIds(); ++k)
      {
        values->SetTuple(to++, kept[i]->GetId(k), from);
      }
    }
    all->GetPointData()->AddArray(values);
  }
  return all;
}

// Keeps only points and lines.
vtkSmartPointer<vtkPolyData> ExtractLines(const std::vector<vtkDataSet*>& sets)
{
  auto all = vtkSmartPointer<vtkPolyData>::New();
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  vtkNew<vtkCellArray> lines;
  vtkNew<vtkIdList> ids;
  for (vtkDataSet* set : sets)
  {
    const vtkIdType first = points->GetNumberOfPoints();
    for (vtkIdType i = 0; i < set->GetNumberOfPoints(); ++i)
    {
      double at[3];
      set->GetPoint(i, at);
      points->InsertNextPoint(at);
    }
    vtkUnsignedCharArray* ghosts = set->GetCellGhostArray();
    for (vtkIdType i = 0; i < set->GetNumberOfCells(); ++i)
    {
      const int mark = ghosts ? ghosts->GetValue(i) : 0;
      const int type = set->GetCellType(i);
      if ((type == VTK_LINE || type == VTK_POLY_LINE) &&
        (mark & (vtkDataSetAttributes::DUPLICATECELL | vtkDataSetAttributes::HIDDENCELL)) == 0)
      {
        set->GetCellPoints(i, ids);
        lines->InsertNextCell(static_cast<int>(ids->GetNumberOfIds()));
        for (vtkIdType k = 0; k < ids->GetNumberOfIds(); ++k)
        {
          lines->InsertCellPoint(first + ids->GetId(k));
        }
      }
    }
  }
  all->SetPoints(points);
  all->SetLines(lines);
  return all;
}

std::uint64_t Spread(std::uint64_t number)
{
  std::uint64_t spread = 0;
  for (int bit = 0; bit < MortonBits; ++bit)
  {
    spread |= (number >> bit & 1) << (3 * bit);
  }
  return spread;
}
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkPolyData> bat_vtk::GatherSeeds(
  vtkDataObject* data, vtkMultiProcessController* controller)
{
  vtkSmartPointer<vtkPolyData> own = Append(CollectDataSets(data));
  if (!controller || controller->GetNumberOfProcesses() < 2)
  {
    return own;
  }
  std::vector<vtkSmartPointer<vtkDataObject>> parts;
  controller->AllGather(own, parts);
  std::vector<vtkDataSet*> sets;
  for (const vtkSmartPointer<vtkDataObject>& part : parts)
  {
    const std::vector<vtkDataSet*> some = CollectDataSets(part);
    sets.insert(sets.end(), some.begin(), some.end());
  }
  return Append(sets);
}

//------------------------------------------------------------------------------
std::vector<std::vector<std::array<double, 3>>> bat_vtk::GatherLines(
  vtkDataObject* data, vtkMultiProcessController* controller)
{
  vtkSmartPointer<vtkPolyData> all = ExtractLines(CollectDataSets(data));
  if (controller && controller->GetNumberOfProcesses() > 1)
  {
    std::vector<vtkSmartPointer<vtkDataObject>> parts;
    controller->AllGather(all, parts);
    std::vector<vtkDataSet*> sets;
    for (const vtkSmartPointer<vtkDataObject>& part : parts)
    {
      const std::vector<vtkDataSet*> some = CollectDataSets(part);
      sets.insert(sets.end(), some.begin(), some.end());
    }
    all = ExtractLines(sets);
  }
  if (all->GetNumberOfPoints() > 0 && all->GetNumberOfLines() == 0)
  {
    Refuse("the seeds have points but no lines; a streak surface is released from lines");
  }
  vtkNew<vtkStripper> join;
  join->SetInputData(all);
  join->SetJoinContiguousSegments(true);
  join->SetMaximumLength(std::numeric_limits<int>::max());
  join->Update();
  vtkPolyData* joined = join->GetOutput();
  std::vector<std::vector<std::array<double, 3>>> lines;
  vtkNew<vtkIdList> ids;
  vtkCellArray* cells = joined->GetLines();
  for (cells->InitTraversal(); cells->GetNextCell(ids);)
  {
    std::vector<std::array<double, 3>> line;
    for (vtkIdType i = 0; i < ids->GetNumberOfIds(); ++i)
    {
      line.emplace_back();
      joined->GetPoint(ids->GetId(i), line.back().data());
    }
    if (line.size() > 1)
    {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

//------------------------------------------------------------------------------
std::vector<std::array<double, 3>> bat_vtk::CollectPositions(vtkPolyData* seeds)
{
  std::vector<std::array<double, 3>> positions(
    static_cast<std::size_t>(seeds->GetNumberOfPoints()));
  for (std::size_t i = 0; i < positions.size(); ++i)
  {
    seeds->GetPoint(static_cast<vtkIdType>(i), positions[i].data());
  }
  return positions;
}

//------------------------------------------------------------------------------
std::vector<std::size_t> bat_vtk::DealSeeds(
  const std::vector<std::array<double, 3>>& positions, int rank, int ranks)
{
  std::vector<std::size_t> order(positions.size());
  std::iota(order.begin(), order.end(), std::size_t{ 0 });
  if (ranks < 2)
  {
    return order;
  }
  std::array<double, 3> lower;
  lower.fill(std::numeric_limits<double>::max());
  double length = 0;
  for (int pass = 0; pass < 2; ++pass)
  {
    for (const std::array<double, 3>& at : positions)
    {
      for (std::size_t axis = 0; axis < 3; ++axis)
      {
        if (std::isfinite(at[axis]))
        {
          lower[axis] = std::min(lower[axis], at[axis]);
          length = pass == 0 ? length : std::max(length, at[axis] - lower[axis]);
        }
      }
    }
  }
  std::vector<std::uint64_t> code(positions.size());
  const double cells = static_cast<double>((1 << MortonBits) - 1);
  for (std::size_t i = 0; i < positions.size(); ++i)
  {
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      const double share = (positions[i][axis] - lower[axis]) / length;
      const double cell = share >= 0 && share <= 1 ? share * cells : 0; // NaN, too
      code[i] |= Spread(static_cast<std::uint64_t>(cell)) << axis;
    }
  }
  std::stable_sort(
    order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return code[a] < code[b]; });
  const auto end_of = [&](int parts)
  { return static_cast<std::ptrdiff_t>(positions.size() * parts / ranks); };
  std::vector<std::size_t> local(order.begin() + end_of(rank), order.begin() + end_of(rank + 1));
  std::sort(local.begin(), local.end());
  return local;
}
