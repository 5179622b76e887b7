// SPDX-License-Identifier: BSD-3-Clause
// Reads the time of an input.
#ifndef DataFacts_h
#define DataFacts_h

#include "DataLeaves.h"

#include <cstdint>
#include <optional>
#include <vector>

class vtkInformation;

namespace bat_vtk
{
/// DATA_TIME_STEP, or else the value "TimeValue" or "TIME" of the field data, of the input, else of
/// the first leaf that has one.
std::optional<double> TimeOf(vtkDataObject* input, const std::vector<Leaf>& leaves);

/// The value "timestep", "cycle" or "CYCLE" in the field data of the input, else of the first leaf
/// that has one.
std::optional<std::int64_t> StepOf(vtkDataObject* input, const std::vector<Leaf>& leaves);

/// The time that was requested from a pipeline.
std::optional<double> RequestedTime(vtkInformation* input);
}

#endif
