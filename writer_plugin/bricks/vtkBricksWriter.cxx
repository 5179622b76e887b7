// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBricksWriter.h"

#include "DataFacts.h"
#include "DataLeaves.h"
#include "GridInput.h"
#include "JoinedGrid.h"
#include "VelocityInput.h"
#include "WriterRanks.h"
#include "vtkBATErrors.h"

#include "bat/bricks/series.hpp"
#include "bat/bricks/write.hpp"
#include "bat/error.hpp"
#ifdef BAT_WRITER_HAS_MPI
#include "bat/bricks/parallel.hpp"
#include "bat/ranks.hpp"
#endif

#include "vtkAlgorithm.h"
#include "vtkDataObject.h"
#include "vtkErrorCode.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkObjectFactory.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using Pipeline = vtkStreamingDemandDrivenPipeline;

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBricksWriter);
vtkCxxSetObjectMacro(vtkBricksWriter, Controller, vtkMultiProcessController);

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

// Where a level goes, and what lists it.
struct Target
{
  std::filesystem::path File;
  std::optional<std::filesystem::path> List;
  std::vector<bat::bricks::SeriesEntry> Before;
};

Target TargetOf(const std::string& name, bool all, bool keep)
{
  std::string stem = name;
  bool series = all;
  if (EndsWith(name, ".bricks.series"))
  {
    series = true;
    stem.resize(name.size() - std::strlen(".bricks.series"));
  }
  else if (EndsWith(name, ".bricks"))
  {
    stem.resize(name.size() - std::strlen(".bricks"));
  }
  else
  {
    throw bat::Error(bat::ErrorCode::InvalidArgument,
      name + ": the name has to end in .bricks, or in .bricks.series");
  }
  Target target;
  if (!series)
  {
    target.File = std::filesystem::u8path(name);
    return target;
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

#ifndef BAT_WRITER_HAS_MPI
constexpr bool HasMPI = false;
#else
constexpr bool HasMPI = true;
#endif

// The values of a box of which arrays may have more.
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
vtkBricksWriter::vtkBricksWriter()
{
  this->SetController(vtkMultiProcessController::GetGlobalController());
}

//------------------------------------------------------------------------------
vtkBricksWriter::~vtkBricksWriter()
{
  this->SetController(nullptr);
  this->SetFileName(nullptr);
  this->SetField(nullptr);
}

//------------------------------------------------------------------------------
void vtkBricksWriter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "FileName: " << (this->FileName ? this->FileName : "(none)") << "\n";
  os << indent << "Field: " << (this->Field ? this->Field : "") << "\n";
  os << indent << "Compression: " << (this->Compression ? "on" : "off") << "\n";
  os << indent << "Cyclic: " << this->Cyclic[0] << " " << this->Cyclic[1] << " " << this->Cyclic[2]
     << "\n";
  os << indent << "OtherSteps: " << this->OtherSteps << "\n";
  os << indent << "WriteAllTimeSteps: " << (this->WriteAllTimeSteps ? "on" : "off") << "\n";
  os << indent << "Flush: " << (this->Flush ? "on" : "off") << "\n";
  os << indent << "Threads: " << this->Threads << "\n";
  os << indent << "Controller: " << this->Controller << "\n";
  os << indent << "Report: " << this->Report << "\n";
}

//------------------------------------------------------------------------------
int vtkBricksWriter::ProcessRequest(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  if (request->Has(vtkDemandDrivenPipeline::REQUEST_INFORMATION()))
  {
    this->Times.clear();
    if (input->Has(Pipeline::TIME_STEPS()))
    {
      const double* times = input->Get(Pipeline::TIME_STEPS());
      this->Times.assign(times, times + input->Length(Pipeline::TIME_STEPS()));
    }
    return 1;
  }
  if (request->Has(Pipeline::REQUEST_UPDATE_EXTENT()))
  {
    if (this->Controller)
    {
      input->Set(Pipeline::UPDATE_PIECE_NUMBER(), this->Controller->GetLocalProcessId());
      input->Set(Pipeline::UPDATE_NUMBER_OF_PIECES(), this->Controller->GetNumberOfProcesses());
      input->Set(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
    }
    if (this->WriteAllTimeSteps && this->Current < this->Times.size())
    {
      input->Set(Pipeline::UPDATE_TIME_STEP(), this->Times[this->Current]);
    }
    return 1;
  }
  const int result = this->Superclass::ProcessRequest(request, inputVector, outputVector);
  if (request->Has(vtkDemandDrivenPipeline::REQUEST_DATA()))
  {
    ++this->Current;
    const bool goesOn = this->WriteAllTimeSteps && this->ErrorCode == vtkErrorCode::NoError &&
      this->Current < this->Times.size();
    if (goesOn)
    {
      request->Set(Pipeline::CONTINUE_EXECUTING(), 1);
    }
    else
    {
      request->Remove(Pipeline::CONTINUE_EXECUTING());
      this->Current = 0;
    }
  }
  return result;
}

//------------------------------------------------------------------------------
int vtkBricksWriter::FillInputPortInformation(int, vtkInformation* info)
{
  // All data sets, to say what is wrong with others than images. Composite data must be named: the
  // pipeline cannot loop over blocks for an algorithm without output.
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataSet");
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

//------------------------------------------------------------------------------
bool vtkBricksWriter::IsFirst() const
{
  return !this->Controller || this->Controller->GetLocalProcessId() == 0;
}

//------------------------------------------------------------------------------
void vtkBricksWriter::Fail(unsigned long code, const std::string& text)
{
  this->SetErrorCode(code);
  this->Report.clear();
  if (!this->IsFirst())
  {
    return; // all ranks have the same error; rank 0 tells it
  }
  const std::string name = this->FileName ? this->FileName : "";
  // The core names the file where it can.
  const bool named = name.empty() || text.find(name) != std::string::npos;
  vtkErrorMacro(<< (named ? text : name + ": " + text));
}

//------------------------------------------------------------------------------
void vtkBricksWriter::Warn(const std::string& text)
{
  if (this->Warned.insert(text).second && this->IsFirst())
  {
    vtkWarningMacro(<< this->FileName << ": " << text);
  }
}

//------------------------------------------------------------------------------
void vtkBricksWriter::WriteData()
{
  this->SetErrorCode(vtkErrorCode::NoError);
  this->Report.clear();
  if (!this->FileName || !*this->FileName)
  {
    this->Fail(vtkErrorCode::NoFileNameError, "FileName must be set");
    return;
  }
  try
  {
    this->WriteLevel();
  }
  catch (...)
  {
    const bat::Error error = bat::current_error();
    this->Fail(bat_vtk::ToVTKErrorCode(error.code()), error.what());
  }
}

//------------------------------------------------------------------------------
void vtkBricksWriter::WriteLevel()
{
  vtkDataObject* input = this->GetInput();
  const std::vector<bat_vtk::Leaf> leaves = bat_vtk::LeavesOf(input);
  const std::string name = this->FileName;
  const bool keep = this->OtherSteps == KEEP || (this->WriteAllTimeSteps && this->Current > 0);

  bat::bricks::WriteOptions options;
  options.compress = this->Compression;
  options.flush = this->Flush;
  options.threads = this->Threads;
  options.progress = [this](double fraction)
  {
    this->UpdateProgress(fraction);
    return !this->CheckAbort();
  };
  if (const std::optional<std::string> remark = bat_vtk::RemarkOnLevel(leaves))
  {
    this->Warn(*remark);
  }

  bat_vtk::VelocityImages velocity;
  Target target;
  std::optional<bat::Error> failure = bat::attempt(
    [&]
    {
      target = TargetOf(name, this->WriteAllTimeSteps, keep);
      velocity =
        bat_vtk::VelocityOf(bat_vtk::ImagesOf(input, leaves), this->Field ? this->Field : "");
    });
  const bat_vtk::CommonGrid common = bat_vtk::CommonOf(
    bat_vtk::FactsOfAll(this->Controller, bat_vtk::FactsOf(input, leaves, velocity.Images)),
    bat_vtk::Samples::Points);
  bat_vtk::GridInput grid;
  if (!failure)
  {
    failure = bat::attempt(
      [&] { grid = bat_vtk::ConvertGrid(velocity.Images, common, bat_vtk::Missing::Never); });
  }

  bat::bricks::Header header;
  header.field = velocity.Field.value_or("velocity");
  header.grid.origin = grid.Origin;
  header.grid.spacing = grid.Spacing;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    header.grid.cyclic[axis] = this->Cyclic[axis] != 0;
  }
  if (!grid.Fields.empty())
  {
    header.grid.components = grid.Fields[0].components;
    header.grid.type = grid.Fields[0].type;
  }
  header.time = common.Time ? common.Time : bat_vtk::RequestedTime(this->GetInputInformation(0, 0));
  if (target.List && !header.time)
  {
    header.time = static_cast<double>(target.Before.size());
  }
  header.step = common.Step;
  if (target.List && !header.step)
  {
    header.step = static_cast<std::int64_t>(target.Before.size());
  }

  bat::bricks::WriteReport report;
  bool isWritten = false;
#ifdef BAT_WRITER_HAS_MPI
  MPI_Comm* const communicator = bat_vtk::CommunicatorOf(this->Controller);
  if (communicator)
  {
    // What one rank cannot convert is an error of all: none may wait for it in a collective call.
    bat::mpi::agree(*communicator, failure);
    for (const std::string& warning : bat::mpi::union_of_names(*communicator, grid.Warnings))
    {
      this->Warn(warning);
    }
    std::vector<std::string> fields;
    if (velocity.Field)
    {
      fields.push_back(*velocity.Field);
    }
    fields = bat::mpi::union_of_names(*communicator, fields);
    if (fields.size() > 1) // as all ranks know
    {
      throw bat::Error(bat::ErrorCode::InvalidArgument,
        name + ": the velocity is '" + fields[0] + "' on one rank and '" + fields[1] +
          "' on another");
    }
    header.field = fields.empty() ? header.field : fields[0];
    std::vector<bat::bricks::Piece> pieces;
    for (const bat_vtk::GridPiece& piece : grid.Pieces)
    {
      pieces.push_back({ piece.Box, piece.Values[0], piece.Stored });
    }
    report = bat::bricks::write_together(*communicator, target.File, header, pieces, options);
    isWritten = true;
  }
#endif
  if (!HasMPI || !isWritten)
  {
    if (failure)
    {
      throw bat::Error(*failure);
    }
    for (const std::string& warning : grid.Warnings)
    {
      this->Warn(warning);
    }
    const bat_vtk::JoinedGrid joined = bat_vtk::JoinPieces(grid, bat_vtk::Missing::Never);
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
    report = bat::bricks::write(target.File, header,
      joined.Grid.stored ? packed.data() : joined.Grid.fields[0].values, bytes, options);
  }
  if (target.List)
  {
    const std::optional<bat::Error> unlisted = bat::attempt(
      [&]
      {
        if (this->IsFirst())
        {
          target.Before.push_back({ target.File.filename().u8string(), *header.time });
          bat::bricks::write_list(*target.List, target.Before, this->Flush);
        }
      });
#ifdef BAT_WRITER_HAS_MPI
    if (communicator)
    {
      bat::mpi::agree(*communicator, unlisted);
    }
#endif
    if (unlisted)
    {
      throw bat::Error(*unlisted);
    }
  }
  this->Report = ToJson(report);
}
