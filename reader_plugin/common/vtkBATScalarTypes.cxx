// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATScalarTypes.h"

#include "vtkType.h"

#include <limits>
#include <type_traits>

namespace
{
using bat::ScalarType;

template <typename T>
constexpr ScalarType StoredType()
{
  if (std::is_floating_point_v<T>)
  {
    return sizeof(T) == 4 ? ScalarType::Float32 : ScalarType::Float64;
  }
  switch (sizeof(T))
  {
    case 1:
      return std::is_signed_v<T> ? ScalarType::Int8 : ScalarType::UInt8;
    case 2:
      return std::is_signed_v<T> ? ScalarType::Int16 : ScalarType::UInt16;
    case 4:
      return std::is_signed_v<T> ? ScalarType::Int32 : ScalarType::UInt32;
    default:
      return std::is_signed_v<T> ? ScalarType::Int64 : ScalarType::UInt64;
  }
}

struct TypePair
{
  int VTKType;
  ScalarType Stored;
};

constexpr TypePair Table[] = {
  { VTK_BIT, ScalarType::UInt8 },
  { VTK_CHAR, StoredType<char>() },
  { VTK_SIGNED_CHAR, StoredType<signed char>() },
  { VTK_UNSIGNED_CHAR, StoredType<unsigned char>() },
  { VTK_SHORT, StoredType<short>() },
  { VTK_UNSIGNED_SHORT, StoredType<unsigned short>() },
  { VTK_INT, StoredType<int>() },
  { VTK_UNSIGNED_INT, StoredType<unsigned int>() },
  { VTK_LONG, StoredType<long>() },
  { VTK_UNSIGNED_LONG, StoredType<unsigned long>() },
  { VTK_LONG_LONG, StoredType<long long>() },
  { VTK_UNSIGNED_LONG_LONG, StoredType<unsigned long long>() },
  { VTK_ID_TYPE, StoredType<vtkIdType>() },
  { VTK_FLOAT, StoredType<float>() },
  { VTK_DOUBLE, StoredType<double>() },
};
}

//------------------------------------------------------------------------------
std::optional<bat::ScalarType> bat_vtk::ToScalarType(int vtkType)
{
  for (const TypePair& pair : Table)
  {
    if (pair.VTKType == vtkType)
    {
      return pair.Stored;
    }
  }
  return std::nullopt;
}

//------------------------------------------------------------------------------
int bat_vtk::ToVTKType(bat::ScalarType type, std::uint32_t hostType)
{
  if (hostType <= static_cast<std::uint32_t>(std::numeric_limits<int>::max()))
  {
    const int requested = static_cast<int>(hostType);
    if (ToScalarType(requested) == type)
    {
      return requested;
    }
  }
  switch (type)
  {
    case ScalarType::Int8:
      return VTK_TYPE_INT8;
    case ScalarType::UInt8:
      return VTK_TYPE_UINT8;
    case ScalarType::Int16:
      return VTK_TYPE_INT16;
    case ScalarType::UInt16:
      return VTK_TYPE_UINT16;
    case ScalarType::Int32:
      return VTK_TYPE_INT32;
    case ScalarType::UInt32:
      return VTK_TYPE_UINT32;
    case ScalarType::Int64:
      return VTK_TYPE_INT64;
    case ScalarType::UInt64:
      return VTK_TYPE_UINT64;
    case ScalarType::Float32:
      return VTK_TYPE_FLOAT32;
    case ScalarType::Float64:
      return VTK_TYPE_FLOAT64;
  }
  return VTK_VOID;
}
