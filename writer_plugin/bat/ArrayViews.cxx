// SPDX-License-Identifier: BSD-3-Clause
#include "ArrayViews.h"

#include "vtkBATScalarTypes.h"

#include "vtkBitArray.h"
#include "vtkDataArray.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkSmartPointer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace
{
using bat::ArrayView;
using bat::ScalarType;

// Returns separate arrays per component if the array stores its values that way.
std::optional<ArrayView> MakeComponentView(vtkDataArray* array, ScalarType type)
{
  ArrayView view;
  view.type = type;
  view.components = array->GetNumberOfComponents();
  view.stride_bytes = bat::size_of(type);
  switch (array->GetDataType())
  {
    vtkTemplateMacro({
      auto* typed = vtkSOADataArrayTemplate<VTK_TT>::FastDownCast(array);
      for (int c = 0; typed && c < view.components; ++c)
      {
        view.component[c] = reinterpret_cast<const std::byte*>(typed->GetComponentArrayPointer(c));
      }
    });
  }
  const bool complete = std::all_of(view.component.begin(),
    view.component.begin() + view.components, [](const std::byte* p) { return p != nullptr; });
  return complete ? std::optional<ArrayView>(view) : std::nullopt;
}

template <typename In, typename Out>
void ConvertValues(
  const std::byte* in, std::size_t inStride, std::size_t count, Out* out, std::size_t outStride)
{
  for (std::size_t i = 0; i < count; ++i)
  {
    In value;
    std::memcpy(&value, in + i * inStride, sizeof(In));
    out[i * outStride] = static_cast<Out>(value);
  }
}

template <std::size_t Size>
void GatherComponent(const std::byte* in, std::size_t stride, const std::vector<vtkIdType>& places,
  std::byte* out, std::size_t outStride)
{
  for (std::size_t i = 0; i < places.size(); ++i)
  {
    std::memcpy(out + i * outStride, in + static_cast<std::size_t>(places[i]) * stride, Size);
  }
}
}

//------------------------------------------------------------------------------
std::byte* bat_vtk::Allocate(std::size_t bytes, Storage& storage)
{
  auto buffer = std::make_shared<std::vector<std::byte>>(bytes);
  storage.push_back(buffer);
  return buffer->data();
}

//------------------------------------------------------------------------------
ArrayView bat_vtk::MakeView(vtkDataArray* array, Storage& storage)
{
  const ScalarType type = *bat_vtk::ToScalarType(array->GetDataType());
  const int components = array->GetNumberOfComponents();
  if (vtkBitArray* bits = vtkBitArray::SafeDownCast(array))
  {
    const vtkIdType values = bits->GetNumberOfValues();
    std::byte* bytes = Allocate(static_cast<std::size_t>(values), storage);
    for (vtkIdType i = 0; i < values; ++i)
    {
      bytes[i] = static_cast<std::byte>(bits->GetValue(i));
    }
    return ArrayView::packed(type, components, bytes);
  }
  if (array->HasStandardMemoryLayout())
  {
    return ArrayView::packed(type, components, array->GetVoidPointer(0));
  }
  if (array->GetNumberOfTuples() > 0)
  {
    if (const std::optional<ArrayView> view = MakeComponentView(array, type))
    {
      return *view;
    }
  }
  // For arrays that compute their values or lay them out in their own way.
  vtkSmartPointer<vtkDataArray> copy;
  copy.TakeReference(vtkDataArray::CreateDataArray(array->GetDataType()));
  copy->DeepCopy(array);
  storage.push_back(std::make_shared<vtkSmartPointer<vtkDataArray>>(copy));
  return ArrayView::packed(type, components, copy->GetVoidPointer(0));
}

//------------------------------------------------------------------------------
template <typename Out>
void bat_vtk::ConvertComponent(const ArrayView& view, int c, std::size_t first, std::size_t count,
  Out* out, std::size_t outStride)
{
  const std::byte* in = view.component[c] + first * view.stride_bytes;
  const std::size_t stride = view.stride_bytes;
  switch (view.type)
  {
    case ScalarType::Int8:
      return ConvertValues<std::int8_t>(in, stride, count, out, outStride);
    case ScalarType::UInt8:
      return ConvertValues<std::uint8_t>(in, stride, count, out, outStride);
    case ScalarType::Int16:
      return ConvertValues<std::int16_t>(in, stride, count, out, outStride);
    case ScalarType::UInt16:
      return ConvertValues<std::uint16_t>(in, stride, count, out, outStride);
    case ScalarType::Int32:
      return ConvertValues<std::int32_t>(in, stride, count, out, outStride);
    case ScalarType::UInt32:
      return ConvertValues<std::uint32_t>(in, stride, count, out, outStride);
    case ScalarType::Int64:
      return ConvertValues<std::int64_t>(in, stride, count, out, outStride);
    case ScalarType::UInt64:
      return ConvertValues<std::uint64_t>(in, stride, count, out, outStride);
    case ScalarType::Float32:
      return ConvertValues<float>(in, stride, count, out, outStride);
    case ScalarType::Float64:
      return ConvertValues<double>(in, stride, count, out, outStride);
  }
}

template void bat_vtk::ConvertComponent(
  const ArrayView&, int, std::size_t, std::size_t, float*, std::size_t);
template void bat_vtk::ConvertComponent(
  const ArrayView&, int, std::size_t, std::size_t, double*, std::size_t);

//------------------------------------------------------------------------------
void bat_vtk::PackTuples(
  const ArrayView& view, std::size_t first, std::size_t count, std::byte* out)
{
  if (count == 0)
  {
    return; // an array without values may have no memory
  }
  const std::size_t size = bat::size_of(view.type);
  const std::size_t tuple = size * static_cast<std::size_t>(view.components);
  bool packed = view.stride_bytes == tuple;
  for (int c = 0; c < view.components; ++c)
  {
    packed = packed && view.component[c] == view.component[0] + c * size;
  }
  if (packed)
  {
    std::memcpy(out, view.component[0] + first * tuple, count * tuple);
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
  {
    for (int c = 0; c < view.components; ++c)
    {
      std::memcpy(
        out + i * tuple + c * size, view.component[c] + (first + i) * view.stride_bytes, size);
    }
  }
}

//------------------------------------------------------------------------------
ArrayView bat_vtk::GatherTuples(
  const ArrayView& view, const std::vector<vtkIdType>& places, Storage& storage)
{
  const std::size_t size = bat::size_of(view.type);
  const std::size_t tuple = size * static_cast<std::size_t>(view.components);
  std::byte* bytes = Allocate(places.size() * tuple, storage);
  for (int c = 0; c < view.components; ++c)
  {
    const std::byte* in = view.component[c];
    std::byte* out = bytes + c * size;
    switch (size)
    {
      case 1:
        GatherComponent<1>(in, view.stride_bytes, places, out, tuple);
        break;
      case 2:
        GatherComponent<2>(in, view.stride_bytes, places, out, tuple);
        break;
      case 4:
        GatherComponent<4>(in, view.stride_bytes, places, out, tuple);
        break;
      default:
        GatherComponent<8>(in, view.stride_bytes, places, out, tuple);
        break;
    }
  }
  return ArrayView::packed(view.type, view.components, bytes);
}
