// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATRemoteFileSettings.h"

#include "bat/error.hpp"
#include "bat/remote_options.hpp"

#include "vtkObjectFactory.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

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
  std::string given = folder ? folder : "";
  const char* const home = std::getenv("HOME");
  if (home && (given == "~" || given.rfind("~/", 0) == 0))
  {
    given = home + given.substr(1);
  }
  if (this->CacheFolder == given)
  {
    return;
  }
  std::error_code problem;
  if (!given.empty())
  {
    std::filesystem::create_directories(std::filesystem::u8path(given), problem);
  }
  if (problem)
  {
    vtkErrorMacro(<< "Cache Folder: " << given << " cannot be made: " << problem.message());
    return;
  }
  this->CacheFolder = given;
  this->Use();
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
    this->HasTimeout = true;
    this->Use();
  }
}

//------------------------------------------------------------------------------
void vtkBATRemoteFileSettings::Use()
{
  this->Modified();
  bat::RemoteOptions options;
  options.cache_folder = std::filesystem::u8path(this->CacheFolder);
  if (!this->CacheFolder.empty())
  {
    options.cache_bytes = static_cast<std::uint64_t>(std::max(this->CacheSize, 1)) << 30;
  }
  if (this->HasTimeout)
  {
    options.timeout = std::chrono::seconds(std::max(this->Timeout, 1));
  }
  if (const auto error = bat::attempt([&] { bat::set_remote_options(options); }))
  {
    vtkErrorMacro(<< error->what());
  }
}
