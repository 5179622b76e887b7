#include "OpenFile.h"

#include "bat/error.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace
{
std::optional<bat_vtk::FileStamp> StampOf(const std::filesystem::path& path)
{
  std::error_code error;
  bat_vtk::FileStamp stamp;
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
}

//------------------------------------------------------------------------------
bool bat_vtk::FileStamp::operator==(const FileStamp& other) const
{
  return this->Time == other.Time && this->Size == other.Size && this->Inode == other.Inode;
}

//------------------------------------------------------------------------------
const bat::Dataset& bat_vtk::OpenFile::Get(const std::string& name)
{
  const std::filesystem::path path = std::filesystem::u8path(name);
  // Taken before opening: a file that is replaced in between is opened again next time.
  const std::optional<FileStamp> stamp = StampOf(path);
  if (this->Now.File && stamp && stamp == this->Now.Stamp && this->Now.Name == name)
  {
    return *this->Now.File;
  }
  this->Now = {};
  ++this->Opened;
  if (this->Next.valid() && this->NextName == name)
  {
    Handle next = this->Next.get();
    if (next.File && stamp && stamp == next.Stamp)
    {
      this->Now = std::move(next);
      return *this->Now.File;
    }
  }
  this->Now.File = bat::Dataset::open(path);
  this->Now.Name = name;
  this->Now.Stamp = stamp;
  return *this->Now.File;
}

//------------------------------------------------------------------------------
const bat::Dataset* bat_vtk::OpenFile::Current() const
{
  return this->Now.File ? &*this->Now.File : nullptr;
}

//------------------------------------------------------------------------------
void bat_vtk::OpenFile::ReadAhead(const std::string& name, const bat::Query& query,
  std::uint64_t budget, const std::vector<std::string>& attributes)
{
  // Another future would wait for the thread of the one before.
  const bool busy = this->Next.valid() &&
    (name == this->NextName ||
      this->Next.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
  if (busy || name == this->Now.Name)
  {
    return;
  }
  this->NextName = name;
  this->Next = std::async(std::launch::async,
    [name, query, budget, attributes]() -> Handle
    {
      try
      {
        const std::filesystem::path path = std::filesystem::u8path(name);
        Handle next{ name, StampOf(path), bat::Dataset::open(path) };
        bat::Query fitting = query;
        fitting.quality = next.File->quality_within(query, budget);
        std::vector<std::size_t> numbers;
        const std::vector<std::string> names = next.File->attribute_names();
        for (std::size_t i = 0; i != names.size(); ++i)
        {
          if (std::find(attributes.begin(), attributes.end(), names[i]) != attributes.end())
          {
            numbers.push_back(i);
          }
        }
        next.File->prefetch(next.File->select(fitting), numbers);
        return next;
      }
      catch (const std::exception&)
      {
        return {};
      }
    });
}
