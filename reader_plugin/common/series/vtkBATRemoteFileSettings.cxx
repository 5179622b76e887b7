// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATRemoteFileSettings.h"

#include "bat/error.hpp"
#include "bat/remote_options.hpp"

#include "vtkObjectFactory.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATRemoteFileSettings);

//------------------------------------------------------------------------------
void vtkBATRemoteFileSettings::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "CacheFolder: " << this->CacheFolder << "\n";
  os << indent << "CacheSize: " << this->CacheSize << "\n";
  os << indent << "Timeout: " << this->Timeout << "\n";
}

//------------------------------------------------------------------------------
void vtkBATRemoteFileSettings::SetCacheFolder(const char* folder)
{
  const std::string given = folder ? folder : "";
  if (this->CacheFolder != given)
  {
    this->CacheFolder = given;
    this->Use();
  }
}

//------------------------------------------------------------------------------
void vtkBATRemoteFileSettings::SetCacheSize(int size)
{
  if (this->CacheSize != size)
  {
    this->CacheSize = size;
    this->Use();
  }
}

//------------------------------------------------------------------------------
void vtkBATRemoteFileSettings::SetTimeout(int seconds)
{
  if (this->Timeout != seconds)
  {
    this->Timeout = seconds;
    this->Use();
  }
}

//------------------------------------------------------------------------------
void vtkBATRemoteFileSettings::Use()
{
  this->Modified();
  bat::RemoteOptions options;
  options.cache_folder = this->CacheFolder;
  options.cache_bytes = static_cast<std::uint64_t>(std::max(this->CacheSize, 0)) << 30;
  options.timeout = std::chrono::seconds(std::max(this->Timeout, 0));
  if (const auto error = bat::attempt([&] { bat::set_remote_options(options); }))
  {
    vtkErrorMacro(<< error->what());
  }
}
