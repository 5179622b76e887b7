#include "BATToVTK.h"

#include "vtkBATScalarTypes.h"

#include "vtkBitArray.h"
#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkStringArray.h"
#include "vtkTypeInt32Array.h"
#include "vtkTypeInt64Array.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <variant>
#include <vector>

namespace
{
// Bits are stored as bytes. vtkBitArray keeps the first value in the highest bit of each byte.
void PackBits(const std::vector<unsigned char>& values, vtkBitArray* array)
{
  unsigned char* bits = array->GetPointer(0);
  std::fill_n(bits, (values.size() + 7) / 8, static_cast<unsigned char>(0));
  for (std::size_t i = 0; i < values.size(); ++i)
  {
    if (values[i] != 0)
    {
      bits[i / 8] = static_cast<unsigned char>(bits[i / 8] | (0x80u >> (i % 8)));
    }
  }
}

template <typename ArrayT>
vtkSmartPointer<vtkCellArray> MakeCells(std::uint64_t points, bool onePerPoint)
{
  using ValueT = typename ArrayT::ValueType;
  vtkNew<ArrayT> connectivity;
  connectivity->SetNumberOfValues(static_cast<vtkIdType>(points));
  ValueT* first = connectivity->GetPointer(0);
  std::iota(first, first + points, ValueT(0));

  vtkNew<ArrayT> offsets;
  if (onePerPoint)
  {
    offsets->SetNumberOfValues(static_cast<vtkIdType>(points) + 1);
    first = offsets->GetPointer(0);
    std::iota(first, first + points + 1, ValueT(0));
  }
  else
  {
    offsets->SetNumberOfValues(points > 0 ? 2 : 1);
    offsets->SetValue(0, 0);
    if (points > 0)
    {
      offsets->SetValue(1, static_cast<ValueT>(points));
    }
  }
  auto cells = vtkSmartPointer<vtkCellArray>::New();
  cells->SetData(offsets.Get(), connectivity.Get());
  return cells;
}

vtkSmartPointer<vtkCellArray> MakeCells(std::uint64_t points, bool onePerPoint)
{
  // 32 bits while they suffice: cells are easily the largest part of what is loaded.
  return points < static_cast<std::uint64_t>(std::numeric_limits<vtkTypeInt32>::max())
    ? MakeCells<vtkTypeInt32Array>(points, onePerPoint)
    : MakeCells<vtkTypeInt64Array>(points, onePerPoint);
}

// Calls visit(target, number of the attribute, key) for everything that a range can be asked of.
template <typename VisitT>
void VisitRanges(const bat::Dataset& file, const VisitT& visit)
{
  const std::vector<std::string> names = file.attribute_names();
  for (std::size_t i = 0; i < file.attributes().size(); ++i)
  {
    const bat::Attribute& attribute = file.attributes()[i];
    // The range that the bare name means comes first.
    for (const bat::Key& key : attribute.keys)
    {
      if (attribute.components == 1 || key.component < 0)
      {
        visit(attribute.name, i, key);
      }
    }
    for (const bat::Key& key : attribute.keys)
    {
      if (attribute.components > 1 && key.component >= 0)
      {
        const std::string target = attribute.name + "[" + std::to_string(key.component) + "]";
        // An attribute of exactly this name takes precedence and has its own entry.
        if (std::find(names.begin(), names.end(), target) == names.end())
        {
          visit(target, i, key);
        }
      }
    }
  }
}

void InsertHistogram(vtkDoubleArray* numbers, const bat::Histogram& histogram)
{
  numbers->InsertNextValue(bat::to_double(histogram.lower));
  numbers->InsertNextValue(bat::to_double(histogram.upper));
  numbers->InsertNextValue(std::holds_alternative<double>(histogram.lower) ? 0.0 : 1.0);
  numbers->InsertNextValue(histogram.straight_below);
  for (std::size_t bin = 0; bin < bat_vtk::HistogramBins; ++bin)
  {
    numbers->InsertNextValue(histogram.counts.empty() ? 0.0 : histogram.counts[bin]);
  }
}
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkPoints> bat_vtk::ReadPoints(
  const bat::Dataset& file, const bat::DatasetSelection& selection)
{
  auto points = vtkSmartPointer<vtkPoints>::New();
  points->SetDataType(bat_vtk::ToVTKType(file.position_type(), 0));
  points->SetNumberOfPoints(static_cast<vtkIdType>(selection.count));
  if (selection.count > 0)
  {
    file.read_positions(selection, points->GetVoidPointer(0));
  }
  return points;
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkDataArray> bat_vtk::ReadAttribute(
  const bat::Dataset& file, std::size_t index, const bat::DatasetSelection& selection)
{
  const bat::Attribute& attribute = file.attributes()[index];
  vtkSmartPointer<vtkDataArray> array;
  array.TakeReference(
    vtkDataArray::CreateDataArray(bat_vtk::ToVTKType(attribute.type, attribute.host_type)));
  array->SetName(attribute.name.c_str());
  array->SetNumberOfComponents(attribute.components);
  array->SetNumberOfTuples(static_cast<vtkIdType>(selection.count));
  if (selection.count == 0)
  {
    return array;
  }
  if (vtkBitArray* bits = vtkBitArray::SafeDownCast(array))
  {
    std::vector<unsigned char> values(
      selection.count * static_cast<std::uint64_t>(attribute.components));
    file.read_attribute(index, selection, values.data());
    PackBits(values, bits);
  }
  else
  {
    file.read_attribute(index, selection, array->GetVoidPointer(0));
  }
  return array;
}

//------------------------------------------------------------------------------
void bat_vtk::AddArrayWithRole(vtkPointData* pointData, vtkDataArray* array, std::uint8_t role)
{
  const int index = pointData->AddArray(array);
  // A role that this version of VTK does not know is a hint that cannot be followed.
  if (role >= 1 && role <= vtkDataSetAttributes::NUM_ATTRIBUTES)
  {
    pointData->SetActiveAttribute(index, role - 1);
  }
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkCellArray> bat_vtk::MakeVertices(std::uint64_t count)
{
  return MakeCells(count, true);
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkCellArray> bat_vtk::MakePolyVertex(std::uint64_t count)
{
  return MakeCells(count, false);
}

//------------------------------------------------------------------------------
void bat_vtk::DescribeRanges(const bat::Dataset& file, vtkStringArray* texts)
{
  texts->Reset();
  VisitRanges(file,
    [texts](const std::string& target, std::size_t, const bat::Key& key)
    {
      texts->InsertNextValue(target);
      texts->InsertNextValue(bat::to_string(key.minimum));
      texts->InsertNextValue(bat::to_string(key.maximum));
    });
}

//------------------------------------------------------------------------------
void bat_vtk::DescribeHistograms(const bat::Dataset& file, vtkDoubleArray* numbers)
{
  numbers->Reset();
  VisitRanges(file,
    [&](const std::string&, std::size_t attribute, const bat::Key& key)
    {
      for (const auto axis : { bat::HistogramAxis::Linear, bat::HistogramAxis::Logarithmic })
      {
        InsertHistogram(numbers, file.histogram(attribute, key.component, HistogramBins, axis));
      }
    });
}
