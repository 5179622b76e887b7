// SPDX-License-Identifier: BSD-3-Clause
// Processes that update the parts of one output fail together.
#ifndef Agreement_h
#define Agreement_h

#include "Failure.h"

#include "vtkType.h"

#include <string>

class vtkMultiProcessController;

namespace bat_vtk
{
/// What the processes have found.
struct Comparison
{
  bool AnyTrouble = false;
  bool Differ = false; ///< those without a failure are not in the same state
};

/// Collective. `state` is a text that is the same on all processes which have the same file open;
/// that of one with a failure counts for nothing. A null controller is a process alone.
Comparison Compare(vtkMultiProcessController* controller, bool trouble, const Failure& failure,
  const std::string& state);

/// What is said where they differ.
Failure OtherFileElsewhere(const std::string& fileName);

/// Collective: whether any process says so.
bool ReduceAny(vtkMultiProcessController* controller, bool local);

/// Collective: sums of all processes, in place of their own.
void ReduceSum(vtkMultiProcessController* controller, vtkTypeInt64* counts, int count);

/// Collective. The first failure of any process, the same on all; or that of one which has another
/// file open.
Failure FirstFailure(vtkMultiProcessController* controller, const Failure& local,
  const std::string& fileName, const std::string& state);
}

#endif
