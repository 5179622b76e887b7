// SPDX-License-Identifier: BSD-3-Clause
#include "Agreement.h"

#include "bat/address.hpp"
#include "bat/recorded_reads.hpp"

#include "vtkCommunicator.h"
#include "vtkMultiProcessController.h"
#include "vtkMultiProcessStream.h"
#include "vtkType.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <vector>

namespace
{
bool IsAlone(vtkMultiProcessController* controller)
{
  return !controller || controller->GetNumberOfProcesses() < 2;
}

// The value is positive.
int NumberOf(const std::string& state)
{
  constexpr auto maximum = static_cast<std::size_t>(std::numeric_limits<int>::max() - 1);
  return static_cast<int>(std::hash<std::string>()(state) % maximum) + 1;
}
}

//------------------------------------------------------------------------------
bat_vtk::Comparison bat_vtk::Compare(vtkMultiProcessController* controller, bool trouble,
  const Failure& failure, const std::string& state)
{
  if (IsAlone(controller))
  {
    return { trouble || failure, false };
  }
  const int largest = failure ? 0 : NumberOf(state);
  const int smallest = failure ? std::numeric_limits<int>::max() : largest;
  const int local[3] = { trouble || failure ? 1 : 0, largest, -smallest };
  int any[3] = { 0, 0, 0 };
  controller->AllReduce(local, any, 3, vtkCommunicator::MAX_OP);
  return { any[0] != 0, any[1] > -any[2] };
}

//------------------------------------------------------------------------------
void bat_vtk::ReadFirstOnRoot(vtkMultiProcessController* controller, const std::string& fileName,
  const std::function<void()>& f)
{
  if (IsAlone(controller) || !bat::is_address(fileName))
  {
    f();
    return;
  }
  std::vector<std::byte> reads;
  std::exception_ptr failure;
  const bool isRoot = controller->GetLocalProcessId() == 0;
  if (isRoot)
  {
    try
    {
      const bat::RecordedReads record;
      f();
      reads = record.pack();
    }
    catch (...)
    {
      failure = std::current_exception();
    }
  }
  auto size = static_cast<vtkIdType>(reads.size());
  controller->Broadcast(&size, 1, 0);
  reads.resize(static_cast<std::size_t>(size));
  controller->Broadcast(reinterpret_cast<unsigned char*>(reads.data()), size, 0);
  if (failure)
  {
    std::rethrow_exception(failure);
  }
  if (!isRoot)
  {
    const bat::ReplayedReads replay(reads);
    f();
  }
}

//------------------------------------------------------------------------------
bool bat_vtk::ReduceAny(vtkMultiProcessController* controller, bool local)
{
  if (IsAlone(controller))
  {
    return local;
  }
  const int own = local ? 1 : 0;
  int all = 0;
  controller->AllReduce(&own, &all, 1, vtkCommunicator::MAX_OP);
  return all != 0;
}

//------------------------------------------------------------------------------
void bat_vtk::ReduceSum(vtkMultiProcessController* controller, vtkTypeInt64* counts, int count)
{
  if (!IsAlone(controller))
  {
    const std::vector<vtkTypeInt64> own(counts, counts + count);
    controller->AllReduce(own.data(), counts, count, vtkCommunicator::SUM_OP);
  }
}

//------------------------------------------------------------------------------
bat_vtk::Failure bat_vtk::OtherFileElsewhere(const std::string& fileName)
{
  return { vtkErrorCode::CannotOpenFileError,
    fileName + ": other processes have opened another file, or another version of it" };
}

//------------------------------------------------------------------------------
bat_vtk::Failure bat_vtk::FirstFailure(vtkMultiProcessController* controller, const Failure& local,
  const std::string& fileName, const std::string& state)
{
  const Comparison found = Compare(controller, false, local, state);
  if (IsAlone(controller) || (!found.AnyTrouble && !found.Differ))
  {
    return local;
  }
  const Failure own = found.Differ && !local ? OtherFileElsewhere(fileName) : local;
  vtkMultiProcessStream stream;
  stream << static_cast<vtkTypeUInt64>(own.Code) << own.Text;
  std::vector<vtkMultiProcessStream> all;
  controller->AllGather(stream, all);
  for (vtkMultiProcessStream& one : all)
  {
    vtkTypeUInt64 code = 0;
    std::string text;
    one >> code >> text;
    if (code != vtkErrorCode::NoError)
    {
      return { static_cast<unsigned long>(code), text };
    }
  }
  return {};
}
