// SPDX-License-Identifier: BSD-3-Clause
#include "vtkIDXWriter.h"

#include "DataFacts.h"
#include "DataLeaves.h"
#include "GridInput.h"
#include "JoinedGrid.h"
#include "WriterRanks.h"
#include "vtkBATErrors.h"

#include "bat/error.hpp"
#include "bat/idx/write.hpp"
#ifdef BAT_WRITER_HAS_MPI
#include "bat/idx/parallel.hpp"
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

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using Pipeline = vtkStreamingDemandDrivenPipeline;

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkIDXWriter);
vtkCxxSetObjectMacro(vtkIDXWriter, Controller, vtkMultiProcessController);

namespace
{
constexpr double Mebibyte = 1024.0 * 1024.0;

std::string ToJson(const bat::idx::WriteReport& report)
{
  return "{\"samples\":" + std::to_string(report.samples) +
    ",\"files\":" + std::to_string(report.files) +
    ",\"file_bytes\":" + std::to_string(report.file_bytes) +
    ",\"blocks\":" + std::to_string(report.blocks) + "}";
}
}

//------------------------------------------------------------------------------
vtkIDXWriter::vtkIDXWriter()
{
  this->SetController(vtkMultiProcessController::GetGlobalController());
}

//------------------------------------------------------------------------------
vtkIDXWriter::~vtkIDXWriter()
{
  this->SetController(nullptr);
  this->SetFileName(nullptr);
}

//------------------------------------------------------------------------------
void vtkIDXWriter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "FileName: " << (this->FileName ? this->FileName : "(none)") << "\n";
  os << indent << "Samples: " << this->Samples << "\n";
  os << indent << "Compression: " << this->Compression << "\n";
  os << indent << "ZipLevel: " << this->ZipLevel << "\n";
  os << indent << "Layout: " << this->Layout << "\n";
  os << indent << "BitsPerBlock: " << this->BitsPerBlock << "\n";
  os << indent << "FileSize: " << this->FileSize << "\n";
  os << indent << "MissingSamples: " << this->MissingSamples << "\n";
  os << indent << "OtherSteps: " << this->OtherSteps << "\n";
  os << indent << "WriteAllTimeSteps: " << (this->WriteAllTimeSteps ? "on" : "off") << "\n";
  os << indent << "TimeStep: " << this->TimeStep << "\n";
  os << indent << "Flush: " << (this->Flush ? "on" : "off") << "\n";
  os << indent << "Threads: " << this->Threads << "\n";
  os << indent << "Controller: " << this->Controller << "\n";
  os << indent << "Report: " << this->Report << "\n";
}

//------------------------------------------------------------------------------
int vtkIDXWriter::ProcessRequest(
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
int vtkIDXWriter::FillInputPortInformation(int, vtkInformation* info)
{
  // All data sets, to say what is wrong with others than images. Composite data must be named: the
  // pipeline cannot loop over blocks for an algorithm without output.
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataSet");
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

//------------------------------------------------------------------------------
bool vtkIDXWriter::IsFirst() const
{
  return !this->Controller || this->Controller->GetLocalProcessId() == 0;
}

//------------------------------------------------------------------------------
void vtkIDXWriter::Fail(unsigned long code, const std::string& text)
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
void vtkIDXWriter::Warn(const std::string& text)
{
  if (this->Warned.insert(text).second && this->IsFirst())
  {
    vtkWarningMacro(<< this->FileName << ": " << text);
  }
}

//------------------------------------------------------------------------------
std::int64_t vtkIDXWriter::StepFor(std::int64_t number, const std::optional<double>& time) const
{
  const auto there = this->Written.find(number);
  if (!time || there == this->Written.end() || there->second == time)
  {
    return number;
  }
  const auto same = std::find_if(this->Written.begin(), this->Written.end(),
    [&](const auto& step) { return step.second == time; });
  return same != this->Written.end() ? same->first : this->Written.rbegin()->first + 1;
}

//------------------------------------------------------------------------------
void vtkIDXWriter::WriteData()
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
    this->WriteStep();
  }
  catch (...)
  {
    const bat::Error error = bat::current_error();
    this->Fail(bat_vtk::ToVTKErrorCode(error.code()), error.what());
  }
}

//------------------------------------------------------------------------------
void vtkIDXWriter::WriteStep()
{
  vtkDataObject* input = this->GetInput();
  const std::vector<bat_vtk::Leaf> leaves = bat_vtk::LeavesOf(input);
  const auto missing =
    this->MissingSamples == ZEROS ? bat_vtk::Missing::Zero : bat_vtk::Missing::Refuse;

  bat::idx::WriteOptions options;
  const bool isFurther = this->WriteAllTimeSteps && this->Current > 0;
  options.mode = isFurther || this->OtherSteps == KEEP ? bat::idx::WriteMode::AddStep
                                                       : bat::idx::WriteMode::Replace;
  const std::int64_t number = this->WriteAllTimeSteps ? static_cast<std::int64_t>(this->Current)
                                                      : std::max<std::int64_t>(0, this->TimeStep);
  options.codec = this->Compression == ZIP ? bat::idx::Codec::Zip
    : this->Compression == LZ4             ? bat::idx::Codec::Lz4
                                           : bat::idx::Codec::Raw;
  options.zip_level = this->ZipLevel;
  options.layout = this->Layout == ROW_MAJOR ? bat::idx::Layout::RowMajor : bat::idx::Layout::HZ;
  options.dialect =
    this->Layout == HZ_FOR_PIDX ? bat::idx::Dialect::PIDX : bat::idx::Dialect::OpenVisus;
  options.bits_per_block = this->BitsPerBlock;
  options.file_bytes = static_cast<std::uint64_t>(this->FileSize * Mebibyte);
  options.missing = this->MissingSamples == ZEROS ? bat::idx::MissingSamples::Zero
                                                  : bat::idx::MissingSamples::Refuse;
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

  const std::filesystem::path path = std::filesystem::u8path(this->FileName);
  std::vector<bat_vtk::ImagePiece> images;
  std::optional<bat::Error> failure =
    bat::attempt([&] { images = bat_vtk::ImagesOf(input, leaves); });
  const std::vector<bat_vtk::GridFacts> facts =
    bat_vtk::FactsOfAll(this->Controller, bat_vtk::FactsOf(input, leaves, images));
  const bat_vtk::CommonGrid common =
    bat_vtk::CommonOf(facts, static_cast<bat_vtk::Samples>(this->Samples));
  options.step = common.Step.value_or(number);
  options.time =
    common.Time ? common.Time : bat_vtk::RequestedTime(this->GetInputInformation(0, 0));
  if (options.mode == bat::idx::WriteMode::Replace || this->WrittenTo != this->FileName)
  {
    this->Written.clear();
    this->WrittenTo = this->FileName;
  }
  options.step = this->StepFor(options.step, options.time);
  bat_vtk::GridInput grid;
  if (!failure)
  {
    failure = bat::attempt([&] { grid = bat_vtk::ConvertGrid(images, common, missing); });
  }
#ifdef BAT_WRITER_HAS_MPI
  if (MPI_Comm* communicator = bat_vtk::CommunicatorOf(this->Controller))
  {
    // What one rank cannot convert is an error of all: none may wait for it in a collective call.
    bat::mpi::agree(*communicator, failure);
    for (const std::string& warning : bat::mpi::union_of_names(*communicator, grid.Warnings))
    {
      this->Warn(warning);
    }
    bat::idx::GridPieces pieces;
    pieces.origin = grid.Origin;
    pieces.spacing = grid.Spacing;
    pieces.fields = grid.Fields;
    for (bat_vtk::GridPiece& piece : grid.Pieces)
    {
      pieces.pieces.push_back({ piece.Box, std::move(piece.Values), piece.Stored });
    }
    this->Report = ToJson(bat::idx::write_together(*communicator, path, pieces, options));
    this->Written[options.step] = options.time;
    return;
  }
#endif
  if (failure)
  {
    throw bat::Error(*failure);
  }
  for (const std::string& warning : grid.Warnings)
  {
    this->Warn(warning);
  }
  const bat_vtk::JoinedGrid joined = bat_vtk::JoinPieces(grid, missing);
  this->Report = ToJson(bat::idx::write(path, joined.Grid, options));
  this->Written[options.step] = options.time;
}
