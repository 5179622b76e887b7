// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATFileSeriesReader.h"

#include "bat/series.hpp"

#include "vtkObjectFactory.h"

#include <filesystem>

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
  const bool isList = filename && bat::is_series(std::filesystem::u8path(filename));
  return isList ? 0 : this->Superclass::CanReadFile(filename);
}
