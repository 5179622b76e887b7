// SPDX-License-Identifier: BSD-3-Clause
#include "ExactNumber.h"

#include "vtkDataArray.h"
#include "vtkVariant.h"

#include <cstdint>
#include <limits>
#include <variant>

//------------------------------------------------------------------------------
bat::Number bat_vtk::NumberAt(vtkDataArray* values, vtkIdType i)
{
  const vtkVariant value = values->GetVariantValue(i);
  if (values->GetDataType() == VTK_FLOAT || values->GetDataType() == VTK_DOUBLE)
  {
    return value.ToDouble();
  }
  if (values->GetDataTypeMin() < 0.0)
  {
    return static_cast<std::int64_t>(value.ToLongLong());
  }
  return static_cast<std::uint64_t>(value.ToUnsignedLongLong());
}

//------------------------------------------------------------------------------
long double bat_vtk::Exact(const bat::Number& number)
{
  static_assert(std::numeric_limits<long double>::digits >= 64);
  return std::visit([](auto value) { return static_cast<long double>(value); }, number);
}
