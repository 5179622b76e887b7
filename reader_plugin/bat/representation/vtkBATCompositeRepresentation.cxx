// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATCompositeRepresentation.h"

#include "vtkBATPointGaussianRepresentation.h"

#include "vtkObjectFactory.h"

vtkStandardNewMacro(vtkBATCompositeRepresentation);

vtkBATCompositeRepresentation::vtkBATCompositeRepresentation() = default;
vtkBATCompositeRepresentation::~vtkBATCompositeRepresentation() = default;

//------------------------------------------------------------------------------
void vtkBATCompositeRepresentation::AddRepresentation(
  const char* key, vtkPVDataRepresentation* representation)
{
  if (vtkBATPointGaussianRepresentation::SafeDownCast(representation))
  {
    this->OwnKey = key;
    this->RemoveRepresentation(key);
  }
  else if (this->OwnKey == key)
  {
    return;
  }
  this->Superclass::AddRepresentation(key, representation);
}

//------------------------------------------------------------------------------
void vtkBATCompositeRepresentation::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
}
