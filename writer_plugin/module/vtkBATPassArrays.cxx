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
int vtkBATPassArrays::RequestData(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  const char* ghosts = vtkDataSetAttributes::GhostArrayName();
  this->GetPointDataArraySelection()->EnableArray(ghosts);
  this->GetCellDataArraySelection()->EnableArray(ghosts);
  this->GetRowDataArraySelection()->EnableArray(ghosts);
  this->GetFieldDataArraySelection()->EnableArray("timestep");
  this->GetFieldDataArraySelection()->EnableArray("cycle");
  return this->Superclass::RequestData(request, inputVector, outputVector);
}
