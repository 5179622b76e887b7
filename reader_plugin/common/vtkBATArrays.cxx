// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATArrays.h"

#include "bat/bytes.hpp"
#include "bat/free_memory.hpp"

#include "vtkDataArray.h"
#include "vtkObjectFactory.h"
#include "vtkPoints.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace
{
// VTK passes only the address of an array to the function that frees its memory.
class Owners
{
public:
  static Owners& Instance()
  {
    static auto* owners = new Owners; // outlives all arrays
    return *owners;
  }
  void Add(void* memory, const std::shared_ptr<void>& owner)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->ByAddress.emplace(memory, owner);
  }
  static void Release(void* memory)
  {
    Owners& self = Owners::Instance();
    std::shared_ptr<void> last; // may free other arrays, when the lock is gone
    const std::lock_guard<std::mutex> lock(self.Mutex);
    const auto found = self.ByAddress.find(memory);
    if (found != self.ByAddress.end())
    {
      last = std::move(found->second);
      self.ByAddress.erase(found);
    }
  }

private:
  std::mutex Mutex;
  std::unordered_multimap<void*, std::shared_ptr<void>> ByAddress;
};

class PointsOfKnownBounds : public vtkPoints
{
public:
  static PointsOfKnownBounds* New();
  void KnowBounds(const double* bounds)
  {
    std::copy_n(bounds, 6, this->Bounds);
    this->ComputeTime.Modified();
  }
};
vtkStandardNewMacro(PointsOfKnownBounds);
}

//------------------------------------------------------------------------------
bool bat_vtk::IsPlain(vtkDataArray* array)
{
  return array->HasStandardMemoryLayout() && array->GetDataType() != VTK_BIT;
}

//------------------------------------------------------------------------------
void bat_vtk::UseMemory(
  vtkDataArray* array, void* memory, vtkIdType tuples, const std::shared_ptr<void>& owner)
{
  if (tuples == 0)
  {
    array->SetNumberOfTuples(0);
    return;
  }
  Owners::Instance().Add(memory, owner);
  constexpr int takeOver = 0;
  array->SetVoidArray(memory, tuples * array->GetNumberOfComponents(), takeOver,
    vtkAbstractArray::VTK_DATA_ARRAY_USER_DEFINED);
  array->SetArrayFreeFunction(&Owners::Release);
}

//------------------------------------------------------------------------------
void bat_vtk::TakeMemory(
  vtkDataArray* array, vtkIdType tuples, const std::string& what, const std::string& advice)
{
  const double size =
    static_cast<double>(array->GetNumberOfComponents()) * array->GetDataTypeSize();
  bat::check_memory(static_cast<double>(tuples) * size, what, advice);
  const std::size_t bytes = static_cast<std::size_t>(tuples) * static_cast<std::size_t>(size);
  const std::shared_ptr<void> memory(bat::allocate_large(std::max<std::size_t>(bytes, 1), 1),
    [bytes](void* of) { bat::free_large(of, std::max<std::size_t>(bytes, 1), 1); });
  bat_vtk::UseMemory(array, memory.get(), tuples, memory);
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkPoints> bat_vtk::MakePoints(vtkDataArray* positions, const double* bounds)
{
  auto points = vtkSmartPointer<PointsOfKnownBounds>::New();
  points->SetDataType(positions->GetDataType());
  points->SetData(positions);
  if (bounds)
  {
    points->KnowBounds(bounds);
  }
  return points;
}
