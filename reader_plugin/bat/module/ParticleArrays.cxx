// SPDX-License-Identifier: BSD-3-Clause
#include "ParticleArrays.h"

#include "vtkBATScalarTypes.h"

#include "vtkBitArray.h"
#include "vtkDataArray.h"

#include <algorithm>
#include <string>

//------------------------------------------------------------------------------
vtkSmartPointer<vtkDataArray> bat_vtk::MakePositions(const bat::Dataset& file)
{
  vtkSmartPointer<vtkDataArray> array;
  array.TakeReference(vtkDataArray::CreateDataArray(ToVTKType(file.position_type(), 0)));
  array->SetName("Points");
  array->SetNumberOfComponents(3);
  return array;
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkDataArray> bat_vtk::MakeAttribute(const bat::Attribute& attribute)
{
  vtkSmartPointer<vtkDataArray> array;
  array.TakeReference(
    vtkDataArray::CreateDataArray(ToVTKType(attribute.type, attribute.host_type)));
  array->SetName(attribute.name.c_str());
  array->SetNumberOfComponents(attribute.components);
  return array;
}

//------------------------------------------------------------------------------
bool bat_vtk::IsBits(vtkDataArray* array)
{
  return vtkBitArray::SafeDownCast(array) != nullptr;
}

//------------------------------------------------------------------------------
// vtkBitArray keeps the first value in the highest bit of each byte.
void bat_vtk::PackBits(const std::vector<unsigned char>& values, vtkDataArray* array)
{
  vtkBitArray* packed = vtkBitArray::SafeDownCast(array);
  if (!packed || values.empty())
  {
    return;
  }
  unsigned char* bits = packed->GetPointer(0);
  std::fill_n(bits, (values.size() + 7) / 8, static_cast<unsigned char>(0));
  for (std::size_t i = 0; i < values.size(); ++i)
  {
    if (values[i] != 0)
    {
      bits[i / 8] = static_cast<unsigned char>(bits[i / 8] | (0x80u >> (i % 8)));
    }
  }
}
