// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBricksWriter.h"

#include "DataFacts.h"
#include "DataLeaves.h"
#include "GridInput.h"
#include "JoinedGrid.h"
#include "SeriesGrid.h"
#include "VelocityInput.h"
#include "WriterRanks.h"

#include "bat/bricks/growing_series.hpp"
#include "bat/bricks/series.hpp"
#include "bat/bricks/write.hpp"
#include "bat/error.hpp"
#ifdef BAT_WRITER_HAS_MPI
#include "bat/bricks/parallel.hpp"
#include "bat/ranks.hpp"
#endif

#include "vtkDataObject.h"
#include "vtkObjectFactory.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBricksWriter);

namespace
{
std::string ToJson(const bat::bricks::WriteReport& report)
{
  return "{\"bricks\":" + std::to_string(report.bricks) +
    ",\"blank_bricks\":" + std::to_string(report.blank_bricks) +
    ",\"value_bytes\":" + std::to_string(report.value_bytes) +
    ",\"file_bytes\":" + std::to_string(report.file_bytes) + "}";
}

bool EndsWith(const std::string& text, const std::string& end)
{
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Returns the name without .bricks or .bricks.series.
std::string StemOf(const std::string& name)
{
  for (const std::string end : { ".bricks.series", ".bricks" })
  {
    if (EndsWith(name, end))
    {
      return name.substr(0, name.size() - end.size());
    }
  }
  throw bat::Error(
    bat::ErrorCode::InvalidArgument, name + ": the name must end in .bricks or .bricks.series");
}

// Path at which all steps of a series are written before they replace an older series. The older
// one stays as it was until the last step is written.
std::filesystem::path StageOf(const std::string& stem)
{
  const std::filesystem::path path = std::filesystem::u8path(stem);
  return path.parent_path() / std::filesystem::u8path("." + path.filename().u8string() + ".new");
}

// Copies the values of a box from arrays that may be larger.
std::vector<char> Packed(const bat::idx::Grid& grid, std::size_t bytes)
{
  const auto& stored = *grid.stored;
  const auto row = static_cast<std::size_t>(grid.dimensions[0]) * bytes;
  std::vector<char> values;
  const std::int64_t nx = stored.upper[0] - stored.lower[0] + 1;
  const std::int64_t ny = stored.upper[1] - stored.lower[1] + 1;
  for (std::int64_t z = 0; z < grid.dimensions[2]; ++z)
  {
    for (std::int64_t y = 0; y < grid.dimensions[1]; ++y)
    {
      const std::int64_t first = grid.first[0] - stored.lower[0] +
        nx * (grid.first[1] + y - stored.lower[1] + ny * (grid.first[2] + z - stored.lower[2]));
      const char* from =
        static_cast<const char*>(grid.fields[0].values) + static_cast<std::size_t>(first) * bytes;
      values.insert(values.end(), from, from + row);
    }
  }
  return values;
}
}

//------------------------------------------------------------------------------
vtkBricksWriter::vtkBricksWriter() = default;

//------------------------------------------------------------------------------
vtkBricksWriter::~vtkBricksWriter()
{
  this->SetField(nullptr);
}

//------------------------------------------------------------------------------
void vtkBricksWriter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Field: " << (this->Field ? this->Field : "") << "\n";
  os << indent << "Compression: " << (this->Compression ? "on" : "off") << "\n";
  os << indent << "Cyclic: " << this->Cyclic[0] << " " << this->Cyclic[1] << " " << this->Cyclic[2]
     << "\n";
}

//------------------------------------------------------------------------------
// The destination of a level, and the list that names it.
struct vtkBricksWriter::Target
{
  std::filesystem::path File;
  std::optional<std::filesystem::path> List;
  std::vector<bat::bricks::SeriesEntry> Before;
};

//------------------------------------------------------------------------------
// A level of the input, as agreed by all ranks, and where it is written.
struct vtkBricksWriter::Level
{
  bat_vtk::VelocityImages Velocity;
  bat_vtk::CommonGrid Common;
  bat_vtk::GridInput Grid;
  Target Goal;
  bat::bricks::GrowingSeries* Series = nullptr; ///< used instead of Goal
};

//------------------------------------------------------------------------------
vtkBricksWriter::Target vtkBricksWriter::TargetOf(
  const std::string& name, bool all, bool keep, bool staged)
{
  std::string stem = StemOf(name);
  const bool series = all || EndsWith(name, ".series");
  Target target;
  if (!series)
  {
    target.File = std::filesystem::u8path(name);
    return target;
  }
  if (staged)
  {
    const std::filesystem::path stage = StageOf(stem);
    stem = (stage / std::filesystem::u8path(stem).filename()).u8string();
  }
  target.List = std::filesystem::u8path(stem + ".bricks.series");
  if (keep && std::filesystem::exists(*target.List))
  {
    target.Before = bat::bricks::read_list(*target.List);
  }
  char number[32];
  std::snprintf(number, sizeof(number), "_%04zu.bricks", target.Before.size());
  target.File = std::filesystem::u8path(stem + number);
  return target;
}

//------------------------------------------------------------------------------
bat::bricks::GrowingSeries& vtkBricksWriter::SeriesAt(const std::string& list)
{
  if (!this->Growing || this->GrowingList != list || this->GrowingFlush != this->Flush)
  {
    this->Growing = std::make_unique<bat::bricks::GrowingSeries>(std::filesystem::u8path(list),
      this->Flush, [this](const std::string& text) { this->Warn(text); });
    this->GrowingList = list;
    this->GrowingFlush = this->Flush;
  }
  return *this->Growing;
}

//------------------------------------------------------------------------------
std::string vtkBricksWriter::WriteStep()
{
  const std::string name = this->FileName;
  const std::size_t steps = this->CountSteps();
  std::string stem;
  if (this->Current == 0 || !this->WriteAllTimeSteps)
  {
    this->IsStaged = false;
    this->Agree(bat::attempt(
      [&]
      {
        stem = StemOf(name);
        this->IsStaged = this->OtherSteps == REMOVE && steps > 1 &&
          std::filesystem::exists(std::filesystem::u8path(stem + ".bricks.series"));
        if (this->IsStaged && this->IsFirst())
        {
          std::filesystem::remove_all(StageOf(stem));
          std::filesystem::create_directories(StageOf(stem));
        }
      }));
  }
  stem = StemOf(name);
  try
  {
    std::string report = this->WriteLevel();
    if (this->IsStaged && this->Current + 1 == steps)
    {
      this->Agree(bat::attempt([&] { this->MoveStaged(stem); }));
    }
    return report;
  }
  catch (...)
  {
    if (this->IsStaged && this->IsFirst())
    {
      std::error_code none; // a missing output is reported as an error anyway
      std::filesystem::remove_all(StageOf(stem), none);
    }
    throw;
  }
}

//------------------------------------------------------------------------------
void vtkBricksWriter::MoveStaged(const std::string& stem)
{
  if (!this->IsFirst())
  {
    return;
  }
  const std::filesystem::path stage = StageOf(stem);
  const std::filesystem::path list = std::filesystem::u8path(stem + ".bricks.series");
  const std::vector<bat::bricks::SeriesEntry> entries =
    bat::bricks::read_list(stage / list.filename());
  for (const bat::bricks::SeriesEntry& entry : entries)
  {
    std::filesystem::rename(stage / entry.file, list.parent_path() / entry.file);
  }
  bat::bricks::write_list(list, entries, this->Flush);
  std::filesystem::remove_all(stage);
}

//------------------------------------------------------------------------------
// Throws bat::Error if the grid moves with time.
vtkBricksWriter::Level vtkBricksWriter::ReadLevel(
  const std::vector<bat_vtk::Leaf>& leaves, int steps)
{
  Level level;
  std::optional<bat::Error> failure = bat::attempt(
    [&]
    {
      const std::string stem = StemOf(this->FileName);
      if (steps == KEEP_EARLIER)
      {
        level.Series = &this->SeriesAt(stem + ".bricks.series");
      }
      else
      {
        level.Goal =
          TargetOf(this->FileName, this->WriteAllTimeSteps, steps == KEEP, this->IsStaged);
      }
      int port = 0;
      const std::string moved = this->GetNumberOfInputConnections(0) > 0
        ? bat_vtk::MovedGridAbove(this->GetInputAlgorithm(0, 0, port))
        : std::string();
      if (!moved.empty())
      {
        throw bat::Error(bat::ErrorCode::InvalidArgument, moved);
      }
      level.Velocity = bat_vtk::FindVelocity(
        bat_vtk::CollectImages(this->GetInput(), leaves), this->Field ? this->Field : "");
    });
  level.Common = bat_vtk::FindCommonGrid(
    bat_vtk::GatherFacts(
      this->Controller, bat_vtk::CollectFacts(this->GetInput(), leaves, level.Velocity.Images)),
    bat_vtk::Samples::Points);
  if (!failure)
  {
    failure = bat::attempt(
      [&]
      {
        level.Grid =
          bat_vtk::ConvertGrid(level.Velocity.Images, level.Common, bat_vtk::Missing::Never);
      });
  }
  this->Agree(failure, level.Grid.Warnings);
  return level;
}

//------------------------------------------------------------------------------
bat::bricks::Header vtkBricksWriter::HeaderOf(const Level& level)
{
  bat::bricks::Header header;
  header.field = level.Velocity.Field.value_or("velocity");
  header.grid.origin = level.Grid.Origin;
  header.grid.spacing = level.Grid.Spacing;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    header.grid.cyclic[axis] = this->Cyclic[axis] != 0;
  }
  if (!level.Grid.Fields.empty())
  {
    header.grid.components = level.Grid.Fields[0].components;
    header.grid.type = level.Grid.Fields[0].type;
  }
  header.time =
    level.Common.Time ? level.Common.Time : bat_vtk::RequestedTime(this->GetInputInformation(0, 0));
  header.step = level.Common.Step;
  if (!header.step && this->TimeStep >= 0)
  {
    header.step = this->TimeStep;
  }
  if (level.Goal.List || (level.Series && this->WriteAllTimeSteps))
  {
    const std::size_t number = level.Series ? this->Current : level.Goal.Before.size();
    header.time = header.time.value_or(static_cast<double>(number));
    header.step = header.step.value_or(static_cast<std::int64_t>(number));
  }
  return header;
}

//------------------------------------------------------------------------------
#ifdef BAT_WRITER_HAS_MPI
// Returns false, and writes nothing, if processes do not communicate through MPI.
bool vtkBricksWriter::WriteCollective(const Level& level, bat::bricks::Header& header,
  const bat::bricks::WriteOptions& options, bat::bricks::WriteReport& report)
{
  MPI_Comm* const communicator = bat_vtk::CommunicatorOf(this->Controller);
  if (!communicator)
  {
    return false;
  }
  std::vector<std::string> fields;
  if (level.Velocity.Field)
  {
    fields.push_back(*level.Velocity.Field);
  }
  fields = bat::mpi::gather_names(*communicator, fields);
  if (fields.size() > 1) // all ranks agree on this
  {
    throw bat::Error(bat::ErrorCode::InvalidArgument,
      std::string(this->FileName) + ": the velocity is '" + fields[0] + "' on one rank and '" +
        fields[1] + "' on another");
  }
  header.field = fields.empty() ? header.field : fields[0];
  std::vector<bat::bricks::Piece> pieces;
  for (const bat_vtk::GridPiece& piece : level.Grid.Pieces)
  {
    pieces.push_back({ piece.Box, piece.Values[0], piece.Stored });
  }
  report = level.Series
    ? bat::bricks::write_collective(*communicator, *level.Series, header, pieces, options)
    : bat::bricks::write_collective(*communicator, level.Goal.File, header, pieces, options);
  return true;
}
#else
bool vtkBricksWriter::WriteCollective(
  const Level&, bat::bricks::Header&, const bat::bricks::WriteOptions&, bat::bricks::WriteReport&)
{
  return false;
}
#endif

//------------------------------------------------------------------------------
bat::bricks::WriteReport vtkBricksWriter::WriteAlone(
  const Level& level, bat::bricks::Header& header, const bat::bricks::WriteOptions& options)
{
  const bat_vtk::JoinedGrid joined = bat_vtk::JoinPieces(level.Grid, bat_vtk::Missing::Never);
  header.grid.points = joined.Grid.dimensions;
  std::size_t bytes = header.grid.point_bytes();
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    header.grid.origin[axis] +=
      static_cast<double>(joined.Grid.first[axis]) * header.grid.spacing[axis];
    bytes *= static_cast<std::size_t>(joined.Grid.dimensions[axis]);
  }
  const std::vector<char> packed =
    joined.Grid.stored ? Packed(joined.Grid, header.grid.point_bytes()) : std::vector<char>();
  const void* values = joined.Grid.stored ? packed.data() : joined.Grid.fields[0].values;
  return level.Series ? level.Series->write(header, values, bytes, options)
                      : bat::bricks::write(level.Goal.File, header, values, bytes, options);
}

//------------------------------------------------------------------------------
std::string vtkBricksWriter::WriteLevel()
{
  const std::vector<bat_vtk::Leaf> leaves = bat_vtk::FindLeaves(this->GetInput());
  bat::bricks::WriteOptions options;
  options.compress = this->Compression;
  options.flush = this->Flush;
  options.threads = this->Threads;
  options.progress = this->Progress();
  if (const std::optional<std::string> remark = bat_vtk::RemarkOnLevel(leaves))
  {
    this->Warn(*remark);
  }
  Level level = this->ReadLevel(leaves, this->WhatBecomesOfSteps());
  bat::bricks::Header header = this->HeaderOf(level);
  Target& goal = level.Goal;
  if (goal.List && !goal.Before.empty())
  {
    options.settle = [other = goal.List->parent_path() / goal.Before.front().file](
                       bat::bricks::Header& written) { bat::bricks::match_level(written, other); };
  }
  bat::bricks::WriteReport report;
  if (!this->WriteCollective(level, header, options, report))
  {
    report = this->WriteAlone(level, header, options);
  }
  if (goal.List)
  {
    this->Agree(bat::attempt(
      [&]
      {
        if (this->IsFirst())
        {
          goal.Before.push_back({ goal.File.filename().u8string(), *header.time });
          bat::bricks::write_list(*goal.List, goal.Before, this->Flush);
        }
      }));
  }
  return ToJson(report);
}
