// SPDX-License-Identifier: BSD-3-Clause
#include "LoadedParticles.h"

#include "Conditions.h"
#include "Failure.h"
#include "ParticleArrays.h"
#include "vtkBATArrays.h"

#include "bat/free_memory.hpp"
#include "bat/scoped_stop.hpp"

#include "vtkDataArray.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace
{
// Number of particles between two progress reports, which takes a fraction of a tenth of a second.
constexpr std::uint64_t PortionParticles = 1 << 21;

std::uint64_t NextNumber()
{
  static std::atomic<std::uint64_t> last{ 0 };
  return ++last;
}

std::uint64_t CountOf(const std::vector<bat::DatasetSelection>& steps)
{
  std::uint64_t count = 0;
  for (const bat::DatasetSelection& step : steps)
  {
    count += step.count;
  }
  return count;
}

template <typename Bad>
void WithoutLeaves(bat::DatasetSelection& selection, const Bad& bad)
{
  auto& parts = selection.parts;
  parts.erase(std::remove_if(parts.begin(), parts.end(),
                [&](const auto& part) { return bad.count(part.leaf) != 0; }),
    parts.end());
  selection.count = 0;
  for (const bat::DatasetSelection::Part& part : parts)
  {
    selection.count += part.selection.count;
  }
}

std::uint64_t BytesOf(const bat::Dataset& file, std::size_t column)
{
  if (column == bat_vtk::LoadedParticles::PositionColumn)
  {
    return 3 * bat::size_of(file.position_type());
  }
  const bat::Attribute& attribute = file.attributes()[column];
  return bat::tuple_bytes(attribute.type, attribute.components);
}
}

//------------------------------------------------------------------------------
void bat_vtk::LoadedParticles::ReadCommon(const Request& request, bool isFirst) const
{
  constexpr std::size_t maxLeafFiles = 64;
  constexpr std::uint64_t maxTested = 1 << 22; // particles, of 12 to 16 tested bytes each
  bat::Query query = request.Query;
  query.part = 0;
  query.parts = 1;
  query.after_quality = this->CanAdd(request) ? this->LoadedQuality : 0.0;
  const bool hasConditions =
    query.box || !query.shapes.empty() || !query.ranges.empty() || !query.values.empty();
  static_cast<void>(Failure::Of(
    [&]()
    {
      if (!request.File->is_remote() || request.File->leaves().size() > maxLeafFiles)
      {
        return;
      }
      if (!isFirst || !hasConditions || request.File->particles_at(query.quality) > maxTested)
      {
        query.after_quality = 0.0;
        query.quality = std::min(query.quality, 1e-12); // one particle of each leaf file
      }
      static_cast<void>(request.File->select(query));
    }));
}

//------------------------------------------------------------------------------
void bat_vtk::LoadedParticles::Clear()
{
  *this = {};
}

//------------------------------------------------------------------------------
bool bat_vtk::LoadedParticles::CanAdd(const Request& request) const
{
  const auto isRequested = [&](const auto& bad)
  {
    const std::size_t column = bad.second.Column;
    return column == QueryColumn || column == PositionColumn ||
      std::count(request.Attributes.begin(), request.Attributes.end(), column) != 0;
  };
  return this->Generation == request.Generation && this->SkipDamaged == request.SkipDamaged &&
    this->Query.part == request.Query.part && this->Query.parts == request.Query.parts &&
    SameConditions(this->Query, request.Query) && request.Query.quality >= this->LoadedQuality &&
    std::all_of(this->Bad.begin(), this->Bad.end(), isRequested);
}

//------------------------------------------------------------------------------
void bat_vtk::LoadedParticles::LeaveOut(const std::map<std::size_t, Damage>& damaged)
{
  this->Bad.insert(damaged.begin(), damaged.end());
}

//------------------------------------------------------------------------------
vtkDataArray* bat_vtk::LoadedParticles::Attribute(std::size_t index) const
{
  const auto found = this->Columns.find(index);
  return found == this->Columns.end() ? nullptr : found->second.Array.Get();
}

//------------------------------------------------------------------------------
std::vector<double> bat_vtk::LoadedParticles::NumberedSteps() const
{
  std::vector<double> numbers(1, static_cast<double>(this->Number));
  double rows = 0.0;
  for (const bat::DatasetSelection& step : this->Steps)
  {
    rows += static_cast<double>(step.count);
    numbers.push_back(rows);
  }
  return numbers;
}

//------------------------------------------------------------------------------
// Discards the particles to which the request cannot add.
void bat_vtk::LoadedParticles::Begin(const Request& request)
{
  if (!this->CanAdd(request))
  {
    this->Clear();
    this->Number = NextNumber();
    this->Generation = request.Generation;
    this->Query = request.Query;
    this->SkipDamaged = request.SkipDamaged;
  }
}

//------------------------------------------------------------------------------
// Returns options that record the damage to skip. Several threads may record it at the same time.
bat_vtk::LoadedParticles::OptionsOfColumn bat_vtk::LoadedParticles::MakeOptions(
  bool skipDamaged, std::mutex& mutex)
{
  return [this, skipDamaged, &mutex](std::size_t column)
  {
    bat::QueryOptions found;
    if (skipDamaged)
    {
      found.on_damage = [this, &mutex, column](std::size_t leaf, const bat::Error& error)
      {
        const std::lock_guard<std::mutex> lock(mutex);
        this->Bad.emplace(leaf, Damage{ error.what(), column });
      };
    }
    return found;
  };
}

//------------------------------------------------------------------------------
// Leaves out the damaged leaf files. Returns how many of the loaded particles stay. With `more`,
// the last step is not loaded yet and does not count.
std::uint64_t bat_vtk::LoadedParticles::DropDamaged(bool more)
{
  for (bat::DatasetSelection& step : this->Steps)
  {
    WithoutLeaves(step, this->Bad);
  }
  const std::uint64_t before = this->Rows;
  const std::uint64_t kept = CountOf(this->Steps) - (more ? this->Steps.back().count : 0);
  if (kept != before)
  {
    this->Columns.clear(); // particles that were loaded are left out now
    this->Number = NextNumber();
  }
  return kept;
}

//------------------------------------------------------------------------------
bool bat_vtk::LoadedParticles::Load(const Request& request)
{
  if (!request.File->is_remote() || !request.Progress)
  {
    return this->LoadNow(request);
  }
  bat::StoppableProgress progress(request.Progress, true);
  Request watched = request;
  watched.Progress = [&](double share) { return progress(share); };
  return this->LoadNow(watched);
}

//------------------------------------------------------------------------------
// Forgets a step of which not all columns were read.
void bat_vtk::LoadedParticles::DropUnread(std::size_t complete)
{
  if (this->Columns.empty())
  {
    this->Clear();
  }
  else if (this->Steps.size() > complete)
  {
    this->Steps.pop_back();
  }
}

//------------------------------------------------------------------------------
bool bat_vtk::LoadedParticles::LoadNow(const Request& request)
{
  this->Begin(request);
  const std::size_t complete = this->Steps.size();
  try
  {
    std::mutex mutex;
    const OptionsOfColumn options = this->MakeOptions(request.SkipDamaged, mutex);
    const bool more = this->Columns.empty() || request.Query.quality > this->LoadedQuality;
    if (more)
    {
      bat::Query step = request.Query;
      step.after_quality = this->LoadedQuality;
      this->Steps.push_back(request.File->select(step, options(QueryColumn)));
      if (request.File->is_remote())
      {
        const auto prefetch = [&]()
        { request.File->prefetch(this->Steps.back(), request.Attributes); };
        request.Prefetch ? request.Prefetch(prefetch) : prefetch();
      }
    }
    while (true)
    {
      // A leaf file may turn out to be damaged while it is read.
      const std::size_t known = this->Bad.size();
      const std::uint64_t kept = this->DropDamaged(more);
      ColumnMap columns;
      columns[PositionColumn] = {};
      for (const std::size_t attribute : request.Attributes)
      {
        columns[attribute] = {};
      }
      if (!this->ReadColumns(request, options, columns, kept))
      {
        this->DropUnread(complete);
        return false;
      }
      if (this->Bad.size() == known)
      {
        this->UpdateRanges(columns, kept);
        this->Columns = std::move(columns);
        this->Rows = CountOf(this->Steps);
        this->LoadedQuality = request.Query.quality;
        return true;
      }
    }
  }
  catch (const bat::Error& error)
  {
    if (error.code() == bat::ErrorCode::Cancelled)
    {
      this->DropUnread(complete);
      return false;
    }
    this->Clear();
    throw;
  }
  catch (...)
  {
    this->Clear();
    throw;
  }
}

//------------------------------------------------------------------------------
// Called before `columns` replace those loaded before.
void bat_vtk::LoadedParticles::UpdateRanges(const ColumnMap& columns, std::uint64_t oldRows)
{
  std::map<std::size_t, ArrayRanges> ranges;
  for (const auto& [number, column] : columns)
  {
    vtkDataArray* old = this->Attribute(number);
    if (old)
    {
      ranges[number] = this->Ranges[number];
    }
    if (old != column.Array)
    {
      ranges[number].Extend(column.Array, static_cast<vtkIdType>(old ? oldRows : 0));
    }
  }
  this->Ranges = std::move(ranges);
}

//------------------------------------------------------------------------------
std::optional<std::array<double, 6>> bat_vtk::LoadedParticles::Bounds() const
{
  const auto found = this->Ranges.find(PositionColumn);
  return found == this->Ranges.end() ? std::nullopt : found->second.Bounds();
}

//------------------------------------------------------------------------------
void bat_vtk::LoadedParticles::StoreRanges() const
{
  for (const auto& [column, ranges] : this->Ranges)
  {
    ranges.Store(this->Attribute(column));
  }
}

//------------------------------------------------------------------------------
// Reads the rows of a column after the first `kept` rows, which belong to complete steps. Returns
// false if the caller cancels.
bool bat_vtk::LoadedParticles::ReadRows(Reading& reading, std::size_t column, std::uint64_t kept,
  std::byte* values, const bat::QueryOptions& options) const
{
  const std::uint64_t bytes = BytesOf(reading.File, column);
  std::uint64_t row = 0;
  for (const bat::DatasetSelection& step : this->Steps)
  {
    if (row + step.count <= kept)
    {
      row += step.count;
      continue;
    }
    for (const bat::DatasetSelection& portion : bat::split(step, PortionParticles))
    {
      if (reading.Progress && !reading.Progress(reading.BytesDone / reading.BytesTotal))
      {
        return false;
      }
      if (column == PositionColumn)
      {
        reading.File.read_positions(portion, values + row * bytes, options);
      }
      else
      {
        reading.File.read_attribute(column, portion, values + row * bytes, options);
      }
      row += portion.count;
      reading.BytesDone += static_cast<double>(portion.count * bytes);
    }
  }
  return true;
}

//------------------------------------------------------------------------------
// Fills `columns` with the data that is loaded and the data that is read.
bool bat_vtk::LoadedParticles::ReadColumns(const Request& request, const OptionsOfColumn& optionsOf,
  ColumnMap& columns, std::uint64_t oldRows) const
{
  const bat::Dataset& file = *request.File;
  const std::uint64_t rows = CountOf(this->Steps);
  const auto keptRows = [&](std::size_t column)
  { return this->Attribute(column) && !IsBits(this->Attribute(column)) ? oldRows : 0; };

  Reading reading{ file, request.Progress };
  for (const auto& column : columns)
  {
    reading.BytesTotal +=
      static_cast<double>((rows - keptRows(column.first)) * BytesOf(file, column.first));
  }
  bat::check_memory(reading.BytesTotal,
    file.name() + ": the " + std::to_string(rows) + " particles",
    "use a budget, a Box or fewer attributes to reduce this");
  const std::uint64_t maximum = std::max(rows, request.MaxRows);
  for (auto& [number, column] : columns)
  {
    const std::uint64_t kept = keptRows(number);
    if (this->Attribute(number))
    {
      column = this->Columns.at(number);
      if (kept == rows)
      {
        continue;
      }
    }
    const std::uint64_t bytes = BytesOf(file, number);
    column.Array =
      number == PositionColumn ? MakePositions(file) : MakeAttribute(file.attributes()[number]);
    std::vector<unsigned char> bits;
    std::byte* values = nullptr;
    if (IsPlain(column.Array))
    {
      // Arrays handed out earlier continue to use its beginning.
      values = column.Memory.Grow(rows * bytes, kept * bytes, maximum * bytes);
      UseMemory(column.Array, values, static_cast<vtkIdType>(rows), column.Memory.Owner());
    }
    else
    {
      column.Array->SetNumberOfTuples(static_cast<vtkIdType>(rows));
      bits.resize(rows * bytes);
      values = reinterpret_cast<std::byte*>(bits.data());
    }
    if (!this->ReadRows(reading, number, kept, values, optionsOf(number)))
    {
      return false;
    }
    PackBits(bits, column.Array);
  }
  return true;
}
