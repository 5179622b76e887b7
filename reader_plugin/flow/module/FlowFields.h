// SPDX-License-Identifier: BSD-3-Clause
// What filters of flow do alike.
#ifndef FlowFields_h
#define FlowFields_h

#include "Failure.h"
#include "vtkFlowSource.h"

#include "bat/brick_source.hpp"
#include "bat/error.hpp"

#include "vtkFieldData.h"
#include "vtkInformation.h"
#include "vtkNew.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace bat_vtk
{
[[noreturn]] inline void Refuse(const std::string& text)
{
  throw Failure{ ToVTKErrorCode(bat::ErrorCode::InvalidArgument), text };
}

/// x min, x max, y min, ...
inline std::array<double, 6> DomainOf(const bat::BrickGrid& grid)
{
  std::array<double, 6> domain{};
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    domain[2 * axis] = grid.origin[axis];
    domain[2 * axis + 1] =
      grid.origin[axis] + static_cast<double>(grid.cells(axis)) * grid.spacing[axis];
  }
  return domain;
}

inline void AnnounceTimes(vtkInformation* outInfo, const std::vector<double>& times)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  const double range[2] = { times.front(), times.back() };
  outInfo->Set(Pipeline::TIME_STEPS(), times.data(), static_cast<int>(times.size()));
  outInfo->Set(Pipeline::TIME_RANGE(), range, 2);
}

template <typename ArrayT, typename T>
void AddNumber(vtkFieldData* field, const char* name, T value)
{
  vtkNew<ArrayT> array;
  array->SetName(name);
  array->InsertNextValue(value);
  field->AddArray(array);
}
}

#endif
