// SPDX-License-Identifier: BSD-3-Clause
#include "FileStamp.h"

#include "bat/address.hpp"

#include <system_error>

#include <sys/stat.h>

//------------------------------------------------------------------------------
std::optional<bat_vtk::FileStamp> bat_vtk::FileStamp::Of(const std::filesystem::path& path)
{
  FileStamp stamp;
  if (bat::is_address(path.string()))
  {
    return stamp;
  }
  std::error_code error;
  stamp.Time = std::filesystem::last_write_time(path, error);
  if (!error)
  {
    stamp.Size = std::filesystem::file_size(path, error);
  }
  struct stat status;
  if (error || ::stat(path.string().c_str(), &status) != 0)
  {
    return std::nullopt;
  }
  stamp.Inode = static_cast<std::uint64_t>(status.st_ino);
  return stamp;
}

//------------------------------------------------------------------------------
bool bat_vtk::FileStamp::operator==(const FileStamp& other) const
{
  return this->Time == other.Time && this->Size == other.Size && this->Inode == other.Inode;
}
