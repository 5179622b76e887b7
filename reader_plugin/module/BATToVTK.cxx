#include "BATToVTK.h"

#include "LoadedParticles.h"
#include "vtkBATArrays.h"
#include "vtkBATScalarTypes.h"

#include "vtkBitArray.h"
#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkFieldData.h"
#include "vtkInformation.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkStringArray.h"
#include "vtkTypeInt64Array.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace
{
template <typename ArrayT, typename ValueT>
void AddField(vtkFieldData* field, const char* name, const ValueT& value)
{
  vtkNew<ArrayT> array;
  array->SetName(name);
  array->InsertNextValue(value);
  // Nothing to colour by; the information panel lists it all the same.
  array->GetInformation()->Set(vtkAbstractArray::GUI_HIDE(), 1);
  field->AddArray(array);
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
vtkSmartPointer<vtkDataArray> bat_vtk::MakePositions(const bat::Dataset& file)
{
  vtkSmartPointer<vtkDataArray> array;
  array.TakeReference(vtkDataArray::CreateDataArray(ToVTKType(file.position_type(), 0)));
  array->SetName("Points");
  array->SetNumberOfComponents(3);
  return array;
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkDataArray> bat_vtk::MakeAttribute(const bat::Attribute& attribute)
{
  vtkSmartPointer<vtkDataArray> array;
  array.TakeReference(
    vtkDataArray::CreateDataArray(ToVTKType(attribute.type, attribute.host_type)));
  array->SetName(attribute.name.c_str());
  array->SetNumberOfComponents(attribute.components);
  return array;
}

//------------------------------------------------------------------------------
bool bat_vtk::IsBits(vtkDataArray* array)
{
  return vtkBitArray::SafeDownCast(array) != nullptr;
}

//------------------------------------------------------------------------------
// vtkBitArray keeps the first value in the highest bit of each byte.
void bat_vtk::PackBits(const std::vector<unsigned char>& values, vtkDataArray* array)
{
  vtkBitArray* packed = vtkBitArray::SafeDownCast(array);
  if (!packed || values.empty())
  {
    return;
  }
  unsigned char* bits = packed->GetPointer(0);
  std::fill_n(bits, (values.size() + 7) / 8, static_cast<unsigned char>(0));
  for (std::size_t i = 0; i < values.size(); ++i)
  {
    if (values[i] != 0)
    {
      bits[i / 8] = static_cast<unsigned char>(bits[i / 8] | (0x80u >> (i % 8)));
    }
  }
}

//------------------------------------------------------------------------------
void bat_vtk::FillOutput(const bat::Dataset& file, const LoadedParticles& loaded,
  const std::vector<std::size_t>& attributes, vtkPolyData* output)
{
  const std::optional<std::array<double, 6>> bounds = loaded.Bounds();
  output->SetPoints(MakePoints(loaded.Positions(), bounds ? bounds->data() : nullptr));
  loaded.StoreRanges(); // vtkPoints has just modified the positions
  for (const std::size_t i : attributes)
  {
    const int index = output->GetPointData()->AddArray(loaded.Attribute(i));
    const std::uint8_t role = file.attributes()[i].role;
    // A role that this version of VTK does not know is a hint that cannot be followed.
    if (role >= 1 && role <= vtkDataSetAttributes::NUM_ATTRIBUTES)
    {
      output->GetPointData()->SetActiveAttribute(index, role - 1);
    }
  }
}

//------------------------------------------------------------------------------
bat_vtk::Sample bat_vtk::SampleOf(const bat::Dataset& file)
{
  const Sample all{ 1.0, static_cast<std::int64_t>(file.particle_count()) };
  const nlohmann::json metadata = nlohmann::json::parse(file.metadata(), nullptr, false);
  if (!metadata.is_object())
  {
    return all;
  }
  const nlohmann::json text = metadata.value("sample", nlohmann::json());
  const nlohmann::json nothing;
  const nlohmann::json quality = text.is_object() ? text.value("quality", nothing) : nothing;
  const nlohmann::json count = text.is_object() ? text.value("particle_count", nothing) : nothing;
  // What makes no sense is free text, as anything in the metadata may be.
  if (!quality.is_number() || !count.is_number_integer())
  {
    return all;
  }
  const Sample sample{ quality.get<double>(), count.get<std::int64_t>() };
  return sample.Quality >= 0.0 && sample.Quality <= 1.0 && sample.Count >= all.Count ? sample : all;
}

//------------------------------------------------------------------------------
void bat_vtk::AddProvenance(
  const bat::Dataset& file, double quality, double requested, vtkDataObject* output)
{
  if (const std::optional<double> time = file.time())
  {
    output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), *time);
  }
  vtkFieldData* field = output->GetFieldData();
  if (const std::optional<std::int64_t> step = file.step())
  {
    AddField<vtkTypeInt64Array>(field, "timestep", *step);
  }
  const Sample sample = SampleOf(file);
  AddField<vtkDoubleArray>(field, "quality", sample.Quality * quality);
  AddField<vtkDoubleArray>(field, "quality_requested", sample.Quality * requested);
  AddField<vtkTypeInt64Array>(field, "particle_count", sample.Count);
  AddField<vtkStringArray>(field, "format_version", file.format_version());
  const std::string metadata = file.metadata();
  if (!metadata.empty())
  {
    // Not "metadata": ParaView gathers data in the legacy format, where that is a keyword.
    AddField<vtkStringArray>(field, "provenance", metadata);
  }
}

//------------------------------------------------------------------------------
void bat_vtk::DescribeBytes(const bat::Dataset& file, vtkStringArray* texts)
{
  texts->Reset();
  const auto insert = [&](const std::string& name, bat::ScalarType type, int components)
  {
    texts->InsertNextValue(name);
    texts->InsertNextValue(
      std::to_string(bat::size_of(type) * static_cast<std::size_t>(components)));
  };
  insert("", file.position_type(), 3);
  for (const bat::Attribute& attribute : file.attributes())
  {
    insert(attribute.name, attribute.type, attribute.components);
  }
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

//------------------------------------------------------------------------------
void bat_vtk::DescribeFewValues(const bat::Dataset& file, vtkStringArray* texts)
{
  texts->Reset();
  for (std::size_t i = 0; i < file.attributes().size(); ++i)
  {
    for (const bat::ValueCount& one : file.few_values(i, MostFewValues))
    {
      texts->InsertNextValue(file.attributes()[i].name);
      texts->InsertNextValue(bat::to_string(one.value));
      for (const std::uint64_t count : { one.count.least, one.count.likely, one.count.most })
      {
        texts->InsertNextValue(std::to_string(count));
      }
    }
  }
}
