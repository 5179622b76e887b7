// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATPassArrays.h"

#include "vtkDataArraySelection.h"
#include "vtkDataSetAttributes.h"
#include "vtkObjectFactory.h"

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATPassArrays);

//------------------------------------------------------------------------------
void vtkBATPassArrays::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
}

//------------------------------------------------------------------------------
void vtkBATPassArrays::AddNeeded(vtkPassSelectedArrays* filter)
{
  const char* ghosts = vtkDataSetAttributes::GhostArrayName();
  filter->GetPointDataArraySelection()->EnableArray(ghosts);
  filter->GetCellDataArraySelection()->EnableArray(ghosts);
  filter->GetRowDataArraySelection()->EnableArray(ghosts);
  filter->GetFieldDataArraySelection()->EnableArray("timestep");
  filter->GetFieldDataArraySelection()->EnableArray("cycle");
}

//------------------------------------------------------------------------------
int vtkBATPassArrays::RequestData(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkBATPassArrays::AddNeeded(this);
  return this->Superclass::RequestData(request, inputVector, outputVector);
}
