// SPDX-License-Identifier: BSD-3-Clause
#include "OpenFile.h"

#include "bat/address.hpp"
#include "bat/error.hpp"
#include "bat/scoped_stop.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

namespace
{
// The first file of a series, the present one, and the previous one.
constexpr std::size_t MaxOpen = 3;
}

//------------------------------------------------------------------------------
bat_vtk::OpenFile::~OpenFile()
{
  if (this->Cancelled)
  {
    *this->Cancelled = true;
  }
}

//------------------------------------------------------------------------------
const bat::Dataset& bat_vtk::OpenFile::Get(const std::string& name)
{
  const std::filesystem::path path = std::filesystem::u8path(name);
  // The stamp is taken before opening: a file replaced in between is opened again next time.
  const std::optional<FileStamp> stamp = FileStamp::Of(path);
  const auto known = std::find_if(this->Handles.begin(), this->Handles.end(),
    [&](const Handle& handle) { return handle.Name == name; });
  this->Failed = true;
  if (known != this->Handles.end() && stamp && stamp == known->Stamp)
  {
    this->Handles.splice(this->Handles.begin(), this->Handles, known);
    this->Failed = false;
    return *this->Handles.front().File;
  }
  if (known != this->Handles.end())
  {
    this->Handles.erase(known);
  }
  Handle opened;
  if (this->Next.valid() && this->NextName == name)
  {
    opened = this->Next.get();
  }
  if (!opened.File || !stamp || !(stamp == opened.Stamp))
  {
    opened = { name, stamp, bat::Dataset::open(path), 0 };
  }
  opened.Generation = ++this->Opened;
  this->Handles.push_front(std::move(opened));
  if (this->Handles.size() > MaxOpen)
  {
    auto last = std::prev(this->Handles.end());
    this->Handles.erase(last->Generation == this->Kept ? std::prev(last) : last);
  }
  this->Failed = false;
  return *this->Handles.front().File;
}

//------------------------------------------------------------------------------
std::uint64_t bat_vtk::OpenFile::Generation() const
{
  return this->Handles.empty() ? 0 : this->Handles.front().Generation;
}

//------------------------------------------------------------------------------
void bat_vtk::OpenFile::Keep()
{
  this->Kept = this->Generation();
}

//------------------------------------------------------------------------------
const bat::Dataset* bat_vtk::OpenFile::Current() const
{
  return this->Failed || this->Handles.empty() ? nullptr : &*this->Handles.front().File;
}

//------------------------------------------------------------------------------
bat_vtk::OpenFile::Handle bat_vtk::OpenFile::OpenAhead(const std::string& name, bat::Query query,
  std::uint64_t budget, const std::vector<std::string>& attributes, const Flag& cancelled)
{
  try
  {
    std::optional<bat::ScopedStop> whileWaiting;
    if (bat::is_address(name))
    {
      whileWaiting.emplace([&] { return cancelled->load(); });
    }
    const std::filesystem::path path = std::filesystem::u8path(name);
    Handle next{ name, FileStamp::Of(path), bat::Dataset::open(path), 0 };
    if (*cancelled)
    {
      return next;
    }
    query.quality = next.File->quality_within(query, budget);
    if (*cancelled)
    {
      return next;
    }
    std::vector<std::size_t> numbers;
    const std::vector<std::string> names = next.File->attribute_names();
    for (std::size_t i = 0; i != names.size(); ++i)
    {
      if (std::find(attributes.begin(), attributes.end(), names[i]) != attributes.end())
      {
        numbers.push_back(i);
      }
    }
    next.File->prefetch(next.File->select(query), numbers);
    return next;
  }
  catch (const std::exception&)
  {
    return {};
  }
}

//------------------------------------------------------------------------------
void bat_vtk::OpenFile::ReadAhead(const std::string& name, const bat::Query& query,
  std::uint64_t budget, const std::vector<std::string>& attributes)
{
  const bool isOpen = std::any_of(this->Handles.begin(), this->Handles.end(),
    [&](const Handle& handle) { return handle.Name == name; });
  if (isOpen || (this->Next.valid() && name == this->NextName))
  {
    return;
  }
  // A second future would wait for the thread of the first.
  if (this->Next.valid() &&
    this->Next.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
  {
    *this->Cancelled = true;
    return;
  }
  try
  {
    this->Cancelled = std::make_shared<std::atomic<bool>>(false);
    this->NextName = name;
    this->Next =
      std::async(std::launch::async, OpenAhead, name, query, budget, attributes, this->Cancelled);
  }
  catch (const std::system_error&)
  {
    // Without a thread, the file is opened when it is needed.
  }
}
