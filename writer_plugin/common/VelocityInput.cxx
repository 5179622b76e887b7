// SPDX-License-Identifier: BSD-3-Clause
#include "VelocityInput.h"

#include "bat/error.hpp"

#include "vtkDataArray.h"
#include "vtkDataSetAttributes.h"
#include "vtkImageData.h"
#include "vtkMatrix3x3.h"
#include "vtkPointData.h"
#include "vtkUnsignedCharArray.h"

#include <limits>

namespace
{
using Attributes = vtkDataSetAttributes;

[[noreturn]] void Refuse(const bat_vtk::ImagePiece& piece, const std::string& text)
{
  throw bat::Error(
    bat::ErrorCode::InvalidArgument, piece.Label.empty() ? text : piece.Label + ": " + text);
}

bool CanBeVelocity(vtkDataArray* array)
{
  const int components = array->GetNumberOfComponents();
  return (array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE) &&
    (components == 2 || components == 3);
}

vtkDataArray* ArrayOf(const bat_vtk::ImagePiece& piece, const std::string& field)
{
  vtkPointData* data = piece.Image->GetPointData();
  if (!field.empty())
  {
    vtkDataArray* const array = data->GetArray(field.c_str());
    if (!array)
    {
      Refuse(piece,
        "there is no point array '" + field +
          "'; use 'Cell Data to Point Data' to convert cell data");
    }
    if (!CanBeVelocity(array))
    {
      Refuse(piece,
        "'" + field + "' has " + std::to_string(array->GetNumberOfComponents()) +
          " components of type " + array->GetDataTypeAsString() +
          "; allowed are 2 or 3 components of type float or double");
    }
    return array;
  }
  if (data->GetVectors() && CanBeVelocity(data->GetVectors()))
  {
    return data->GetVectors();
  }
  vtkDataArray* found = nullptr;
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* const array = data->GetArray(i);
    if (!array || !CanBeVelocity(array))
    {
      continue;
    }
    if (found)
    {
      Refuse(piece,
        std::string("'") + found->GetName() + "' and '" + array->GetName() +
          "' are both possible velocities: choose the one to write");
    }
    found = array;
  }
  if (!found)
  {
    Refuse(piece,
      "no point array is suitable as a velocity, with 2 or 3 components of type float or double; "
      "use 'Cell Data to Point Data' to convert cell data");
  }
  return found;
}

// Velocities with NaN at hidden points, so that these points need no mark.
struct ShownVelocity
{
  vtkSmartPointer<vtkDataArray> Values;
  vtkSmartPointer<vtkUnsignedCharArray> Ghosts; ///< null if the image has none
};

ShownVelocity MakeShown(vtkDataArray* array, vtkUnsignedCharArray* ghosts)
{
  ShownVelocity shown;
  shown.Values.TakeReference(array->NewInstance());
  shown.Values->ShallowCopy(array);
  if (ghosts)
  {
    shown.Ghosts = vtkSmartPointer<vtkUnsignedCharArray>::New();
    shown.Ghosts->DeepCopy(ghosts);
    shown.Ghosts->SetName(Attributes::GhostArrayName());
    bool is_own = false;
    for (vtkIdType i = 0; i < ghosts->GetNumberOfTuples(); ++i)
    {
      const unsigned char bits = ghosts->GetValue(i);
      if ((bits & Attributes::HIDDENPOINT) == 0)
      {
        continue;
      }
      if (!is_own)
      {
        shown.Values->DeepCopy(array);
        is_own = true;
      }
      for (int c = 0; c < shown.Values->GetNumberOfComponents(); ++c)
      {
        shown.Values->SetComponent(i, c, std::numeric_limits<double>::quiet_NaN());
      }
      shown.Ghosts->SetValue(i, static_cast<unsigned char>(bits & ~Attributes::HIDDENPOINT));
    }
  }
  shown.Values->SetName("velocity");
  return shown;
}
}

//------------------------------------------------------------------------------
bat_vtk::VelocityImages bat_vtk::FindVelocity(
  const std::vector<ImagePiece>& images, const std::string& field)
{
  VelocityImages velocity;
  for (const ImagePiece& piece : images)
  {
    vtkDataArray* const array = ArrayOf(piece, field);
    const std::string name = array->GetName() ? array->GetName() : "velocity";
    if (velocity.Field && *velocity.Field != name)
    {
      Refuse(
        piece, "its velocity is '" + name + "', but that of others is '" + *velocity.Field + "'");
    }
    velocity.Field = name;
    const ShownVelocity shown = MakeShown(array,
      vtkUnsignedCharArray::SafeDownCast(
        piece.Image->GetPointData()->GetArray(Attributes::GhostArrayName())));
    vtkSmartPointer<vtkImageData> image = vtkSmartPointer<vtkImageData>::New();
    image->SetExtent(piece.Image->GetExtent());
    image->SetOrigin(piece.Image->GetOrigin());
    image->SetSpacing(piece.Image->GetSpacing());
    image->SetDirectionMatrix(piece.Image->GetDirectionMatrix());
    image->GetPointData()->AddArray(shown.Values);
    if (shown.Ghosts)
    {
      image->GetPointData()->AddArray(shown.Ghosts);
    }
    velocity.Images.push_back({ image, piece.Label });
    velocity.Owned.push_back(image);
  }
  return velocity;
}
