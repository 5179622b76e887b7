// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATFileSeriesWriter.h"

#include "vtkBATPassArrays.h"

#include "vtkObjectFactory.h"

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATFileSeriesWriter);

//------------------------------------------------------------------------------
void vtkBATFileSeriesWriter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
}

//------------------------------------------------------------------------------
int vtkBATFileSeriesWriter::ProcessRequest(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  // The first requests precede the request for data, which the upstream filter answers first.
  if (auto* chosen = vtkPassSelectedArrays::SafeDownCast(this->GetInputAlgorithm(0, 0)))
  {
    vtkBATPassArrays::AddNeeded(chosen);
  }
  return this->Superclass::ProcessRequest(request, inputVector, outputVector);
}
