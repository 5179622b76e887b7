// SPDX-License-Identifier: BSD-3-Clause
// Code shared by the flow filters.
#ifndef FlowFields_h
#define FlowFields_h

#include "Failure.h"
#include "vtkFlowSource.h"

#include "bat/brick_source.hpp"
#include "bat/error.hpp"

#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkFieldData.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationIntegerKey.h"
#include "vtkNew.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>
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

/// Numbers with a preset range that is not computed from them. NewInstance() returns a plain
/// vtkDoubleArray.
class ArrayWithRange : public vtkDoubleArray
{
public:
  static ArrayWithRange* New()
  {
    auto* array = new ArrayWithRange;
    array->InitializeObjectBase();
    return array;
  }
  std::array<double, 2> KnownRange{};

protected:
  ArrayWithRange() = default;
  bool ComputeScalarRange(double* ranges) override
  {
    std::copy(this->KnownRange.begin(), this->KnownRange.end(), ranges);
    return true;
  }
  bool ComputeScalarRange(double* ranges, const unsigned char*, unsigned char) override
  {
    return this->ComputeScalarRange(ranges);
  }
  bool ComputeFiniteScalarRange(double* ranges) override
  {
    return this->ComputeScalarRange(ranges);
  }
  bool ComputeFiniteScalarRange(double* ranges, const unsigned char*, unsigned char) override
  {
    return this->ComputeScalarRange(ranges);
  }
};

/// Sets the range of an array to `lower` to `upper`, which covers all times, so that colours chosen
/// at one time mean the same at all times.
inline void AnnounceRange(
  vtkDataSetAttributes* points, const char* name, double lower, double upper)
{
  auto* array = vtkDoubleArray::SafeDownCast(points->GetArray(name));
  if (!array || array->GetNumberOfValues() == 0)
  {
    return;
  }
  vtkNew<ArrayWithRange> ranged;
  ranged->ShallowCopy(array);
  ranged->SetName(name);
  ranged->KnownRange = { lower, upper };
  points->AddArray(ranged); // replaces it
}

/// Does the same for the time arrays of particles that are followed from `times[0]` to `times[1]`.
inline void AnnounceRanges(vtkDataSetAttributes* points, const std::array<double, 2>& times)
{
  AnnounceRange(points, "ParticleAge", 0, times[1] - times[0]);
  AnnounceRange(points, "SimulationTime", times[0], times[1]);
  AnnounceRange(points, "ReleaseTime", times[0], times[1]);
}

template <typename ArrayT, typename T>
void AddNumber(vtkFieldData* field, const char* name, T value)
{
  vtkNew<ArrayT> array;
  array->SetName(name);
  array->InsertNextValue(value);
  // GUI_HIDE removes it from the arrays to colour by; the information panel still lists it.
  array->GetInformation()->Set(vtkAbstractArray::GUI_HIDE(), 1);
  field->AddArray(array);
}
}

#endif
