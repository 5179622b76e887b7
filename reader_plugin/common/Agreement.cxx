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
void BroadcastBytes(vtkMultiProcessController* controller, std::vector<std::byte>& bytes, int root)
{
  auto size = static_cast<vtkIdType>(bytes.size());
  controller->Broadcast(&size, 1, root);
  bytes.resize(static_cast<std::size_t>(size));
  if (size != 0)
  {
    controller->Broadcast(reinterpret_cast<unsigned char*>(bytes.data()), size, root);
  }
}

// Returns the bytes of all processes on process `root`; nothing on the others.
std::vector<std::vector<std::byte>> GatherBytes(
  vtkMultiProcessController* controller, const std::vector<std::byte>& bytes, int root)
{
  const bool isRoot = controller->GetLocalProcessId() == root;
  const auto processes = static_cast<std::size_t>(controller->GetNumberOfProcesses());
  const auto own = static_cast<vtkIdType>(bytes.size());
  std::vector<vtkIdType> sizes(processes);
  controller->Gather(&own, sizes.data(), 1, root);
  std::vector<vtkIdType> offsets(processes);
  vtkIdType total = 0;
  for (std::size_t i = 0; isRoot && i < processes; ++i)
  {
    offsets[i] = total;
    total += sizes[i];
  }
  std::vector<std::byte> all(static_cast<std::size_t>(total));
  controller->GatherV(reinterpret_cast<const unsigned char*>(bytes.data()),
    reinterpret_cast<unsigned char*>(all.data()), own, sizes.data(), offsets.data(), root);
  std::vector<std::vector<std::byte>> each;
  for (std::size_t i = 0; isRoot && i < processes; ++i)
  {
    const auto begin = all.begin() + offsets[i];
    each.emplace_back(begin, begin + sizes[i]);
  }
  return each;
}

// The value is positive.
int NumberOf(const std::string& state)
{
  constexpr auto maximum = static_cast<std::size_t>(std::numeric_limits<int>::max() - 1);
  return static_cast<int>(std::hash<std::string>()(state) % maximum) + 1;
}
}

//------------------------------------------------------------------------------
bool bat_vtk::IsAlone(vtkMultiProcessController* controller)
{
  return !controller || controller->GetNumberOfProcesses() < 2;
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
  BroadcastBytes(controller, reads, 0);
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
void bat_vtk::PrefetchShared(vtkMultiProcessController* controller, const std::string& fileName,
  const std::function<void()>& prefetch)
{
  if (IsAlone(controller) || !bat::is_address(fileName))
  {
    static_cast<void>(Failure::Of(prefetch));
    return;
  }
  std::vector<std::byte> own;
  static_cast<void>(Failure::Of(
    [&]()
    {
      const bat::HeldPrefetches held;
      prefetch();
      own = held.pack();
    }));
  std::vector<std::vector<std::byte>> all;
  const int processes = controller->GetNumberOfProcesses();
  for (int root = 0; root < processes; ++root)
  {
    all.push_back(root == controller->GetLocalProcessId() ? own : std::vector<std::byte>());
    BroadcastBytes(controller, all.back(), root);
  }
  std::vector<std::vector<std::byte>> parcels(static_cast<std::size_t>(processes));
  static_cast<void>(Failure::Of(
    [&]() {
      parcels = bat::read_share(all, static_cast<std::size_t>(controller->GetLocalProcessId()));
    }));
  for (int to = 0; to < processes; ++to)
  {
    const std::vector<std::vector<std::byte>> received =
      GatherBytes(controller, parcels[static_cast<std::size_t>(to)], to);
    for (const std::vector<std::byte>& parcel : received)
    {
      static_cast<void>(Failure::Of([&]() { const bat::ReplayedReads read(parcel); }));
    }
  }
  static_cast<void>(Failure::Of(prefetch)); // what exceeded the limit
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
