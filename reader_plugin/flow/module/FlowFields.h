// SPDX-License-Identifier: BSD-3-Clause
// What filters of flow do alike.
#ifndef FlowFields_h
#define FlowFields_h

#include "Failure.h"
#include "vtkFlowSource.h"

#include "bat/brick_source.hpp"
#include "bat/error.hpp"

#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkFieldData.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationInformationVectorKey.h"
#include "vtkInformationIntegerKey.h"
#include "vtkInformationVector.h"
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

/// What the array says of its range is `lower` to `upper`, that of all times, until it is modified:
/// colours that a viewer chooses at one time then mean the same at all.
inline void AnnounceRange(vtkDataArray* array, double lower, double upper)
{
  double range[2];
  if (!array || array->GetNumberOfValues() == 0)
  {
    return;
  }
  array->GetRange(range, 0); // the array keeps what it has found
  array->GetFiniteRange(range, 0);
  for (vtkInformationInformationVectorKey* key :
    { vtkAbstractArray::PER_COMPONENT(), vtkAbstractArray::PER_FINITE_COMPONENT() })
  {
    vtkInformationVector* kept = array->GetInformation()->Get(key);
    if (kept && kept->GetNumberOfInformationObjects() > 0)
    {
      const double all[2] = { lower, upper };
      kept->GetInformationObject(0)->Set(vtkDataArray::COMPONENT_RANGE(), all, 2);
    }
  }
}

/// The same of the arrays of times of particles that are followed from `times[0]` to `times[1]`.
inline void AnnounceRanges(vtkDataSetAttributes* points, const std::array<double, 2>& times)
{
  AnnounceRange(points->GetArray("ParticleAge"), 0, times[1] - times[0]);
  AnnounceRange(points->GetArray("SimulationTime"), times[0], times[1]);
  AnnounceRange(points->GetArray("ReleaseTime"), times[0], times[1]);
}

template <typename ArrayT, typename T>
void AddNumber(vtkFieldData* field, const char* name, T value)
{
  vtkNew<ArrayT> array;
  array->SetName(name);
  array->InsertNextValue(value);
  // Nothing to colour by; the information panel lists it all the same.
  array->GetInformation()->Set(vtkAbstractArray::GUI_HIDE(), 1);
  field->AddArray(array);
}
}

#endif
