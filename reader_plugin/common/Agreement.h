// SPDX-License-Identifier: BSD-3-Clause
// Makes processes that update the parts of one output fail together, and read together what all of
// them need.
#ifndef Agreement_h
#define Agreement_h

#include "Failure.h"

#include "vtkType.h"

#include <functional>
#include <string>

class vtkMultiProcessController;

namespace bat_vtk
{
/// The result of comparing processes.
struct Comparison
{
  bool AnyTrouble = false;
  bool Differ = false; ///< processes without a failure are in different states
};

/// Whether there is only one process. A null controller means a single process.
bool IsAlone(vtkMultiProcessController* controller);

/// Collective. `state` is a text that is equal on all processes with the same file open; it is
/// ignored for a process with a failure. A null controller means a single process.
Comparison Compare(vtkMultiProcessController* controller, bool trouble, const Failure& failure,
  const std::string& state);

/// The failure to report if they differ.
Failure OtherFileElsewhere(const std::string& fileName);

/// Collective if the file is at an address. Calls f, first on process 0; the other processes get
/// what it has read from the server, and do not ask the server again. A failure of f remains one of
/// its process.
void ReadFirstOnRoot(vtkMultiProcessController* controller, const std::string& fileName,
  const std::function<void()>& f);

/// Collective if the file is at an address. `prefetch` prefetches what this process is about to
/// read. What the processes need together is requested from the server once, each part by one of
/// them. Never fails: faults show when the parts are read.
void PrefetchShared(vtkMultiProcessController* controller, const std::string& fileName,
  const std::function<void()>& prefetch);

/// Collective. True if `local` is true in any process.
bool ReduceAny(vtkMultiProcessController* controller, bool local);

/// Collective. Replaces the counts with their sums over all processes.
void ReduceSum(vtkMultiProcessController* controller, vtkTypeInt64* counts, int count);

/// Collective. Returns the first failure of any process, the same on all; or a failure if one of
/// them has another file open.
Failure FirstFailure(vtkMultiProcessController* controller, const Failure& local,
  const std::string& fileName, const std::string& state);
}

#endif
