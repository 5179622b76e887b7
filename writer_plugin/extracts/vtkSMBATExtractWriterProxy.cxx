// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMBATExtractWriterProxy.h"

#include "vtkObjectFactory.h"
#include "vtkSMExtractsController.h"
#include "vtkSMPropertyHelper.h"

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkSMBATExtractWriterProxy);

//------------------------------------------------------------------------------
void vtkSMBATExtractWriterProxy::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
}

//------------------------------------------------------------------------------
bool vtkSMBATExtractWriterProxy::Write(vtkSMExtractsController* extractor)
{
  vtkSMPropertyHelper(this->GetSubProxy("Writer"), "TimeStep").Set(extractor->GetTimeStep());
  return this->Superclass::Write(extractor);
}
