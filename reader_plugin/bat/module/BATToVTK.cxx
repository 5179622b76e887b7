// SPDX-License-Identifier: BSD-3-Clause
#include "BATToVTK.h"

#include "LoadedParticles.h"
#include "vtkBATArrays.h"

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

// VTK's bundled copy, if it has one: its headers rename all others by a macro.
#include "vtk_nlohmannjson.h"
#include VTK_NLOHMANN_JSON(json.hpp)

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

namespace
{
template <typename ArrayT, typename ValueT>
void AddField(vtkFieldData* field, const char* name, const ValueT& value, int times = 2)
{
  vtkNew<ArrayT> array;
  array->SetName(name);
  // ParaView's tooltips of particles list all field data with one value. The second value of a text
  // is empty, because the information panel joins the two.
  array->InsertNextValue(value);
  for (int i = 1; i < times; ++i)
  {
    if constexpr (std::is_same_v<ArrayT, vtkStringArray>)
    {
      array->InsertNextValue("");
    }
    else
    {
      array->InsertNextValue(value);
    }
  }
  // GUI_HIDE removes it from the arrays to colour by; the information panel still lists it.
  array->GetInformation()->Set(vtkAbstractArray::GUI_HIDE(), 1);
  field->AddArray(array);
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
    // A role that is unknown to this VTK version is a hint that cannot be followed.
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
  // Invalid entries are free text, because metadata may contain anything.
  if (!quality.is_number() || !count.is_number_integer())
  {
    return all;
  }
  const Sample sample{ quality.get<double>(), count.get<std::int64_t>() };
  return sample.Quality >= 0.0 && sample.Quality <= 1.0 && sample.Count >= all.Count ? sample : all;
}

//------------------------------------------------------------------------------
std::string bat_vtk::FormatCompression(const bat::Dataset& file)
{
  for (std::size_t leaf = 0; leaf != file.leaves().size(); ++leaf)
  {
    try
    {
      const bat::File& first = file.leaf_file(leaf);
      std::string bounds;
      bool isCompressed = false;
      const auto look = [&](const std::string& name, std::optional<std::size_t> attribute)
      {
        const bat::ColumnStorage storage = first.storage(attribute);
        isCompressed = isCompressed || storage.is_compressed;
        if (storage.bound > 0.0)
        {
          bounds +=
            (bounds.empty() ? "" : ", ") + name + " within " + bat::to_string(storage.bound);
        }
      };
      look("positions", std::nullopt);
      for (std::size_t i = 0; i != file.attributes().size(); ++i)
      {
        look(file.attributes()[i].name, i);
      }
      return !bounds.empty() ? bounds + "; all others exact" : isCompressed ? "lossless" : "";
    }
    catch (const std::exception&)
    {
      // The file is missing, damaged, or from the paper's library: another one may report it.
    }
  }
  return "";
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
    AddField<vtkTypeInt64Array>(field, "timestep", *step, 1); // used by writers
  }
  const Sample sample = SampleOf(file);
  AddField<vtkDoubleArray>(field, "quality", sample.Quality * quality);
  AddField<vtkDoubleArray>(field, "quality_requested", sample.Quality * requested);
  AddField<vtkTypeInt64Array>(field, "particle_count", sample.Count);
  AddField<vtkStringArray>(field, "format_version", file.format_version());
  if (const std::string stored = FormatCompression(file); !stored.empty())
  {
    AddField<vtkStringArray>(field, "compression", stored);
  }
  const std::string metadata = file.metadata();
  if (!metadata.empty())
  {
    // The array is not called "metadata", because ParaView gathers data in the legacy format, in
    // which that is a keyword.
    AddField<vtkStringArray>(field, "provenance", metadata);
  }
}
