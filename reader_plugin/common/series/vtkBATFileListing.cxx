// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATFileListing.h"

#include "bat/address.hpp"

#include "vtkObjectFactory.h"

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATFileListing);

//------------------------------------------------------------------------------
void vtkBATFileListing::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
}

//------------------------------------------------------------------------------
bool vtkBATFileListing::GetActiveFileIsReadable()
{
  return (this->Path && bat::is_address(this->Path)) || this->Superclass::GetActiveFileIsReadable();
}
