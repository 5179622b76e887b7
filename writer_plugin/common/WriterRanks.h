// SPDX-License-Identifier: BSD-3-Clause
// Collective queries of the grid writers.
#ifndef WriterRanks_h
#define WriterRanks_h

#include "GridInput.h"

#include "vtkMultiProcessController.h"
#ifdef BAT_WRITER_HAS_MPI
#include "vtkMPI.h"
#include "vtkMPICommunicator.h"
#endif

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bat_vtk
{
#ifdef BAT_WRITER_HAS_MPI
// Null if the controller's processes do not communicate through MPI.
inline MPI_Comm* CommunicatorOf(vtkMultiProcessController* controller)
{
  auto* communicator =
    vtkMPICommunicator::SafeDownCast(controller ? controller->GetCommunicator() : nullptr);
  return communicator && communicator->GetMPIComm() ? communicator->GetMPIComm()->GetHandle()
                                                    : nullptr;
}
#endif

inline bool WritesCollectively(vtkMultiProcessController* controller)
{
#ifdef BAT_WRITER_HAS_MPI
  return CommunicatorOf(controller) != nullptr;
#else
  static_cast<void>(controller);
  return false;
#endif
}

// Collective if processes write together. Returns the texts of all of them, in order.
inline std::vector<GridFacts> GatherFacts(
  vtkMultiProcessController* controller, const GridFacts& local)
{
  if (!WritesCollectively(controller))
  {
    return { local };
  }
  constexpr std::size_t count = GridFacts::Count;
  std::vector<GridFacts> facts(static_cast<std::size_t>(controller->GetNumberOfProcesses()));
  std::vector<double> numbers(facts.size() * count);
  controller->AllGather(local.Numbers.data(), numbers.data(), static_cast<vtkIdType>(count));
  auto from = numbers.begin();
  for (GridFacts& one : facts)
  {
    std::copy_n(from, count, one.Numbers.begin());
    from += static_cast<std::ptrdiff_t>(count);
  }
  return facts;
}
}

#endif
