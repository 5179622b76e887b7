// SPDX-License-Identifier: BSD-3-Clause
#include "DataFacts.h"

#include "vtkDataArray.h"
#include "vtkDataObject.h"
#include "vtkFieldData.h"
#include "vtkInformation.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkVariant.h"

#include <initializer_list>

namespace
{
// A single value in field data, of the first of these names.
vtkDataArray* SingleValue(vtkDataObject* data, std::initializer_list<const char*> names)
{
  for (const char* name : names)
  {
    vtkDataArray* array = data->GetFieldData() ? data->GetFieldData()->GetArray(name) : nullptr;
    if (array && array->GetNumberOfValues() == 1)
    {
      return array;
    }
  }
  return nullptr;
}

// VTK's XML files name the time TimeValue, and VisIt's legacy files TIME; many readers ignore both.
std::optional<double> TimeIn(vtkDataObject* data)
{
  vtkInformation* information = data->GetInformation();
  if (information && information->Has(vtkDataObject::DATA_TIME_STEP()))
  {
    return information->Get(vtkDataObject::DATA_TIME_STEP());
  }
  vtkDataArray* array = SingleValue(data, { "TimeValue", "TIME" });
  return array ? std::optional(array->GetTuple1(0)) : std::nullopt;
}

std::optional<std::int64_t> StepIn(vtkDataObject* data)
{
  vtkDataArray* array = SingleValue(data, { "timestep", "cycle", "CYCLE" });
  // A variant keeps 64-bit integers, which a double would not.
  return array ? std::optional(array->GetVariantValue(0).ToTypeInt64()) : std::nullopt;
}

template <typename F>
auto FirstOf(vtkDataObject* input, const std::vector<bat_vtk::Leaf>& leaves, const F& look)
{
  auto found = look(input);
  for (const bat_vtk::Leaf& leaf : leaves)
  {
    found = found ? found : look(leaf.Data);
  }
  return found;
}
}

//------------------------------------------------------------------------------
std::optional<double> bat_vtk::TimeOf(vtkDataObject* input, const std::vector<Leaf>& leaves)
{
  return FirstOf(input, leaves, TimeIn);
}

//------------------------------------------------------------------------------
std::optional<std::int64_t> bat_vtk::StepOf(vtkDataObject* input, const std::vector<Leaf>& leaves)
{
  return FirstOf(input, leaves, StepIn);
}

//------------------------------------------------------------------------------
std::optional<double> bat_vtk::RequestedTime(vtkInformation* input)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  if (input && input->Has(Pipeline::UPDATE_TIME_STEP()))
  {
    return input->Get(Pipeline::UPDATE_TIME_STEP());
  }
  return std::nullopt;
}
