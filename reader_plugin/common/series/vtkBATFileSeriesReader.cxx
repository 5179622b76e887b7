// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATFileSeriesReader.h"

#include "vtkObjectFactory.h"

#include <vtksys/SystemTools.hxx>

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATFileSeriesReader);

//------------------------------------------------------------------------------
void vtkBATFileSeriesReader::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
}

//------------------------------------------------------------------------------
int vtkBATFileSeriesReader::CanReadFile(const char* filename)
{
  const bool isList =
    filename && vtksys::SystemTools::GetFilenameLastExtension(filename) == ".series";
  return isList ? 0 : this->Superclass::CanReadFile(filename);
}
