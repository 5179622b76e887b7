// SPDX-License-Identifier: BSD-3-Clause
#include "DataFacts.h"

#include "vtkDataArray.h"
#include "vtkDataObject.h"
#include "vtkFieldData.h"
#include "vtkInformation.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkVariant.h"

namespace
{
std::optional<double> TimeIn(vtkDataObject* data)
{
  vtkInformation* information = data->GetInformation();
  if (information && information->Has(vtkDataObject::DATA_TIME_STEP()))
  {
    return information->Get(vtkDataObject::DATA_TIME_STEP());
  }
  return std::nullopt;
}

std::optional<std::int64_t> StepIn(vtkDataObject* data)
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
